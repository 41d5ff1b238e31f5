r"""LOBPCG: the smallest eigenpairs of a Laplacian by preconditioned conjugate gradients on a block (Knyazev 2001).

Each iteration takes the best vectors (Rayleigh-Ritz) from the span of the current ones X, their preconditioned
residuals W = M (L X - X diag(theta)), and the last directions P. It ends when the *wanted* vectors have converged; a
few extra ones in the block only speed them up. Columns that have converged bring no new residual (soft locking).
Rayleigh-Ritz drops directions that the basis already holds, so dependent vectors do no harm. Vectors are rows here.

Rounding is kept from growing: W and P are orthogonal to X and to the null space, and L X and L P, which follow from L S
as X and P from S, are computed afresh where rounding could matter.

Converged means |r| <= tol * lambda for the residual r = L u - lambda u; or, where that is enough, the same in the norm
of the inverse, sqrt(r'M r / lambda) <= tol, which damps what heavy edges amplify and bounds the relative error of the
eigenvalue. Heavy edges can make rounding alone exceed the first. There the second takes over: the iteration ends when
it no longer falls, with the best it has seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from graspel.linalg.laplacian import Laplacian
from graspel.linalg.vectors import combine, dots, lengths, map_each, products

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]

DEPENDENT = 1e-12  # relative size (squared) below which a direction counts as held by the others
FRESH = 100  # residuals of this many times their rounding are computed afresh, not by recurrence
PATIENCE = 8  # iterations without a gain of two, at the level of rounding, after which it is left at that


def lobpcg(
    L: Laplacian,
    start: Floats,
    inverse: Map,
    project: Map,
    *,
    wanted: int,
    block: int,
    tol: float,
    max_iterations: int,
    energy: bool = False,
    n_threads: int = 1,
) -> tuple[Floats, Floats]:
    """The smallest eigenvalues of L on the range of `project`, and their vectors as rows.

    Parameters
    ----------
    start : array m x N, m >= block, of rank at least `block` on the range of `project`; the best of its span is taken
    inverse : preconditioner M, maps the rows of an m x N array
    project : orthogonal projection of the rows of an m x N array on the complement of the null space
    wanted : how many pairs must converge
    block : how many are iterated, at least `wanted`
    energy : whether a residual within `tol` in the norm of the inverse is enough

    Returns
    -------
    values : array of `wanted`, ascending
    vectors : array wanted x N, orthonormal rows
    """

    def laplacian(V: Floats) -> Floats:
        return map_each(L.__matmul__, V, n_threads)

    def finished(X: Floats) -> tuple[Floats, Floats]:
        return final_pairs(laplacian, project(X))

    X = project(start)
    theta, C = rayleigh_ritz(products(X, X, n_threads), products(X, laplacian(X), n_threads), block)
    S, LS = np.zeros((3 * block, X.shape[1])), np.zeros((3 * block, X.shape[1]))  # rows: X, P, W
    X = combine(C.T, X, n_threads, out=S[:block])
    LS[:block] = laplacian(X)
    n_last, size, floor, best = 0, np.full(block, np.inf), rounding(L, X), BestAtRounding()
    for _ in range(max_iterations):
        R = LS[:block] - theta[:, None] * X
        size_before, size = size, lengths(R)
        is_open = size > tol * theta
        if not is_open[:wanted].any():
            return finished(X[:wanted])
        opened, R = np.flatnonzero(is_open), R[is_open]
        W = project(inverse(R))
        damped = np.sqrt(np.abs(dots(R, W)) / theta[opened])
        if energy and (damped[opened < wanted] <= tol).all():
            return finished(X[:wanted])
        at_rounding = (size <= floor)[opened]
        if best.X is not None or at_rounding[opened < wanted].all():
            if best.is_final(damped[opened < wanted].max(), X[:wanted]):
                break
            no_gain = at_rounding & (damped <= tol / 2) & (2 * size > size_before)[opened]
            opened, W = opened[~no_gain], W[~no_gain]
            if not (opened < wanted).any():
                return finished(X[:wanted])
        W -= combine(products(W, X, n_threads), X, n_threads)
        new = slice(block + n_last, block + n_last + len(W))
        S[new], LS[new] = W, laplacian(W)
        used = slice(0, new.stop)
        B, A = products(S[used], S[used], n_threads), products(S[used], LS[used], n_threads)
        A[:block] = A[:, :block].T  # (L X)'S is more accurate than X'(L S), because L X is small
        ritz, C = rayleigh_ritz(B, A, block)
        if len(ritz) < block:
            break
        step = C.copy()
        step[:block] = 0.0  # what the iteration added to X is the next direction P,
        step -= C @ (C.T @ (B @ step))  # made orthogonal to the new X
        combine(np.hstack([C, step]).T, S[used], n_threads, out=S[: 2 * block])
        S[block : 2 * block] = project(S[block : 2 * block])
        theta = ritz
        if (size <= FRESH * floor).any():
            LS[: 2 * block] = laplacian(S[: 2 * block])
        else:
            combine(np.hstack([C, step]).T, LS[used], n_threads, out=LS[: 2 * block])
        n_last = block
    if best.X is None:
        return finished(X[:wanted])
    return finished(better_rows(laplacian, best.X, project(inverse(best.X))))


def better_rows(laplacian: Map, X: Floats, Y: Floats) -> Floats:
    """Row by row that of X or of Y with the smaller Rayleigh quotient, each made orthogonal to those above it.

    Where rounding ends the iteration, one more application of the inverse may still sharpen the smallest eigenvalues.
    """
    chosen = np.zeros((0, X.shape[1]))
    for x, y in zip(X, Y, strict=True):
        both = np.stack([x, y]) / np.maximum(lengths(np.stack([x, y])), np.finfo(float).tiny)[:, None]
        for _ in range(2):
            both -= (both @ chosen.T) @ chosen
        size = lengths(both)
        both = (both / np.maximum(size, np.finfo(float).tiny)[:, None])[size > 1e-3]  # less is mostly rounding
        both = both if len(both) else x[None]
        chosen = np.vstack([chosen, both[np.argmin(dots(both, laplacian(both)))]])
    return chosen


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


def final_pairs(laplacian: Map, X: Floats) -> tuple[Floats, Floats]:
    """Rayleigh quotients, ascending, and X with its rows made orthonormal, which they are already up to rounding."""
    X = scipy.linalg.qr(X.T, mode="economic", check_finite=False)[0].T.copy()
    theta = np.maximum(dots(X, laplacian(X)), np.finfo(float).tiny)
    order = np.argsort(theta, kind="stable")
    return theta[order], X[order]


def rounding(L: Laplacian, X: Floats) -> Floats:
    """What rounding may leave of the residual of each row of X: above this, an iteration can lower it."""
    return 512 * np.finfo(float).eps * float(L.diagonal().max()) * lengths(X)
