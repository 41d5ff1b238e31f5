"""Provenance: the step of the method that added an edge to the graph, and a sentence that says why it is there."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from graspel.graph.names import find_node, shown_node

if TYPE_CHECKING:
    from graspel.graph.graph import Graph

__all__ = ["Origin", "why"]


class Origin(IntEnum):
    """Why an edge is in the graph: the step of the method that added it.

    Examples
    --------
    >>> Origin.JOIN.meaning
    'closest pair between two components'
    >>> Origin(1).label
    'neighbor'
    """

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Origin:
        """Make a member from its code and its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    GIVEN = 0, "edge of the graph that was given"
    NEIGHBOR = 1, "pair of nearest neighbors in the data"
    TREE = 2, "edge of a spanning tree"
    SPARSIFIER = 3, "off-tree edge kept by the spectral sparsifier"
    JOIN = 4, "closest pair between two components"
    CRITICAL = 5, "pair of large spectral distortion"
    LIKELY = 6, "pair without which the signals are much less likely"

    @property
    def label(self) -> str:
        """The name in lower case, as written to files."""
        return self.name.lower()


def why(graph: Graph, p: int | str, q: int | str) -> str:
    """Explain in one sentence why the edge between nodes `p` and `q` (numbers or names) is in the graph.

    Examples
    --------
    >>> from graspel import Graph
    >>> Graph(3, [0, 1], [1, 2], [1.0, 2.0], origin=[Origin.NEIGHBOR, Origin.JOIN], round=[0, 1]).why(1, 0)
    'Nodes 0 and 1 are joined, with weight 1: pair of nearest neighbors in the data, from the start.'
    """
    low, high = sorted((find_node(graph, p), find_node(graph, q)))
    at = _find_edge(graph, low, high)
    numbers = {"eta": graph.eta[at], "gradient": graph.gradient[at]}
    known = " and ".join(f"{name} {value:.4g}" for name, value in numbers.items() if not np.isnan(value))
    when = "from the start" if graph.round[at] == 0 else f"in round {graph.round[at]}"
    reason = f"{Origin(graph.origin[at]).meaning}, {when}{', with ' if known else ''}{known}"
    ends = f"{shown_node(graph, low)} and {shown_node(graph, high)}"
    return f"Nodes {ends} are joined, with weight {graph.weights[at]:.4g}: {reason}."


def _find_edge(graph: Graph, p: int, q: int) -> int:
    """The position of the edge (p, q) with p < q; raise if the graph does not have it."""
    first, last = np.searchsorted(graph.heads, [p, p + 1])
    at = int(first + np.searchsorted(graph.tails[first:last], q))
    if at < last and graph.tails[at] == q:
        return at
    if p < 0 or q >= graph.n_nodes:
        hint = f"Nodes are numbered from 0 to {graph.n_nodes - 1}."
        raise ValueError(f"edge ({p}, {q}) is not in the graph, so there is nothing to explain. {hint}")
    near = np.concatenate([graph.heads[graph.tails == p], graph.tails[graph.heads == p]])[:5].tolist()
    listed = ", ".join(shown_node(graph, node) for node in near) or "none"
    hint = f"Node {shown_node(graph, p)} is joined to {listed} (its first neighbors)."
    pair = f"({shown_node(graph, p)}, {shown_node(graph, q)})"
    raise ValueError(f"edge {pair} is not in the graph, so there is nothing to explain. {hint}")
