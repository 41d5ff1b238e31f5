"""Ordering: an order of the nodes in which neighbors are close to each other.

The nodes of a graph of data points come in any order. In the reverse Cuthill-McKee order a sparse matrix product finds
most of its operands in the cache, which makes it several times faster on large graphs.

References
----------
E. Cuthill and J. McKee. Reducing the bandwidth of sparse symmetric matrices. Proceedings of the 24th National
Conference of the ACM, 1969.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee


def order_neighbors_together(adjacency: sp.csr_array) -> NDArray[np.intp]:
    """Order the nodes so that neighbors are close together.

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]]))  # 0 - 2 - 1
    >>> order_neighbors_together(path).tolist() in ([0, 2, 1], [1, 2, 0])
    True
    """
    if adjacency.nnz == 0:
        return np.arange(adjacency.shape[0])
    return reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.intp)


def permute(A: sp.csr_array, order: NDArray[np.integer]) -> sp.csr_array:
    """Row i and column i of the result are row order[i] and column order[i] of A; columns of a row are not sorted.

    Examples
    --------
    >>> permute(sp.csr_array(np.array([[0, 0, 1], [0, 0, 2], [1, 2, 0]])), np.array([0, 2, 1])).toarray()
    array([[0, 1, 0],
           [1, 0, 2],
           [0, 2, 0]])
    """
    place = np.empty(len(order), dtype=A.indices.dtype)
    place[order] = np.arange(len(order), dtype=A.indices.dtype)
    rows = A[order]
    return sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=A.shape)
