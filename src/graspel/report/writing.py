"""Writing the report, and the check that it can be written: plotly is installed, and the file name ends in .html."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graspel.io.atomic import check_target, write_atomically
from graspel.io.suffix import check_suffix
from graspel.runtime.optional import require_optional
from graspel.runtime.progress import announce

__all__ = ["check_report_file", "write_report"]

SUFFIXES = (".html", ".htm")


def check_report_file(path: str | os.PathLike[str]) -> Path:
    """Raise now, before the work, any error that writing a report to `path` would raise after it."""
    check_suffix(path, SUFFIXES, "a report")
    require_optional("plotly", "report", "A report")
    check_target(path)
    return Path(path)


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    labels: Any = None,
    clusters: Any = None,
    title: str | None = None,
    source: str | None = None,
) -> None:
    """Write the report of a fitted model to a file, completely or not at all.

    Parameters
    ----------
    model : GRASPEL, or an estimator that learns a graph first, such as GraspelClustering
        Fitted.
    path : path-like
        The HTML file, .html.
    labels : array-like of N, optional
        Known classes of the points, to color the drawing by.
    clusters : array-like of N, optional
        Clusters of the points; default: those of a clusterer.
    title : str, optional
    source : str, optional
        Where the points come from, such as the name of a file.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from graspel import GRASPEL
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.html"
    ...     write_report(GRASPEL(random_state=0).fit(X), path, labels=y, title="Iris")
    ...     path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    from sklearn.utils.validation import check_is_fitted

    from graspel.report.contents import gather_contents
    from graspel.report.page import render_page

    check_is_fitted(model, "graph_", msg="%(name)s is not fitted, so there is nothing to report; call fit(X) first.")
    target = check_report_file(path)
    announce("report", 0.0, "eigenvectors")
    contents = gather_contents(model, labels=labels, clusters=clusters, title=title, source=source)
    announce("report", 0.9, "writing")
    text = render_page(contents)
    with write_atomically(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
