r"""LOBPCG: the smallest eigenpairs of a Laplacian by preconditioned conjugate gradients on a block (Knyazev 2001).

Each iteration takes the best vectors (Rayleigh-Ritz) from the span of the current ones X, their preconditioned residuals
W = M (L X - X diag(theta)), and the last directions P. It ends when the *wanted* vectors have converged; a few extra ones in the block
only speed them up. Columns that have converged bring no new residual (soft locking). Rayleigh-Ritz drops directions that the
basis already holds, so dependent columns do no harm.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]

DEPENDENT = 1e-14  # relative size below which a direction counts as held by the others


def lobpcg(
    L: sp.csr_array, X: Floats, inverse: Map, project: Map, *, wanted: int, tol: float, max_iterations: int
) -> tuple[Floats, Floats]:
    """The smallest eigenvalues of L on the range of `project`, and their vectors, from the start X (N x block).

    Parameters
    ----------
    inverse : preconditioner, maps N x m to N x m
    project : orthogonal projection on the complement of the null space
    wanted : how many pairs must reach |L u - lambda u| <= tol * lambda
    """
    n, block = X.shape
    S, LS = np.zeros((n, 3 * block)), np.zeros((n, 3 * block))  # columns: X, W, P
    X, theta = _start(L, project(X))
    S[:, :block], LS[:, :block] = X, L @ X
    n_last, rounding = 0, rounding_of(L)
    for _ in range(max_iterations):
        R = LS[:, :block] - S[:, :block] * theta
        open_columns = np.sqrt(np.einsum("ij,ij->j", R, R)) > tol * theta + rounding
        if not open_columns[:wanted].any():
            break
        W = project(inverse(R[:, open_columns]))
        X = S[:, :block]
        W -= X @ (X.T @ W)
        n_new = W.shape[1]
        # P lies right behind W; both move up when columns are locked.
        S[:, block + n_new : block + n_new + n_last] = S[:, 2 * block : 2 * block + n_last].copy()
        LS[:, block + n_new : block + n_new + n_last] = LS[:, 2 * block : 2 * block + n_last].copy()
        S[:, block : block + n_new], LS[:, block : block + n_new] = W, L @ W
        used = slice(0, block + n_new + n_last)
        theta, C = rayleigh_ritz(S[:, used].T @ S[:, used], S[:, used].T @ LS[:, used], block)
        step = C.copy()
        step[:block] = 0.0  # what the iteration added to X is the next direction P
        both = np.hstack([C, step])
        new, L_new = S[:, used] @ both, LS[:, used] @ both
        n_last = step.shape[1]
        S[:, :block], LS[:, :block] = new[:, :block], L_new[:, :block]
        S[:, 2 * block :], LS[:, 2 * block :] = new[:, block:], L_new[:, block:]
    return theta[:wanted], S[:, :wanted].copy()


def rounding_of(L: sp.csr_array) -> float:
    """What rounding alone leaves of the residual of a unit vector: no iteration gets below it."""
    return 8 * np.finfo(float).eps * float(L.diagonal().max())


def _start(L: sp.csr_array, X: Floats) -> tuple[Floats, Floats]:
    X = scipy.linalg.qr(X, mode="economic", check_finite=False)[0]
    theta, C = rayleigh_ritz(X.T @ X, X.T @ (L @ X), X.shape[1])
    return X @ C, theta


def rayleigh_ritz(B: Floats, A: Floats, k: int) -> tuple[Floats, Floats]:
    """The k smallest Ritz values of A y = theta B y and their coefficients; B may be singular.

    >>> theta, C = rayleigh_ritz(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[3.0, 3.0], [3.0, 3.0]]), 2)
    >>> theta.round(6)  # two equal vectors span one dimension
    array([3.])
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diag(B), np.finfo(float).tiny))
    size, V = scipy.linalg.eigh(scale[:, None] * B * scale)
    kept = size > DEPENDENT * size[-1]
    T = scale[:, None] * V[:, kept] / np.sqrt(size[kept])
    H = T.T @ A @ T
    theta, Y = scipy.linalg.eigh((H + H.T) / 2)
    return theta[:k], T @ Y[:, :k]
