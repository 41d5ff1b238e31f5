r"""Refinement: the weights that maximize the objective on the edges that are there.

On given edges, F = logdet L - sum w k with k = z_data + 4 beta is concave in the weights, and largest where effective
resistance equals distance on every edge that keeps a weight:

    R_e = k_e where w_e > 0,        R_e <= k_e where w_e = 0.

By the matrix-tree theorem det L (without its zero eigenvalue) is proportional to a sum of products of weights, one
product per spanning tree, so its logarithm is convex in log w. Therefore, at any w,

    F(w') >= sum l_e log w'_e - sum w'_e k_e + const,        l_e = w_e R_e, the leverage of an edge,

with equality at w' = w. The right side is largest at w' = l / k = w R / k, so this step cannot lower F: it is a
minorization-maximization (MM) step. It is repeated, and accelerated by Anderson's extrapolation in log w from the last
few steps; if the extrapolation lowers F, the plain step is taken instead. Leverages sum to N - 1, and that of a bridge
is 1, so the graph stays connected.

This is for likelihoods that change with the weights, as with noise in the signals, and for a ridge. Where F is as
above, a quasi-Newton method needs fewer evaluations (:mod:`graspel.optimum.weights`).

A ridge makes weights more even: F - (rho / 2) sum w^2 gives the step rho w^2 + k w = l, and R = k + rho w at its end.

References
----------
D. R. Hunter and K. Lange. A tutorial on MM algorithms. The American Statistician 58, 2004.

D. G. Anderson. Iterative procedures for nonlinear integral equations. Journal of the ACM 12, 1965.

H. F. Walker and P. Ni. Anderson acceleration for fixed-point iterations. SIAM Journal on Numerical Analysis 49, 2011.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from graspel.graph import Graph
from graspel.linalg import effective_resistance
from graspel.linalg.components import is_connected
from graspel.linalg.edge_leverages import estimate_leverages
from graspel.linalg.edge_resistances import EdgeResistances
from graspel.optimum.leverage_steps import FINAL, FIRST, Steps, follow_leverages
from graspel.optimum.weights import largest_deviation, optimize_weights
from graspel.runtime.parallel import count_threads
from graspel.runtime.types import Floats, Ints

EXACT_NODES = 5000  # nodes up to which resistances are always computed exactly
EXACT_WORK = 1.5e11  # multiplications up to which they are exact in larger graphs: ten seconds for one evaluation
TOL = 1e-3  # largest |R / k - 1| over the edges at which the iteration stops
MAX_ITER = 200  # largest number of iterations with exact resistances
STALLED = 20  # iterations without a larger objective after which the iteration stops
SKETCH_ERROR = 0.15  # relative standard error of estimated resistances as a function of the weights
CHECKED_BATCHES = 16  # batches of flows from which the gap of estimated weights is measured
NEGLIGIBLE = 1e-3  # leverage up to which an edge is dropped: 1 is a bridge, (N - 1) / |E| the mean
MEMORY = 6  # steps that the extrapolation uses
SMALLEST_LOG = -200.0  # smallest log w, in units of log(1 / median k): so that no weight vanishes in rounding
MAX_STEP = 2.0  # largest change of log w in one extrapolated step


class State(NamedTuple):
    """F at some weights, and the effective resistance R and the distance k of every edge there."""

    objective: float
    resistance: Floats
    distance: Floats


class Refinement(NamedTuple):
    """Weights, their state, the gap max |R / k - 1| over the edges above NEGLIGIBLE, and the number of iterations."""

    weights: Floats
    state: State
    gap: float
    n_iterations: int


Likelihood = Callable[[Floats], State]


def best_weights(
    likelihood: Likelihood, start: Floats, *, ridge: float = 0.0, tol: float = TOL, max_iter: int = MAX_ITER
) -> Refinement:
    """The weights that maximize a likelihood minus a ridge, starting from positive weights.

    Examples
    --------
    >>> triangle = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> found = best_weights(exact_likelihood(*triangle, 3, np.array([2.0, 2.0, 2.0])), np.ones(3), tol=1e-6)
    >>> found.weights.round(4)  # R = 2 / (3 w) on a triangle of equal weights
    array([0.3333, 0.3333, 0.3333])
    """
    x, extrapolate = np.log(start), Anderson()
    state = likelihood(start)
    recent: deque[float] = deque(maxlen=STALLED)
    for iteration in range(max_iter + 1):
        w = np.exp(x)
        leverage = w * state.resistance
        step = np.log(solve_ridge_step(leverage, state.distance, ridge)) - x
        gap = _gap(step, leverage)
        current = _penalized_objective(state, w, ridge)
        # An MM step never lowers the objective, except by rounding errors.
        is_stalled = len(recent) == STALLED and current <= recent[0]
        if gap <= tol or is_stalled or iteration == max_iter:
            break
        recent.append(current)
        new_x = np.maximum(x + extrapolate(x, step, np.sqrt(leverage)), SMALLEST_LOG)
        new_state = likelihood(np.exp(new_x))
        if not _penalized_objective(new_state, np.exp(new_x), ridge) >= current:
            extrapolate = Anderson()
            new_x = np.maximum(x + step, SMALLEST_LOG)
            new_state = likelihood(np.exp(new_x))
        x, state = new_x, new_state
    return Refinement(w, state, gap, iteration)


def solve_ridge_step(leverage: Floats, k: Floats, ridge: float) -> Floats:
    """The positive w that solves ridge w^2 + k w = leverage.

    >>> solve_ridge_step(np.array([0.0, 2.0]), np.array([1.0, 1.0]), 1.0)
    array([0., 1.])
    >>> solve_ridge_step(np.array([0.5]), np.array([2.0]), 0.0)
    array([0.25])
    """
    return 2 * leverage / (k + np.sqrt(k**2 + 4 * ridge * leverage))


def _penalized_objective(state: State, w: Floats, ridge: float) -> float:
    return state.objective - ridge / 2 * float(w @ w)


def _gap(step: Floats, leverage: Floats) -> float:
    """The largest |R / k - 1| over edges above NEGLIGIBLE; below it only a positive R / k - 1 counts."""
    is_kept = leverage > NEGLIGIBLE
    error = np.expm1(step)
    return float(max(np.abs(error[is_kept]).max(initial=0.0), error[~is_kept].max(initial=0.0)))


class Anderson:
    """Anderson's extrapolation of a fixed-point iteration x <- x + step(x), with steps weighted by `scale`."""

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def __call__(self, x: Floats, step: Floats, scale: Floats) -> Floats:
        """The step to take from x."""
        self._points, self._steps = [*self._points, x][-MEMORY:], [*self._steps, step][-MEMORY:]
        if len(self._points) == 1:
            return step
        points, steps = np.diff(self._points, axis=0).T, np.diff(self._steps, axis=0).T
        coefficients = np.linalg.lstsq(scale[:, None] * steps, scale * step, rcond=1e-8)[0]
        return np.clip(step - (points + steps) @ coefficients, -MAX_STEP, MAX_STEP)


