r"""Dense elimination without subtraction: a small Laplacian factorised to full relative accuracy.

Cholesky on the matrix L + diag(s) loses a weak tie between strong clusters to rounding as soon as the weights span
more than the sixteen digits of a double. Elimination on the *weights* does not: eliminating a node adds w_i w_j / W to
the ties between its neighbors and (w_i / W) s to their ties to the ground; nothing is ever subtracted (Grassmann,
Taksar and Heyman 1985). So each pivot is right to a few units in the last place, whatever the range of the weights.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PANEL = 32  # rows eliminated one by one before the rest is updated by one matrix product


class DenseElimination:
    """L + diag(ground) = G D G', G unit lower triangular, from a dense adjacency (its diagonal is not read).

    Where nothing ties a component to the ground, its last pivot is zero. It is kept as infinity: then the node that it
    belongs to gets the value 0 in every solve, which fixes the constant that the component leaves open.

    Attributes
    ----------
    pivots : array of N, the diagonal of D
    G : array N x N

    Examples
    --------
    >>> import numpy as np
    >>> factors = DenseElimination(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0.0, 1e-30]))
    >>> factors.pivots
    array([2.e+00, 1.e-30])
    """

    def __init__(self, adjacency: Floats, ground: Floats) -> None:
        A, s = np.array(adjacency, dtype=np.float64), np.array(ground, dtype=np.float64)
        n = len(A)
        self.pivots = np.full(n, np.inf)
        self.G = np.eye(n)
        for start in range(0, n, PANEL):
            stop = min(start + PANEL, n)
            for k in range(start, stop):
                ties = A[k, k + 1 :]
                W = ties.sum() + s[k]
                if W > 0:
                    share = ties / W
                    A[k + 1 : stop, k + 1 :] += np.outer(share[: stop - k - 1], ties)
                    s[k + 1 :] += share * s[k]
                    self.pivots[k] = W
                    self.G[k + 1 :, k] = -share
            A[stop:, stop:] -= self.G[stop:, start:stop] @ A[start:stop, stop:]  # G <= 0: this only adds

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
        """Sum of the logs of the finite pivots.

        It is log det(L + diag(ground)), or, without ground, the log of the weighted number of spanning trees.
        """
        return float(np.log(self.pivots[np.isfinite(self.pivots)]).sum())

    def _triangular(self, X: Floats, transposed: bool) -> Floats:
        if X.size == 0:
            return X.copy()
        return scipy.linalg.solve_triangular(
            self.G, X, lower=True, unit_diagonal=True, trans=int(transposed), check_finite=False
        )
