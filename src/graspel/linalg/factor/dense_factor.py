r"""Dense factor: a small Laplacian plus a diagonal, L + diag(s) = G D G', to full relative accuracy.

Cholesky on the matrix L + diag(s) loses a weak edge between heavy clusters to rounding as soon as the weights span more
than the sixteen digits of a double. Elimination on the *weights* does not lose it. Think of s as the weights of edges
to one more node, the ground. Eliminating a node with weights w_i, ground weight s and total weight W adds w_i w_j / W
to the edges between its neighbors and (w_i / W) s to their ground weights. Nothing is ever subtracted, so each pivot is
correct to a few units in the last place, whatever the range of the weights.

References
----------
F. Dorfler and F. Bullo. Kron reduction of graphs with applications to electrical networks. IEEE Transactions on
Circuits and Systems I, 60(1), 2013. Resistances on the way back.

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
    rest : adjacency that is left, if only the first `n_eliminated` nodes are eliminated; then G has only their columns

    Examples
    --------
    >>> import numpy as np
    >>> factors = DenseFactor(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0.0, 1e-30]))
    >>> factors.pivots
    array([2.e+00, 1.e-30])
    """

    def __init__(self, adjacency: Floats, ground: Floats, n_eliminated: int | None = None) -> None:
        A, s = np.array(adjacency, dtype=np.float64), np.array(ground, dtype=np.float64)
        n, has_ground = len(A), bool(s.any())
        m = n if n_eliminated is None else n_eliminated
        self.pivots = np.full(m, np.inf)
        self.G = np.eye(n, m)
        for start in range(0, m, PANEL):
            stop = min(start + PANEL, m)
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
        self.rest = A[m:, m:].copy()
        np.fill_diagonal(self.rest, 0.0)

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

    def resistances(self, later: Floats | None = None) -> Floats:
        """The resistances of all pairs of nodes, to full relative accuracy; between components they have no meaning.

        Going back, let i be the node eliminated last, d its total weight at that moment and p_l its shares. With the
        resistances R of the later nodes (`later`, if some were not eliminated), those of i to every later node j are

            R_ij = 1/d + sum_l p_l R_lj - 1/2 sum_lm p_l p_m R_lm.

        From R_lj <= 1/w_il + R_ij follows that no sum exceeds R_ij times the degree of i. So no digits are lost to
        cancellation, whatever the range of the weights. There must be no ground.

        >>> triangle = DenseFactor(np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]]), np.zeros(3))
        >>> triangle.resistances().round(3)
        array([[0.   , 0.667, 0.667],
               [0.667, 0.   , 0.667],
               [0.667, 0.667, 0.   ]])
        """
        n, m = self.G.shape
        R = np.zeros((n, n))
        if later is not None:
            R[m:, m:] = later
        for i in range(m - 1, -1, -1):
            known, p = R[i + 1 :, i + 1 :], -self.G[i + 1 :, i]
            mean = known @ p
            # Rounding may leave less than 1/d, which no resistance of i can be.
            R[i, i + 1 :] = R[i + 1 :, i] = 1 / self.pivots[i] + np.maximum(mean - p @ mean / 2, 0.0)
        return R

    def _triangular(self, X: Floats, transposed: bool) -> Floats:
        if X.size == 0:
            return X.copy()
        return scipy.linalg.solve_triangular(
            self.G, X, lower=True, unit_diagonal=True, trans=int(transposed), check_finite=False
        )
