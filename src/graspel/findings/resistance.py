"""Resistance against distance: how well effective resistance on the graph estimates squared distance in the data."""

from __future__ import annotations

import numpy as np

from graspel.data.protocol import Data
from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.graph import Graph
from graspel.learning.certificate import resistance_against_distance
from graspel.linalg import effective_resistance, resistance_between
from graspel.runtime.types import Ints

RANDOM, NEAR, ON_EDGES = "random pairs", "near pairs without an edge", "edges"
NODES = 48  # random points; all 1,128 pairs of them are taken
NEAREST = 8  # points near each of these that are not its neighbors on the graph
EDGES = 200  # random edges
ERROR = 0.066  # relative standard error of estimates; up to 2 / ERROR^2 = 459 nodes in the pairs, R is exact instead


def compare_resistance(graph: Graph, points: Data, near: NearPoints, rng: np.random.Generator) -> Table:
    """Effective resistance and squared distance of random pairs, near pairs without an edge, and edges.

    Returns
    -------
    pairs : Table
        With the `kind` of each pair, its ends `head` and `tail`, its squared distance `z` in the data, in the unit of
        the edges' weights, and its effective resistance `R`.
    """
    nodes = np.sort(rng.choice(graph.n_nodes, min(NODES, graph.n_nodes), replace=False))
    i, j = np.triu_indices(len(nodes), 1)
    far = resistance_between(graph.adjacency, nodes, tol=1e-3, random_state=rng)[i, j]
    chosen = rng.choice(graph.n_edges, min(EDGES, graph.n_edges), replace=False)
    ends = np.stack([graph.heads[chosen], graph.tails[chosen]], axis=1)
    of_edges = effective_resistance(graph, ends, error=ERROR, random_state=rng).values
    close = _near_without_edge(graph, near, nodes)
    of_close = np.zeros(0)
    if len(close):
        of_close = effective_resistance(graph, close, error=ERROR, random_state=rng).values
    pairs = np.concatenate([np.stack([nodes[i], nodes[j]], axis=1), close, ends])
    columns = {
        "kind": np.repeat([RANDOM, NEAR, ON_EDGES], [len(i), len(close), len(ends)]),
        "head": pairs[:, 0],
        "tail": pairs[:, 1],
        "z": points.squared_distances(*pairs.T),
        "R": np.concatenate([far, of_close, of_edges]),
    }
    return Table(columns)


def describe_pairs(pairs: Table, kind: str) -> str:
    """How well R agrees with z on the pairs of one kind, in words."""
    correlation, ratio = resistance_against_distance(*(pairs[name][pairs["kind"] == kind] for name in ("R", "z")))
    return f"{kind}: r = {correlation:.2f}, median R/z = {ratio:.2f}"


def _near_without_edge(graph: Graph, near: NearPoints, nodes: Ints) -> Ints:
    """Pairs of each node with the points near it that are not its neighbors on the graph, as rows."""
    pairs = []
    for p in nodes.tolist():
        found = near.of(p)
        others = found[~np.isin(found, graph.adjacency[[p]].indices)][:NEAREST]
        pairs += [(p, int(q)) for q in others]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
