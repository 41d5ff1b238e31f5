r"""Solves: x with L x = b, for many right sides at once and again and again on one graph.

Conjugate gradients, preconditioned by approximate elimination, on all columns at once. A Laplacian is singular: b must sum to
zero on every component (what does not is projected away), and the solution returned does so too.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.linalg.elimination import ApproximateElimination

Floats = NDArray[np.float64]

MAX_ITERATIONS = 500


class LaplacianSolver:
    """A reusable solver for L x = b.

    Parameters
    ----------
    adjacency : sparse array, symmetric, non-negative
    random_state : seed or Generator for the sampled elimination

    Attributes
    ----------
    residual_ : largest relative residual |b - L x| / |b| of the last solve
    n_iterations_ : iterations it took

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> x = LaplacianSolver(path).solve(np.array([1.0, 0, -1]))
    >>> round(float(x[0] - x[2]), 6)  # effective resistance 1 + 1/2
    1.5
    """

    def __init__(self, adjacency: sp.csr_array, *, random_state: int | np.random.Generator | None = 0) -> None:
        A = sp.csr_array(adjacency, dtype=np.float64)
        self.laplacian = sp.csr_array(sp.diags_array(A.sum(axis=1)) - A)
        self._inverse = ApproximateElimination(A, np.random.default_rng(random_state))
        self.residual_ = 0.0
        self.n_iterations_ = 0

    def solve(self, b: Floats, tol: float = 1e-8) -> Floats:
        """Solve for every column of b (N or N x m) to relative residual `tol`."""
        B = self._inverse.components.centred(np.asarray(b, dtype=np.float64).reshape(len(b), -1))
        X = self._conjugate_gradients(B, tol)
        if self.residual_ > tol:
            warnings.warn(
                f"the solve reached a relative residual of {self.residual_:.1e}, not the {tol:.1e} asked for, in "
                f"{self.n_iterations_} iterations.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return X.reshape(np.shape(b))

    def _conjugate_gradients(self, B: Floats, tol: float) -> Floats:
        L, inverse = self.laplacian, self._inverse
        size = np.linalg.norm(B, axis=0)
        size[size == 0] = 1.0
        X, R = np.zeros_like(B), B.copy()
        Z = inverse(R)
        P, rz = Z.copy(), _dots(R, Z)
        for iteration in range(MAX_ITERATIONS + 1):
            self.residual_ = float((np.linalg.norm(R, axis=0) / size).max(initial=0.0))
            self.n_iterations_ = iteration
            if self.residual_ <= tol or iteration == MAX_ITERATIONS:
                break
            Q = L @ P
            step = _ratio(rz, _dots(P, Q))
            X += step * P
            R -= step * Q
            Z = inverse(R)
            rz_before, rz = rz, _dots(R, Z)
            P = Z + _ratio(rz, rz_before) * P
        return inverse.components.centred(X)


def _dots(A: Floats, B: Floats) -> Floats:
    return np.einsum("ij,ij->j", A, B)


def _ratio(a: Floats, b: Floats) -> Floats:
    """A / b, and 0 where a column has converged to the last bit."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
