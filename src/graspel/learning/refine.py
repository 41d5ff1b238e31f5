r"""Refinement: the weights that maximize the objective on the edges that are there.

On given edges, F = logdet L - sum w k with k = z_data + 4 beta is concave in the weights, and largest where effective
resistance is distance on every edge that keeps a weight:

    R_e = k_e where w_e > 0,        R_e <= k_e where w_e = 0.

The logarithm of det L is convex in log w (it is a sum of products of weights, over spanning trees). So at any w

    F(w') >= sum l_e log w'_e - sum w'_e k_e + const,        l_e = w_e R_e, the leverage of an edge,

with equality at w' = w, and the best w' of the right side, w' = l / k = w R / k, cannot lower F. This step is
repeated, and sped up by Anderson's extrapolation in log w (the last few steps tell where they lead); where the
extrapolation lowers F, the plain step is taken instead. Leverages sum to N - 1, and that of a bridge is 1: the graph
never falls apart.

A ridge evens weights out: F - (rho / 2) sum w^2 gives the step rho w^2 + k w = l, and R = k + rho w at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.linalg import effective_resistance
from graspel.linalg.edge_resistances import EdgeResistances

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT_NODES = 5000  # up to these resistances are computed, not estimated
TOL = 1e-3  # of R / k - 1 on the edges
MAX_ITER = 200
SKETCHED_ITER = 6  # ... where resistances are estimated: more would fit the error of the estimate
SKETCH_ERROR = 0.15
NEGLIGIBLE = 1e-3  # leverage of an edge that does not count
MEMORY = 6  # steps that the extrapolation looks back on
LONGEST = 2.0  # change of log w in one extrapolated step, at the most


class State(NamedTuple):
    """F at some weights, and the effective resistance R and the distance k of every edge there."""

    objective: float
    resistance: Floats
    distance: Floats


class Refined(NamedTuple):
    """Weights, their state, the gap max |R / k - 1| over the edges that count, and the number of iterations."""

    weights: Floats
    state: State
    gap: float
    n_iterations: int


Likelihood = Callable[[Floats], State]


def best_weights(
    likelihood: Likelihood, start: Floats, *, ridge: float = 0.0, tol: float = TOL, max_iter: int = MAX_ITER
) -> Refined:
    """Maximise a likelihood (less a ridge) from positive weights.

    Examples
    --------
    >>> triangle = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> found = best_weights(exact_likelihood(*triangle, 3, np.array([2.0, 2.0, 2.0])), np.ones(3), tol=1e-6)
    >>> found.weights.round(4)  # R = 2 / (3 w) on a triangle of equal weights
    array([0.3333, 0.3333, 0.3333])
    """
    x, extrapolate, known = np.log(start), Anderson(), -np.inf
    state = likelihood(start)
    for iteration in range(max_iter + 1):
        w = np.exp(x)
        leverage = w * state.resistance
        step = np.log(shrunk(leverage, state.distance, ridge)) - x
        gap = _gap(step, leverage)
        if gap <= tol or iteration == max_iter:
            break
        known = _penalized(state, w, ridge)
        further = x + extrapolate(x, step, np.sqrt(leverage))
        ahead = likelihood(np.exp(further))
        if not _penalized(ahead, np.exp(further), ridge) >= known:
            extrapolate = Anderson()
            further = x + step
            ahead = likelihood(np.exp(further))
        x, state = further, ahead
    return Refined(w, state, gap, iteration)


def shrunk(leverage: Floats, k: Floats, ridge: float) -> Floats:
    """The w with ridge w^2 + k w = leverage.

    >>> shrunk(np.array([0.0, 2.0]), np.array([1.0, 1.0]), 1.0), shrunk(np.array([0.5]), np.array([2.0]), 0.0)
    (array([0., 1.]), array([0.25]))
    """
    return 2 * leverage / (k + np.sqrt(k**2 + 4 * ridge * leverage))


def _penalized(state: State, w: Floats, ridge: float) -> float:
    return state.objective - ridge / 2 * float(w @ w)


def _gap(step: Floats, leverage: Floats) -> float:
    """How far R / k is from where it should be, on the edges that count; on the others it only must not be above 1."""
    counts = leverage > NEGLIGIBLE
    error = np.expm1(step)
    return float(max(np.abs(error[counts]).max(initial=0.0), error[~counts].max(initial=0.0)))


class Anderson:
    """Anderson's extrapolation of a fixed-point iteration x <- x + step(x), steps weighed by `scale`."""

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def __call__(self, x: Floats, step: Floats, scale: Floats) -> Floats:
        """The step to take from x."""
        self._points, self._steps = [*self._points, x][-MEMORY:], [*self._steps, step][-MEMORY:]
        if len(self._points) == 1:
            return step
        points, steps = np.diff(self._points, axis=0).T, np.diff(self._steps, axis=0).T
        share = np.linalg.lstsq(scale[:, None] * steps, scale * step, rcond=1e-8)[0]
        return np.clip(step - (points + steps) @ share, -LONGEST, LONGEST)


