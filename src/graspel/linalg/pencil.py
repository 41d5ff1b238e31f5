r"""The pencil (L_G, L_P): how well one graph stands in for another.

The generalised eigenvalues of L_G x = lambda L_P x say how far the quadratic forms of two graphs on the same nodes lie
apart: lambda_min x'L_P x <= x'L_G x <= lambda_max x'L_P x. Their ratio is the relative condition number. Both ends are
found by Lanczos on L_P^+ L_G in the inner product x'L_P y, and, for the lower end, with the roles exchanged.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from graspel.linalg.solve import LaplacianSolver

Floats = NDArray[np.float64]

STEPS = 60
SETTLED = 1e-4  # relative change of the Ritz value at which it counts as found
SOLVE_TOL = 1e-6


def largest_generalised(
    G: LaplacianSolver, P: LaplacianSolver, rng: np.random.Generator, *, settled: float = SETTLED
) -> float:
    """The largest lambda with L_G x = lambda L_P x, for two graphs with the same components.

    Vectors of the null space do not count; where there are no others, because there are no edges, it is 1.
    """
    v = P.solve(P.laplacian @ rng.standard_normal(P.laplacian.shape[0]), SOLVE_TOL)
    Pv = P.laplacian @ v
    scale = np.sqrt(v @ Pv)
    if scale == 0:
        return 1.0
    V, PV = [v / scale], [Pv / scale]
    alpha: list[float] = []
    beta: list[float] = []
    value = 0.0
    for step in range(min(STEPS, len(v) - 1)):
        w = P.solve(G.laplacian @ V[-1], SOLVE_TOL)
        for _ in range(2):  # full reorthogonalisation, twice: few steps, so it is cheap
            coefficients = np.array([p @ w for p in PV])
            w -= np.array(V).T @ coefficients
            if _ == 0:
                alpha.append(float(coefficients[-1]))
        before, value = value, float(scipy.linalg.eigvalsh_tridiagonal(alpha, beta)[-1])
        Pw = P.laplacian @ w
        norm = np.sqrt(max(w @ Pw, 0.0))
        if norm <= 1e-12 * value or (step > 4 and value - before <= settled * value):
            break
        beta.append(float(norm))
        V.append(w / norm)
        PV.append(Pw / norm)
    return value


def relative_condition(G: LaplacianSolver, P: LaplacianSolver, rng: np.random.Generator) -> float:
    """lambda_max / lambda_min of the pencil (L_G, L_P)."""
    return largest_generalised(G, P, rng) * largest_generalised(P, G, rng)
