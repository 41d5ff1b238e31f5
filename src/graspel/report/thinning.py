"""Thinning: which points and edges of a large graph are drawn.

First the points that a list of the page names, then some points of every class, then the ends of the edges that the
rounds added (the slider shows these), then the ends of random edges, so that most points are drawn together with some
of their edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph

__all__ = ["MAX_EDGES", "MAX_POINTS", "Selection", "select_drawn"]

MAX_POINTS = 80_000  # points drawn; the report of MNIST holds all of its own, and stays under 15 MB
MAX_EDGES = 160_000  # edges drawn, for the same reason
PER_CLASS = 20  # points that every class keeps, so that small classes are not lost


class Selection(NamedTuple):
    """The nodes and the edges to draw, sorted; both ends of each of these edges are among the nodes."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]

    def places(self, points: NDArray[np.int64]) -> list[int]:
        """The places of points among those drawn; points that are not drawn are left out."""
        at = np.minimum(np.searchsorted(self.nodes, points), max(len(self.nodes) - 1, 0))
        found: list[int] = at[self.nodes[at] == points].tolist()
        return found


def select_drawn(
    graph: Graph,
    classes: NDArray[np.integer],
    listed: NDArray[np.integer] | None = None,
    *,
    max_points: int = MAX_POINTS,
    max_edges: int = MAX_EDGES,
) -> Selection:
    """Select what is drawn: everything, if that is not too much. The same graph gives the same selection.

    Examples
    --------
    >>> path = Graph(100, np.arange(99), np.arange(1, 100), 1.0)
    >>> few = select_drawn(path, np.zeros(100, dtype=int), max_points=30)
    >>> len(few.nodes), len(few.edges) >= 10
    (30, True)
    """
    rng = np.random.default_rng(0)
    order = _order_edges(graph, rng)
    nodes = np.arange(graph.n_nodes)
    if graph.n_nodes > max_points:
        shuffled = rng.permutation(graph.n_nodes)
        ends = np.stack([graph.heads[order], graph.tails[order]], axis=1).ravel()
        first = np.zeros(0, dtype=np.int64) if listed is None else np.asarray(listed, dtype=np.int64)
        some = _select_per_class(classes, shuffled)[: max_points // 2]
        wanted = np.concatenate([first, some, ends, shuffled])
        nodes = np.sort(wanted[np.sort(np.unique(wanted, return_index=True)[1])[:max_points]])
    drawn = np.zeros(graph.n_nodes, dtype=bool)
    drawn[nodes] = True
    edges = order[drawn[graph.heads[order]] & drawn[graph.tails[order]]][:max_edges]
    return Selection(nodes, np.sort(edges))


def _order_edges(graph: Graph, rng: np.random.Generator) -> NDArray[np.int64]:
    """The edges that the rounds added, then the others, each group in random order."""
    mixed = rng.permutation(graph.n_edges)
    added: NDArray[np.bool_] = graph.round[mixed] > 0
    return np.concatenate([mixed[added], mixed[~added]])


def _select_per_class(classes: NDArray[np.integer], shuffled: NDArray[np.int64]) -> NDArray[np.int64]:
    """A few random points of every class."""
    of_class = classes[shuffled]
    by_class = np.argsort(of_class, kind="stable")
    counts = np.bincount(of_class)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(shuffled)) - np.repeat(begins, counts)
    return shuffled[by_class[rank < PER_CLASS]]
