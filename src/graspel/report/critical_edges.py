"""The table of edges: the most critical first, each with the reason why it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph, Origin

if TYPE_CHECKING:
    from graspel.report.contents import Coloring

__all__ = ["MAX_ROWS", "most_critical_edges", "table_of_edges"]

MAX_ROWS = 500


def most_critical_edges(graph: Graph, n_most: int = MAX_ROWS) -> NDArray[np.int64]:
    """The edges that the rounds added, of largest distortion first; then the longest (smallest weight) of the others.

    Examples
    --------
    >>> graph = Graph(4, [0, 1, 2], [1, 2, 3], [3.0, 1.0, 2.0], round=[0, 0, 1], eta=[np.nan, np.nan, 7.0])
    >>> most_critical_edges(graph).tolist()
    [2, 1, 0]
    """
    eta = np.where(np.isnan(graph.eta), -np.inf, graph.eta)
    return np.lexsort([graph.weights, -eta, graph.round == 0])[:n_most]


def table_of_edges(graph: Graph, colorings: Sequence[Coloring]) -> dict[str, Any]:
    """Names of the columns, and the rows as text."""
    columns = [
        "point",
        "point",
        "weight",
        "round",
        "eta",
        "why it is there",
        *(f"{way.what} of each" for way in colorings),
    ]
    rows = []
    for at in most_critical_edges(graph):
        p, q = int(graph.heads[at]), int(graph.tails[at])
        row = [str(p), str(q), f"{graph.weights[at]:.4g}", _round(int(graph.round[at])), _eta(graph.eta[at])]
        row.append(Origin(graph.origin[at]).meaning)
        row += [f"{way.names[way.classes[p]]} | {way.names[way.classes[q]]}" for way in colorings]
        rows.append(row)
    return {"columns": columns, "rows": rows, "of": graph.n_edges}


def _round(number: int) -> str:
    return "start" if number == 0 else str(number)


def _eta(eta: float) -> str:
    return "" if np.isnan(eta) else f"{eta:.4g}"
