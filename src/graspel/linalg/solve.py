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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.graph.adjacency import check_adjacency
from graspel.linalg.approximate_factor import ApproximateFactor
from graspel.linalg.arguments import check_columns, check_positive
from graspel.linalg.laplacian import FlowLaplacian, laplacian_map, laplacian_of
from graspel.linalg.lobpcg import residual_rounding
from graspel.linalg.scale import scale_weights
from graspel.runtime.parallel import count_threads, map_blocks

Floats = NDArray[np.float64]

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
        self.laplacian = laplacian_of(A)
        self.n_threads = count_threads(n_jobs)
        A, self._unit = scale_weights(A)
        self._inverse = ApproximateFactor(A, np.random.default_rng(random_state), n_threads=self.n_threads)
        self._ordered_laplacian = laplacian_map(self._inverse.reorder(A))
        self.residual_ = 0.0
        self.n_iterations_ = 0
        self.converged_ = True

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
        columns = check_columns("b", b, self.laplacian.shape[0])
        B = np.ascontiguousarray(columns[self._inverse.order].T)  # vectors are rows from here on
        X = np.empty_like(B)

        def work(i: int) -> SolveResult:
            X[i], result = self._solve(B[i], tol)
            return result

        results = list(map_blocks(work, range(len(B)), self.n_threads))
        self.residual_ = max((result.residual for result in results), default=0.0)
        self.n_iterations_ = max((result.n_iterations for result in results), default=0)
        self.converged_ = all(result.converged for result in results)
        if not np.isfinite(X).all():
            raise ValueError(
                f"b has entries up to {np.abs(columns).max():g}: the solution exceeds the largest number of double "
                "precision. Scale b down, or the weights up."
            )
        return self._inverse.to_node_order(X).reshape(np.shape(b))

    def _solve(self, b: Floats, tol: float) -> tuple[Floats, SolveResult]:
        """Solve for one right side, in elimination order."""
        scale = np.abs(b).max(initial=0.0) or 1.0  # scaled to order one, squares neither overflow nor underflow
        b = self._project(b / scale)
        size = float(np.linalg.norm(b)) or 1.0
        x, r = np.zeros_like(b), b
        residual, n_iterations = 1.0, 0
        for _ in range(1 + MAX_RESTARTS):
            dx, more = self._conjugate_gradients(r, tol * size, MAX_ITERATIONS - n_iterations)
            x, n_iterations = x + dx, n_iterations + more
            r = b - self._ordered_laplacian @ x
            before, residual = residual, float(np.linalg.norm(r)) / size
            if residual <= tol or residual > before / 2 or n_iterations >= MAX_ITERATIONS:
                break
            r = self._center(r)
        converged = residual <= tol or self._is_rounding(b, x, r, tol)
        with np.errstate(over="ignore"):  # the caller refuses an infinite solution
            x = x / self._unit * scale
        return x, SolveResult(residual, n_iterations, converged)

    def _center(self, x: Floats) -> Floats:
        """Subtract the mean over every component from one vector."""
        return self._inverse.center_in_order(x[None])[0]

    def _precondition(self, x: Floats) -> Floats:
        """Apply the approximate inverse to one vector."""
        return self._inverse.solve_in_order(x[None])[0]

    def _project(self, b: Floats) -> Floats:
        """Subtract the means of b over the components; return exactly zero if only rounding errors remain."""
        projected = self._center(self._center(b))  # twice, to remove the rounding error that a large mean leaves
        is_rounding = np.linalg.norm(projected) <= 8 * np.finfo(float).eps * np.linalg.norm(b)
        return np.zeros_like(b) if is_rounding else projected

    def _conjugate_gradients(self, b: Floats, target: float, max_iterations: int) -> tuple[Floats, int]:
        """Iterate until the residual of the recurrence meets its target, or no longer decreases."""
        L = self._ordered_laplacian
        x, r = np.zeros_like(b), b.copy()
        z = self._precondition(r)
        p, rz = z, float(r @ z)
        best, since_best, n_iterations = np.inf, 0, 0
        while n_iterations < max_iterations:
            size = float(np.linalg.norm(r))
            best, since_best = (size, 0) if size < best else (best, since_best + 1)
            if size <= target or since_best > self._patience(size, x):
                break
            q = L @ p
            step = _ratio(rz, float(p @ q))
            x += step * p
            r -= step * q
            z = self._precondition(r)
            rz_before, rz = rz, float(r @ z)
            p = z + _ratio(rz, rz_before) * p
            n_iterations += 1
        return self._center(x), n_iterations

    def _patience(self, size: float, x: Floats) -> int:
        """The iterations without a smaller residual to wait for; few where wide weights make it all rounding error."""
        L = self._ordered_laplacian
        is_rounding = isinstance(L, FlowLaplacian) and size <= residual_rounding(L, x[None])[0]
        return STALLED_AT_ROUNDING if is_rounding else STALLED_ITERATIONS

    def _is_rounding(self, b: Floats, x: Floats, r: Floats, tol: float) -> bool:
        """Whether the residual is explained by rounding x, and the error in the energy norm is within the tolerance."""
        limit = residual_rounding(self._ordered_laplacian, x[None])[0] + tol * np.linalg.norm(b)
        error, energy = abs(float(r @ self._precondition(r))), float(b @ x)
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


def _ratio(a: float, b: float) -> float:
    """The quotient a / b, or 0 if b is not positive because the residual is zero."""
    return a / b if b > 0 else 0.0
