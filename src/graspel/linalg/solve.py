r"""Solves: x with L x = b, for many right sides at once and again and again on one graph.

Conjugate gradients, preconditioned by approximate elimination, several right sides at once by threads. A Laplacian is
singular: b must sum to zero on every component (what does not is projected away), and the solution returned does so
too.

The residual that the recurrence carries along drifts from the true one b - L x. So the true one is measured at the end,
and the iteration restarted from there while that helps. Where heavy edges make rounding alone exceed the tolerance, the
error in the norm of the graph, |x - L^+ b|_L / |x|_L, decides whether the solve has converged: rounding a potential
next to a heavy edge leaves a large residual, and changes neither the other potentials nor the resistances.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.graph.adjacency import check_adjacency
from graspel.linalg.checked import check_columns, check_positive
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.laplacian import laplacian_map, laplacian_of
from graspel.linalg.lobpcg import rounding
from graspel.runtime.parallel import count_threads, map_blocks

Floats = NDArray[np.float64]

MAX_ITERATIONS = 500
MAX_RESTARTS = 5
PATIENCE = 30  # iterations without a smaller residual after which rounding is all that is left


class LaplacianSolver:
    """A reusable solver for L x = b.

    Parameters
    ----------
    adjacency : sparse matrix of weights, or an object with such an `adjacency`
        Symmetric and non-negative; the diagonal is left out.
    random_state : int, Generator or None
        Seed of the sampled elimination.
    n_jobs : int or None
        Threads; None or -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    laplacian : CSR array
    residual_ : float
        Largest relative residual |b - L x| / |b| over the right sides of the last solve, b without its projected part.
    n_iterations_ : int
        Iterations that the slowest right side took.
    converged_ : bool
        Whether it was within the tolerance, or as close as rounding allows and within the tolerance in the norm of L.

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
        self._inverse = ApproximateElimination(A, np.random.default_rng(random_state), n_threads=self.n_threads)
        self._ordered_laplacian = laplacian_map(self._inverse.ordered(A))
        self.residual_ = 0.0
        self.n_iterations_ = 0
        self.converged_ = True

    def solve(self, b: ArrayLike, tol: float = 1e-8) -> Floats:
        """Solve for every column of b (N or N x m) to relative residual `tol`.

        Returns
        -------
        x : array of the shape of b, with mean zero on every component. A ConvergenceWarning says if `tol` was not met.
        """
        tol = check_positive("tol", tol, "the relative residual |b - L x| / |b| wanted")
        columns = check_columns("b", b, self.laplacian.shape[0])
        B = np.ascontiguousarray(columns[self._inverse.order].T)  # vectors are rows from here on
        X = np.empty_like(B)

        def work(i: int) -> Solve:
            X[i], solve = self._solve(B[i], tol)
            return solve

        solves = list(map_blocks(work, range(len(B)), self.n_threads))
        self.residual_ = max((solve.residual for solve in solves), default=0.0)
        self.n_iterations_ = max((solve.n_iterations for solve in solves), default=0)
        self.converged_ = all(solve.converged for solve in solves)
        if not self.converged_:
            warnings.warn(
                f"the solve reached a relative residual of {self.residual_:.1e}, not the {tol:.1e} asked for, in "
                f"{self.n_iterations_} iterations; use it with care, or allow a larger tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._inverse.in_node_order(X).reshape(np.shape(b))

    def _solve(self, b: Floats, tol: float) -> tuple[Floats, Solve]:
        """Solve for one right side, in elimination order."""
        scale = np.abs(b).max(initial=0.0) or 1.0  # of order one: squares neither overflow nor vanish
        b = self._projected(b / scale)
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
            r = self._center_rows(r)
        converged = residual <= tol or self._is_rounding(b, x, r, tol)
        return x * scale, Solve(residual, n_iterations, converged)

    def _center_rows(self, x: Floats) -> Floats:
        return self._inverse.centred_in_order(x[None])[0]

    def _inverted(self, x: Floats) -> Floats:
        return self._inverse.solve_in_order(x[None])[0]

    def _projected(self, b: Floats) -> Floats:
        """Take b's means over the components off; return exactly zero where nothing but rounding is left."""
        projected = self._center_rows(
            self._center_rows(b)
        )  # twice: the first leaves what rounding makes of a large mean
        is_rounding = np.linalg.norm(projected) <= 8 * np.finfo(float).eps * np.linalg.norm(b)
        return np.zeros_like(b) if is_rounding else projected

    def _conjugate_gradients(self, b: Floats, target: float, max_iterations: int) -> tuple[Floats, int]:
        """Iterate until the residual, by the recurrence, meets its target, or falls no more."""
        L = self._ordered_laplacian
        x, r = np.zeros_like(b), b.copy()
        z = self._inverted(r)
        p, rz = z, float(r @ z)
        best, since_best, n_iterations = np.inf, 0, 0
        while n_iterations < max_iterations:
            size = float(np.linalg.norm(r))
            best, since_best = (size, 0) if size < best else (best, since_best + 1)
            if size <= target or since_best > PATIENCE:
                break
            q = L @ p
            step = _ratio(rz, float(p @ q))
            x += step * p
            r -= step * q
            z = self._inverted(r)
            rz_before, rz = rz, float(r @ z)
            p = z + _ratio(rz, rz_before) * p
            n_iterations += 1
        return self._center_rows(x), n_iterations

    def _is_rounding(self, b: Floats, x: Floats, r: Floats, tol: float) -> bool:
        """Whether the residual is that of rounding x, and the error in the norm of L within the tolerance."""
        limit = rounding(self._ordered_laplacian, x[None])[0] + tol * np.linalg.norm(b)
        error, energy = abs(float(r @ self._inverted(r))), float(b @ x)
        return bool(np.linalg.norm(r) <= limit and error <= tol**2 * energy)


class Solve(NamedTuple):
    """How the solve of one right side went."""

    residual: float
    n_iterations: int
    converged: bool


def _ratio(a: float, b: float) -> float:
    """The quotient a / b, and 0 where there is nothing left to do."""
    return a / b if b > 0 else 0.0
