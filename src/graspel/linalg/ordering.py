"""Ordering: nodes numbered so that neighbors stand next to each other.

The nodes of a graph of data points come in any order. Numbered by reverse Cuthill-McKee, a sparse product finds most of
what it needs in the cache, which makes it several times faster on large graphs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee


def order_neighbors_together(adjacency: sp.csr_array) -> NDArray[np.intp]:
    """The nodes in an order that keeps neighbors together.

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]]))  # 0 - 2 - 1
    >>> order_neighbors_together(path).tolist() in ([0, 2, 1], [1, 2, 0])
    True
    """
    if adjacency.nnz == 0:
        return np.arange(adjacency.shape[0])
    return reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.intp)
