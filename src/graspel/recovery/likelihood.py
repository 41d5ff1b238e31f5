r"""Likelihood: the weights that maximize a likelihood whose distances change with them, and a ridge.

On given edges, F = logdet L - sum w k is concave in the weights. By the matrix-tree theorem det L (without its zero
eigenvalue) is proportional to a sum of products of weights, one product per spanning tree, so its logarithm is convex
in log w. Therefore, at any w,

    F(w') >= sum l_e log w'_e - sum w'_e k_e + const,        l_e = w_e R_e, the leverage of an edge,

with equality at w' = w. The right side is largest at w' = l / k = w R / k, so this step cannot lower F: it is a
minorization-maximization (MM) step. It is repeated, and accelerated by Anderson's extrapolation in log w from the last
few steps; if the extrapolation lowers F, the plain step is taken instead. Leverages sum to N - 1, and that of a bridge
is 1, so the graph stays connected.

With noise in the signals the distances k change with the weights (:mod:`graspel.recovery.noise`), and the step stays
one that cannot lower the likelihood. A ridge makes weights more even: F - (rho / 2) sum w^2 gives the step
rho w^2 + k w = l, and R = k + rho w at its end. Where F has neither, a quasi-Newton method needs fewer evaluations
(:mod:`graspel.optimum.steps`).

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

from graspel.optimum.problem import NEGLIGIBLE
from graspel.runtime.types import Floats

TOL = 1e-3  # largest |R / k - 1| over the edges at which the iteration stops
MAX_ITER = 200  # largest number of iterations
STALLED = 20  # iterations without a larger objective after which the iteration stops
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
    >>> k = np.array([2.0, 1.0])
    >>> path = lambda w: State(float(np.log(3 * w.prod()) - w @ k), 1 / w, k)
    >>> best_weights(path, np.ones(2), tol=1e-6).weights  # R = 1 / w on the edges of a tree
    array([0.5, 1. ])
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
