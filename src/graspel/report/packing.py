"""Packing: which points and edges of a large graph are drawn, and numbers as text that a script unpacks quickly.

Drawn are first the points that a list of the page names, then some points of every class, then the ends of the edges
that the rounds added (the slider shows these), then the ends of random edges, so that most points are drawn together
with some of their edges.
"""

from __future__ import annotations

import base64
import math
from typing import Any, NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.runtime.types import Indices, Ints

MAX_POINTS = 80_000  # points drawn; the report of MNIST holds all of its own, and stays under 15 MB
MAX_EDGES = 160_000  # edges drawn, for the same reason
PER_CLASS = 20  # points that every class keeps, so that small classes are not lost


def pack(values: Any, dtype: str) -> str:
    """Numbers as base64 text: half the size of JSON, and a tenth of the time to read."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


def finite_or_none(value: float) -> float | None:
    """None, which is null in JSON, for numbers that are not finite.

    >>> finite_or_none(float("nan")), finite_or_none(2)
    (None, 2.0)
    """
    return float(value) if math.isfinite(value) else None


class Selection(NamedTuple):
    """The nodes and the edges to draw, sorted; both ends of each of these edges are among the nodes."""

    nodes: Ints
    edges: Ints

    def places(self, points: Ints) -> list[int]:
        """The places of points among those drawn; points that are not drawn are left out."""
        at = np.minimum(np.searchsorted(self.nodes, points), max(len(self.nodes) - 1, 0))
        found: list[int] = at[self.nodes[at] == points].tolist()
        return found


def select_drawn(
    graph: Graph,
    classes: Indices,
    listed: Indices | None = None,
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


def _order_edges(graph: Graph, rng: np.random.Generator) -> Ints:
    """The edges that the rounds added, then the others, each group in random order."""
    mixed = rng.permutation(graph.n_edges)
    added = graph.round[mixed] > 0
    return np.concatenate([mixed[added], mixed[~added]])


def _select_per_class(classes: Indices, shuffled: Ints) -> Ints:
    """A few random points of every class."""
    of_class = classes[shuffled]
    by_class = np.argsort(of_class, kind="stable")
    counts = np.bincount(of_class)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(shuffled)) - np.repeat(begins, counts)
    return shuffled[by_class[rank < PER_CLASS]]
