r"""LOBPCG: the smallest eigenpairs of a Laplacian by preconditioned conjugate gradients on a block (Knyazev 2001).

Each iteration takes the best vectors (Rayleigh-Ritz) from the span of the current ones X, their preconditioned
residuals W = M (L X - X diag(theta)), and the last directions P. It ends when the *wanted* vectors have converged; a
few extra ones in the block only speed them up. Columns that have converged bring no new residual (soft locking).
Rayleigh-Ritz drops directions that the basis already holds, so dependent columns do no harm.

Rounding is kept from growing: W and P are orthogonal to X and to the null space, and L X and L P are computed afresh.

Converged means |r| <= tol * lambda for the residual r = L u - lambda u. Heavy edges can make rounding alone exceed
that. There r is measured in the norm of the inverse, sqrt(r'M r / lambda), which damps what heavy edges amplify and
bounds the relative error of the eigenvalue; the iteration ends when this no longer falls, with the best it has seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from graspel.linalg.laplacian import Laplacian

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]

DEPENDENT = 1e-12  # relative size (squared) below which a direction counts as held by the others
PATIENCE = 8  # iterations without a gain of two, at the level of rounding, after which it is left at that


def lobpcg(
    L: Laplacian, X: Floats, inverse: Map, project: Map, *, wanted: int, block: int, tol: float, max_iterations: int
) -> tuple[Floats, Floats]:
    """The smallest eigenvalues of L on the range of `project`, and their vectors, from the start X.

    Parameters
    ----------
    X : array N x m, m >= block, of rank at least `block` on the range of `project`; the best of its span is the start
    inverse : preconditioner M, maps N x m to N x m
    project : orthogonal projection on the complement of the null space
    wanted : how many pairs must converge
    block : how many are iterated, at least `wanted`

    Returns
    -------
    values : array of `wanted`, ascending
    vectors : array N x wanted, orthonormal
    """
    X = project(X)
    theta, C = rayleigh_ritz(X.T @ X, X.T @ (L @ X), block)
    X = X @ C
    S, LS = np.zeros((len(X), 3 * block)), np.zeros((len(X), 3 * block))  # columns: X, W, P
    S[:, :block], LS[:, :block] = X, L @ X
    n_last, size, floor, best = 0, np.full(block, np.inf), rounding(L, X), BestAtRounding()
    for _ in range(max_iterations):
        R = LS[:, :block] - X * theta
        size_before, size = size, column_norms(R)
        open_columns = np.flatnonzero(size > tol * theta)
        if not (open_columns < wanted).any():
            return final_pairs(L, project(X[:, :wanted]))
        W = project(inverse(R[:, open_columns]))
        at_rounding = (size <= floor)[open_columns]
        if best.X is not None or at_rounding[open_columns < wanted].all():
            damped = np.sqrt(np.abs(dots(R[:, open_columns], W)) / theta[open_columns])
            if best.is_final(damped[open_columns < wanted].max(), X[:, :wanted]):
                break
            no_gain = at_rounding & (damped <= tol / 2) & (2 * size > size_before)[open_columns]
            open_columns, W = open_columns[~no_gain], W[:, ~no_gain]
            if not (open_columns < wanted).any():
                return final_pairs(L, project(X[:, :wanted]))
        W -= X @ (X.T @ W)
        n_new = W.shape[1]
        # P lies right behind W; both move up when columns are locked.
        S[:, block + n_new : block + n_new + n_last] = S[:, 2 * block : 2 * block + n_last].copy()
        LS[:, block + n_new : block + n_new + n_last] = LS[:, 2 * block : 2 * block + n_last].copy()
        S[:, block : block + n_new], LS[:, block : block + n_new] = W, L @ W
        used = slice(0, block + n_new + n_last)
        B, A = S[:, used].T @ S[:, used], S[:, used].T @ LS[:, used]
        A[:block] = A[:, :block].T  # (L X)'S is more accurate than X'(L S), because L X is small
        ritz, C = rayleigh_ritz(B, A, block)
        if len(ritz) < block:
            break
        step = C.copy()
        step[:block] = 0.0  # what the iteration added to X is the next direction P,
        step -= C @ (C.T @ (B @ step))  # made orthogonal to the new X
        theta, X, P = ritz, S[:, used] @ C, project(S[:, used] @ step)
        S[:, :block], LS[:, :block] = X, L @ X
        S[:, 2 * block :], LS[:, 2 * block :] = P, L @ P
        n_last = block
    return final_pairs(L, project(X[:, :wanted] if best.X is None else best.X))


class BestAtRounding:
    """The best vectors since residuals came down to the level of rounding, and whether to leave it at that.

    There an iteration may as well do harm, so the number that it should lower (the residual of the worst pair, in the
    norm of the inverse) must be halved within `PATIENCE` iterations.
    """

    def __init__(self) -> None:
        self.X: Floats | None = None
        self._worst, self._patience = np.inf, PATIENCE

    def is_final(self, worst: float, X: Floats) -> bool:
        """Take the next vectors."""
        self._patience = PATIENCE if worst < self._worst / 2 else self._patience - 1
        if worst < self._worst or self.X is None:
            self._worst, self.X = worst, X.copy()
        return self._patience == 0


def rayleigh_ritz(B: Floats, A: Floats, k: int) -> tuple[Floats, Floats]:
    """The k smallest Ritz values of A y = theta B y and their coefficients; B may be singular.

    Examples
    --------
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
    return np.maximum(theta[:k], np.finfo(float).tiny), T @ Y[:, :k]  # below zero is rounding


def final_pairs(L: Laplacian, X: Floats) -> tuple[Floats, Floats]:
    """Rayleigh quotients, ascending, and X made orthonormal, which it is already up to rounding."""
    X = scipy.linalg.qr(X, mode="economic", check_finite=False)[0]
    theta = np.maximum(dots(X, L @ X), np.finfo(float).tiny)
    order = np.argsort(theta, kind="stable")
    return theta[order], X[:, order]


def rounding(L: Laplacian, X: Floats) -> Floats:
    """What rounding may leave of the residual of each column of X: above this, an iteration can lower it."""
    return 512 * np.finfo(float).eps * float(L.diagonal().max()) * column_norms(X)


def column_norms(X: Floats) -> Floats:
    """Length of each column."""
    return np.sqrt(dots(X, X))


def dots(X: Floats, Y: Floats) -> Floats:
    """Inner product of each column of X with the same column of Y."""
    return np.einsum("ij,ij->j", X, Y)
