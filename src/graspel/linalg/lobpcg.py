r"""LOBPCG: the smallest eigenpairs of a Laplacian by preconditioned conjugate gradients on a block (Knyazev 2001).

Each iteration takes the best vectors (Rayleigh-Ritz) from the span of the current ones X, their preconditioned
residuals W = M (L X - X diag(theta)), and the last directions P. It ends when the *wanted* vectors have converged; a
few extra ones in the block only speed them up. Columns that have converged bring no new residual (soft locking).
Rayleigh-Ritz drops directions that the basis already holds, so dependent columns do no harm.

Converged means |r| <= tol * lambda for the residual r = L u - lambda u. Where heavy edges make rounding alone exceed
that and |r| no longer falls, r is measured in the norm of the inverse, sqrt(r'M r / lambda) <= tol: this norm damps
what heavy edges amplify, and bounds the relative error of the eigenvalue.
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
WIDE = 1e8  # Ritz values that span more than this are not found in one go


def lobpcg(
    L: Laplacian, X: Floats, inverse: Map, project: Map, *, wanted: int, block: int, tol: float, max_iterations: int
) -> tuple[Floats, Floats]:
    """The smallest eigenvalues of L on the range of `project`, and their vectors, from the start X.

    Parameters
    ----------
    X : array N x m, m >= block, of rank at least `block` on the range of `project`; the best of its span is the start
    inverse : preconditioner, maps N x m to N x m
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
    S, LS = np.zeros((len(X), 3 * block)), np.zeros((len(X), 3 * block))  # columns: X, W, P
    X = X @ C
    S[:, :block], LS[:, :block] = X, L @ X
    n_last, floor, size, best = 0, rounding(L, S[:, :block]), np.full(block, np.inf), BestAtFloor()
    for _ in range(max_iterations):
        X = S[:, :block]
        R = LS[:, :block] - X * theta
        before, size = size, column_norms(R)
        open_columns = np.flatnonzero(size > tol * theta)
        if not (open_columns < wanted).any():
            return theta[:wanted], orthonormalised(project(X[:, :wanted]))
        W = project(inverse(R[:, open_columns]))
        at_floor = size <= floor
        if at_floor[:wanted].all() or best.has_begun:
            damped = np.sqrt(np.abs(dots(R[:, open_columns], W)) / theta[open_columns])
            if best.is_final(damped[open_columns < wanted].max(), theta[:wanted], X[:, :wanted]):
                break
            unfinished = (damped > tol / 2) | ~(at_floor & (size > before / 2))[open_columns]
            open_columns, W = open_columns[unfinished], W[:, unfinished]
            if len(open_columns)==0: break
        W -= X @ (X.T @ W)
        n_new = W.shape[1]
        # P lies right behind W; both move up when columns are locked.
        S[:, block + n_new : block + n_new + n_last] = S[:, 2 * block : 2 * block + n_last].copy()
        LS[:, block + n_new : block + n_new + n_last] = LS[:, 2 * block : 2 * block + n_last].copy()
        S[:, block : block + n_new], LS[:, block : block + n_new] = W, L @ W
        used = slice(0, block + n_new + n_last)
        B = S[:, used].T @ S[:, used]
        A = S[:, used].T @ LS[:, used]
        A[:block] = A[:, :block].T
        ritz, C = rayleigh_ritz(B, A, block)
        if len(ritz) < block:
            break  # rounding has the last word
        theta = ritz
        step = C.copy()
        step[:block] = 0.0  # what the iteration added to X is the next direction P
        step -= C @ (C.T @ (B @ step))
        n_last = block
        X, P = S[:, used] @ C, project(S[:, used] @ step)
        S[:, :block], LS[:, :block] = X, L @ X  # afresh: what rounding adds to L X would stay and grow
        S[:, 2 * block :], LS[:, 2 * block :] = P, L @ P
    if best.has_begun:
        theta, X = best.theta, best.X
    else:
        X = S[:, :wanted]
    return theta[:wanted], orthonormalised(project(X[:, :wanted]))


class BestAtFloor:
    """The best pairs since rounding set a floor to the residuals, and whether it is time to leave it at that.

    Below the floor an iteration may as well do harm: it ends when the worst residual, in the norm of the inverse, was not
    halved in three iterations.
    """

    def __init__(self) -> None:
        self.worst, self.patience = np.inf, 8

    @property
    def has_begun(self) -> bool:
        return self.worst < np.inf

    def is_final(self, worst: float, theta: Floats, X: Floats) -> bool:
        """Take the next pairs, the worst of which has this residual."""
        self.patience = 8 if worst < self.worst / 2 else self.patience - 1
        if worst < self.worst:
            self.worst, self.theta, self.X = worst, theta.copy(), X.copy()
        return self.patience == 0


def rayleigh_ritz(B, A, k):
    theta, C = _ritz_pairs(B, A)
    return np.abs(theta[:k]), C[:, :k]


def _ritz_pairs(B: Floats, A: Floats) -> tuple[Floats, Floats]:
    """All theta, ascending, with A y = theta B y, and y with y'B y = 1; directions that the others hold are dropped."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(B), np.finfo(float).tiny))
    size, V = scipy.linalg.eigh(scale[:, None] * (B + B.T) * (scale / 2))
    kept = size > DEPENDENT * np.abs(size).max()
    T = scale[:, None] * V[:, kept] / np.sqrt(size[kept])
    H = T.T @ A @ T
    theta, Y = scipy.linalg.eigh((H + H.T) / 2)
    return theta, T @ Y


def orthonormalised(X: Floats) -> Floats:
    """The orthonormal columns nearest to those of X, which are so already up to rounding."""
    size, V = scipy.linalg.eigh(X.T @ X)
    return X @ ((V / np.sqrt(size)) @ V.T)


def rounding(L: Laplacian, X: Floats) -> Floats:
    """What rounding alone may leave of the residual of each column of X: no solver gets below it for sure."""
    return 512 * np.finfo(float).eps * float(L.diagonal().max()) * column_norms(X)


def column_norms(X: Floats) -> Floats:
    """Length of each column."""
    return np.sqrt(dots(X, X))


def dots(X: Floats, Y: Floats) -> Floats:
    """Inner product of each column of X with the same column of Y."""
    return np.einsum("ij,ij->j", X, Y)
