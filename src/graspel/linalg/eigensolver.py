r"""Eigensolver: the smallest nonzero eigenpairs of a Laplacian, component by component.

For small graphs LAPACK computes all of them (:mod:`graspel.linalg.dense_pairs`). For large graphs the iteration starts
from the eigenvectors of the coarse graph that approximate elimination leaves
(:mod:`graspel.linalg.factor.approximate_factor`), or from the eigenvectors of a similar graph, and LOBPCG
(:mod:`graspel.linalg.lobpcg`) refines them with the same elimination as preconditioner. At the end a random vector
shows whether an eigenvalue was missed. If so, LOBPCG starts again from the vectors found and further random vectors. If
the weights span so many decades that rounding errors defeat LOBPCG, Jacobi's method computes the pairs of graphs that
are small enough for it.

**Node masses.** With M = diag(m) the pairs solve L u = lambda M u, where node i has the mass m_i. A node that stands
for m points moves like m points tied together: among the vectors that are equal on the points of every node, the
Rayleigh quotient u'L u / u'u of the graph of points is u'L_c u / u'M u of the contracted graph. With masses the first
eigenvectors of a contracted graph are therefore those of the whole graph, as far as these are constant on the points of
a node; without them small nodes count as much as large ones. With the degrees as masses, L u = lambda M u is the
normalized cut of Shi and Malik. The problem is solved as M^-1/2 L M^-1/2 v = lambda v, v = M^1/2 u. Its null space is
spanned by M^1/2 1, and its preconditioner is M^1/2 L^+ M^1/2.

References
----------
A. V. Knyazev. Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
method. SIAM Journal on Scientific Computing, 23(2), 2001.

J. Shi and J. Malik. Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and Machine
Intelligence 22, 2000.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.linalg.components import Components, connectivity_bounds
from graspel.linalg.dense_pairs import accurate_pairs, basis_of_space, dense_pairs, groups_of_equals
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.laplacian import Laplacian, laplacian_map, scale_weights
from graspel.linalg.lobpcg import energy_norm, find_missing, lobpcg, orthonormal_rows, residual_rounding
from graspel.linalg.vectors import keep_rows, lengths, map_each
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.types import Floats

DENSE_LIMIT = 300  # nodes up to which LAPACK is faster than the iteration
DENSE_RATIO = 10  # nodes for each pair wanted, up to which the same holds
ACCURATE_LIMIT = 1500  # nodes up to which Jacobi's method takes over where the iteration fails: 6 s at most
POOR = 0.1  # residual in the energy norm above which pairs are so wrong that others are not looked for
SAME_SIZE = 1 - 1e-6  # entries above this share of the largest one count as equally large: symmetric graphs have such
MAX_RESTARTS = 3  # of LOBPCG with random vectors added, each after a missing eigenvalue was found
MAX_ITERATIONS = 200  # of LOBPCG; a ConvergenceWarning is raised if they are not enough
EQUAL = 1e-9  # relative difference up to which eigenvalues of two components count as equal: either one will do
COARSE_TOL = 10  # tolerances that the residual of a pair may have that is not among the `n_precise` first


@dataclass(frozen=True)
class Eigenpairs:
    """The k smallest eigenvalues, ascending, with unit eigenvectors as columns, and their accuracy.

    `residuals` holds the size of the residual r = L u - lambda u of every nonzero eigenvalue (0 for the null space) in
    the requested norm: |r| / lambda, or (r'L^+ r / lambda)^(1/2), with approximate elimination instead of L^+.
    `converged` says whether all residuals are within the tolerance and no eigenvalue was missed. Heavy edges can make
    rounding errors alone exceed the tolerance. A residual that is no larger than these also counts as converged if it
    is within the tolerance in the norm of L^+, which bounds the relative error of lambda.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    converged: bool


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
    found = inverse.to_node_order(vectors)
    for first, end in groups_of_equals(values):
        if end - first > 1:
            found[:, first:end] = basis_of_space(found[:, first:end], np.random.default_rng(0))
    return NonzeroPairs(values, found, energy_residuals, complete, inverse.to_node_order(extra))


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


class MassiveLaplacian:
    """M^-1/2 L M^-1/2, applied factor by factor."""

    def __init__(self, L: Laplacian, root: Floats) -> None:
        self.shape = L.shape
        self._L, self._root = L, root

    def __matmul__(self, X: Floats) -> Floats:
        """Apply the matrix to X (N or N x m)."""
        return ((self._L @ (X.T / self._root).T).T / self._root).T

    def diagonal(self) -> Floats:
        """The weighted degrees over the masses."""
        return self._L.diagonal() / self._root**2


class MassiveFactor:
    """The inverse of M^-1/2 L M^-1/2 of a connected graph, from that of L; the methods are those of ApproximateFactor.

    The rows of arrays are vectors v = M^1/2 u in elimination order.
    """

    def __init__(self, inverse: ApproximateFactor, mass: Floats) -> None:
        self.order, self.n_nodes = inverse.order, inverse.n_nodes
        self.root = np.sqrt(mass)[inverse.order]
        self._inverse = inverse
        self._null = self.root / np.linalg.norm(self.root)

    def reorder(self, A: sp.csr_array) -> sp.csr_array:
        """Permute the rows and columns of a matrix over the nodes to elimination order."""
        return self._inverse.reorder(A)

    def to_node_order(self, V: Floats) -> Floats:
        """Return the rows of V (m x N, in elimination order) as the columns of an N x m array in node order."""
        return self._inverse.to_node_order(V)

    def solve_in_order(self, V: Floats, *, out: Floats | None = None) -> Floats:
        """Apply the inverse to the rows of V (m x N)."""
        result = self._inverse.solve_in_order(self.center_in_order(V) * self.root, out=out)
        result *= self.root
        return self.center_in_order(result, out=result)

    def center_in_order(self, V: Floats, *, out: Floats | None = None) -> Floats:
        """Subtract from the rows of V (m x N) their part along the null vector."""
        return map_each(lambda v: v - (v @ self._null) * self._null, V, out=out)

    def coarse_modes(self, k: int) -> Floats:
        """Approximate the first k eigenvectors by those of the coarse graph, interpolated to all nodes."""
        return self._inverse.coarse_modes(k) * self.root
