r"""Eigenpairs: the smallest eigenvalues of a graph Laplacian and their vectors, L u_i = lambda_i u_i.

The null space needs no iteration: it is spanned by the indicator vectors of the components. The others come from
:mod:`graspel.linalg.eigensolver`.

`follow_eigenpairs` is for a connected graph that gains a few edges from one call to the next. Edges only raise
eigenvalues. So the vectors of the last call are a good start, and if none was missing there, none is searched for
again. The elimination is done again in each call. A kept one is no good preconditioner: each new edge between distant
nodes adds an eigenvalue far from one. On 63,620 sentence embeddings LOBPCG took 56 iterations or more with the factors
of the first round, and six to eight with new ones, which cost as much as two or three iterations.

References
----------
M. Fiedler. Algebraic connectivity of graphs. Czechoslovak Mathematical Journal, 23(98), 1973.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from graspel.graph.adjacency import check_count, check_laplacian, check_positive, check_vectors
from graspel.linalg.components import Components
from graspel.linalg.eigensolver import Eigenpairs, SolverSettings, measure_residuals, nonzero_pairs, solve_connected
from graspel.linalg.laplacian import scale_weights
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.types import Floats

NORMS = ("euclidean", "energy")


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
    start = None if guess is None else check_vectors("guess", guess, n)
    components = Components.of(adjacency)
    masses = _check_masses(mass, n)
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
    adjacency: sp.csr_array,
    k: int,
    *,
    tol: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    mass: Floats | None = None,
) -> Floats:
    """The k smallest nonzero eigenvalues of a checked adjacency, or all if there are fewer; `tol` in the energy norm.

    The basis of the null space, N numbers for each component, is never stored. This keeps graphs of very many
    components within memory.
    """
    components = Components.of(adjacency)
    k = min(k, adjacency.shape[0] - components.number)
    if k < 1:
        return np.empty(0)
    settings = SolverSettings(tol, True, rng, count_threads(n_jobs))
    return nonzero_pairs(adjacency, components, k, None, settings, mass).values


def _check_masses(mass: Any, n_nodes: int) -> Floats | None:
    """The masses as an array; None for none. Raises unless there is a positive one per node."""
    if mass is None:
        return None
    values = np.asarray(mass, dtype=np.float64)
    if values.shape != (n_nodes,) or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"mass: must hold a positive, finite number for each of the {n_nodes:,} nodes.")
    return values


class FollowedPairs(NamedTuple):
    """The smallest nonzero eigenvalues, ascending, unit vectors as columns, and the start of the next call."""

    values: Floats
    vectors: Floats
    start: Floats


def follow_eigenpairs(
    adjacency: sp.csr_array,
    k: int,
    *,
    n_precise: int,
    tol: float,
    start: Floats | None,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> FollowedPairs:
    """The k smallest nonzero eigenpairs of a connected graph (1 <= k < N); `tol` is in the energy norm.

    The pairs after the first `n_precise` need one digit less. `start` comes from the last call, on the same nodes with
    fewer edges; it is None in the first call.
    """
    scaled, unit = scale_weights(adjacency)
    settings = SolverSettings(tol, True, rng, count_threads(n_jobs), n_precise, follows=start is not None)
    with one_thread_per_call():
        found = solve_connected(scaled, k, start, settings)
        pairs = measure_residuals(scaled, found, settings)
    warn_if_not_converged(pairs, tol)
    following = pairs.vectors if found.extra is None else np.hstack([pairs.vectors, found.extra])
    return FollowedPairs(pairs.values * unit, pairs.vectors, following)
