r"""Edge resistances: exact resistances of all edges and the log-determinant, for many weights on the same edges.

The graph is cut into pieces once, by nested dissection (:mod:`graspel.linalg.factor.front_tree`), and eliminated piece
by piece for each set of weights (:mod:`graspel.linalg.factor.exact_factor`). The cost depends on how well it can be
cut: 18,600 images with 4.4 edges per node take 0.08 s, and 70,000 take 4.4 s.
"""

from __future__ import annotations

from graspel.linalg.factor.exact_factor import ExactFactor
from graspel.linalg.factor.front_tree import FrontTree
from graspel.runtime.types import Floats, Ints


class EdgeResistances:
    """The resistances of the edges (heads, tails) of a connected graph as a function of their weights.

    `ground` is added to the diagonal of the Laplacian. `work` is the cost of one evaluation, in multiplications.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = EdgeResistances(np.array([0, 0, 1]), np.array([1, 2, 2]), 3)
    >>> logdet, R = triangle(np.array([1.0, 1.0, 1.0]))
    >>> round(float(np.exp(logdet)), 9), R.round(6)  # the eigenvalues are 3 and 3
    (9.0, array([0.666667, 0.666667, 0.666667]))
    """

    def __init__(self, heads: Ints, tails: Ints, n_nodes: int, ground: float = 0.0, n_threads: int = 1) -> None:
        self._edges, self._tree = (heads, tails), FrontTree(heads, tails, n_nodes, ground, n_threads)
        self._careful = False  # whether some weights spanned too many digits for Cholesky's method
        self.work = self._tree.work

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        """The log-determinant and the resistances of the edges, for positive weights.

        The determinant is that of L + 11'/N, or with a ground that of L + ground I.
        """
        factor = self.factor(w)
        return factor.logdet, factor.resistances

    def resistances(self, w: Floats) -> Floats:
        """The resistances of the edges, for positive weights."""
        return self.factor(w).resistances

    def factor(self, w: Floats) -> ExactFactor:
        """The factors for positive weights."""
        if not self._careful:
            found = ExactFactor(self._tree, *self._edges, w)
            if found.is_accurate:
                return found
            self._careful = True
        return ExactFactor(self._tree, *self._edges, w, careful=True)
