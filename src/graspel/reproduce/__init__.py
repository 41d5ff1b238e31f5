"""The paper's tables and pictures, measured again: `REPRODUCTIONS` names them, ``graspel reproduce NAME`` runs one."""

from __future__ import annotations

from collections.abc import Callable

from graspel.reproduce.request import Request
from graspel.reproduce.results import Results

__all__ = ["REPRODUCTIONS", "Reproduction", "Request", "Results"]

# Measures what is missing among the results, and returns the table as Markdown.
Reproduction = Callable[[Request, Results], str]


def _table1(request: Request, results: Results) -> str:
    from graspel.reproduce.table1 import run

    return run(request, results)


def _tsne(request: Request, results: Results) -> str:
    from graspel.reproduce.tsne import run

    return run(request, results)


REPRODUCTIONS: dict[str, Reproduction] = {"table1": _table1, "tsne": _tsne}
