r"""Likelihood: the weights that maximize a likelihood whose distances change with them, and a ridge.

On given edges, F = logdet L - sum w k is concave in the weights. By the matrix-tree theorem det L (without its zero
eigenvalue) is proportional to a sum of products of weights, one product per spanning tree, so its logarithm is convex
in log w. Therefore, at any w,

    F(w') >= sum l_e log w'_e - sum w'_e k_e + const,        l_e = w_e R_e, the leverage of an edge,

with equality at w' = w. The right side is largest at w' = l / k = w R / k, so this step cannot lower F: it is a
minorization-maximization (MM) step. It is repeated, and accelerated by Anderson's extrapolation in log w from the last
few steps; if the extrapolation lowers F, the plain step is taken instead. Leverages sum to N - 1, and that of a bridge
is 1, so the graph stays connected.

**Noise.** The likelihood of a graph given noisy signals is largest where resistance equals the squared distance of the
*denoised* signals. With A = (I + s^2 L)^-1, the Wiener filter, which GL-SigRep uses too,

    E[y y' | x] = A S A + s^2 (A - 11'/N),        S = XX'/M,

and k_pq = e_pq' E[yy'] e_pq. So the distances k change with the weights. The step stays one that cannot lower the
likelihood: it is a step of the EM algorithm (Dempster et al. 1977), and the filter is its E step.

**Ridge.** A ridge makes weights more even: F - (rho / 2) sum w^2 gives the step
rho w^2 + k w = l, and R = k + rho w at its end. Where F has neither, a quasi-Newton method needs fewer evaluations
(:mod:`graspel.optimum.steps`).

**Dense matrices.** The derivative of logdet T with respect to the weight of a pair is e_pq' T^-1 e_pq. For
T = L + 11'/N this is the effective resistance of the pair. Both come from one Cholesky factor: the value takes N^3 / 3
operations, and the inverse 2 N^3 / 3 more.

References
----------
A. P. Dempster, N. M. Laird and D. B. Rubin. Maximum likelihood from incomplete data via the EM algorithm. Journal of
the Royal Statistical Society B 39, 1977.

X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.

R. M. Foster. The average impedance of an electrical network. Contributions to Applied Mechanics (Reissner Anniversary
Volume), 1949.

D. R. Hunter and K. Lange. A tutorial on MM algorithms. The American Statistician 58, 2004.

D. G. Anderson. Iterative procedures for nonlinear integral equations. Journal of the ACM 12, 1965.

H. F. Walker and P. Ni. Anderson acceleration for fixed-point iterations. SIAM Journal on Numerical Analysis 49, 2011.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.factor.exact_factor import FOSTER_TOL
from graspel.optimum.problem import NEGLIGIBLE
from graspel.runtime.types import Floats, Ints

TOL = 1e-3  # largest |R / k - 1| over the edges at which the iteration stops
MAX_ITER = 200  # largest number of iterations
STALLED = 20  # iterations without a larger objective after which the iteration stops
MEMORY = 6  # steps that the extrapolation uses
SMALLEST_LOG = -200.0  # smallest log w, in units of log(1 / median k): so that no weight vanishes in rounding
MAX_STEP = 2.0  # largest change of log w in one extrapolated step

SMALLEST = 1e-6  # smallest squared distance k, as a share of the typical one: keeps weights of copies finite
SMALLEST_TYPICAL = 1e-10  # smallest typical squared distance, as a share of the largest; the median may be of copies
MAX_NOISE_SHARE = 0.9  # upper limit of the noise that is subtracted, as a share of a squared distance


class LikelihoodState(NamedTuple):
    """F at some weights, and the effective resistance R and the distance k of every edge there."""

    objective: float
    resistance: Floats
    distance: Floats


class BestWeights(NamedTuple):
    """Weights, their state, the gap max |R / k - 1| over the edges above NEGLIGIBLE, and the number of iterations."""

    weights: Floats
    state: LikelihoodState
    gap: float
    n_iterations: int


Likelihood = Callable[[Floats], LikelihoodState]


def best_weights(
    likelihood: Likelihood, start: Floats, *, ridge: float = 0.0, tol: float = TOL, max_iter: int = MAX_ITER
) -> BestWeights:
    """The weights that maximize a likelihood minus a ridge, starting from positive weights.

    Examples
    --------
    >>> k = np.array([2.0, 1.0])
    >>> path = lambda w: LikelihoodState(float(np.log(3 * w.prod()) - w @ k), 1 / w, k)
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
    return BestWeights(w, state, gap, iteration)


def solve_ridge_step(leverage: Floats, k: Floats, ridge: float) -> Floats:
    """The positive w that solves ridge w^2 + k w = leverage.

    >>> solve_ridge_step(np.array([0.0, 2.0]), np.array([1.0, 1.0]), 1.0)
    array([0., 1.])
    >>> solve_ridge_step(np.array([0.5]), np.array([2.0]), 0.0)
    array([0.25])
    """
    return 2 * leverage / (k + np.sqrt(k**2 + 4 * ridge * leverage))


