r"""Solves: x with L x = b, for many right sides at once and again and again on one graph.

Conjugate gradients, preconditioned by approximate elimination, on all columns at once. A Laplacian is singular: b must
sum to zero on every component (what does not is projected away), and the solution returned does so too.

The residual that the recurrence carries along drifts from the true one b - L x. So the true one is measured at the end,
and the iteration restarted from there while that helps. Where heavy edges make rounding alone exceed the tolerance, the
error in the norm of the graph, |x - L^+ b|_L / |x|_L, decides whether the solve has converged: rounding a potential
next to a heavy edge leaves a large residual, and changes neither the other potentials nor the resistances.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.linalg.checked import checked_adjacency, checked_columns, checked_positive
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.laplacian import FlowLaplacian, laplacian_map, laplacian_of
from graspel.linalg.lobpcg import column_norms, dots, rounding

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

    Attributes
    ----------
    laplacian : CSR array
    residual_ : float
        Largest relative residual |b - L x| / |b| over the right sides of the last solve, b without its projected part.
    n_iterations_ : int
        Iterations it took.
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

    def __init__(self, adjacency: Any, *, random_state: int | np.random.Generator | None = 0) -> None:
        A = checked_adjacency(adjacency)
        self._laplacian_map = laplacian_map(A)
        is_matrix = not isinstance(self._laplacian_map, FlowLaplacian)
        self.laplacian = self._laplacian_map if is_matrix else laplacian_of(A)
        self._inverse = ApproximateElimination(A, np.random.default_rng(random_state))
        self.residual_ = 0.0
        self.n_iterations_ = 0
        self.converged_ = True

    def solve(self, b: ArrayLike, tol: float = 1e-8) -> Floats:
        """Solve for every column of b (N or N x m) to relative residual `tol`.

        Returns
        -------
        x : array of the shape of b, with mean zero on every component. A ConvergenceWarning says if `tol` was not met.
        """
        tol = checked_positive("tol", tol, "the relative residual |b - L x| / |b| wanted")
        B = checked_columns("b", b, self.laplacian.shape[0])
        scale = np.abs(B).max(axis=0, initial=0.0)
        scale[scale == 0] = 1.0  # columns of order one: their squares neither overflow nor vanish
        B = self._projected(B / scale)
        size = column_norms(B)
        size[size == 0] = 1.0
        X, R = np.zeros_like(B), B
        self.residual_, self.n_iterations_ = 1.0, 0
        for _ in range(1 + MAX_RESTARTS):
            X = X + self._conjugate_gradients(self._inverse.components.centred(R), tol * size)
            R = B - self._laplacian_map @ X
            before, self.residual_ = self.residual_, float((column_norms(R) / size).max(initial=0.0))
            if self.residual_ <= tol or self.residual_ > before / 2 or self.n_iterations_ >= MAX_ITERATIONS:
                break
        self.converged_ = self.residual_ <= tol or self._is_rounding(B, X, R, tol)
        if not self.converged_:
            warnings.warn(
                f"the solve reached a relative residual of {self.residual_:.1e}, not the {tol:.1e} asked for, in "
                f"{self.n_iterations_} iterations; use it with care, or allow a larger tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return (X * scale).reshape(np.shape(b))

    def _projected(self, B: Floats) -> Floats:
        """B less its means over the components; exactly zero where nothing but rounding is left of a column."""
        centred = self._inverse.components.centred
        projected = centred(centred(B))  # twice: the first time leaves what rounding makes of a large mean
        projected[:, column_norms(projected) <= 8 * np.finfo(float).eps * column_norms(B)] = 0.0
        return projected

    def _conjugate_gradients(self, B: Floats, target: Floats) -> Floats:
        """Iterate until the residual of each column, by the recurrence, meets its target, or none falls any more."""
        L, inverse = self._laplacian_map, self._inverse
        X, R = np.zeros_like(B), B.copy()
        Z = inverse(R)
        P, rz = Z.copy(), dots(R, Z)
        best, since_best = np.inf, 0
        while self.n_iterations_ < MAX_ITERATIONS:
            worst = float((column_norms(R) / target).max(initial=0.0))
            best, since_best = (worst, 0) if worst < best else (best, since_best + 1)
            if worst <= 1.0 or since_best > PATIENCE:
                break
            Q = L @ P
            step = _ratio(rz, dots(P, Q))
            X += step * P
            R -= step * Q
            Z = inverse(R)
            rz_before, rz = rz, dots(R, Z)
            P = Z + _ratio(rz, rz_before) * P
            self.n_iterations_ += 1
        return inverse.components.centred(X)

    def _is_rounding(self, B: Floats, X: Floats, R: Floats, tol: float) -> bool:
        """Whether each column's residual is that of rounding X, and its error in the norm of L within the tolerance."""
        at_rounding = column_norms(R) <= rounding(self._laplacian_map, X) + tol * column_norms(B)
        error, energy = np.abs(dots(R, self._inverse(R))), dots(B, X)
        return bool((at_rounding & (error <= tol**2 * energy)).all())


def _ratio(a: Floats, b: Floats) -> Floats:
    """The quotient a / b, and 0 where a column has converged to the last bit."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
