r"""The pencil (L_G, L_P): how well one graph stands in for another.

The generalized eigenvalues of L_G x = lambda L_P x say how far the quadratic forms of two graphs on the same nodes lie
apart: lambda_min x'L_P x <= x'L_G x <= lambda_max x'L_P x. Their ratio is the relative condition number. Both ends are
found by Lanczos on L_P^+ L_G in the inner product x'L_P y, and, for the lower end, with the roles exchanged.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.components import Components
from graspel.linalg.solve import LaplacianSolver

Floats = NDArray[np.float64]

STEPS = 60
SETTLED = 1e-4  # relative change of the Ritz value, over two steps, at which it counts as found
SOLVE_TOL = 1e-3  # of a new vector: its error makes the basis a little worse, but enters no Ritz value
EXHAUSTED = 1e-5  # what is left of a new vector, relative to its size, when the others span it but for solve errors


def largest_generalized(
    L: sp.csr_array, P: LaplacianSolver, rng: np.random.Generator, *, settled: float = SETTLED
) -> float:
    """The largest lambda with L_G x = lambda L_P x, for two graphs with the same components, one given by L_G.

    Vectors of the null space do not count; where there are no others, because there are no edges, it is 1.
    """
    n = L.shape[0]
    steps = min(STEPS, n)
    centered = Components.of(P.laplacian).centered  # x'L_P y does not see the null space, where rounding would pile up
    V, PV, T = np.empty((steps, n)), np.empty((steps, n)), np.empty((steps, steps))  # rows of V: x'L_P y = 0 or 1
    w = P.solve(_random_flow(P.laplacian, rng), SOLVE_TOL)
    values: list[float] = []
    size = 0.0
    for k in range(steps):
        for _ in range(2):  # full reorthogonalisation, twice: few steps, so it is cheap
            w = centered(w - V[:k].T @ (PV[:k] @ w))
        Pw = P.laplacian @ w
        norm = float(np.sqrt(max(float(w @ Pw), 0.0)))
        if norm <= EXHAUSTED * size or norm == 0:
            break
        V[k], PV[k] = w / norm, Pw / norm
        Gv = L @ V[k]
        T[k, : k + 1] = T[: k + 1, k] = V[: k + 1] @ Gv  # x'L_G y: no error of a solve enters the Ritz values
        values.append(float(scipy.linalg.eigvalsh(T[: k + 1, : k + 1])[-1]))
        if k > 5 and values[-1] - values[-3] <= settled * values[-1]:
            break
        w = P.solve(Gv, SOLVE_TOL)
        size = np.sqrt(max(float(w @ (P.laplacian @ w)), 0.0))
    return values[-1] if values else 1.0


def _random_flow(L: sp.csr_array, rng: np.random.Generator) -> Floats:
    """B' W^1/2 q with normal q on the edges, of covariance L.

    Then L^+ B' W^1/2 q has covariance L^+: in the norm of L it favours no direction, however wide the weights range.
    """
    edges = sp.triu(L, 1, format="coo")
    flow = np.sqrt(np.abs(edges.data)) * rng.standard_normal(edges.nnz)
    n = L.shape[0]
    return np.bincount(edges.row, flow, n).astype(np.float64) - np.bincount(edges.col, flow, n)


def relative_condition(G: LaplacianSolver, P: LaplacianSolver, rng: np.random.Generator) -> float:
    """lambda_max / lambda_min of the pencil (L_G, L_P)."""
    return largest_generalized(G.laplacian, P, rng) * largest_generalized(P.laplacian, G, rng)
