r"""Missing eigenvalues: a search among the vectors that are orthogonal to the eigenvectors found.

An iteration finds only eigenvectors that its start vectors have a part of. If two nodes have the same neighbors, then
the Laplacian, an exact elimination and so the start vectors treat both alike, and an eigenvector that changes sign when
the two are exchanged is never found. A random vector has a part of every eigenvector. So after the iteration one random
vector x, orthogonal to all vectors found, is iterated in the same way. Its Rayleigh quotient theta falls towards the
smallest eigenvalue that is left:

- theta < the largest eigenvalue found proves that one is missing (Courant and Fischer);
- if theta stays above it by a share e = 1 - largest / theta for k steps, then the Lanczos method would have missed an
  eigenvalue below with a probability of at most 1.648 N^(1/2) exp(-e^(1/2) (2k - 1)) (Kuczynski and Wozniakowski). The
  number of steps is chosen so that this is 1e-3, and somewhat larger, because the elimination is only approximate.

The vectors found include the extra ones of the block. So there is a gap after the eigenvalues wanted, e is of order
one, and a dozen steps are enough. A step costs as much as one vector of the block in one iteration of LOBPCG.

References
----------
J. Kuczynski and H. Wozniakowski. Estimating the largest eigenvalue by the power and Lanczos algorithms with a random
start. SIAM Journal on Matrix Analysis and Applications, 13(4), 1992.

B. N. Parlett. The Symmetric Eigenvalue Problem. SIAM, 1998. Chapter 13, on repeated eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graspel.linalg.laplacian import Laplacian
from graspel.linalg.lobpcg import rayleigh_ritz
from graspel.linalg.vectors import combine, products
from graspel.runtime.types import Floats

Map = Callable[[Floats], Floats]

MAX_STEPS = 60  # iterations of the random vector, enough for a gap of e = 0.015 on a million nodes
CLOSE = 1e-4  # relative distance below the largest eigenvalue within which another one counts as equal to it
MISSED = 1e-3  # probability that an exact elimination would leave a missing eigenvalue undetected
SAFETY = 1.5  # steps taken, in units of those that an exact elimination would need


def find_missing(
    L: Laplacian, start: Floats, inverse: Map, project: Map, found: Floats, largest: float, *, n_threads: int = 1
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
