r"""Dense factor: a small Laplacian plus a diagonal, L + diag(s) = G D G', to full relative accuracy.

Cholesky on the matrix L + diag(s) loses a weak edge between heavy clusters to rounding as soon as the weights span more
than the sixteen digits of a double. Elimination on the *weights* does not lose it. Think of s as the weights of edges
to one more node, the ground. Eliminating a node with weights w_i, ground weight s and total weight W adds w_i w_j / W
to the edges between its neighbors and (w_i / W) s to their ground weights. Nothing is ever subtracted, so each pivot is
correct to a few units in the last place, whatever the range of the weights.

`CarefulElimination` does the same to the fronts of a sparse graph (:mod:`graspel.linalg.factor.front_tree`). Every
front holds edge weights, and the reference is one more node of it, the last. On the way back, the resistances between
the later nodes of a front are known, and those of its own nodes follow one by one, by `DenseFactor.resistances`. The
entries that solves need are those of Cholesky's method: D^-1 = G^-T diag(d)^-1 G^-1 and H' = -P, with P = G^-T times
the shares of later nodes. No entry of G^-1 is negative, so these are sums of positive terms too.

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

from graspel.linalg.factor.front_tree import FrontTree
from graspel.runtime.types import Floats, Ints

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


class CarefulElimination:
    """All fronts of a tree eliminated, from the parts to the whole.

    Parameters
    ----------
    tree : FrontTree
    entries : array, the weights of the edges in the fronts, and in the diagonal those of the edges to the reference;
        overwritten by what solves need

    Attributes
    ----------
    entries : array
    logdet : float, logarithm of the weighted number of spanning trees
    """

    def __init__(self, tree: FrontTree, entries: Floats) -> None:
        self._tree, self.entries, self.logdet = tree, entries, 0.0
        self._factors: list[DenseFactor] = []
        left: dict[int, Floats] = {}
        for f in range(tree.n_fronts):
            self._eliminate(f, left)

    def _eliminate(self, f: int, left: dict[int, Floats]) -> None:
        tree = self._tree
        own, beside = tree.split(f, self.entries)
        a, b = beside.shape
        A = np.zeros((a + b + 1, a + b + 1))
        A[:a, :a], A[:a, a:-1] = own, beside
        A[:a, -1] = np.diag(own)
        A += A.T
        for part in tree.parts_of(f):
            nodes = np.append(tree.places(part), a + b)
            A[np.ix_(nodes, nodes)] += left.pop(part)
        factor = DenseFactor(A, np.zeros(len(A)), n_eliminated=a)
        left[f] = factor.rest
        self.logdet += factor.logdet()
        self._factors.append(factor)
        inverse = scipy.linalg.solve_triangular(factor.G[:a, :a], np.eye(a), lower=True, unit_diagonal=True)
        own[:] = inverse.T @ (inverse / factor.pivots[:, None])
        beside[:] = inverse.T @ factor.G[a:-1, :a].T  # the shares are -G

    def half_columns(self, rows: Ints) -> Floats:
        """Columns of D^-1/2 G^-1: the squared distance between two of them is the resistance between their rows.

        Where this is far smaller than the resistances to the reference, differences of M would lose it to rounding.
        """
        tree = self._tree
        X = np.zeros((tree.size + 1, len(rows)))
        X[rows, np.arange(len(rows))] = 1.0
        for f, factor in enumerate(self._factors):
            a = len(factor.pivots)
            own = slice(tree.limits[f], tree.limits[f + 1])
            y = scipy.linalg.solve_triangular(factor.G[:a, :a], X[own], lower=True, unit_diagonal=True)
            X[tree.later[tree.pointers[f] : tree.pointers[f + 1]]] -= factor.G[a:-1, :a] @ y
            X[own] = y / np.sqrt(factor.pivots)[:, None]
        return X[:-1]

    def restore_resistances(self) -> tuple[Floats, Floats]:
        """The resistance of every row to the reference (0 for itself), and those of the edges of the tree."""
        tree = self._tree
        found, to_reference = np.empty(len(tree.slots)), np.zeros(tree.size + 1)
        known = {tree.n_fronts - 1: np.zeros((1, 1))}
        for f in range(tree.n_fronts - 1, -1, -1):
            factor = self._factors[f]
            R = factor.resistances(known.pop(f))
            a = len(factor.pivots)
            b = len(R) - a - 1
            slots = slice(tree.slot_pointers[f], tree.slot_pointers[f + 1])
            s = tree.slots[slots] - tree.firsts[f]
            inside = s < a * a
            row = np.where(inside, s // max(a, 1), (s - a * a) // max(b, 1))
            found[slots] = R[row, np.where(inside, s % max(a, 1), a + (s - a * a) % max(b, 1))]
            to_reference[tree.limits[f] : tree.limits[f + 1]] = R[:a, -1]
            for part in tree.parts_of(f):
                nodes = np.append(tree.places(part), len(R) - 1)
                known[part] = R[np.ix_(nodes, nodes)]
        R = np.empty(len(tree.slots))
        R[tree.slot_order] = found
        return to_reference, R[tree.size : tree.size + len(tree.edge)]
