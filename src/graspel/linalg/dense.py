r"""Dense elimination without subtraction: a small Laplacian factorised to full relative accuracy.

Cholesky on the matrix L + diag(s) loses a weak tie between strong clusters to rounding as soon as weights span more than the sixteen digits of
a double. Elimination on the *weights* does not: eliminating a node adds w_i w_j / W to the ties between its neighbours
and (w_i / W) s to their ties to the ground; nothing is ever subtracted (Grassmann, Taksar and Heyman 1985). So each pivot is right to
a few units in the last place, whatever the range of the weights.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class DenseElimination:
    """L + diag(ground) = G D G', G unit lower triangular, from a dense adjacency.

    Where nothing ties a component to the ground, its last pivot is zero: it is replaced by 1, which changes solutions by a constant
    on the component.

    Examples
    --------
    >>> import numpy as np
    >>> factors = DenseElimination(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0.0, 1e-30]))
    >>> factors.pivots
    array([2.e+00, 1.e-30])
    """

    def __init__(self, adjacency: Floats, ground: Floats) -> None:
        A, s = adjacency.copy(), ground.copy()
        n = len(A)
        self.pivots = np.ones(n)
        self.G = np.eye(n)
        for k in range(n):
            ties = A[k, k + 1 :]
            W = ties.sum() + s[k]
            if W > 0:
                share = ties / W
                A[k + 1 :, k + 1 :] += np.outer(share, ties)
                s[k + 1 :] += share * s[k]
                self.pivots[k] = W
                self.G[k + 1 :, k] = -share

    def forward(self, X: Floats) -> Floats:
        """G^-1 X."""
        return scipy.linalg.solve_triangular(self.G, X, lower=True, unit_diagonal=True, check_finite=False)

    def backward(self, X: Floats) -> Floats:
        """G^-T X."""
        return scipy.linalg.solve_triangular(self.G, X, lower=True, unit_diagonal=True, trans="T", check_finite=False)

    def solve(self, X: Floats) -> Floats:
        """(G D G')^-1 X."""
        return self.backward(self.forward(X) / self.pivots[:, None])