def exact_likelihood(heads: Ints, tails: Ints, n_nodes: int, k: Floats) -> Likelihood:
    """F and exact resistances on the edges of a small graph, whose distances k are of order one."""
    resistances = EdgeResistances(heads, tails, n_nodes)

    def likelihood(w: Floats) -> State:
        value, R = resistances(w)
        return State(value - float(w @ k), R, k)

    return likelihood


def sketched_likelihood(
    heads: Ints, tails: Ints, n_nodes: int, k: Floats, rng: np.random.Generator, n_jobs: int | None
) -> Likelihood:
    """Estimated resistances on the edges of a large graph (sorted, smaller node first); F is not looked at (NaN)."""
    seed = int(rng.integers(2**63))

    def likelihood(w: Floats) -> State:
        graph = Graph(n_nodes, heads, tails, w)
        R = effective_resistance(graph, error=SKETCH_ERROR, random_state=seed, n_jobs=n_jobs)
        return State(float("nan"), R.values, k)

    return likelihood


def refine_weights(
    graph: Graph, k: Floats, rng: np.random.Generator, *, tol: float = TOL, n_jobs: int | None = None
) -> tuple[Graph, Refined]:
    """The connected graph with the best weights for distances k of its edges, negligible edges left out.

    The weights it has are where the search starts.

    Above 5,000 nodes resistances are estimated, with a relative standard error of 0.15, and the gap is a root mean
    square, not a maximum: of the estimates, so that it cannot be smaller than their error.
    """
    unit = float(np.median(k))
    best = _refined_weights(graph.scaled(unit), k / unit, tol, rng, n_jobs)
    kept = best.weights * best.state.resistance > NEGLIGIBLE
    if not kept.all():
        graph = graph.with_weights(best.weights).with_only(kept)
        best = _refined_weights(graph, k[kept] / unit, tol, rng, n_jobs)
    state = State(best.state.objective, best.state.resistance * unit, best.state.distance * unit)
    weights = best.weights / unit
    return graph.with_weights(weights), best._replace(weights=weights, state=state)


def _refined_weights(graph: Graph, k: Floats, tol: float, rng: np.random.Generator, n_jobs: int | None) -> Refined:
    likelihood = edge_likelihood(graph, k, rng, n_jobs)
    if graph.n_nodes <= EXACT_NODES:
        return best_weights(likelihood, graph.weights, tol=tol)
    return plain_steps(likelihood, graph.weights, SKETCHED_ITER)


def edge_likelihood(graph: Graph, k: Floats, rng: np.random.Generator, n_jobs: int | None) -> Likelihood:
    """The likelihood on the edges of a graph: exact where it is small, with estimated resistances else."""
    edges = graph.heads, graph.tails, graph.n_nodes
    return exact_likelihood(*edges, k) if graph.n_nodes <= EXACT_NODES else sketched_likelihood(*edges, k, rng, n_jobs)


def plain_steps(likelihood: Likelihood, w: Floats, n_steps: int) -> Refined:
    """A few steps w <- w R / k, where F is not known; the gap is the root mean square of R / k - 1."""
    state = likelihood(w)
    for _ in range(n_steps):
        w = w * state.resistance / state.distance
        state = likelihood(w)
    return Refined(w, state, float(np.sqrt(np.mean((state.resistance / state.distance - 1) ** 2))), n_steps)


def calibrated_weights(k: Floats, n_nodes: int) -> Floats:
    """Weights 1 / k, scaled so that sum w k = N - 1, as at the optimum."""
    return (n_nodes - 1) / len(k) / k
