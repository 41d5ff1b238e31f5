r"""Pruning: recovery of large graphs from the learner's edges.

GRASPEL's loop gives the edges. Their weights are refined (:mod:`graspel.optimum.solver`) to the distances
k = z - 2 s^2, from which the noise has been subtracted. Removing an edge of leverage l = w R lowers the log-likelihood
of M signals by

    M / 2 (-log(1 - l) - l)        (where w k = l, as at the optimal weights),

which is infinite for a bridge. An edge is removed if twice this loss is below its price by the information criterion,
log M for BIC (Schwarz 1978). The loss of one edge changes when other edges are removed. So a round removes at most
three in ten of the edges, those of the smallest loss, and the weights are updated before the next round. Where hardly
an edge is left below its price, the weights are refined to their optimum, and the losses computed again. Edges of the
spanning tree of the largest losses are never removed, so that the graph stays connected.

The formula for the loss is the rank-one update of the determinant, det(L - w e e') = det(L) (1 - w R).

References
----------
G. Schwarz. Estimating the dimension of a model. The Annals of Statistics 6, 1978.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graspel.data.prepare import prepare_rows
from graspel.graph import Graph
from graspel.learning.run import run
from graspel.learning.settings import Settings
from graspel.linalg import effective_resistance
from graspel.linalg.components import spanning_forest
from graspel.linalg.factor.exact_factor import EdgeResistances
from graspel.neighbors.index import NeighborIndex
from graspel.optimum.columns import REFINE_WORK
from graspel.optimum.problem import calibrated_weights
from graspel.optimum.solver import refine_weights
from graspel.recovery.likelihood import MAX_NOISE_SHARE, SMALLEST, typical_distance
from graspel.recovery.recovered import Recovered
from graspel.runtime.parallel import count_threads
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

AT_A_TIME = 0.3  # largest share of the edges that one round removes
STEPS = 3  # updates w <- w R / k before the losses of a round are computed
SKETCH_ERROR = 0.15  # relative standard error of estimated resistances
STEPS_BY_ESTIMATE = 1  # the same where resistances are estimated, which takes longer
ROUGH = 1e-2  # gap of the weights at which the losses of edges are final
FEW = 0.002  # stop when a round would remove no more than this share of the edges
FEW_BY_ESTIMATE = 0.03  # the same where resistances are estimated; their error puts about this share below the price


def recover_by_pruning(
    X: Floats,
    variance: float,
    price: float,
    tol: float,
    rng: np.random.Generator,
    n_neighbors: int,
    n_jobs: int | None,
) -> Recovered:
    """Recover the graph of signals (nodes x signals, each row of mean zero) with noise of this variance."""
    m = X.shape[1]
    index = NeighborIndex.of_points(prepare_rows(X, rng=rng, n_threads=count_threads(n_jobs)), rng)
    graph = run(index, Settings(n_neighbors=n_neighbors, n_jobs=n_jobs), rng).graph
    k = distances(graph, X, variance)
    unit = float(np.median(k))
    k = k / unit
    graph = graph.with_weights(calibrated_weights(k, graph.n_nodes))
    path: list[tuple[int, float]] = []
    is_refined = False
    while True:
        announce("recovering", None, f"{graph.n_edges:,} edges left")
        exact = EdgeResistances(graph.heads, graph.tails, graph.n_nodes)
        is_exact = exact.work <= REFINE_WORK
        resistances = exact.resistances if is_exact else _estimates(graph, rng, n_jobs)
        leverage = _take_steps(resistances, graph.weights, k, STEPS if is_exact else STEPS_BY_ESTIMATE)
        graph = graph.with_weights(leverage / k)  # one more step
        loss = m * removal_loss(leverage)
        path.append((graph.n_edges, float(loss.min())))
        removed = _find_weakest(graph, loss, price, max(1, int(AT_A_TIME * graph.n_edges)))
        if len(removed) <= (FEW if is_exact else FEW_BY_ESTIMATE) * graph.n_edges:
            if is_refined or not is_exact:
                break
            # With many signals even a small leverage costs likelihood, and a few steps leave edges that would vanish.
            refined = refine_weights(graph, k, rng, tol=max(tol, ROUGH), n_jobs=n_jobs)
            graph, k, is_refined = refined.graph, refined.k, True
            continue
        is_refined = False
        kept = np.ones(graph.n_edges, dtype=bool)
        kept[removed] = False
        graph, k = graph.with_only(kept), k[kept]
    found = refine_weights(graph, k, rng, tol=tol, n_jobs=n_jobs)
    return Recovered(found.graph.scaled(1 / unit), found.support_gap, path, is_exact=is_exact)


def _estimates(graph: Graph, rng: np.random.Generator, n_jobs: int | None) -> Callable[[Floats], Floats]:
    """Estimated resistances of the edges as a function of the weights, always from the same random flows."""
    seed = int(rng.integers(2**63))

    def resistances(w: Floats) -> Floats:
        return effective_resistance(graph.with_weights(w), error=SKETCH_ERROR, random_state=seed, n_jobs=n_jobs).values

    return resistances


def _take_steps(resistances: Callable[[Floats], Floats], w: Floats, k: Floats, n_steps: int) -> Floats:
    """The leverages w R after a few steps w <- w R / k."""
    for _ in range(n_steps):
        w = w * resistances(w) / k
    return w * resistances(w)


def distances(graph: Graph, X: Floats, variance: float) -> Floats:
    """Mean squared distance between the two ends of every edge, less the noise."""
    z = np.concatenate(
        [
            ((X[graph.heads[part]] - X[graph.tails[part]]) ** 2).mean(axis=1)
            for part in np.array_split(np.arange(graph.n_edges), 1 + graph.n_edges * X.shape[1] // 10_000_000)
        ]
    )
    k = np.maximum(z - 2 * variance, (1 - MAX_NOISE_SHARE) * z)
    return np.maximum(k, SMALLEST * typical_distance(k))


def removal_loss(leverage: Floats) -> Floats:
    """Loss of twice the log-likelihood of one signal when an edge is removed, -log(1 - l) - l; infinite for a bridge.

    >>> removal_loss(np.array([0.5, 1.0])).round(3)
    array([0.193,   inf])
    """
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.minimum(leverage, 1.0)) - leverage


def _find_weakest(graph: Graph, loss: Floats, price: float, limit: int) -> Ints:
    """The edges of smallest loss, all below the price: at most `limit`, none of the spanning tree of largest losses."""
    cost = 1.0 / np.maximum(loss, np.finfo(float).tiny)
    weak = np.flatnonzero(~spanning_forest(graph.heads, graph.tails, cost, graph.n_nodes) & (loss < price))
    return weak[np.argsort(loss[weak], kind="stable")[:limit]]
