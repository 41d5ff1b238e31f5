r"""Connectivity bounds: lower bounds on the algebraic connectivity lambda_2 of every component of a graph.

On m nodes with weights of at least w, lambda_2 >= 2 w (1 - cos(pi / m)), the value of a path (Fiedler 1973). For the
smallest components lambda_2 itself, less its rounding error, is a better bound: LAPACK takes many of them at a time.

References
----------
M. Fiedler. Algebraic connectivity of graphs. Czechoslovak Mathematical Journal, 23(98), 1973.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.components import Components
from graspel.runtime.types import Floats

MAX_STACKED = 12  # nodes of a component up to which LAPACK takes all components of a size at once
ROUNDING = 1e-13  # error of an eigenvalue of so few nodes by LAPACK, as a share of the largest one


def connectivity_bounds(blocks: sp.csr_array, components: Components) -> Floats:
    """A lower bound on lambda_2 of each component; infinite for a component of one node.

    Parameters
    ----------
    blocks : CSR array N x N, the adjacency with the nodes sorted by the label of their component
    components : Components, of the graph with its nodes in any order

    Examples
    --------
    >>> edge, path = [[0, 2], [2, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> A = sp.csr_array(sp.block_diag([edge, path], dtype=float))
    >>> connectivity_bounds(A, Components.of(A)).round(6)
    array([4., 1.])
    """
    starts = np.cumsum(components.sizes) - components.sizes
    lightest = np.minimum.reduceat(_lightest_edges(blocks), starts)
    bounds = 2 * lightest * (1 - np.cos(np.pi / components.sizes))
    for size in range(2, MAX_STACKED + 1):
        chosen = np.flatnonzero(components.sizes == size)
        if len(chosen) > 1:
            spectra = np.linalg.eigvalsh(_stack_laplacians(blocks, starts[chosen], size))
            bounds[chosen] = np.maximum(bounds[chosen], spectra[:, 1] - ROUNDING * spectra[:, -1])
    return bounds


def _lightest_edges(adjacency: sp.csr_array) -> Floats:
    """The smallest edge weight at each node, infinite for a node without edges."""
    lightest = np.full(adjacency.shape[0], np.inf)
    filled = np.flatnonzero(np.diff(adjacency.indptr))
    if len(filled):
        lightest[filled] = np.minimum.reduceat(adjacency.data, adjacency.indptr[filled])
    return lightest


def _stack_laplacians(blocks: sp.csr_array, starts: NDArray[np.integer], size: int) -> Floats:
    """The Laplacians of components of one size, as an array of m x size x size; `starts` are their first nodes."""
    L = np.zeros((len(starts), size, size))
    for row in range(size):
        first, n_entries = blocks.indptr[starts + row], np.diff(blocks.indptr)[starts + row]
        for i in range(int(n_entries.max())):
            component = np.flatnonzero(n_entries > i)
            entry = first[component] + i
            L[component, row, blocks.indices[entry] - starts[component]] = -blocks.data[entry]
        L[:, row, row] = -L[:, row].sum(axis=1)
    return L
