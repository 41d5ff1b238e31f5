r"""Node masses: L u = lambda M u, where node i has the mass m_i, M = diag(m).

A node that stands for m points moves like m points tied together: among the vectors that are equal on the points of
every node, the Rayleigh quotient u'L u / u'u of the graph of points is u'L_c u / u'M u of the contracted graph. With
masses the first eigenvectors of a contracted graph are therefore those of the whole graph, as far as these are constant
on the points of a node; without them small nodes count as much as large ones. With the degrees as masses, L u = lambda
M u is the normalized cut of Shi and Malik.

The problem is solved as M^-1/2 L M^-1/2 v = lambda v, v = M^1/2 u. Its null space is spanned by M^1/2 1, and its
preconditioner is M^1/2 L^+ M^1/2.

References
----------
J. Shi and J. Malik. Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and Machine
Intelligence 22, 2000.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.laplacian import Laplacian
from graspel.linalg.vectors import map_each
from graspel.runtime.types import Floats


def check_masses(mass: Any, n_nodes: int) -> Floats | None:
    """The masses as an array; None for none. Raises unless there is a positive one per node."""
    if mass is None:
        return None
    values = np.asarray(mass, dtype=np.float64)
    if values.shape != (n_nodes,) or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"mass: must hold a positive, finite number for each of the {n_nodes:,} nodes.")
    return values


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

    def solve_in_order(self, V: Floats) -> Floats:
        """Apply the inverse to the rows of V (m x N)."""
        return self.center_in_order(self._inverse.solve_in_order(self.center_in_order(V) * self.root) * self.root)

    def center_in_order(self, V: Floats) -> Floats:
        """Subtract from the rows of V (m x N) their part along the null vector."""
        return map_each(lambda v: v - (v @ self._null) * self._null, V)

    def coarse_modes(self, k: int) -> Floats:
        """Approximate the first k eigenvectors by those of the coarse graph, interpolated to all nodes."""
        return self._inverse.coarse_modes(k) * self.root
