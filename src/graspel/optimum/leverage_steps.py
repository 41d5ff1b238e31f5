r"""Damped steps: the optimal weights on given edges, where resistances are too dear to be exact.

On given edges the optimum is the fixed point u = tau(u), where u = w k and tau = w R are the leverages. The step
u <- tau never lowers F (:mod:`graspel.optimum.refine`). With estimates of tau that are unbiased
(:mod:`graspel.linalg.edge_leverages`), the damped steps

    u <- u + a_t (tau - u),        a_t = 1, then smaller and smaller,

average over the errors of all steps (Robbins and Monro 1951). Each has fresh random numbers. Momentum, half of the last
change of log u, shortens the way of the directions in which F is flat.

References
----------
H. Robbins and S. Monro. A stochastic approximation method. Annals of Mathematical Statistics 22, 1951.

B. T. Polyak. Some methods of speeding up the convergence of iteration methods. USSR Computational Mathematics and
Mathematical Physics 4, 1964. Momentum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.linalg.edge_leverages import estimate_leverages
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats

BATCHES = 4  # batches of flows per step
SHRINK = 0.1  # smallest factor by which a step changes a weight; estimates of small leverages may be negative
LOWEST = 1e-9  # smallest u


class Steps(NamedTuple):
    """A number of steps of the same length a, with momentum."""

    number: int
    length: float
    momentum: float


FIRST = (Steps(14, 1.0, 0.5), Steps(6, 0.5, 0.5))  # from equal leverages
LATER = (Steps(6, 1.0, 0.5), Steps(4, 0.5, 0.5))  # from nearly optimal weights and few new edges
FINAL = (Steps(10, 1.0, 0.5), Steps(6, 0.5, 0.5), Steps(6, 0.25, 0.5), Steps(6, 0.12, 0.5))  # to small errors


def follow_leverages(
    graph: Graph, k: Floats, schedule: tuple[Steps, ...], rng: np.random.Generator, n_threads: int, detail: str = ""
) -> Floats:
    """The weights of the edges after all steps of the schedule, from those of the graph, which is connected.

    Examples
    --------
    >>> triangle = Graph(3, [0, 0, 1], [1, 2, 2], [1.0, 2.0, 3.0])
    >>> follow_leverages(triangle, np.full(3, 2.0), FINAL, np.random.default_rng(0), 1).round(2)
    array([0.33, 0.33, 0.33])
    """
    n = graph.n_nodes
    u = np.maximum(graph.weights * k, LOWEST)
    u *= (n - 1) / u.sum()
    before, done, total = np.log(u), 0, sum(steps.number for steps in schedule)
    for steps in schedule:
        for _ in range(steps.number):
            announce("optimizing weights", done / total, detail)
            found = estimate_leverages(graph.with_weights(u / k).adjacency, BATCHES, rng, n_threads=n_threads)
            now = np.log(u)
            after = np.maximum(u + steps.length * (found.leverage - u), SHRINK * u)
            u = np.maximum(after * np.exp(steps.momentum * np.clip(now - before, -1, 1)), LOWEST)
            u *= (n - 1) / u.sum()  # as at the optimum, and as the leverages of every graph (Foster)
            before, done = now, done + 1
    return u / k