def exact_likelihood(
    heads: Ints, tails: Ints, n_nodes: int, k: Floats, resistances: EdgeResistances | None = None
) -> Likelihood:
    """F and exact resistances on the edges of a graph; distances k should be of order one."""
    resistances = resistances or EdgeResistances(heads, tails, n_nodes)

    def likelihood(w: Floats) -> State:
        value, R = resistances(w)
        return State(value - float(w @ k), R, k)

    return likelihood


def sketched_likelihood(
    heads: Ints, tails: Ints, n_nodes: int, k: Floats, rng: np.random.Generator, n_jobs: int | None
) -> Likelihood:
    """Estimated resistances on the edges of a large graph (sorted, smaller node first); F is not computed (NaN)."""
    seed = int(rng.integers(2**63))

    def likelihood(w: Floats) -> State:
        graph = Graph(n_nodes, heads, tails, w)
        R = effective_resistance(graph, error=SKETCH_ERROR, random_state=seed, n_jobs=n_jobs)
        return State(float("nan"), R.values, k)

    return likelihood


def refine_weights(
    graph: Graph, k: Floats, rng: np.random.Generator, *, tol: float = TOL, n_jobs: int | None = None
) -> tuple[Graph, Refinement]:
    """The connected graph with the best weights for distances k of its edges, without negligible edges.

    The iteration starts from the weights of the graph. Where exact resistances would take too long (EXACT_WORK),
    leverages are estimated (:mod:`graspel.optimum.leverage_steps`). The gap is then the root mean square over fresh
    estimates instead of the maximum, so it cannot be smaller than their error.
    """
    unit = float(np.median(k))
    best = _refine_edges(graph.scaled(unit), k / unit, tol, rng, n_jobs, (*FIRST, *FINAL[2:]))
    # Estimates of small leverages are all error; w k, an average over many, says the same at the optimum.
    R = best.state.resistance if np.isfinite(best.state.objective) else best.state.distance
    kept = find_needed(graph.heads, graph.tails, graph.n_nodes, best.weights * R)
    if not kept.all():
        graph = graph.with_weights(best.weights).with_only(kept)
        best = _refine_edges(graph, k[kept] / unit, tol, rng, n_jobs, FINAL[2:])
    state = State(best.state.objective, best.state.resistance * unit, best.state.distance * unit)
    weights = best.weights / unit
    return graph.with_weights(weights), best._replace(weights=weights, state=state)


