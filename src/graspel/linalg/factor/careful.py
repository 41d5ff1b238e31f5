r"""Careful elimination: the fronts of a graph whose weights span too many digits for Cholesky's method.

Every front holds edge weights, and the reference is one more node of it, the last. Eliminating an own node of degree d
and shares p_l = w_l / d adds w_l p_m to the edges between its neighbors; nothing is subtracted
(:mod:`graspel.linalg.factor.dense_factor`). On the way back, the resistances between the later nodes of a front are
known, and those of its own nodes follow one by one, by `DenseFactor.resistances`.

The entries that solves need are those of Cholesky's method: D^-1 = G^-T diag(d)^-1 G^-1 and H' = -P, with P = G^-T
times the shares of later nodes. No entry of G^-1 is negative, so these are sums of positive terms too.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.factor.front_tree import FrontTree
from graspel.runtime.types import Floats, Ints


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
