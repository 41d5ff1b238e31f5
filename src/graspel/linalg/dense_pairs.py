r"""Dense eigenpairs: the smallest nonzero eigenpairs of a small connected graph, by LAPACK.

**Equal eigenvalues.** The eigenvectors of an eigenvalue that occurs m times span a space V, and every orthonormal basis
of V is as good as any other: LAPACK returns the one that its rounding errors lead to. A square grid has such
eigenvalues, and then the same seed would give another embedding on another processor. Here the basis is derived from V
alone. With fixed directions R and the QR factorization V'R = Q T, T with a positive diagonal,

    V Q

is the same for every basis of V: where V is replaced by V O with an orthogonal O, Q becomes O'Q.

References
----------
J. Demmel, M. Gu, S. Eisenstat, I. Slapnicar, K. Veselic and Z. Drmac. Computing the singular value decomposition with
high relative accuracy. Linear Algebra and its Applications, 299, 1999.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.laplacian import laplacian_of
from graspel.runtime.types import Floats

WIDE_SPECTRUM = 1e5  # ratio of largest to smallest eigenvalue above which scipy.linalg.eigh loses too many digits
EQUAL = 1e-8  # relative difference of eigenvalues up to which they count as equal: far above the rounding errors


def dense_pairs(adjacency: sp.csr_array, wanted: int, mass: Floats | None = None) -> tuple[Floats, Floats]:
    """Compute the pairs by LAPACK; with a `mass` of each node those of M^-1/2 L M^-1/2, M = diag(mass).

    For up to half of the spectrum the pseudo-inverse is decomposed. Its largest eigenvalues belong to the smallest of
    L, and LAPACK computes them to full relative accuracy. All eigenvalues are always computed, because LAPACK may miss
    some of a requested subset if eigenvalues are multiple.
    """
    n = adjacency.shape[0]
    factors = DenseFactor(adjacency.toarray(), np.zeros(n))
    if _are_surely_wide(factors.pivots, wanted):
        return accurate_pairs(adjacency, wanted, mass, factors)
    root = np.ones(n) if mass is None else np.sqrt(mass)
    null = root / np.linalg.norm(root)
    if wanted < n // 2:
        inverse = root[:, None] * factors.solve(root[:, None] * (np.eye(n) - np.outer(null, null)))
        inverse -= np.outer(null, null @ inverse)
        mu, vectors = scipy.linalg.eigh((inverse + inverse.T) / 2)
        with np.errstate(divide="ignore"):
            values, vectors = 1 / mu[::-1][:wanted], fix_basis(mu[::-1], vectors[:, ::-1], wanted)
    else:
        values, vectors = scipy.linalg.eigh(laplacian_of(adjacency).toarray() / np.outer(root, root))
        values, vectors = values[1 : 1 + wanted], fix_basis(values[1:], vectors[:, 1:], wanted)
        vectors = scipy.linalg.qr(vectors - np.outer(null, null @ vectors), mode="economic")[0]
    if not 0 < values[-1] < values[0] * WIDE_SPECTRUM:  # a value that was lost to rounding is infinite or negative
        return accurate_pairs(adjacency, wanted, mass, factors)
    return values, vectors


def _are_surely_wide(pivots: Floats, wanted: int) -> bool:
    """Whether the wanted eigenvalues span too many decades for LAPACK's eigh; with a well conditioned G, D tells."""
    ordered = np.sort(pivots[np.isfinite(pivots)])
    return bool(ordered[wanted - 1] > WIDE_SPECTRUM**2 * ordered[0])


def accurate_pairs(
    adjacency: sp.csr_array, wanted: int, mass: NDArray[Any] | None = None, factors: DenseFactor | None = None
) -> tuple[Floats, Floats]:
    """Compute the smallest nonzero eigenvalues to high relative accuracy, whatever their range, and unit vectors.

    With a `mass` of each node the matrix is M^-1/2 L M^-1/2, M = diag(mass), instead of L.

    From L = G D G' follows lambda = s^2 for the singular values s of G D^(1/2). No entry of G or of its inverse exceeds
    one in absolute value (they are probabilities of a random walk), so G is well conditioned, and Jacobi's method
    computes all singular values accurately, including the smallest (Demmel et al. 1999).
    """
    factors = factors or DenseFactor(adjacency.toarray(), np.zeros(adjacency.shape[0]))
    regular = np.isfinite(factors.pivots)
    F = factors.G[:, regular] * np.sqrt(factors.pivots[regular])
    if mass is not None:
        F /= np.sqrt(mass)[:, None]
    s, U, _, scales, _, info = scipy.linalg.lapack.dgejsv(F, joba=0, jobu=0, jobv=3)
    if info != 0:
        raise scipy.linalg.LinAlgError(
            f"Jacobi's method for singular values failed with code {info} of LAPACK's dgejsv."
        )
    s = s * (scales[0] / scales[1])
    return s[::-1][:wanted] ** 2, fix_basis(s[::-1], U[:, : len(s)][:, ::-1], wanted)


def fix_basis(values: Floats, vectors: Floats, wanted: int) -> Floats:
    """The first `wanted` eigenvectors, in a basis that depends on the eigenspaces only.

    Parameters
    ----------
    values : array, eigenvalues in ascending or descending order
    vectors : array, orthonormal eigenvectors as columns
        More than `wanted`, where an eigenvalue may occur among the wanted ones and beyond them.
    wanted : int

    Returns
    -------
    vectors : array (N x wanted)

    Examples
    --------
    >>> values, e = np.array([1.0, 1.0, 2.0]), np.eye(3)
    >>> turned = e[:, [1, 0, 2]] * [-1, 1, -1]
    >>> np.allclose(fix_basis(values, turned, 3), fix_basis(values, e, 3))
    True
    """
    fixed = vectors[:, :wanted].copy()
    rng = np.random.default_rng(0)
    for first, end in groups_of_equals(values):
        if first >= wanted:
            break
        last = min(end, wanted)
        fixed[:, first:last] = basis_of_space(vectors[:, first:end], rng)[:, : last - first]
    return fixed


def groups_of_equals(values: Floats) -> list[tuple[int, int]]:
    """First and end of every group of equal eigenvalues.

    >>> groups_of_equals(np.array([1.0, 2.0, 2.0]))
    [(0, 1), (1, 3)]
    """
    differ = np.abs(np.diff(values)) > EQUAL * np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    return list(pairwise([0, *(1 + np.flatnonzero(differ)).tolist(), len(values)]))


def basis_of_space(V: Floats, rng: np.random.Generator) -> Floats:
    """The basis V Q of the space of these orthonormal columns; the generator gives the directions R."""
    Q, T = np.linalg.qr(V.T @ rng.standard_normal(V.shape))
    return np.asarray(V @ (Q * np.where(np.diag(T) < 0, -1.0, 1.0)))
