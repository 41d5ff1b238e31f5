r"""Pencil (L_G, L_P): how closely one graph approximates another on the same nodes.

The generalized eigenvalues of L_G x = lambda L_P x bound the ratio of the two quadratic forms:
lambda_min x'L_P x <= x'L_G x <= lambda_max x'L_P x. The ratio lambda_max / lambda_min is the relative condition number.
The block Lanczos method on L_P^+ L_G, in the inner product x'L_P y, gives lambda_max. With the roles of the two graphs
exchanged it gives 1 / lambda_min.

References
----------
B. N. Parlett. The Symmetric Eigenvalue Problem. SIAM, 1998. Chapters 13 and 15.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graspel.linalg.components import Components
from graspel.linalg.solve import LaplacianSolver
from graspel.runtime.types import Floats

STARTS = 2  # random start vectors: one may nearly miss the leading eigenvector and stay at the next one; hardly both do
STEPS = 60  # most steps of the block Lanczos method
MIN_STEPS = 6  # steps before the first test of convergence
RITZ_TOL = 1e-4  # relative change of the Ritz value over two steps below which it has converged
SOLVE_TOL = 1e-3  # relative residual of the solve for a new vector; its error enters no Ritz value
DEPENDENT_LENGTH = 1e-5  # remaining share of a new vector below which the others span it up to the error of the solves


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
