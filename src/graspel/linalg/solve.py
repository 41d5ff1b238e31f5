r"""Solve: x with L x = b, for many right sides on one graph.

The method is conjugate gradients, preconditioned by approximate elimination; threads work on several right sides. A
Laplacian is singular: b must sum to zero on every component (a part that does not is projected away), and so does the
solution.

The residual that the recurrence of conjugate gradients updates drifts away from the true residual b - L x. So the true
residual is computed at the end, and the iteration is restarted from it as long as this reduces it. With heavy edges the
rounding error of the residual alone may exceed the tolerance. Then the relative error in the energy norm,
|x - L^+ b|_L / |x|_L, decides whether the solve has converged: rounding a potential next to a heavy edge leaves a large
residual, but changes neither other potentials nor resistances.

References
----------
M. R. Hestenes and E. Stiefel. Methods of conjugate gradients for solving linear systems. Journal of Research of the
National Bureau of Standards, 49(6), 1952.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.graph.adjacency import check_adjacency, check_positive, check_vectors
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.laplacian import FlowLaplacian, laplacian_map, laplacian_of, scale_weights
from graspel.linalg.lobpcg import residual_rounding
from graspel.linalg.vectors import MIN_THREADED_LENGTH, dots, lengths, map_each
from graspel.runtime.parallel import count_threads, map_blocks, one_thread_per_call, row_blocks
from graspel.runtime.types import Floats

RIGHT_SIDES = 4  # right sides that are iterated together by one thread
RIGHT_SIDES_OF_MANY = 2  # the same above MANY nodes, to save memory: each of them takes about nine vectors
MANY = 500_000
MAX_ITERATIONS = 500  # for one right side, over all restarts
MAX_RESTARTS = 5  # from the true residual; each must halve it
STALLED_ITERATIONS = 30  # iterations without a smaller residual after which only rounding errors remain
STALLED_AT_ROUNDING = 5  # the same where the residual is no larger than rounding errors, with wide weights


class LaplacianSolver:
    """A reusable solver for L x = b.

    Parameters
    ----------
    adjacency : Graph, or sparse matrix or array of weights
        Symmetric and non-negative; the diagonal is ignored.
    random_state : int, Generator or None
        Seed of the approximate elimination.
    n_jobs : int or None
        Number of threads; None or -1 for all cores. It does not change the result.

    Attributes
    ----------
    laplacian : CSR array
    n_nodes : int
    residual_ : float
        Largest relative residual |b - L x| / |b| over the right sides of the last solve, with b after projection.
    n_iterations_ : int
        Largest number of iterations over the right sides of the last solve.
    converged_ : bool
        Whether every residual was within the tolerance, or as small as rounding allows and the error in the energy
        norm within the tolerance.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> x = LaplacianSolver(path).solve(np.array([1.0, 0, -1]))
    >>> round(float(x[0] - x[2]), 6)  # effective resistance 1 + 1/2
    1.5
    """

    def __init__(
        self,
        adjacency: Any,
        *,
        random_state: int | np.random.Generator | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        A = check_adjacency(adjacency)
        self._adjacency, self.n_nodes = A, A.shape[0]
        self.n_threads = count_threads(n_jobs)
        A, self._unit = scale_weights(A)
        self._inverse = ApproximateFactor(A, np.random.default_rng(random_state), n_threads=self.n_threads)
        self._ordered_laplacian = laplacian_map(self._inverse.reorder(A))
        self.residual_ = 0.0
        self.n_iterations_ = 0
        self.converged_ = True

    @cached_property
    def laplacian(self) -> sp.csr_array:
        """L = D - W as a sparse matrix."""
        return laplacian_of(self._adjacency)

    def solve(self, b: ArrayLike, tol: float = 1e-8) -> Floats:
        """Solve for every column of b (N or N x m) to relative residual `tol`.

        Returns
        -------
        x : array of the shape of b, with mean zero on every component
            A ConvergenceWarning is raised if `tol` was not met.
        """
        x = self.solve_silently(b, tol)
        if not self.converged_:
            warn_not_converged(self.residual_, tol)
        return x

    def solve_silently(self, b: ArrayLike, tol: float = 1e-8) -> Floats:
        """Solve as `solve` does, without a warning: the caller looks at `converged_`, or needs no accurate solution."""
        tol = check_positive("tol", tol, "the relative residual |b - L x| / |b| wanted")
        columns = check_vectors("b", b, self.n_nodes)
        B = np.ascontiguousarray(columns[self._inverse.order].T)  # vectors are rows from here on
        X = np.empty_like(B)

        def work(rows: slice) -> list[SolveResult]:
            X[rows], results = self._solve(B[rows], tol)
            return results

        n_threads = self.n_threads if B.shape[1] >= MIN_THREADED_LENGTH else 1
        with one_thread_per_call():
            size = RIGHT_SIDES if B.shape[1] <= MANY else RIGHT_SIDES_OF_MANY
            blocks = map_blocks(work, row_blocks(len(B), size), n_threads)
            results = [result for block in blocks for result in block]
        self.residual_ = max((result.residual for result in results), default=0.0)
        self.n_iterations_ = max((result.n_iterations for result in results), default=0)
        self.converged_ = all(result.converged for result in results)
        if not np.isfinite(X).all():
            raise ValueError(
                f"b has entries up to {np.abs(columns).max():g}: the solution exceeds the largest number of double "
                "precision. Scale b down, or the weights up."
            )
        return self._inverse.to_node_order(X).reshape(np.shape(b))

    def approximate_inverse(self, B: Floats) -> Floats:
        """Apply the preconditioner, the approximate elimination, to the columns of B (N x m): no iteration."""
        with one_thread_per_call(), np.errstate(over="ignore"):
            return self._inverse(B) / self._unit

    def _solve(self, B: Floats, tol: float) -> tuple[Floats, list[SolveResult]]:
        """Solve for a few right sides, the rows of B, in elimination order."""
        scale = np.abs(B).max(axis=1, initial=0.0, keepdims=True)
        scale[scale == 0] = 1.0  # scaled to order one, squares neither overflow nor underflow
        B = self._project(B / scale)
        size = lengths(B)
        size[size == 0] = 1.0
        X, R = B[:0], B.copy()
        residual, n_iterations = np.ones(len(B)), np.zeros(len(B), dtype=np.int64)
        opened = np.arange(len(B))
        for restart in range(1 + MAX_RESTARTS):
            open_R = R[opened] if restart else R  # the first time all are open, and no copy is needed
            dX, more = self._conjugate_gradients(open_R, tol * size[opened], MAX_ITERATIONS - int(n_iterations.max()))
            if restart:
                X[opened] += dX
            else:
                X = dX
            n_iterations[opened] += more
            for row in opened.tolist():
                np.subtract(B[row], self._ordered_laplacian @ X[row], out=R[row])
            before, residual[opened] = residual.copy(), lengths(R[opened]) / size[opened]
            goes_on = (residual > tol) & (residual <= before / 2) & (n_iterations < MAX_ITERATIONS)
            opened = opened[goes_on[opened]]
            if not len(opened):
                break
            R[opened] = self._inverse.center_in_order(R[opened])
        converged = [bool(residual[i] <= tol) or self._is_rounding(B[i], X[i], R[i], tol) for i in range(len(B))]
        with np.errstate(over="ignore"):  # the caller refuses an infinite solution
            X = X / self._unit * scale
        numbers = zip(residual.tolist(), n_iterations.tolist(), converged, strict=True)
        return X, [SolveResult(*result) for result in numbers]

    def _multiply(self, X: Floats) -> Floats:
        """Apply the Laplacian to the rows of X."""
        return map_each(self._ordered_laplacian.__matmul__, X)

    def _project(self, B: Floats) -> Floats:
        """Subtract the means of each row over the components; make a row exactly zero if only rounding remains."""
        center = self._inverse.center_in_order
        projected = center(center(B))  # twice, to remove the rounding error that a large mean leaves
        projected[lengths(projected) <= 8 * np.finfo(float).eps * lengths(B)] = 0.0
        return projected

    def _conjugate_gradients(self, B: Floats, target: Floats, max_iterations: int) -> tuple[Floats, NDArray[np.int64]]:
        """Iterate each right side until the residual of the recurrence meets its target, or no longer decreases.

        B is overwritten.
        """
        X, n_iterations = np.zeros_like(B), np.zeros(len(B), dtype=np.int64)
        opened, R = np.arange(len(B)), B
        P = self._inverse.solve_in_order(R)
        rz = dots(R, P)
        best, since_best = np.full(len(B), np.inf), np.zeros(len(B), dtype=np.int64)
        for iteration in range(max_iterations + 1):
            size = lengths(R)
            since_best = np.where(size < best, 0, since_best + 1)
            best = np.minimum(best, size)
            patience = self._patience(size, X, opened)
            goes_on = (size > target) & (since_best <= patience) & (iteration < max_iterations)
            if not goes_on.all():
                n_iterations[opened[~goes_on]] = iteration
                opened, R, P, target = opened[goes_on], R[goes_on], P[goes_on], target[goes_on]
                rz, best, since_best = rz[goes_on], best[goes_on], since_best[goes_on]
            if not len(opened):
                break
            Q = self._multiply(P)
            step = _ratios(rz, dots(P, Q))
            for i, row in enumerate(opened.tolist()):  # vector by vector, to save memory
                X[row] += step[i] * P[i]
                R[i] -= step[i] * Q[i]
            del Q
            Z = self._inverse.solve_in_order(R)
            rz_before, rz = rz, dots(R, Z)
            for p, z, ratio in zip(P, Z, _ratios(rz, rz_before), strict=True):
                np.add(z, ratio * p, out=p)
        return self._inverse.center_in_order(X), n_iterations

    def _patience(self, size: Floats, X: Floats, opened: NDArray[np.int64]) -> Floats:
        """The iterations without a smaller residual to wait for; few where wide weights make it all rounding error."""
        L = self._ordered_laplacian
        if not isinstance(L, FlowLaplacian):
            return np.full(len(size), float(STALLED_ITERATIONS))
        return np.where(size <= residual_rounding(L, X[opened]), float(STALLED_AT_ROUNDING), float(STALLED_ITERATIONS))

    def _is_rounding(self, b: Floats, x: Floats, r: Floats, tol: float) -> bool:
        """Whether the residual is explained by rounding x, and the error in the energy norm is within the tolerance."""
        limit = residual_rounding(self._ordered_laplacian, x[None])[0] + tol * np.linalg.norm(b)
        error, energy = abs(float(r @ self._inverse.solve_in_order(r[None])[0])), float(b @ x)
        return bool(np.linalg.norm(r) <= limit and error <= tol**2 * energy)


class SolveResult(NamedTuple):
    """Residual, number of iterations and convergence for one right side."""

    residual: float
    n_iterations: int
    converged: bool


def warn_not_converged(residual: float, tol: float) -> None:
    """Warn that some solves of a call did not reach the tolerance."""
    warnings.warn(
        f"the solve reached a relative residual of {residual:.1e}, not the {tol:.1e} asked for; use it with care, or "
        "allow a larger tol.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _ratios(a: Floats, b: Floats) -> Floats:
    """The quotients a / b, or 0 where b is not positive because the residual is zero."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
