"""The table of edges: the most critical first, each with the reason why it is in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph, Origin

if TYPE_CHECKING:
    from graspel.report.contents import Coloring

__all__ = ["MAX_ROWS", "make_edge_table", "most_critical_edges"]

MAX_ROWS = 500  # edges in the table


def most_critical_edges(graph: Graph, n_most: int = MAX_ROWS) -> NDArray[np.int64]:
    """The edges that the rounds added, largest distortion first; then the longest (smallest weight) of the others.

    Examples
    --------
    >>> graph = Graph(4, [0, 1, 2], [1, 2, 3], [3.0, 1.0, 2.0], round=[0, 0, 1], eta=[np.nan, np.nan, 7.0])
    >>> most_critical_edges(graph).tolist()
    [2, 1, 0]
    """
    eta = np.where(np.isnan(graph.eta), -np.inf, graph.eta)
    return np.lexsort([graph.weights, -eta, graph.round == 0])[:n_most]


def make_edge_table(graph: Graph, colorings: Sequence[Coloring]) -> dict[str, Any]:
    """Names of the columns, and the rows as text."""
    columns = [
        "point",
        "point",
        "weight",
        "round",
        "eta",
        "why it is there",
        *(f"{coloring.kind} of each" for coloring in colorings),
    ]
    rows = []
    for edge in most_critical_edges(graph):
        p, q = int(graph.heads[edge]), int(graph.tails[edge])
        row = [str(p), str(q), f"{graph.weights[edge]:.4g}", _format_round(int(graph.round[edge]))]
        row += [_format_eta(graph.eta[edge]), Origin(graph.origin[edge]).meaning]
        row += [f"{c.names[c.classes[p]]} | {c.names[c.classes[q]]}" for c in colorings]
        rows.append(row)
    return {"columns": columns, "rows": rows, "n_edges": graph.n_edges}


def _format_round(number: int) -> str:
    return "start" if number == 0 else str(number)


def _format_eta(eta: float) -> str:
    return "" if np.isnan(eta) else f"{eta:.4g}"