def find_needed(
    heads: Ints, tails: Ints, n_nodes: int, leverage: Floats, negligible: float = NEGLIGIBLE
) -> NDArray[np.bool_]:
    """Mark the edges that are kept: those not negligible, and a spanning tree where these do not connect all nodes.

    >>> find_needed(np.array([0, 0, 1]), np.array([1, 2, 2]), 3, np.array([1e-5, 1.0, 1e-4]))
    array([False,  True,  True])
    """
    kept: NDArray[np.bool_] = leverage > negligible
    if not kept.all() and not is_connected(heads[kept], tails[kept], n_nodes):
        rank = np.empty(len(leverage))
        rank[np.argsort(-leverage, kind="stable")] = np.arange(1.0, len(leverage) + 1)  # distinct: the tree is unique
        tree = minimum_spanning_tree(sp.coo_array((rank, (heads, tails)), shape=(n_nodes, n_nodes)).tocsr())
        kept |= np.isin(rank, tree.data)
    return kept


def _refine_edges(
    graph: Graph,
    k: Floats,
    tol: float,
    rng: np.random.Generator,
    n_jobs: int | None,
    schedule: tuple[Steps, ...],
) -> Refinement:
    """The best weights on all edges of the graph; `schedule` is for estimates."""
    exact = exact_resistances(graph)
    if exact is None:
        return _follow_estimates(graph, k, rng, count_threads(n_jobs), schedule)
    edges = graph.heads, graph.tails, graph.n_nodes
    best = optimize_weights(*edges, k, graph.weights, tol=tol, two_sided=True, resistances=exact)
    gap = largest_deviation(best.weights * k, best.resistance / k - 1)
    return Refinement(best.weights, State(best.objective, best.resistance, k), gap, best.n_evaluations)


def _follow_estimates(
    graph: Graph, k: Floats, rng: np.random.Generator, n_threads: int, schedule: tuple[Steps, ...]
) -> Refinement:
    """Weights by damped steps, and fresh estimates of their resistances."""
    weights = follow_leverages(graph, k, schedule, rng, n_threads)
    adjacency = graph.with_weights(weights).adjacency
    R = estimate_leverages(adjacency, CHECKED_BATCHES, rng, n_threads=n_threads).leverage / weights
    state = State(float("nan"), R, k)
    is_kept = weights * k > NEGLIGIBLE  # estimates of small leverages are all error
    gap = float(np.sqrt(np.mean((R / k - 1)[is_kept] ** 2)))
    return Refinement(weights, state, gap, sum(steps.number for steps in schedule))


def exact_resistances(graph: Graph) -> EdgeResistances | None:
    """The exact resistances of the edges as a function of the weights; None if they would take too long."""
    resistances = EdgeResistances(graph.heads, graph.tails, graph.n_nodes)
    return resistances if graph.n_nodes <= EXACT_NODES or resistances.work <= EXACT_WORK else None


def run_plain_steps(likelihood: Likelihood, w: Floats, n_steps: int) -> Refinement:
    """A few steps w <- w R / k without looking at F; the gap is the root mean square of R / k - 1."""
    state = likelihood(w)
    for _ in range(n_steps):
        w = w * state.resistance / state.distance
        state = likelihood(w)
    return Refinement(w, state, float(np.sqrt(np.mean((state.resistance / state.distance - 1) ** 2))), n_steps)


def calibrated_weights(k: Floats, n_nodes: int) -> Floats:
    """Weights 1 / k, scaled so that sum w k = N - 1, as at the optimum."""
    return (n_nodes - 1) / len(k) / k
