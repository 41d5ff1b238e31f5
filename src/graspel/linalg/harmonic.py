r"""The harmonic function: values on all nodes of a graph that agree with those that are known on some.

Of all functions f with the known values, it has the smallest energy f'Lf = sum w_pq (f_p - f_q)^2. At every other node
it is the weighted mean of its neighbors, so it solves

    L_uu f_u = W_ul f_l        (u: unknown, l: known).

f_p is also the chance that a random walk from p reaches a node where f = 1 before one where f = 0. The solve uses the
Laplacian of the graph in which all known nodes are one, the *ground*: L_uu is that Laplacian without the row and the
column of the ground. So the solver for Laplacians serves.

*Class mass normalization* corrects the share of each class: with the priors q_c, f_pc is multiplied by q_c / sum_p f_pc
before the largest is chosen. Few labels say little about how far each class reaches, and without it one class can take
most points.

References
----------
X. Zhu, Z. Ghahramani and J. Lafferty. Semi-supervised learning using Gaussian fields and harmonic functions. ICML,
2003.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from graspel.graph.adjacency import check_adjacency
from graspel.linalg import LaplacianSolver
from graspel.linalg.components import Components
from graspel.runtime.types import Floats, Ints

TOL = 1e-6  # relative residual of the solve


def harmonic_function(
    graph: Any, known: ArrayLike, values: ArrayLike, *, random_state: Any = 0, n_jobs: int | None = None
) -> Floats:
    """The harmonic function with given values on some nodes.

    Parameters
    ----------
    graph : Graph or sparse adjacency (N x N)
    known : array of node numbers, each once
    values : array (known) or (known x m)
        The values there; each column is a function of its own, all found by one factorization.
    random_state : int or Generator
        Seed of the solver.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    f : array (N) or (N x m)
        Zero on components without a known node.

    Examples
    --------
    >>> from graspel import Graph
    >>> path = Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    >>> harmonic_function(path, [0, 4], [0.0, 1.0]).round(6)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    A = check_adjacency(graph)
    n, nodes, given = A.shape[0], np.asarray(known, dtype=np.int64), np.asarray(values, dtype=np.float64)
    columns = given.reshape(len(nodes), -1)
    labels = Components.of(A).labels
    reached = np.isin(labels, labels[nodes])
    reached[nodes] = False
    unknown = np.flatnonzero(reached)
    f = np.zeros((n, columns.shape[1]))
    f[nodes] = columns
    if len(unknown) and columns.shape[1]:
        f[unknown] = _solve_grounded(A, unknown, A[unknown][:, nodes] @ columns, random_state, n_jobs)
    return f.reshape((n, *given.shape[1:]))


def _solve_grounded(A: sp.csr_array, unknown: Ints, b: Floats, random_state: Any, n_jobs: int | None) -> Floats:
    """X with L_uu x = b: potentials over the ground, the last node of a graph in which all known nodes are one."""
    inside = A[unknown][:, unknown].tocoo()
    to_ground = np.asarray(A[unknown].sum(axis=1)).ravel() - np.bincount(inside.row, inside.data, len(unknown))
    tied = np.flatnonzero(to_ground > 1e-12 * A.data.max())
    ground = np.full(len(tied), len(unknown))
    rows = np.concatenate([inside.row, tied, ground])
    columns = np.concatenate([inside.col, ground, tied])
    weights = np.concatenate([inside.data, to_ground[tied], to_ground[tied]])
    size = len(unknown) + 1
    solver = LaplacianSolver(
        sp.coo_array((weights, (rows, columns)), shape=(size, size)), random_state=random_state, n_jobs=n_jobs
    )
    x = solver.solve_silently(np.vstack([b, -b.sum(axis=0)]), TOL)
    potentials: Floats = x[:-1] - x[-1]
    return potentials


def normalize_class_mass(f: Floats, priors: Floats) -> Floats:
    """Class mass normalization: rows of f, reweighted so that the classes have the shares `priors`; rows sum to one.

    >>> normalize_class_mass(np.array([[0.6, 0.4], [0.9, 0.1]]), np.array([0.5, 0.5])).argmax(axis=1)
    array([1, 0])
    """
    mass = f.sum(axis=0)
    share = f * (priors / np.where(mass > 0, mass, 1.0))
    total = share.sum(axis=1, keepdims=True)
    return np.where(total > 0, share / np.where(total > 0, total, 1.0), priors / priors.sum())
