"""Writing the report, and what must be there for it: plotly, and a file name that a browser opens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graspel.io.atomic import check_target, written_whole
from graspel.io.suffix import check_suffix
from graspel.runtime.optional import require_optional
from graspel.runtime.progress import announce

__all__ = ["check_report_file", "write_report"]

SUFFIXES = (".html", ".htm")


def check_report_file(path: str | os.PathLike[str]) -> Path:
    """Raise now what writing a report to `path` would raise after the work."""
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
    """Write the report of a fitted model, whole or not at all.

    Parameters
    ----------
    model : GRASPEL or GraspelClustering
        Fitted.
    path : path-like
        The page, .html.
    labels : array-like of N, optional
        Known classes of the points, to color the drawing by.
    clusters : array-like of N, optional
        Clusters of the points; default: those of a clusterer.
    title : str, optional
    source : str, optional
        Where the points come from, such as the name of a file.
    """
    from graspel.report.contents import contents
    from graspel.report.page import page

    target = check_report_file(path)
    announce("report", 0.0, "eigenvectors")
    found = contents(model, labels=labels, clusters=clusters, title=title, source=source)
    announce("report", 0.9, "writing")
    text = page(found)
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
