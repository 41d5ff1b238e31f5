r"""Effective resistance: R(p, q) = e_pq' L^+ e_pq, the distance that a learned graph is meant to reproduce.

Between m chosen nodes, m solves give all m (m - 1) / 2 resistances: with Y = L^+ [e_1 .. e_m],
R(i, j) = Y_ii + Y_jj - 2 Y_ij. Between two components it is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graspel.linalg.checked import checked_adjacency, checked_nodes
from graspel.linalg.components import Components
from graspel.linalg.solve import LaplacianSolver
from graspel.parallel import row_blocks

Floats = NDArray[np.float64]

BLOCK = 8  # solves done at once: few enough for the memory, enough for the speed


def resistance_between(
    adjacency: Any,
    nodes: ArrayLike,
    *,
    tol: float = 1e-8,
    random_state: int | np.random.Generator | None = 0,
) -> Floats:
    """All resistances between the given nodes of a graph, as a symmetric matrix.

    Parameters
    ----------
    adjacency : sparse matrix of weights, or an object with such an `adjacency`
    nodes : array-like of m node numbers
    tol : float
        Relative residual of the solves; the error of a resistance is of the order of `tol` times the largest of them.
    random_state : int, Generator or None
        Seed of the sampled elimination.

    Returns
    -------
    R : array m x m

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> resistance_between(path, [0, 1, 2]).round(6)
    array([[0. , 1. , 1.5],
           [1. , 0. , 0.5],
           [1.5, 0.5, 0. ]])
    """
    A = checked_adjacency(adjacency)
    chosen = checked_nodes(nodes, A.shape[0])
    solver = LaplacianSolver(A, random_state=random_state)
    Y = np.empty((len(chosen), len(chosen)))
    for block in row_blocks(len(chosen), BLOCK):
        sources = np.zeros((A.shape[0], block.stop - block.start))
        sources[chosen[block], np.arange(sources.shape[1])] = 1.0
        Y[:, block] = solver.solve(sources, tol)[chosen]
    Y = (Y + Y.T) / 2
    R = np.maximum(np.diag(Y)[:, None] + np.diag(Y) - 2 * Y, 0.0)
    component = Components.of(A).labels[chosen]
    R[component[:, None] != component] = np.inf
    return R
