r"""Eigenpairs: the smallest eigenvalues of a graph Laplacian and their vectors, L u_i = lambda_i u_i.

For small graphs LAPACK computes all of them (:mod:`graspel.linalg.dense_pairs`). For large graphs the iteration starts
from the eigenvectors of the coarse graph that approximate elimination leaves
(:mod:`graspel.linalg.factor.approximate_factor`), or from the eigenvectors of a similar graph, and LOBPCG
(:mod:`graspel.linalg.lobpcg`) refines them with the same elimination as preconditioner. The null space needs no
iteration: it is spanned by the indicator vectors of the components. At the end a random vector shows whether an
eigenvalue was missed (:mod:`graspel.linalg.missing`). If so, LOBPCG starts again from the vectors found and further
random vectors. With masses of the nodes the same is done for M^-1/2 L M^-1/2 (:mod:`graspel.linalg.node_masses`). If
the weights span so many decades that rounding errors defeat LOBPCG, Jacobi's method computes the
pairs of graphs that are small enough for it.

References
----------
A. V. Knyazev. Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
method. SIAM Journal on Scientific Computing, 23(2), 2001.

M. Fiedler. Algebraic connectivity of graphs. Czechoslovak Mathematical Journal, 23(98), 1973.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from graspel.graph.adjacency import check_laplacian
from graspel.linalg.arguments import check_columns, check_count, check_positive
from graspel.linalg.components import Components
from graspel.linalg.connectivity_bounds import connectivity_bounds
from graspel.linalg.dense_pairs import accurate_pairs, dense_pairs
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.laplacian import Laplacian, laplacian_map
from graspel.linalg.lobpcg import energy_norm, lobpcg, orthonormal_rows, residual_rounding
from graspel.linalg.missing import find_missing
from graspel.linalg.node_masses import MassiveFactor, MassiveLaplacian, check_masses
from graspel.linalg.scale import scale_weights
from graspel.linalg.vectors import keep_rows, lengths, map_each
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.types import Floats

DENSE_LIMIT = 300  # nodes up to which LAPACK is faster than the iteration
DENSE_RATIO = 10  # nodes for each pair wanted, up to which the same holds
ACCURATE_LIMIT = 1500  # nodes up to which Jacobi's method takes over where the iteration fails: 6 s at most
POOR = 0.1  # residual in the energy norm above which pairs are so wrong that others are not looked for
SAME_SIZE = 1 - 1e-6  # entries above this share of the largest one count as equally large: symmetric graphs have such
MAX_RESTARTS = 3  # of LOBPCG with random vectors added, each after a missing eigenvalue was found
MAX_ITERATIONS = 200  # of LOBPCG; a ConvergenceWarning is raised if they are not enough
EQUAL = 1e-9  # relative difference up to which eigenvalues of two components count as equal: either one will do
NORMS = ("euclidean", "energy")
COARSE_TOL = 10  # tolerances that the residual of a pair may have that is not among the `n_precise` first


@dataclass(frozen=True)
class Eigenpairs:
    """The k smallest eigenvalues, ascending, with unit eigenvectors as columns, and their accuracy.

    `residuals` holds the size of the residual r = L u - lambda u of every nonzero eigenvalue (0 for the null space) in
    the requested norm: |r| / lambda, or (r'L^+ r / lambda)^(1/2), with approximate elimination in the place of L^+.
    `converged` says whether all residuals are within the tolerance and no eigenvalue was missed. Heavy edges can make
    rounding errors alone exceed the tolerance. A residual that is no larger than these also counts as converged if it
    is within the tolerance in the norm of L^+, which bounds the relative error of lambda.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    converged: bool


# Longer than 60 lines, two thirds of which are the signature and the docstring.
def smallest_eigenpairs(
    L: Any,
    k: int,
    *,
    tol: float = 1e-5,
    norm: str = "euclidean",
    guess: ArrayLike | None = None,
    mass: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> Eigenpairs:
    """Compute the k smallest eigenpairs of a Laplacian, null space included.

    Parameters
    ----------
    L : sparse matrix or array, the Laplacian of an undirected graph; or a Graph, for its Laplacian
    k : int
        Number of pairs, 1 <= k <= N.
    tol : float
        Largest residual allowed. The relative error of an eigenvalue is of the order of its square.
    norm : {"euclidean", "energy"}
        How the residual r = L u - lambda u is measured: |r| / lambda, or (r'L^+ r / lambda)^(1/2). The second is the
        relative error of u in the energy norm, |u - u_exact|_L / |u|_L, up to a factor that depends on the gap to the
        other eigenvalues. It is enough for eigenvalues and for distances in an embedding. The first also bounds small
        errors along heavy edges, which takes three times as long on large graphs.
    guess : array (N x m) or None
        Approximate eigenvectors, for example those of a similar graph.
    mass : array of N positive numbers, or None for 1
        Masses of the nodes: the pairs solve L u = lambda diag(mass) u, and the vectors have u'diag(mass) u = 1. With
        the degrees as masses they are those of the normalized cut. Residuals are those of M^-1/2 L M^-1/2.
    random_state : int, Generator or None
        Seed of the approximate elimination.
    n_jobs : int or None
        Number of threads; None or -1 for all cores. It does not change the result.

    Returns
    -------
    pairs : Eigenpairs
        The entry of largest absolute value in each vector is positive (the first of them, where several are equal to
        six digits), so that signs are reproducible.
        A ConvergenceWarning is raised if `tol` was not met.

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
    masses = check_masses(mass, n)
    c = components.number
    null = _null_vectors(components, min(k, c), masses)
    if k <= c:
        return Eigenpairs(np.zeros(k), null, np.zeros(k), True)
    settings = SolverSettings(tol, norm == "energy", np.random.default_rng(random_state), count_threads(n_jobs))
    pairs = nonzero_pairs(adjacency, components, k - c, start, settings, masses)
    warn_if_not_converged(pairs, tol)
    return replace(
        pairs,
        values=np.concatenate([np.zeros(c), pairs.values]),
        vectors=np.hstack([null, pairs.vectors]),
        residuals=np.concatenate([np.zeros(c), pairs.residuals]),
    )


def _null_vectors(components: Components, k: int, mass: Floats | None) -> Floats:
    """The indicator vectors of the k largest components, of length one in the masses."""
    vectors = components.indicators(k)
    return vectors if mass is None else vectors / np.sqrt(mass @ vectors**2)


def warn_if_not_converged(pairs: Eigenpairs, tol: float) -> None:
    """Warn at the line that called the caller of this function."""
    if pairs.converged:
        return
    worst = float(pairs.residuals.max())
    missed = "some of the smallest eigenvalues may have been missed; use them with care, or ask for more."
    inaccurate = (
        f"the eigenpairs reached a relative residual of {worst:.1e}, not the {tol:.1e} asked for; use them with care, "
        "or allow a larger tol."
    )
    warnings.warn(missed if worst <= tol else inaccurate, ConvergenceWarning, stacklevel=3)


def smallest_nonzero_eigenvalues(
    adjacency: sp.csr_array, k: int, *, tol: float, rng: np.random.Generator, n_jobs: int | None = None
) -> Floats:
    """The k smallest nonzero eigenvalues of a checked adjacency, or all if there are fewer; `tol` in the energy norm.

    The basis of the null space, N numbers for each component, is never stored. This keeps graphs of very many
    components within memory.
    """
    components = Components.of(adjacency)
    k = min(k, adjacency.shape[0] - components.number)
    if k < 1:
        return np.empty(0)
    return nonzero_pairs(adjacency, components, k, None, SolverSettings(tol, True, rng, count_threads(n_jobs))).values


class SolverSettings(NamedTuple):
    """Settings of the eigensolver: tolerance, norm, source of random numbers, number of threads.

    With `n_precise` set, pairs beyond the first `n_precise` may have a residual of `COARSE_TOL` tolerances.
    `follows` says that the guess holds eigenvectors of nearly the same graph, of which none was missing. Then nothing
    is added to the guess, and no missing eigenvalue is searched for.
    """

    tol: float
    energy: bool
    rng: np.random.Generator
    n_threads: int
    n_precise: int | None = None
    follows: bool = False

    def tolerances(self, n_pairs: int) -> Floats:
        """The tolerance of each of the pairs."""
        return np.where(np.arange(n_pairs) < (self.n_precise or n_pairs), self.tol, COARSE_TOL * self.tol)


class NonzeroPairs(NamedTuple):
    """Nonzero eigenvalues, their vectors as columns, residuals in the energy norm (0 from LAPACK), is none missing.

    `extra` holds further approximate vectors, which make a better guess for a similar graph.
    """

    values: Floats
    vectors: Floats
    energy_residuals: Floats
    complete: bool = True
    extra: Floats | None = None


def nonzero_pairs(
    adjacency: sp.csr_array,
    components: Components,
    wanted: int,
    guess: Floats | None,
    settings: SolverSettings,
    mass: Floats | None = None,
) -> Eigenpairs:
    """The smallest nonzero eigenvalues, their vectors and residuals."""
    adjacency, unit = scale_weights(adjacency)
    root = None if mass is None else np.sqrt(mass)[:, None]
    start = guess if guess is None or root is None else guess * root
    with one_thread_per_call():
        if components.number == 1:
            found = solve_connected(adjacency, wanted, start, settings, mass)
        else:
            found = _solve_by_component(adjacency, components, wanted, start, settings, mass)
        pairs = measure_residuals(adjacency, found, settings, mass)
    vectors = pairs.vectors if root is None else pairs.vectors / root
    return replace(pairs, values=pairs.values * unit, vectors=vectors)


def _solve_by_component(
    adjacency: sp.csr_array,
    components: Components,
    wanted: int,
    guess: Floats | None,
    settings: SolverSettings,
    mass: Floats | None,
) -> NonzeroPairs:
    """Solve each component on its own, because an iteration on the whole graph could miss small components.

    Components are solved in the order of a lower bound on their lambda_2, until it reaches the largest value wanted.
    """
    order = np.argsort(components.labels, kind="stable")
    blocks = sp.csr_array(adjacency[order][:, order])
    ends = np.cumsum(components.sizes)
    bounds = connectivity_bounds(blocks, components)
    if mass is not None:  # the Rayleigh quotient is at least that without masses over the largest mass
        bounds = bounds / np.maximum.reduceat(mass[order], ends - components.sizes)
    best = np.full(wanted, np.inf)  # the smallest values so far
    solved: list[NonzeroPairs] = []
    nodes_of = []
    for label in np.argsort(bounds, kind="stable"):
        size = int(components.sizes[label])
        if size == 1 or bounds[label] >= (1 - EQUAL) * best[-1]:
            break
        inside = slice(ends[label] - size, ends[label])
        nodes = order[inside]
        start = None if guess is None else guess[nodes]
        own_mass = None if mass is None else mass[nodes]
        own = solve_connected(blocks[inside, inside], min(wanted, size - 1), start, settings, own_mass)
        best = np.sort(np.concatenate([best, own.values]))[:wanted]
        solved.append(own)
        nodes_of.append(nodes)
    values = np.concatenate([own.values for own in solved])
    smallest = np.argsort(values, kind="stable")[:wanted]
    component_of = np.repeat(np.arange(len(solved)), [len(own.values) for own in solved])
    first = np.searchsorted(component_of, np.arange(len(solved)))
    vectors = np.zeros((len(order), wanted))
    for column, at in enumerate(smallest):
        component = component_of[at]
        vectors[nodes_of[component], column] = solved[component].vectors[:, at - first[component]]
    energy_residuals = np.concatenate([own.energy_residuals for own in solved])
    return NonzeroPairs(values[smallest], vectors, energy_residuals[smallest], all(own.complete for own in solved))


def solve_connected(
    adjacency: sp.csr_array, wanted: int, guess: Floats | None, settings: SolverSettings, mass: Floats | None = None
) -> NonzeroPairs:
    """Compute the smallest nonzero eigenvalues of a connected graph and their vectors, those of M^-1/2 L M^-1/2."""
    if adjacency.shape[0] <= max(DENSE_LIMIT, DENSE_RATIO * wanted):
        return NonzeroPairs(*dense_pairs(adjacency, wanted, mass), np.zeros(wanted))
    found = _solve_multilevel(adjacency, wanted, guess, settings, mass)
    if _are_poor(found.energy_residuals, settings) and adjacency.shape[0] <= ACCURATE_LIMIT:
        return NonzeroPairs(*accurate_pairs(adjacency, wanted, mass), np.zeros(wanted))
    return found


def _are_poor(energy_residuals: Floats, settings: SolverSettings) -> bool:
    """Whether rounding errors prevailed, so that further iterations would be no better."""
    return bool(energy_residuals.max() > max(settings.tol, POOR))


def _solve_multilevel(
    adjacency: sp.csr_array, wanted: int, guess: Floats | None, settings: SolverSettings, mass: Floats | None
) -> NonzeroPairs:
    """Compute the pairs by LOBPCG on the complement of the null space, with vectors in elimination order."""
    block = wanted + max(3, wanted // 4)  # extra vectors make the last wanted one converge faster
    whole = Components.connected(adjacency.shape[0])
    inverse: ApproximateFactor | MassiveFactor
    inverse = ApproximateFactor(adjacency, settings.rng, n_threads=settings.n_threads, components=whole)
    L: Laplacian | MassiveLaplacian = laplacian_map(inverse.reorder(adjacency))
    if mass is not None:
        inverse = MassiveFactor(inverse, mass)
        L = MassiveLaplacian(L, inverse.root)
    starts = [_start_vectors(inverse, guess, block, settings)]
    probes = deepcopy(settings.rng)  # a copy, so that the search for missing pairs leaves later random numbers alone
    for _ in range(1 + MAX_RESTARTS):
        values, vectors, extra = lobpcg(
            L,
            starts.pop(),  # they are long, and not needed after the first step
            inverse.solve_in_order,
            inverse.center_in_order,
            wanted=wanted,
            block=block,
            tol=settings.tolerances(block),
            max_iterations=MAX_ITERATIONS,
            energy=settings.energy,
            n_threads=settings.n_threads,
        )
        R = map_each(L.__matmul__, vectors, settings.n_threads) - values[:, None] * vectors
        energy_residuals = energy_norm(R, inverse.solve_in_order(R), values)
        if _are_poor(energy_residuals, settings):
            complete = False
            break
        if settings.follows:
            complete = True
            break
        missing = _find_missing(L, inverse, values, vectors, extra, probes, settings.n_threads)
        complete = missing is None
        if missing is None:
            break
        random = inverse.solve_in_order(probes.standard_normal((block, inverse.n_nodes)))
        starts.append(np.vstack([vectors, extra, missing[None], random]))
    in_node_order = inverse.to_node_order
    return NonzeroPairs(values, in_node_order(vectors), energy_residuals, complete, in_node_order(extra))


def _find_missing(
    L: Laplacian | MassiveLaplacian,
    inverse: ApproximateFactor | MassiveFactor,
    values: Floats,
    vectors: Floats,
    extra: Floats,
    rng: np.random.Generator,
    n_threads: int,
) -> Floats | None:
    """A vector that the pairs found lack, or None."""
    found = orthonormal_rows(np.vstack([vectors, inverse.center_in_order(extra)]))
    start = rng.standard_normal(inverse.n_nodes)
    largest = float(values[-1])
    return find_missing(L, start, inverse.solve_in_order, inverse.center_in_order, found, largest, n_threads=n_threads)


def _start_vectors(
    inverse: ApproximateFactor | MassiveFactor, guess: Floats | None, block: int, settings: SolverSettings
) -> Floats:
    """Start vectors as rows: the guess and the coarse modes, and random vectors if there are too few modes."""
    starts = []
    if guess is not None:
        V = np.ascontiguousarray(guess[inverse.order, : 2 * block].T)
        peak = np.maximum(V.max(axis=1), -V.min(axis=1))[:, None]
        V /= np.where(peak > 0, peak, 1.0)
        starts.append(_project(inverse, V))
        if settings.follows and len(starts[0]) >= block:
            return starts[0]
    modes = _project(inverse, inverse.coarse_modes(block + 1))
    starts.append(modes)
    if len(modes) < block:
        starts.append(settings.rng.standard_normal((block, inverse.n_nodes)))
    return np.vstack(starts)


def _project(inverse: ApproximateFactor | MassiveFactor, V: Floats) -> Floats:
    """Remove the null space from the rows of V, in place; drop rows of which only rounding errors remain."""
    before = lengths(V)
    map_each(lambda v: inverse.center_in_order(v[None])[0], V, out=V)
    return keep_rows(V, lengths(V) > 1e-10 * before)


def measure_residuals(
    adjacency: sp.csr_array, found: NonzeroPairs, settings: SolverSettings, mass: Floats | None = None
) -> Eigenpairs:
    """Fix the signs of the vectors, measure the residuals, and decide whether they have converged."""
    L: Laplacian | MassiveLaplacian = laplacian_map(adjacency)
    if mass is not None:
        L = MassiveLaplacian(L, np.sqrt(mass))
    values, vectors, energy_residuals, complete, _ = found
    sizes = np.abs(vectors)
    first_peak = (sizes >= SAME_SIZE * sizes.max(axis=0)).argmax(axis=0)
    signs = np.where(vectors[first_peak, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    vectors = vectors * signs
    R = map_each(L.__matmul__, np.ascontiguousarray(vectors.T), settings.n_threads) - values[:, None] * vectors.T
    with np.errstate(over="ignore"):  # a value that was lost to rounding has an infinite residual
        residuals = energy_residuals if settings.energy else lengths(R) / values
    missed = residuals > 1.01 * settings.tolerances(len(values))
    if missed.any() and not settings.energy:
        missed &= (lengths(R) > residual_rounding(L, vectors.T)) | (energy_residuals > settings.tol)
    return Eigenpairs(values, vectors, residuals, converged=complete and not missed.any())
