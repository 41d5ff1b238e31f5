r"""Eigenpairs: the smallest eigenvalues of a graph Laplacian and their vectors, L u_i = lambda_i u_i.

Small graphs are decomposed densely. Large ones start from the modes of the coarse graph that approximate elimination leaves
(:mod:`graspel.linalg.elimination`), or from the vectors of a similar graph, and are refined by LOBPCG with the same
elimination as preconditioner. The null space is never iterated for: it is the span of the component indicators, exactly.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.linalg.components import Components
from graspel.linalg.dense import DenseElimination
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.lobpcg import lobpcg, rayleigh_ritz, rounding_of

Floats = NDArray[np.float64]

DENSE_LIMIT = 300  # nodes up to which LAPACK is the fastest way
MAX_ITERATIONS = 200


@dataclass(frozen=True)
class Eigenpairs:
    """The k smallest eigenvalues (ascending), unit vectors as columns, and how well each pair solves L u = lambda u.

    `residuals` holds |L u - lambda u| / lambda for the nonzero eigenvalues (0 for the null space); `converged` says whether all
    are within the tolerance asked for.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    converged: bool


def smallest_eigenpairs(
    L: sp.csr_array,
    k: int,
    *,
    tol: float = 1e-5,
    guess: Floats | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Eigenpairs:
    """Compute the k smallest eigenpairs of a Laplacian, null space included.

    Parameters
    ----------
    L : sparse array, the Laplacian of an undirected graph
    k : int, number of pairs, 1 <= k <= N
    tol : float, largest |L u - lambda u| / lambda allowed; the error of an eigenvalue is of the order of its square
    guess : array (N x m) or None, vectors close to the wanted ones, for example those of a similar graph
    random_state : seed or Generator for the sampled elimination

    Returns
    -------
    Eigenpairs. Each vector's largest entry (in absolute value) is positive, so that signs are reproducible.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> L = sp.csr_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    >>> smallest_eigenpairs(L, 3).values.round(6) + 0.0
    array([0., 1., 3.])
    """
    L = _checked(L)
    n = L.shape[0]
    if not 1 <= k <= n:
        raise ValueError(f"k={k!r}: must lie between 1 and the number of nodes, {n}.")
    adjacency = _adjacency(L)
    components = Components.of(adjacency)
    if components.number >= k:
        vectors = components.indicators(k)
        return Eigenpairs(np.zeros(k), vectors, np.zeros(k), True)
    if n <= max(DENSE_LIMIT, 5 * k):
        values, vectors = _dense(L, adjacency, k, components)
    else:
        values, vectors = _multilevel(L, adjacency, k, components, tol, guess, np.random.default_rng(random_state))
    return _assessed(L, values, vectors, components, tol)


def _checked(L: sp.csr_array) -> sp.csr_array:
    if not sp.issparse(L):
        raise TypeError(f"L is a {type(L).__name__}: a scipy sparse Laplacian is needed, for example graph.laplacian.")
    if L.shape[0] != L.shape[1]:
        raise ValueError(f"L has shape {L.shape}: a Laplacian is square.")
    return sp.csr_array(L, dtype=np.float64)


def _adjacency(L: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(L.copy() * -1.0)
    A.setdiag(0.0)
    A.eliminate_zeros()
    return A


def _dense(L: sp.csr_array, adjacency: sp.csr_array, k: int, components: Components) -> tuple[Floats, Floats]:
    """LAPACK. The lower half of the spectrum comes from the pseudo-inverse, where it is the upper end and keeps all its digits."""
    n, c = L.shape[0], components.number
    if k <= n // 2:
        inverse = DenseElimination(adjacency.toarray(), np.zeros(n)).solve(components.centred(np.eye(n)))
        inverse = components.centred(inverse)
        mu, vectors = scipy.linalg.eigh((inverse + inverse.T) / 2, subset_by_index=(n - k + c, n - 1))
        null = np.zeros((n, c))
        return np.concatenate([np.zeros(c), 1 / mu[::-1]]), np.hstack([null, vectors[:, ::-1]])
    values, vectors = scipy.linalg.eigh(L.toarray(), subset_by_index=(0, k - 1))
    vectors[:, c:] = scipy.linalg.qr(components.centred(vectors[:, c:]), mode="economic")[0]
    return values, vectors


def _multilevel(
    L: sp.csr_array,
    adjacency: sp.csr_array,
    k: int,
    components: Components,
    tol: float,
    guess: Floats | None,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """LOBPCG on the complement of the null space."""
    wanted = k - components.number
    block = wanted + max(2, wanted // 4)  # a few extra vectors speed up the last wanted one
    inverse = ApproximateElimination(adjacency, rng)
    X = _first_vectors(L, inverse, guess, block, rng)
    values, vectors = lobpcg(L, X, inverse, components.centred, wanted=wanted, tol=tol, max_iterations=MAX_ITERATIONS)
    null = np.zeros((len(vectors), components.number))
    return np.concatenate([np.zeros(components.number), values]), np.hstack([null, vectors])


def _first_vectors(
    L: sp.csr_array, inverse: ApproximateElimination, guess: Floats | None, block: int, rng: np.random.Generator
) -> Floats:
    """Vectors to start from: the best of the coarse modes and the guess together."""
    components = inverse.components
    X = inverse.coarse_modes(block + components.number)
    if guess is not None:
        X = np.hstack([guess[:, : 2 * block], X])
    X = components.centred(X)
    if X.shape[1] < block:
        X = np.hstack([X, components.centred(rng.standard_normal((len(X), block - X.shape[1])))])
    X = X[:, np.linalg.norm(X, axis=0) > 0]
    _, C = rayleigh_ritz(X.T @ X, X.T @ (L @ X), block)
    return X @ C


def _assessed(L: sp.csr_array, values: Floats, vectors: Floats, components: Components, tol: float) -> Eigenpairs:
    """Put the exact null space in place, fix the signs, measure the residuals, and warn where they are too large."""
    c = components.number
    values[:c] = 0.0
    vectors[:, :c] = components.indicators(c)
    peak = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    vectors = vectors * np.where(peak < 0, -1.0, 1.0)
    residuals = np.zeros(len(values))
    U = vectors[:, c:]
    residuals[c:] = np.linalg.norm(L @ U - U * values[c:], axis=0) / values[c:]
    converged = bool((residuals[c:] <= 1.01 * tol + rounding_of(L) / values[c:]).all())
    if not converged:
        warnings.warn(
            f"the eigenpairs reached a relative residual of {residuals.max():.1e}, not the {tol:.1e} asked for; "
            "use them with care, or allow a larger tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Eigenpairs(values, vectors, residuals, converged)
