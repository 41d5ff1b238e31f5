r"""LOBPCG: the smallest eigenpairs of a Laplacian by preconditioned conjugate gradients on a block of vectors.

Each iteration computes the best vectors (Rayleigh-Ritz) in the span of the current vectors X, their preconditioned
residuals W = M (L X - X diag(theta)), and the last search directions P. It ends when the *wanted* vectors have
converged; a few extra vectors in the block make them converge faster. Converged vectors contribute no new residual
(soft locking). Rayleigh-Ritz drops directions that depend linearly on others, so the basis may be rank-deficient.
Vectors are rows here.

Two measures keep rounding errors from growing: W and P are made orthogonal to X and to the null space, and L X and L P,
which otherwise follow from L S by the same combination as X and P from S, are recomputed where rounding could matter.

A pair has converged if |r| <= tol * lambda for its residual r = L u - lambda u. If `energy` is set, the same in the
norm of the inverse is enough: sqrt(r'M r / lambda) <= tol. This norm gives less weight to errors along heavy edges, and
it bounds the relative error of the eigenvalue. With heavy edges the rounding error of r alone may exceed tol * lambda.
Then the iteration ends when the residual in the norm of the inverse no longer decreases, and returns the best vectors
so far. If weights differ by more than double precision can hold, rounding errors hide the small eigenvalues. The
residual in the norm of the inverse then stays above one, and the iteration gives up.

**Missing eigenvalues.** An iteration finds only eigenvectors that its start vectors have a part of. If two nodes have
the same neighbors, then the Laplacian, an exact elimination and so the start vectors treat both alike, and an
eigenvector that changes sign when the two are exchanged is never found. A random vector has a part of every
eigenvector. So after the iteration one random vector x, orthogonal to all vectors found, is iterated in the same way.
Its Rayleigh quotient theta falls towards the smallest eigenvalue that is left:

- theta < the largest eigenvalue found proves that one is missing (Courant and Fischer);
- if theta stays above it by a share e = 1 - largest / theta for k steps, then the Lanczos method would have missed an
  eigenvalue below with a probability of at most 1.648 N^(1/2) exp(-e^(1/2) (2k - 1)) (Kuczynski and Wozniakowski). The
  number of steps is chosen so that this is 1e-3, and somewhat larger, because the elimination is only approximate.

The vectors found include the extra ones of the block. So there is a gap after the eigenvalues wanted, e is of order
one, and a dozen steps are enough. A step costs as much as one vector of the block in one iteration of LOBPCG.

**Why not scipy's LOBPCG?** With our preconditioner it is as fast: 10 pairs to 1e-4 take 1.89 processor seconds on a
grid of 300 x 300 (ours 1.78), .16 on the 3NN graph of USPS (.19), .16 on the learned graph of USPS (.15), by
``python -m benchmarks.kernels --only lobpcg``. It is not used because it

- takes 22 to 30 % more memory in these runs, elimination included, which decides how many points fit;
- has one absolute tolerance for all vectors of the block, and none in the norm of the inverse, in which the learner
  stops: that takes .7 of the time on the grid;
- fails without an error where start vectors depend on each other or on the null space, as the modes of the coarse graph
  and the vectors of a similar graph do;
- runs on one thread apart from BLAS, whose sums change with its threads.

References
----------
A. V. Knyazev. Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
method. SIAM Journal on Scientific Computing, 23(2), 2001.

J. Kuczynski and H. Wozniakowski. Estimating the largest eigenvalue by the power and Lanczos algorithms with a random
start. SIAM Journal on Matrix Analysis and Applications, 13(4), 1992.

B. N. Parlett. The Symmetric Eigenvalue Problem. SIAM, 1998. Chapter 13, on repeated eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.linalg

from graspel.linalg.laplacian import Laplacian
from graspel.linalg.vectors import (
    combine,
    dots,
    keep_rows,
    lengths,
    map_each,
    products,
    subtract_combination,
    subtract_multiples,
)
from graspel.runtime.types import Floats

DEPENDENT = 1e-12  # eigenvalue of the Gram matrix, relative to the largest, below which a direction is dropped
RECOMPUTE_BELOW = 100  # multiple of its rounding error below which a residual is recomputed, not updated
ITERATIONS_TO_HALVE = 8  # at the level of rounding, iterations allowed to halve the worst residual before giving up
USELESS = 1.0  # residual in the norm of the inverse above which a vector tells nothing of its eigenvector
MAX_STALLED_ITERATIONS = 15  # stop after this many iterations that do not halve a residual above USELESS
MAX_STEPS = 60  # iterations of the random vector, enough for a gap of e = 0.015 on a million nodes
CLOSE = 1e-4  # relative distance below the largest eigenvalue within which another one counts as equal to it
MISSED = 1e-3  # probability that an exact elimination would leave a missing eigenvalue undetected
SAFETY = 1.5  # steps taken, in units of those that an exact elimination would need

LinearMap = Callable[[Floats], Floats]


class Preconditioner(Protocol):
    """It is applied to the rows of an m x N array; the result may be written to `out`."""

    def __call__(self, V: Floats, *, out: Floats | None = None) -> Floats:
        """Apply it."""


# Longer than 60 lines, because the steps of one iteration share nearly all of their arrays.
def lobpcg(
    L: Laplacian,
    start: Floats,
    inverse: Preconditioner,
    project: LinearMap,
    *,
    wanted: int,
    block: int,
    tol: float | Floats,
    max_iterations: int,
    energy: bool = False,
    n_threads: int = 1,
) -> tuple[Floats, Floats, Floats]:
    """Compute the smallest eigenvalues of L on the range of `project`, and their vectors as rows.

    Parameters
    ----------
    start : array m x N, m >= block, of rank at least `block` after projection; the iteration starts from Ritz vectors
    inverse : preconditioner M, applied to the rows of an m x N array
    project : orthogonal projection of the rows of an m x N array onto the complement of the null space
    wanted : number of pairs that must converge
    block : number of pairs that are iterated, at least `wanted`
    tol : tolerance of all pairs, or of each pair of the block
    energy : whether a residual within `tol` in the norm of the inverse is enough

    Returns
    -------
    values : array of `wanted`, ascending
    vectors : array wanted x N, orthonormal rows
    extra : array (block - wanted) x N, the other rows of the block, which need not have converged
    """

    def laplacian(V: Floats, out: Floats | None = None) -> Floats:
        return map_each(L.__matmul__, V, n_threads, out=out)

    def project_in_place(V: Floats) -> None:
        map_each(lambda v: project(v[None])[0], V, n_threads, out=V)

    def finish(best: Floats) -> tuple[Floats, Floats, Floats]:
        return *final_pairs(laplacian, project(best)), X[wanted:].copy()

    tol = np.broadcast_to(np.asarray(tol, dtype=np.float64), block)
    X = project(start)
    theta, C = rayleigh_ritz(products(X, X, n_threads), products(X, laplacian(X), n_threads), block)
    del start
    S, LS = np.zeros((3 * block, X.shape[1])), np.zeros((3 * block, X.shape[1]))  # rows: X, P, W
    X = combine(C.T, X, n_threads, out=S[:block])
    laplacian(X, out=LS[:block])
    n_last, size, floor = 0, np.full(block, np.inf), residual_rounding(L, X)
    best, patience = BestAtRounding(), Patience(MAX_STALLED_ITERATIONS)
    for _ in range(max_iterations):
        # Vectors are many and long: residuals R and directions W are computed where L W and W will be.
        first = block + n_last
        R = LS[first : first + block]
        subtract_multiples(LS[:block], theta, X, n_threads, out=R)
        size_before, size = size, lengths(R, n_threads)
        is_open = size > tol * theta
        if not is_open[:wanted].any():
            return finish(X[:wanted])
        opened, R = np.flatnonzero(is_open), keep_rows(R, is_open)
        W = S[first : first + len(R)]
        inverse(R, out=W)
        project_in_place(W)
        energy_size = energy_norm(R, W, theta[opened], n_threads)
        if energy and (energy_size <= tol[opened])[opened < wanted].all():
            return finish(X[:wanted])
        worst = float(energy_size[opened < wanted].max())
        if patience.is_over(worst) and patience.best > USELESS:
            break
        at_rounding = (size <= floor)[opened]
        if best.X is not None or at_rounding[opened < wanted].all():
            if best.is_final(worst, X[:wanted]):
                break
            no_gain = at_rounding & (energy_size <= tol[opened] / 2) & (2 * size > size_before)[opened]
            opened, W = opened[~no_gain], keep_rows(W, ~no_gain)
            if not (opened < wanted).any():
                return finish(X[:wanted])
        subtract_combination(W, products(W, X, n_threads), X, n_threads)
        laplacian(W, out=LS[first : first + len(W)])
        used = slice(0, first + len(W))
        B, A = products(S[used], S[used], n_threads), products(S[used], LS[used], n_threads)
        A[:block] = A[:, :block].T  # (L X)'S is more accurate than X'(L S), because L X is small
        ritz, C = rayleigh_ritz(B, A, block)
        if len(ritz) < block:
            break
        step = C.copy()
        step[:block] = 0.0  # the change of X in this iteration is the next direction P,
        step -= C @ (C.T @ (B @ step))  # made orthogonal to the new X
        combine(np.hstack([C, step]).T, S[used], n_threads, out=S[: 2 * block])
        project_in_place(S[block : 2 * block])
        theta = ritz
        if (size <= RECOMPUTE_BELOW * floor).any():
            laplacian(S[: 2 * block], out=LS[: 2 * block])
        else:
            combine(np.hstack([C, step]).T, LS[used], n_threads, out=LS[: 2 * block])
        n_last = block
    if best.X is None:
        return finish(X[:wanted])
    return finish(choose_better_rows(laplacian, best.X, project(inverse(best.X))))


def choose_better_rows(laplacian: LinearMap, X: Floats, Y: Floats) -> Floats:
    """Choose for every row the one of X or of Y with the smaller Rayleigh quotient, orthogonal to the rows above it.

    If rounding errors end the iteration, Y, one more application of the inverse, may still improve the smallest pairs.
    """
    chosen = np.zeros((0, X.shape[1]))
    for x, y in zip(X, Y, strict=True):
        both = np.stack([x, y]) / np.maximum(lengths(np.stack([x, y])), np.finfo(float).tiny)[:, None]
        for _ in range(2):
            both -= (both @ chosen.T) @ chosen
        size = lengths(both)
        both = (both / np.maximum(size, np.finfo(float).tiny)[:, None])[
            size > 1e-3
        ]  # a shorter remainder is mostly rounding error
        both = both if len(both) else x[None]
        chosen = np.vstack([chosen, both[np.argmin(dots(both, laplacian(both)))]])
    return chosen


class Patience:
    """The decision to stop if the worst residual is not halved within a number of iterations."""

    def __init__(self, n_iterations: int) -> None:
        self.best = np.inf
        self._allowed = self._n_left = n_iterations

    def is_over(self, worst: float) -> bool:
        """Record the next worst residual; return whether to stop."""
        self._n_left = self._allowed if worst < self.best / 2 else self._n_left - 1
        if worst < self.best:
            self.best = worst
        return self._n_left <= 0


class BestAtRounding:
    """The best vectors since the residuals reached the level of rounding errors, and the decision to stop.

    At this level an iteration may also make vectors worse. So the residual of the worst pair, in the norm of the
    inverse, must be halved within `ITERATIONS_TO_HALVE` iterations; otherwise the iteration stops.
    """

    def __init__(self) -> None:
        self.X: Floats | None = None
        self._patience = Patience(ITERATIONS_TO_HALVE)

    def is_final(self, worst: float, X: Floats) -> bool:
        """Record the next vectors and their worst residual; return whether to stop."""
        if worst < self._patience.best or self.X is None:
            self.X = X.copy()
        return self._patience.is_over(worst)


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
    return np.maximum(theta[:k], np.finfo(float).tiny), T @ Y[:, :k]  # a negative value is a rounding error


def final_pairs(laplacian: LinearMap, X: Floats) -> tuple[Floats, Floats]:
    """Ascending Rayleigh quotients of the rows of X, and these rows, orthonormal to machine precision."""
    X = orthonormal_rows(X)
    theta = np.maximum(dots(X, laplacian(X)), np.finfo(float).tiny)
    order = np.argsort(theta, kind="stable")
    return theta[order], X[order]


def energy_norm(R: Floats, W: Floats, theta: Floats, n_threads: int = 1) -> Floats:
    """(r'M r / theta)^(1/2) for each row r of R, with W = M R; infinite where theta was lost to rounding."""
    with np.errstate(over="ignore"):
        return np.sqrt(np.abs(dots(R, W, n_threads)) / theta)


def orthonormal_rows(X: Floats) -> Floats:
    """An orthonormal basis of the rows of X."""
    return scipy.linalg.qr(X.T, mode="economic", check_finite=False)[0].T.copy()


def residual_rounding(L: Laplacian, X: Floats) -> Floats:
    """Estimate of the rounding error in the residual of each row of X; a larger residual can still be reduced."""
    return 512 * np.finfo(float).eps * float(L.diagonal().max()) * lengths(X)


def find_missing(
    L: Laplacian,
    start: Floats,
    inverse: LinearMap,
    project: LinearMap,
    found: Floats,
    largest: float,
    *,
    n_threads: int = 1,
) -> Floats | None:
    """A vector orthogonal to the rows of `found` whose Rayleigh quotient is below `largest`; None if there is none.

    Parameters
    ----------
    start : array of N, a random vector
    inverse, project : preconditioner and projection, as in :func:`graspel.linalg.lobpcg.lobpcg`
    found : array m x N, orthonormal rows
    largest : float, the largest eigenvalue that was wanted
    """

    def restrict(V: Floats) -> Floats:
        V = project(V)
        for _ in range(2):  # twice, because the first leaves rounding errors of the long part that it removes
            V = V - combine(products(V, found, n_threads), found, n_threads)
        return V / np.maximum(np.sqrt(np.einsum("ij,ij->i", V, V)), np.finfo(float).tiny)[:, None]

    S = restrict(inverse(restrict(start[None])))  # rows: x, and from the second step on the direction and the residual
    for step in range(1, MAX_STEPS + 1):
        LS = np.stack([L @ s for s in S])
        theta, C = rayleigh_ritz(S @ S.T, S @ LS.T, 1)
        x = C.T @ S
        if theta[0] < (1 - CLOSE) * largest:
            x = restrict(x)  # measured again: directions that nearly depend on each other give a wrong theta
            if float(x[0] @ (L @ x[0])) < (1 - CLOSE) * largest:
                return x[0]
            S = x
            continue
        if step >= count_steps(1 - largest / theta[0], len(start)):
            return None
        w = project(inverse(C.T @ LS - theta[0] * x))
        C[0] = 0.0
        S = restrict(np.vstack([x, C.T @ S, w]) if len(S) > 1 else np.vstack([x, w]))
    return None


def count_steps(gap: float, n_nodes: int) -> float:
    """Steps after which a missing eigenvalue would have been detected, if those left lie above by this relative gap.

    >>> [round(count_steps(gap, 100_000)) for gap in (0.5, 0.1, 0.0)]
    [15, 32, 60]
    """
    exponent = np.log(1.648 * np.sqrt(n_nodes) / MISSED)
    return float(min(MAX_STEPS, SAFETY * (1 + exponent / np.sqrt(gap)) / 2)) if gap > 0 else float(MAX_STEPS)