def _penalized_objective(state: LikelihoodState, w: Floats, ridge: float) -> float:
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


def typical_distance(z: Floats) -> float:
    """The unit of squared distances: their median, unless nearly all of them are of copies.

    >>> typical_distance(np.array([0.0, 1.0, 2.0])), typical_distance(np.array([0.0, 0.0, 2.0]))
    (1.0, 2e-10)
    """
    return max(float(np.median(z)), SMALLEST_TYPICAL * float(z.max()))


def noisy_likelihood(heads: Ints, tails: Ints, S: Floats, variance: float, floor: float) -> Likelihood:
    """The likelihood of a graph, as a function of its weights, given the second moments S = XX'/M of noisy signals.

    `floor` is a lower limit for all distances k.
    """
    n = len(S)
    S = S - S.mean(axis=0) - S.mean(axis=1)[:, None] + S.mean()

    def distances(C: Floats) -> Floats:
        d = np.diag(C)
        return np.maximum(d[heads] + d[tails] - 2 * C[heads, tails], floor)

    plain = distances(S)

    def likelihood(w: Floats) -> LikelihoodState:
        T = laplacian_plus_mean(heads, tails, w, n)
        value, R = likelihood_terms(heads, tails, w, n, T)
        if variance == 0:
            return LikelihoodState(value - float(w @ plain), R, plain)
        L = T - 1.0 / n
        smoothed = variance * L
        smoothed.flat[:: n + 1] += 1
        smoothing, filtered = log_determinant(smoothed)
        A = filtered()
        k = distances(A @ S @ A + variance * A)
        return LikelihoodState(value - smoothing - float(np.sum(S * (L @ A))), R, k)

    return likelihood


def log_determinant(T: Floats) -> tuple[float, Callable[[], Floats]]:
    """Value of logdet T (-inf if T is not positive definite), and a function that computes the inverse of T.

    >>> value, inverse = log_determinant(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> round(float(np.exp(value)), 12), inverse().round(3)
    (3.0, array([[ 0.667, -0.333],
           [-0.333,  0.667]]))
    """
    # T is symmetric, so T.T is the same matrix in the column-major order that LAPACK needs, and no copy is made.
    factor, failed = dpotrf(T.T, lower=1)
    if failed:
        return -np.inf, lambda: np.full_like(T, np.nan)

    def inverse() -> Floats:
        half, _ = dpotri(factor, lower=1)  # the factor and `half` are zero above the diagonal
        full = half + half.T
        full.flat[:: len(full) + 1] /= 2
        return np.asarray(full)

    return 2 * float(np.log(np.diag(factor)).sum()), inverse


def laplacian_plus_mean(heads: Ints, tails: Ints, w: Floats, n_nodes: int) -> Floats:
    """L + 11'/N as a full matrix; it is regular, and its inverse gives the same resistances as L^+."""
    T = np.full((n_nodes, n_nodes), 1.0 / n_nodes)
    T[heads, tails] -= w
    T[tails, heads] -= w
    degrees = np.bincount(heads, w, n_nodes) + np.bincount(tails, w, n_nodes)
    T.flat[:: n_nodes + 1] += degrees
    return T


def edge_resistances(inverse: Floats, heads: Ints, tails: Ints) -> Floats:
    """Value of e_pq' T^-1 e_pq for the pairs (heads, tails), at least as large as its rounding error."""
    d = np.diag(inverse)
    R = d[heads] + d[tails] - 2 * inverse[heads, tails]
    return np.maximum(R, np.finfo(float).eps * (d[heads] + d[tails]))


def likelihood_terms(
    heads: Ints, tails: Ints, w: Floats, n_nodes: int, T: Floats | None = None
) -> tuple[float, Floats]:
    """The log-determinant of T = L + 11'/N and the resistances of all edges of a connected graph with positive weights.

    Cholesky's method is fast, but loses light edges beside very heavy ones to rounding. The leverages w R of all edges
    sum to N - 1 (Foster 1949), which shows whether this has happened. Then elimination without subtraction is used.

    >>> value, R = likelihood_terms(np.array([0, 1]), np.array([1, 2]), np.array([1e-20, 1e20]), 3)
    >>> R
    array([1.e+20, 1.e-20])
    """
    if T is None:
        T = laplacian_plus_mean(heads, tails, w, n_nodes)
    value, inverse = log_determinant(T)
    if np.isfinite(value):
        K = inverse()
        R = edge_resistances(K, heads, tails)
        if abs(float(w @ R) - (n_nodes - 1)) <= FOSTER_TOL * n_nodes:
            return value, np.maximum(R, 4 * np.finfo(float).eps * float(np.diag(K).max()))
    adjacency = np.zeros((n_nodes, n_nodes))
    adjacency[heads, tails] = adjacency[tails, heads] = w
    factor = DenseFactor(adjacency, np.zeros(n_nodes))
    return float(np.log(n_nodes)) + factor.logdet(), factor.resistances()[heads, tails]
