"""Thinning: which points and edges of a large graph are drawn.

First some points of every class, then the ends of the edges that the rounds added (the slider is about them), then the
ends of edges drawn at random, so that points are seen together with their edges and not as dust.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph

__all__ = ["MAX_EDGES", "MAX_POINTS", "Thinned", "thinned"]

MAX_POINTS = 15_000
MAX_EDGES = 25_000
OF_EACH_CLASS = 20


class Thinned(NamedTuple):
    """The nodes drawn and the edges drawn, sorted; both ends of an edge drawn are among the nodes."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]


def thinned(
    graph: Graph, classes: NDArray[np.integer], *, max_points: int = MAX_POINTS, max_edges: int = MAX_EDGES
) -> Thinned:
    """Choose what is drawn; all, if that is not too much. The same graph gives the same choice.

    Examples
    --------
    >>> path = Graph(100, np.arange(99), np.arange(1, 100), 1.0)
    >>> few = thinned(path, np.zeros(100, dtype=int), max_points=30)
    >>> len(few.nodes), len(few.edges) >= 10
    (30, True)
    """
    rng = np.random.default_rng(0)
    order = _late_first(graph, rng)
    nodes = np.arange(graph.n_nodes)
    if graph.n_nodes > max_points:
        shuffled = rng.permutation(graph.n_nodes)
        ends = np.stack([graph.heads[order], graph.tails[order]], axis=1).ravel()
        wanted = np.concatenate([_some_of_each(classes, shuffled)[: max_points // 2], ends, shuffled])
        first = np.sort(np.unique(wanted, return_index=True)[1])[:max_points]
        nodes = np.sort(wanted[first])
    drawn = np.zeros(graph.n_nodes, dtype=bool)
    drawn[nodes] = True
    edges = order[drawn[graph.heads[order]] & drawn[graph.tails[order]]][:max_edges]
    return Thinned(nodes, np.sort(edges))


def _late_first(graph: Graph, rng: np.random.Generator) -> NDArray[np.int64]:
    """The edges that the rounds added, then the others, in random order."""
    mixed = rng.permutation(graph.n_edges)
    late: NDArray[np.bool_] = graph.round[mixed] > 0
    return np.concatenate([mixed[late], mixed[~late]])


def _some_of_each(classes: NDArray[np.integer], shuffled: NDArray[np.int64]) -> NDArray[np.int64]:
    """A few random points of every class."""
    of_class = classes[shuffled]
    by_class = np.argsort(of_class, kind="stable")
    counts = np.bincount(of_class)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(shuffled)) - np.repeat(begins, counts)
    return shuffled[by_class[rank < OF_EACH_CLASS]]
