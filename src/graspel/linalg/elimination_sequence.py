"""Elimination node by node: how :mod:`graspel.linalg.approximate_factor` factors large graphs, in a compiled loop.

The node of the lowest degree goes first. The star of an eliminated node is replaced as in
:mod:`graspel.linalg.elimination_levels`. The loops are in :mod:`graspel.kernels.elimination`.

References
----------
Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.elimination_levels import CAREFUL, CAREFUL_SHARE, DENSE_FILL, DENSE_LIMIT, DENSE_SIZE, QUICK
from graspel.linalg.ordering import order_neighbors_together, permute

Floats = NDArray[np.float64]


class EliminationSequence:
    """The factors that elimination node by node leaves; attributes as those of `EliminationLevels`."""

    vectors_at_once = 4  # a thread of its own works on each four; they share half a line of the cache

    def __init__(self, adjacency: sp.csr_array, ground: Floats, rng: np.random.Generator) -> None:
        from graspel.kernels.elimination import eliminate_nodes

        nodes = order_neighbors_together(adjacency)
        A, ground = permute(adjacency, nodes), ground[nodes]
        order, self._pointers, self._columns, self._shares, self.pivots, self.rest = eliminate_nodes(
            A.indptr.astype(np.int64),
            A.indices.astype(np.int32),
            A.data.astype(np.float64),
            ground,
            np.uint64(rng.integers(2**63)),
            DENSE_SIZE,
            DENSE_LIMIT,
            DENSE_FILL,
            CAREFUL_SHARE,
            tuple(QUICK),
            tuple(CAREFUL),
        )
        self.order = nodes[order]
        self.rest_ground = ground[order[len(self.pivots) :]]

    @property
    def n_entries(self) -> int:
        """Number of entries w_i / W of all eliminated nodes."""
        return len(self._shares)

    def forward(self, X: Floats) -> None:
        """Replace X (N x m, in elimination order) by G^-1 X, leaving out the dense block of G."""
        from graspel.kernels.triangular import solve_forward

        solve_forward(self._pointers, self._columns, self._shares, X)

    def backward(self, X: Floats) -> None:
        """Replace X by G^-T X, which interpolates from later to earlier nodes."""
        from graspel.kernels.triangular import solve_backward

        solve_backward(self._pointers, self._columns, self._shares, X)
