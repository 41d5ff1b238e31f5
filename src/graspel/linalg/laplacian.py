r"""Laplacian: L = D - W of a graph given by its adjacency W, and products L X that are accurate for all weights.

Row i of L x is sum_j w_ij (x_i - x_j). Multiplying by the matrix D - W gives it with an error of about machine
precision times d_i x_i (d the weighted degrees). At a node with heavy edges this error can exceed the flow through its
light edges. The product B'(w * (B x)), with B the edge-by-node incidence matrix, takes the differences first. Its
rounding errors are flows along single edges, which sum to zero over the two ends of the edge and cause no error
elsewhere in a solve. It costs twice as much, so it is used only if the weights span more than six digits.

Solvers take weights as multiples of a unit near the largest one (`scale_weights`). With the largest weight of order
one, squares of weights and of residuals neither overflow nor vanish. The unit is a power of two, so that dividing by it
causes no rounding error.

The nodes of a graph of data points come in any order. In the reverse Cuthill-McKee order neighbors are close to each
other, and a product finds most of its operands in the cache: on large graphs it is several times faster.

References
----------
E. Cuthill and J. McKee. Reducing the bandwidth of sparse symmetric matrices. Proceedings of the 24th National
Conference of the ACM, 1969.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from graspel.runtime.types import Floats

WIDE_WEIGHTS = 1e6  # ratio of largest to smallest weight above which differences are taken first


class FlowLaplacian:
    """L = B' diag(w) B, applied factor by factor.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1e20, 0], [1e20, 0, 1], [0, 1, 0]]))
    >>> FlowLaplacian(path) @ np.array([[1.0], [1.0], [0.0]])  # with the matrix D - W the middle entry would be 0
    array([[ 0.],
           [ 1.],
           [-1.]])
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        edges = sp.triu(adjacency, 1, format="coo")
        m, ends = edges.nnz, np.stack([edges.row, edges.col], axis=1).ravel()
        self.shape = adjacency.shape
        self._incidence = sp.csr_array((np.tile([1.0, -1.0], m), ends, np.arange(0, 2 * m + 1, 2)), (m, self.shape[0]))
        self._divergence = self._incidence.T.tocsr()
        self._weights = edges.data
        self._degrees = adjacency.sum(axis=1)

    def __matmul__(self, X: Floats) -> Floats:
        """Apply L to X (N or N x m)."""
        return self._divergence @ ((self._incidence @ X).T * self._weights).T

    def diagonal(self) -> Floats:
        """The weighted degrees."""
        return self._degrees


Laplacian: TypeAlias = "sp.csr_array | FlowLaplacian"


def laplacian_of(adjacency: sp.csr_array) -> sp.csr_array:
    """L = D - W as a sparse matrix."""
    return sp.csr_array(sp.diags_array(adjacency.sum(axis=1)) - adjacency)


def laplacian_map(adjacency: sp.csr_array) -> Laplacian:
    """L as an operator for products: a sparse matrix, or a `FlowLaplacian` if the weights span many digits."""
    return FlowLaplacian(adjacency) if has_wide_weights(adjacency) else laplacian_of(adjacency)


def has_wide_weights(adjacency: sp.csr_array) -> bool:
    """Whether the weights span more than six digits."""
    w = adjacency.data
    return len(w) > 0 and bool(w.max() > WIDE_WEIGHTS * w.min())


def scale_weights(adjacency: sp.csr_array) -> tuple[sp.csr_array, float]:
    """The weights divided by the largest power of two up to the heaviest weight, and this unit.

    Examples
    --------
    >>> scaled, unit = scale_weights(sp.csr_array(np.array([[0.0, 5e30], [5e30, 0.0]])))
    >>> round(float(scaled[0, 1]), 3), bool(np.log2(unit) % 1 == 0)
    (1.972, True)
    """
    if not adjacency.nnz:
        return adjacency, 1.0
    unit = 2.0 ** np.floor(np.log2(adjacency.data.max()))
    # The structure, which nobody changes, is shared: on a large graph a copy is a third of the matrix.
    return sp.csr_array((adjacency.data / unit, adjacency.indices, adjacency.indptr), adjacency.shape), float(unit)


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
