r"""Dense factor: a small Laplacian plus a diagonal, L + diag(s) = G D G', to full relative accuracy.

Cholesky on the matrix L + diag(s) loses a weak edge between heavy clusters to rounding as soon as the weights span more
than the sixteen digits of a double. Elimination on the *weights* does not lose it. Think of s as the weights of edges
to one more node, the ground. Eliminating a node with weights w_i, ground weight s and total weight W adds w_i w_j / W
to the edges between its neighbors and (w_i / W) s to their ground weights. Nothing is ever subtracted, so each pivot is
correct to a few units in the last place, whatever the range of the weights.

References
----------
W. K. Grassmann, M. I. Taksar and D. P. Heyman. Regenerative analysis and steady state distributions for Markov chains.
Operations Research, 33(5), 1985.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graspel.runtime.types import Floats

PANEL = 32  # rows eliminated one by one before one matrix product updates the remaining rows


class DenseFactor:
    """L + diag(ground) = G D G' with G unit lower triangular, from a dense adjacency whose diagonal is not read.

    In a component without any ground weight the last pivot is zero. It is stored as infinity: every solve then gives
    its node the value 0, which fixes the constant that the equations of this component leave undetermined.

    Attributes
    ----------
    pivots : array of N, the diagonal of D
    G : array N x N

    Examples
    --------
    >>> import numpy as np
    >>> factors = DenseFactor(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0.0, 1e-30]))
    >>> factors.pivots
    array([2.e+00, 1.e-30])
    """

    def __init__(self, adjacency: Floats, ground: Floats) -> None:
        A, s = np.array(adjacency, dtype=np.float64), np.array(ground, dtype=np.float64)
        n, has_ground = len(A), bool(s.any())
        self.pivots = np.full(n, np.inf)
        self.G = np.eye(n)
        for start in range(0, n, PANEL):
            stop = min(start + PANEL, n)
            for k in range(start, stop):
                row = A[k, k + 1 :]
                W = np.add.reduce(row) + s[k]
                if W > 0:
                    share = row / W
                    if k + 1 < stop:
                        A[k + 1 : stop, k + 1 :] += share[: stop - k - 1, None] * row
                    if has_ground:
                        s[k + 1 :] += share * s[k]
                    self.pivots[k] = W
                    self.G[k + 1 :, k] = -share
            # These entries of G are negative or zero, so nothing is subtracted.
            if stop < n:
                A[stop:, stop:] -= self.G[stop:, start:stop] @ A[start:stop, stop:]

    def forward(self, X: Floats) -> Floats:
        """G^-1 X."""
        return self._triangular(X, transposed=False)

    def backward(self, X: Floats) -> Floats:
        """G^-T X."""
        return self._triangular(X, transposed=True)

    def solve(self, X: Floats) -> Floats:
        """(G D G')^-1 X, for X of N or N x m."""
        return self.backward((self.forward(X).T / self.pivots).T)

    def logdet(self) -> float:
        """Sum of the logarithms of the finite pivots.

        It is log det(L + diag(ground)). Without ground it is the logarithm of the weighted number of spanning trees.
        """
        return float(np.log(self.pivots[np.isfinite(self.pivots)]).sum())

    def _triangular(self, X: Floats, transposed: bool) -> Floats:
        if X.size == 0:
            return X.copy()
        return scipy.linalg.solve_triangular(
            self.G, X, lower=True, unit_diagonal=True, trans=int(transposed), check_finite=False
        )
