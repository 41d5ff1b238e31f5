r"""Pencil (L_G, L_P): how closely one graph approximates another on the same nodes.

The generalized eigenvalues of L_G x = lambda L_P x bound the ratio of the two quadratic forms:
lambda_min x'L_P x <= x'L_G x <= lambda_max x'L_P x. The ratio lambda_max / lambda_min is the relative condition number.
The block Lanczos method on L_P^+ L_G, in the inner product x'L_P y, gives lambda_max. With the roles of the two graphs
exchanged it gives 1 / lambda_min.

The eigenvectors of the largest lambda are the directions in which P approximates G worst. ARPACK finds a few of them;
the solver applies L_P^+.

References
----------
B. N. Parlett. The Symmetric Eigenvalue Problem. SIAM, 1998. Chapters 13 and 15.

R. B. Lehoucq, D. C. Sorensen and C. Yang. ARPACK Users' Guide. SIAM, 1998.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.graph.adjacency import check_adjacency
from graspel.linalg.components import Components
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.solve import LaplacianSolver
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.types import Floats

STARTS = 2  # random start vectors: one may nearly miss the leading eigenvector and stay at the next one; hardly both do
STEPS = 60  # most steps of the block Lanczos method
MIN_STEPS = 6  # steps before the first test of convergence
RITZ_TOL = 1e-4  # relative change of the Ritz value over two steps below which it has converged
SOLVE_TOL = 1e-3  # relative residual of the solve for a new vector; its error enters no Ritz value
DEPENDENT_LENGTH = 1e-5  # remaining share of a new vector below which the others span it up to the error of the solves
DENSE_NODES = 400  # nodes up to which a dense solver is used
ARNOLDI_SOLVE_TOL = 1e-6  # relative residual of the solves for eigenvectors


def largest_generalized_eigenvalue(
    L: sp.csr_array, P: LaplacianSolver, rng: np.random.Generator, *, tol: float = RITZ_TOL
) -> float:
    """The largest lambda with L_G x = lambda L_P x, for two graphs with the same components; `L` is L_G.

    Vectors of the null space do not count. For graphs without edges the result is 1. `tol` is the relative change
    of the Ritz value over two steps at which the iteration stops.
    """
    n = L.shape[0]
    centered = Components.of(P.laplacian).center  # x'L_P y ignores the null space, where rounding errors would add up
    size = min(STARTS * STEPS, n)
    V, PV = np.empty((size, n)), np.empty((size, n))  # rows of V: orthonormal in x'L_P y
    T = np.empty((len(V), len(V)))
    W = P.solve_silently(_random_flows(P.laplacian, rng), SOLVE_TOL)
    values: list[float] = []
    m = 0
    for _ in range(STEPS):
        sizes = np.sqrt(np.maximum(np.einsum("ij,ij->j", W, P.laplacian @ W), 0.0))
        products: list[Floats] = []
        for w, length in zip(W.T, sizes, strict=True):
            for _ in range(2):  # full reorthogonalization, twice; it is cheap because there are few steps
                w = centered(w - V[:m].T @ (PV[:m] @ w))
            Pw = P.laplacian @ w
            norm = float(np.sqrt(max(float(w @ Pw), 0.0)))
            if m == size or norm <= DEPENDENT_LENGTH * length or norm == 0:
                continue
            V[m], PV[m] = w / norm, Pw / norm
            products.append(L @ V[m])
            T[m, : m + 1] = T[: m + 1, m] = V[: m + 1] @ products[-1]  # x'L_G y: no error of a solve enters
            m += 1
        if not products:
            break
        values.append(float(scipy.linalg.eigvalsh(T[:m, :m])[-1]))
        if len(values) > MIN_STEPS and values[-1] - values[-3] <= tol * values[-1]:
            break
        W = P.solve_silently(np.stack(products, 1), SOLVE_TOL)
    return values[-1] if values else 1.0


def _random_flows(L: sp.csr_array, rng: np.random.Generator) -> Floats:
    """B' W^1/2 q with normal q on the edges, random vectors of covariance L, as columns.

    L^+ B' W^1/2 q then has covariance L^+, so in the norm of L no direction is preferred, whatever the weights.
    """
    edges = sp.triu(L, 1, format="coo")
    flow = np.sqrt(np.abs(edges.data)) * rng.standard_normal((STARTS, edges.nnz))
    n = L.shape[0]
    return np.stack([np.bincount(edges.row, q, n).astype(np.float64) - np.bincount(edges.col, q, n) for q in flow], 1)


def relative_condition(G: LaplacianSolver, P: LaplacianSolver, rng: np.random.Generator) -> float:
    """The relative condition number lambda_max / lambda_min of the pencil (L_G, L_P)."""
    return largest_generalized_eigenvalue(G.laplacian, P, rng) * largest_generalized_eigenvalue(P.laplacian, G, rng)


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
    tol : float, relative accuracy of the eigenvalues
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
    # Without the last node, which is the ground, L_P is positive definite, and differences stay the same.
    n, L, M = A.shape[0] - 1, laplacian_of(A)[:-1, :-1], laplacian_of(B)[:-1, :-1]
    k = min(k, n)
    if n <= DENSE_NODES or 2 * k > n:
        values, vectors = scipy.linalg.eigh(L.toarray(), M.toarray())
    else:
        solver = LaplacianSolver(B, random_state=random_state, n_jobs=n_jobs)

        def solve(b: Floats) -> Floats:
            x = solver.solve_silently(np.append(b, -b.sum())[:, None], ARNOLDI_SOLVE_TOL)[:, 0]
            return x[:-1] - x[-1]

        start = np.random.default_rng(random_state).standard_normal(n)
        inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
        with one_thread_per_call():
            values, vectors = eigsh(L, k, M, Minv=inverse, v0=start, tol=tol)
    order = np.argsort(-values, kind="stable")[:k]
    return GeneralizedPairs(values[order], np.vstack([vectors[:, order], np.zeros(len(order))]))
