r"""Recovery of large graphs: the learner's edges, refined, less those that the signals can do without.

GRASPEL's loop gives the edges. Their weights are refined (:mod:`graspel.learning.refine`) to the distances
k = z - 2 s^2, the noise taken off. Without an edge of leverage l = w R the log-likelihood of M signals is smaller by

    M / 2 (-log(1 - l) - l)        (where w k = l, as at the best weights),

which is infinite for a bridge. An edge that costs more by the information criterion (log M for BIC) than twice this is
dropped. As the loss of one edge changes when others go, at most three in ten of the edges go at a time, the weakest
first and none of the spanning tree of the largest losses, so that the graph stays connected; weights are brought up to
date in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from graspel.graph import Graph
from graspel.learning.algorithm import Settings, learn
from graspel.learning.refine import (
    EXACT_NODES,
    Refined,
    calibrated_weights,
    edge_likelihood,
    plain_steps,
    refine_weights,
)
from graspel.points.prepared import Points
from graspel.recovery.noise import MOST_TAKEN
from graspel.runtime.parallel import count_threads

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_A_TIME = 0.3  # share of the edges that may be dropped in one round
STEPS = 3  # w <- w R / k, in every round before edges are judged,
STEPS_BY_ESTIMATE = 1  # ... and where resistances are estimated, which takes long
FEW = 0.002  # share of the edges below which it is not worth another round,
FEW_BY_ESTIMATE = 0.03  # ... and where resistances are estimated, as many are below their price by chance
SMALLEST = 1e-6  # of the median distance: nearer counts as that far apart


class Pruned(NamedTuple):
    """The graph, its refinement, and the way there: edges, and the smallest loss of one, in every round."""

    graph: Graph
    refined: Refined
    path: list[tuple[int, float]]


def recovered_from_neighbors(
    X: Floats,
    variance: float,
    price: float,
    tol: float,
    rng: np.random.Generator,
    n_neighbors: int,
    n_jobs: int | None,
) -> Pruned:
    """Recover the graph of signals (nodes x signals, each row of mean zero) with noise of this variance."""
    m = X.shape[1]
    points = Points(X, rng=rng, n_threads=count_threads(n_jobs))
    graph = learn(points, Settings(n_neighbors=n_neighbors, n_jobs=n_jobs), rng).graph
    k = distances(graph, X, variance)
    unit = float(np.median(k))
    k = k / unit
    graph = graph.with_weights(calibrated_weights(k, graph.n_nodes))
    path: list[tuple[int, float]] = []
    is_exact = graph.n_nodes <= EXACT_NODES
    while True:
        now = plain_steps(
            edge_likelihood(graph, k, rng, n_jobs), graph.weights, STEPS if is_exact else STEPS_BY_ESTIMATE
        )
        leverage = now.weights * now.state.resistance
        graph = graph.with_weights(leverage / k)  # one more step
        loss = m * lost_without(leverage)
        path.append((graph.n_edges, float(loss.min())))
        dropped = _weakest(graph, loss, price, max(1, int(AT_A_TIME * graph.n_edges)))
        if len(dropped) <= (FEW if is_exact else FEW_BY_ESTIMATE) * graph.n_edges:
            break
        kept = np.ones(graph.n_edges, dtype=bool)
        kept[dropped] = False
        graph, k = graph.with_only(kept), k[kept]
    graph, found = refine_weights(graph, k, rng, tol=tol, n_jobs=n_jobs)
    return Pruned(graph.scaled(1 / unit), found, path)


def distances(graph: Graph, X: Floats, variance: float) -> Floats:
    """Mean squared distances of the ends of every edge, the noise taken off."""
    z = np.concatenate(
        [
            ((X[graph.heads[part]] - X[graph.tails[part]]) ** 2).mean(axis=1)
            for part in np.array_split(np.arange(graph.n_edges), 1 + graph.n_edges * X.shape[1] // 10_000_000)
        ]
    )
    k = np.maximum(z - 2 * variance, (1 - MOST_TAKEN) * z)
    return np.maximum(k, SMALLEST * np.median(k))


def lost_without(leverage: Floats) -> Floats:
    """Twice the log-likelihood of one signal that is lost without an edge, -log(1 - l) - l (infinite for a bridge).

    >>> lost_without(np.array([0.5, 1.0])).round(3)
    array([0.193,   inf])
    """
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.minimum(leverage, 1.0)) - leverage


def _weakest(graph: Graph, loss: Floats, price: float, limit: int) -> Ints:
    """The edges that are not worth their price, at most `limit` of them, and none of the heaviest spanning tree."""
    cost = 1.0 / np.maximum(loss, np.finfo(float).tiny)
    rank = np.argsort(np.argsort(cost, kind="stable"), kind="stable") + 1.0  # distinct, so that the tree is unique
    tree = minimum_spanning_tree(sp.coo_array((rank, (graph.heads, graph.tails)), shape=(graph.n_nodes,) * 2).tocsr())
    free = np.ones(graph.n_edges, dtype=bool)
    free[np.isin(rank, tree.data)] = False
    weak = np.flatnonzero(free & (loss < price))
    return weak[np.argsort(loss[weak], kind="stable")[:limit]]
