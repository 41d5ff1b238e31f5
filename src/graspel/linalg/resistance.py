r"""Effective resistance: R(p, q) = e_pq' L^+ e_pq, the distance that a learned graph is meant to reproduce.

Between m chosen nodes, m solves give all m (m - 1) / 2 resistances: with Y = L^+ [e_1 .. e_m],
R(i, j) = Y_ii + Y_jj - 2 Y_ij.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.solve import LaplacianSolver

Floats = NDArray[np.float64]


def resistance_between(
    adjacency: sp.csr_array,
    nodes: NDArray[np.integer],
    *,
    tol: float = 1e-8,
    random_state: int | np.random.Generator | None = 0,
) -> Floats:
    """All resistances between the given nodes of a connected graph, as a symmetric matrix.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> resistance_between(path, np.array([0, 1, 2])).round(6)
    array([[0. , 1. , 1.5],
           [1. , 0. , 0.5],
           [1.5, 0.5, 0. ]])
    """
    sources = np.zeros((adjacency.shape[0], len(nodes)))
    sources[nodes, np.arange(len(nodes))] = 1.0
    Y = LaplacianSolver(adjacency, random_state=random_state).solve(sources, tol)[nodes]
    Y = (Y + Y.T) / 2
    return np.diag(Y)[:, None] + np.diag(Y) - 2 * Y
