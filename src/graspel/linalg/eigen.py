r"""Eigenpairs: the smallest eigenvalues of a graph Laplacian and their vectors, L u_i = lambda_i u_i.

Small graphs are decomposed densely. Large ones start from the modes of the coarse graph that approximate elimination
leaves (:mod:`graspel.linalg.elimination`), or from the vectors of a similar graph, and are refined by LOBPCG with the
same elimination as preconditioner. The null space is never iterated for: it is the span of the component indicators,
exactly.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.graph.adjacency import check_laplacian
from graspel.linalg.checked import check_columns, check_count, check_positive
from graspel.linalg.components import Components
from graspel.linalg.dense import DenseElimination
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.laplacian import laplacian_map, laplacian_of
from graspel.linalg.lobpcg import lobpcg, rounding
from graspel.linalg.vectors import dots, lengths, map_each
from graspel.runtime.parallel import count_threads, one_thread_per_call

Floats = NDArray[np.float64]

DENSE_LIMIT = 300  # nodes up to which LAPACK is the fastest way
MAX_ITERATIONS = 200
NORMS = ("euclidean", "energy")
WIDE = 1e5  # eigenvalues that span more than this lose too many digits to the usual LAPACK routines


@dataclass(frozen=True)
class Eigenpairs:
    """The k smallest eigenvalues (ascending), unit vectors as columns, and how well each pair solves L u = lambda u.

    `residuals` holds the residual r = L u - lambda u of every nonzero eigenvalue (0 for the null space) in the norm
    asked for: |r| / lambda, or (r'L^+ r / lambda)^(1/2) with L^+ as approximate elimination has it. `converged` says
    whether all are within the tolerance, or, where heavy edges make rounding alone exceed it, as small as rounding
    allows and within the tolerance in the norm of L^+, which bounds the relative error of lambda.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    converged: bool


def smallest_eigenpairs(
    L: Any,
    k: int,
    *,
    tol: float = 1e-5,
    norm: str = "euclidean",
    guess: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> Eigenpairs:
    """Compute the k smallest eigenpairs of a Laplacian, null space included.

    Parameters
    ----------
    L : sparse matrix, the Laplacian of an undirected graph, or an object with an `adjacency`, for the Laplacian of that
    k : int
        Number of pairs, 1 <= k <= N.
    tol : float
        Largest residual allowed; the error of an eigenvalue is of the order of its square.
    norm : {"euclidean", "energy"}
        How the residual r = L u - lambda u is measured: |r| / lambda, or (r'L^+ r / lambda)^(1/2). The second is the
        error of u as the graph sees it, |u - u_exact|_L / |u|_L up to a factor of the gap, and what distances in an
        embedding and eigenvalues need; the first also asks for every tiny ripple along heavy edges to be gone, which
        on large graphs takes three times as long.
    guess : array (N x m) or None
        Vectors close to the wanted ones, for example those of a similar graph.
    random_state : int, Generator or None
        Seed of the sampled elimination.
    n_jobs : int or None
        Threads; None or -1 for all cores. The result does not depend on it.

    Returns
    -------
    pairs : Eigenpairs
        Each vector's largest entry (in absolute value) is positive, so that signs are reproducible.
        A ConvergenceWarning says if `tol` was not met.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> L = sp.csr_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    >>> smallest_eigenpairs(L, 3).values.round(6) + 0.0
    array([0., 1., 3.])
    """
    adjacency = check_laplacian(L)
    n = adjacency.shape[0]
    k = check_count("k", k, n, "the number of nodes")
    tol = check_positive("tol", tol, "the relative residual |L u - lambda u| / lambda wanted")
    if norm not in NORMS:
        raise ValueError(f"norm={norm!r}: must be one of {', '.join(map(repr, NORMS))}.")
    start = None if guess is None else check_columns("guess", guess, n)
    components = Components.of(adjacency)
    c = components.number
    if k <= c:
        return Eigenpairs(np.zeros(k), components.indicators(k), np.zeros(k), True)
    how = Method(tol, norm == "energy", np.random.default_rng(random_state), count_threads(n_jobs))
    pairs = nonzero_pairs(adjacency, components, k - c, start, how)
    if not pairs.converged:
        warnings.warn(
            f"the eigenpairs reached a relative residual of {pairs.residuals.max():.1e}, not the {tol:.1e} asked for; "
            "use them with care, or allow a larger tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return replace(
        pairs,
        values=np.concatenate([np.zeros(c), pairs.values]),
        vectors=np.hstack([components.indicators(c), pairs.vectors]),
        residuals=np.concatenate([np.zeros(c), pairs.residuals]),
    )


def smallest_nonzero_eigenvalues(
    adjacency: sp.csr_array, k: int, *, tol: float, rng: np.random.Generator, n_jobs: int | None = None
) -> Floats:
    """The k smallest nonzero eigenvalues of a checked adjacency, all there are if fewer; `tol` in the energy norm.

    The null space is not written out, so that a graph of many components is no burden.
    """
    components = Components.of(adjacency)
    k = min(k, adjacency.shape[0] - components.number)
    if k < 1:
        return np.empty(0)
    return nonzero_pairs(adjacency, components, k, None, Method(tol, True, rng, count_threads(n_jobs))).values


class Method(NamedTuple):
    """How pairs are to be found: tolerance and norm, source of random numbers, threads."""

    tol: float
    energy: bool
    rng: np.random.Generator
    n_threads: int


class Found(NamedTuple):
    """Nonzero eigenvalues, their vectors as columns, and the residuals in the energy norm (zero: only rounding)."""

    values: Floats
    vectors: Floats
    damped: Floats


def nonzero_pairs(
    adjacency: sp.csr_array, components: Components, wanted: int, guess: Floats | None, how: Method
) -> Eigenpairs:
    """The smallest nonzero eigenvalues and their vectors."""
    unit = 2.0 ** np.floor(np.log2(adjacency.data.max()))  # weights of order one: their squares do not overflow
    adjacency = adjacency / unit
    with one_thread_per_call():
        if components.number == 1:
            found = _connected(adjacency, wanted, guess, how)
        else:
            found = _by_component(adjacency, components, wanted, guess, how)
        pairs = _assessed(adjacency, found, how)
    return replace(pairs, values=pairs.values * unit)


def _by_component(
    adjacency: sp.csr_array, components: Components, wanted: int, guess: Floats | None, how: Method
) -> Found:
    """The nonzero eigenvalues of all components together: taken as a whole, small components would be overlooked.

    On m nodes with weights of at least w, lambda_2 >= 2 w (1 - cos(pi / m)), as on a path (Fiedler 1973). So components
    are taken by rising bound, until the bound exceeds the largest value still wanted.
    """
    order = np.argsort(components.labels, kind="stable")
    blocks = sp.csr_array(adjacency[order][:, order])
    ends = np.cumsum(components.sizes)
    lightest = np.full(components.number, np.inf)
    np.minimum.at(lightest, components.labels, _lightest_edges(adjacency))
    bounds = 2 * lightest * (1 - np.cos(np.pi / components.sizes))
    values, damped, parts = np.zeros(0), np.zeros(0), []  # pairs so far; nodes and vectors of each component
    for label in np.argsort(bounds, kind="stable"):
        size = int(components.sizes[label])
        if size == 1 or (len(values) >= wanted and bounds[label] >= np.partition(values, wanted - 1)[wanted - 1]):
            break
        inside = slice(ends[label] - size, ends[label])
        nodes = order[inside]
        start = None if guess is None else guess[nodes]
        own = _connected(blocks[inside, inside], min(wanted, size - 1), start, how)
        values, damped = np.concatenate([values, own.values]), np.concatenate([damped, own.damped])
        parts.append((nodes, own.vectors))
    smallest = np.argsort(values, kind="stable")[:wanted]
    vectors, first = np.zeros((len(order), wanted)), 0
    for nodes, own_vectors in parts:
        mine = (smallest >= first) & (smallest < first + own_vectors.shape[1])
        vectors[np.ix_(nodes, mine)] = own_vectors[:, smallest[mine] - first]
        first += own_vectors.shape[1]
    return Found(values[smallest], vectors, damped[smallest])


def _lightest_edges(adjacency: sp.csr_array) -> Floats:
    """The smallest weight at each node, infinite where there is none."""
    lightest = np.full(adjacency.shape[0], np.inf)
    filled = np.flatnonzero(np.diff(adjacency.indptr))
    if len(filled):
        lightest[filled] = np.minimum.reduceat(adjacency.data, adjacency.indptr[filled])
    return lightest


def _connected(adjacency: sp.csr_array, wanted: int, guess: Floats | None, how: Method) -> Found:
    """The nonzero eigenvalues of a connected graph and their vectors."""
    if adjacency.shape[0] <= max(DENSE_LIMIT, 5 * wanted):
        return Found(*_dense(adjacency, wanted), np.zeros(wanted))
    return _multilevel(adjacency, wanted, guess, how)


def _dense(adjacency: sp.csr_array, wanted: int) -> tuple[Floats, Floats]:
    """LAPACK.

    The lower half of the spectrum comes from the pseudo-inverse, where it is the upper end and keeps all its digits.
    Always all eigenvalues are computed: where they are multiple, LAPACK may leave some out of a subset.
    """
    n = adjacency.shape[0]
    if wanted < n // 2:
        inverse = DenseElimination(adjacency.toarray(), np.zeros(n)).solve(np.eye(n) - 1 / n)
        inverse -= inverse.mean(axis=0)
        mu, vectors = scipy.linalg.eigh((inverse + inverse.T) / 2)
        values, vectors = 1 / mu[::-1][:wanted], vectors[:, ::-1][:, :wanted]
    else:
        values, vectors = scipy.linalg.eigh(laplacian_of(adjacency).toarray())
        values, vectors = values[1 : 1 + wanted], vectors[:, 1 : 1 + wanted]
        vectors = scipy.linalg.qr(vectors - vectors.mean(axis=0), mode="economic")[0]
    if not values[0] * WIDE > values[-1]:
        return _dense_wide(adjacency, wanted)
    return values, vectors


def _dense_wide(adjacency: sp.csr_array, wanted: int) -> tuple[Floats, Floats]:
    """Every nonzero eigenvalue to high relative accuracy, however far apart they are.

    From L = G D G' follows lambda = s^2 for the singular values s of G D^(1/2). Neither G nor its inverse has an entry
    larger than one (they are probabilities of a random walk), so Jacobi's method gets all of them right, the small
    ones too (Demmel et al. 1999).
    """
    factors = DenseElimination(adjacency.toarray(), np.zeros(adjacency.shape[0]))
    regular = np.isfinite(factors.pivots)
    F = factors.G[:, regular] * np.sqrt(factors.pivots[regular])
    s, U, _, scales, _, info = scipy.linalg.lapack.dgejsv(F, joba=0, jobu=0, jobv=3)
    if info != 0:
        raise scipy.linalg.LinAlgError(
            f"Jacobi's method for singular values failed with code {info} of LAPACK's dgejsv."
        )
    s = s * (scales[0] / scales[1])
    return s[::-1][:wanted] ** 2, U[:, : len(s)][:, ::-1][:, :wanted]


def _multilevel(adjacency: sp.csr_array, wanted: int, guess: Floats | None, how: Method) -> Found:
    """LOBPCG on the complement of the null space, all in elimination order."""
    block = wanted + max(3, wanted // 4)  # a few extra vectors speed up the last wanted one
    inverse = ApproximateElimination(adjacency, how.rng, n_threads=how.n_threads)
    L = laplacian_map(inverse.ordered(adjacency))
    values, vectors = lobpcg(
        L,
        _first_vectors(inverse, guess, block, how.rng),
        inverse.solve_in_order,
        inverse.centred_in_order,
        wanted=wanted,
        block=block,
        tol=how.tol,
        max_iterations=MAX_ITERATIONS,
        energy=how.energy,
        n_threads=how.n_threads,
    )
    R = map_each(L.__matmul__, vectors, how.n_threads) - values[:, None] * vectors
    damped = np.sqrt(np.abs(dots(R, inverse.solve_in_order(R))) / values)
    return Found(values, inverse.in_node_order(vectors), damped)


def _first_vectors(
    inverse: ApproximateElimination, guess: Floats | None, block: int, rng: np.random.Generator
) -> Floats:
    """Vectors to start from, as rows: coarse modes and the guess together, random ones where these are too few."""
    parts = [_without_mean(inverse.coarse_modes(block + 1))]
    if len(parts[0]) < block:
        parts.append(rng.standard_normal((block, inverse.n_nodes)))
    if guess is not None:
        V = guess[inverse.order, : 2 * block].T
        peak = np.abs(V).max(axis=1, keepdims=True)
        parts.insert(0, _without_mean(V / np.where(peak > 0, peak, 1.0)))
    return np.vstack(parts)


def _without_mean(V: Floats) -> Floats:
    """Take the mean off every row; drop those of which only rounding is left."""
    centered = V - V.mean(axis=1, keepdims=True)
    return centered[lengths(centered) > 1e-10 * lengths(V)]


def _assessed(adjacency: sp.csr_array, found: Found, how: Method) -> Eigenpairs:
    """Fix the signs, and measure the residuals."""
    L = laplacian_map(adjacency)
    values, vectors, damped = found
    peak = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    vectors = vectors * np.where(peak < 0, -1.0, 1.0)
    R = map_each(L.__matmul__, np.ascontiguousarray(vectors.T), how.n_threads) - values[:, None] * vectors.T
    residuals = damped if how.energy else lengths(R) / values
    missed = residuals > 1.01 * how.tol
    if missed.any() and not how.energy:
        missed &= (lengths(R) > rounding(L, vectors.T)) | (damped > how.tol)
    return Eigenpairs(values, vectors, residuals, converged=not missed.any())
