r"""The largest generalized eigenpairs of two Laplacians: L_G v = lambda L_P v.

The largest lambda are the directions in which graph P approximates graph G worst. LOBPCG finds a few of them at once;
L_P^+, applied by the solver, is its preconditioner, so that few iterations are needed.

References
----------
A. V. Knyazev. Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
method. SIAM Journal on Scientific Computing 23, 2001.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from graspel.graph.adjacency import check_adjacency
from graspel.linalg.components import Components
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.solve import LaplacianSolver
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.types import Floats

DENSE_NODES = 400  # nodes up to which a dense solver is used
EXTRA_VECTORS = 4  # vectors in the block beyond those wanted, which speed up the convergence
MAX_STEPS = 40  # block Krylov steps
SOLVE_TOL = 1e-6  # relative residual of the solves


class GeneralizedPairs(NamedTuple):
    """Eigenvalues, descending, and eigenvectors as columns, v'L_P v = 1."""

    values: Floats
    vectors: Floats


def largest_generalized_pairs(
    G: Any, P: Any, k: int, *, tol: float = 1e-3, random_state: int = 0, n_jobs: int | None = None
) -> GeneralizedPairs:
    """The k largest eigenpairs of L_G v = lambda L_P v for two connected graphs on the same nodes.

    Parameters
    ----------
    G, P : Graph or sparse adjacency
    k : int, fewer than nodes
    tol : float, relative change of the eigenvalues at which the iteration stops
    random_state : int, seed of the start
    n_jobs : int or None

    Examples
    --------
    >>> from graspel import Graph
    >>> path, ring = Graph(4, [0, 1, 2], [1, 2, 3], 1.0), Graph(4, [0, 1, 2, 0], [1, 2, 3, 3], 1.0)
    >>> largest_generalized_pairs(ring, path, 1).values.round(6)
    array([4.])
    """
    A, B = check_adjacency(G), check_adjacency(P)
    if A.shape != B.shape:
        raise ValueError(f"the graphs have {A.shape[0]} and {B.shape[0]} nodes: they must be the same.")
    if Components.of(A).number > 1 or Components.of(B).number > 1:
        raise ValueError("both graphs must be connected; join their components first, by graspel.connect.")
    n, L, M = A.shape[0], laplacian_of(A), laplacian_of(B)
    k = min(k, n - 1)
    if n <= DENSE_NODES:
        return _dense(L.toarray(), M.toarray(), k)
    solver = LaplacianSolver(B, random_state=random_state, n_jobs=n_jobs)
    with one_thread_per_call():
        return _block_krylov(L, M, solver, k, tol, np.random.default_rng(random_state))


def _dense(L: Floats, M: Floats, k: int) -> GeneralizedPairs:
    # Without the last node, which is the ground, L_P is positive definite, and differences stay the same.
    values, vectors = scipy.linalg.eigh(L[:-1, :-1], M[:-1, :-1])
    return GeneralizedPairs(values[::-1][:k], np.vstack([vectors, np.zeros(len(vectors))])[:, ::-1][:, :k])


def _block_krylov(L: Any, M: Any, solver: LaplacianSolver, k: int, tol: float, rng: Any) -> GeneralizedPairs:
    """Rayleigh-Ritz on the span of the current vectors, the residuals solved for, and the last directions."""
    n, size = L.shape[0], k + EXTRA_VECTORS
    V = solver.solve_silently(L @ rng.standard_normal((n, size)), SOLVE_TOL)
    last: Floats | None = None
    previous = np.zeros(k)
    for _ in range(MAX_STEPS):
        V, values = _rayleigh_ritz(L, M, V, size)
        if (np.abs(values[:k] - previous) <= tol * values[:k]).all():
            break
        previous = values[:k]
        step = solver.solve_silently(L @ V, SOLVE_TOL)
        blocks = [V, step] if last is None else [V, step, last]
        last = V
        V = np.hstack(blocks)
    return GeneralizedPairs(values[:k], V[:, :k])


def _rayleigh_ritz(L: Any, M: Any, V: Floats, size: int) -> tuple[Floats, Floats]:
    """The best `size` vectors in the span of V, orthonormal in v'L_P v, by descending eigenvalue."""
    V = V - V.mean(axis=0)
    V = V / np.sqrt(np.maximum(np.einsum("ij,ij->j", V, M @ V), 1e-300))
    gram, vectors = scipy.linalg.eigh(V.T @ (M @ V))
    kept = gram > 1e-10 * gram[-1]
    V = V @ (vectors[:, kept] / np.sqrt(gram[kept]))
    values, vectors = scipy.linalg.eigh(V.T @ (L @ V))
    return V @ vectors[:, ::-1][:, :size], values[::-1][:size]
