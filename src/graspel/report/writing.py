"""Writing the report, and the check that it can be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graspel.io.atomic import check_output, write_atomically
from graspel.plot.fitted import get_graph
from graspel.runtime.progress import announce

if TYPE_CHECKING:
    from graspel.report.inputs import Source

SUFFIXES = (".html", ".htm")


def check_report_file(path: str | os.PathLike[str]) -> Path:
    """Raise now, before the work, any error that writing a report to `path` would raise after it."""
    check_output(path, SUFFIXES, "a report")
    return Path(path)


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    labels: Any = None,
    clusters: Any = "auto",
    names: Any = None,
    texts: Any = None,
    images: Any = None,
    X: Any = None,
    features: Any = None,
    title: str | None = None,
    source: str | Source | None = None,
) -> None:
    """Write the report of a fitted model to a file, completely or not at all.

    The neighbors of the points are those of the model's index, in its metric. The page asks for more of them than most
    models do; one search serves both if the model was fitted to
    ``NeighborIndex(X).expect(GraspelTSNE().n_listed)``.

    Parameters
    ----------
    model : GRASPEL, or an estimator that learns a graph first, such as GraspelClustering
        Fitted.
    path : path-like
        The HTML file, .html.
    labels : array-like of N, optional
        Known classes of the points, to compare with. They are not used to find groups or to draw the map.
    clusters : int, "auto", array-like of N, or a fitted GraspelClustering, default="auto"
        Clusters of the points, or how many to find. "auto": those of the model if it is a clusterer, else as many as
        the data show.
    names, texts : sequences of N str, optional
        The name of each point (default: that of its node in the graph), and a text to read when it is picked.
    images : tuple, array or path-like, optional
        The points as pictures: the shape (height, width) or (height, width, 3) of the rows of X, an array of pictures,
        or a folder with one file for each point, in the order of their names.
    X : array, sparse matrix or DataFrame (N x M), optional
        The values by which groups are described, such as those before scaling, or the features of points whose
        distances were learned from. A DataFrame may hold categories, dates and missing values. Default: the data that
        the model was fitted to.
    features : sequence of M str, optional
        Names of the columns of X; default: those that it had when the model was fitted.
    title : str, optional
    source : str or graspel.report.making.Source, optional
        Where the points come from, such as the name of a file; a Source says how they were read, too.

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
    from graspel.report.inputs import check_inputs
    from graspel.report.rendering import render_page

    check_is_fitted(model, "index_", msg="%(name)s is not fitted, so there is nothing to report; call fit(X) first.")
    target = check_report_file(path)
    inputs = check_inputs(
        model,
        X=X,
        labels=labels,
        clusters=clusters,
        names=_node_names(model) if names is None else names,
        texts=texts,
        images=images,
        features=features,
        source=source,
    )
    contents = gather_contents(inputs, title)
    announce("report", 0.95, "writing")
    text = render_page(contents)
    with write_atomically(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _node_names(model: Any) -> list[str] | None:
    names = get_graph(model).node_names
    return None if names is None else names.tolist()
