r"""All pairs of nodes: the vector w of their weights, and the base of the methods that learn it from signals.

The vector has one entry for each of the N (N - 1) / 2 pairs, in the order (0, 1), (0, 2), ..., (1, 2), ... of scipy's
`pdist`. With S the matrix that sums the weights at each node,

    (S w)_i = sum_j w_ij = degree of i,        (S' d)_ij = d_i + d_j,        L(w) = diag(S w) - W.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning

from graspel.data.validation import check_signals
from graspel.graph import Graph
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats


class PairMethod(ABC):
    """A method that learns the weights of all pairs of nodes from signals; its subclasses are frozen dataclasses.

    Attributes
    ----------
    POSITIVE, NOT_NEGATIVE : names of the parameters that must be above 0, and of those that may be 0
    RESIDUAL : what measures the distance from the optimum
    tol : float, residual at which to stop
    max_iter : int, largest number of iterations
    """

    POSITIVE: ClassVar[tuple[str, ...]] = ()
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ()
    RESIDUAL: ClassVar[str] = "KKT residual"
    tol: float
    max_iter: int

    def __post_init__(self) -> None:
        for name in (*self.POSITIVE, "tol"):
            self._check(name, "above 0", lambda v: 0 < v < np.inf)
        for name in self.NOT_NEGATIVE:
            self._check(name, "of at least 0", lambda v: 0 <= v < np.inf)
        self._check("max_iter", "of at least 1", lambda v: v >= 1, whole=True)

    def _check(self, name: str, allowed: str, is_allowed: Any, *, whole: bool = False) -> None:
        hint = f"The default is {getattr(type(self), name):g}."
        check_number(name, getattr(self, name), allowed, is_allowed, whole=whole, hint=hint)

    def learn(self, X: Any, random_state: Any = None) -> Graph:
        """Learn the graph of signals.

        Parameters
        ----------
        X : array-like, nodes x signals
        random_state : ignored
            The method is deterministic; all methods have this argument.

        Returns
        -------
        graph : Graph
            With every positive weight, however small.
        """
        X = check_signals(self, X)
        w, residual = self.weights(X)
        if residual > self.tol:
            warnings.warn(
                f"{type(self).__name__} reached a {self.RESIDUAL} of {residual:.1e}, not the tol={self.tol:.1e} "
                f"asked for, with max_iter={self.max_iter}. The weights are approximate: raise max_iter, or allow a "
                "larger tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return graph_of_pairs(w, len(X))

    @abstractmethod
    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs for these signals, and their residual."""


def condensed_distances(X: Floats) -> Floats:
    """z_ij = |x_i - x_j|^2 of all pairs of rows.

    >>> condensed_distances(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1., 18.])
    """
    z = pdist(X, "sqeuclidean")
    if not np.isfinite(z).all():
        raise ValueError(
            f"X with a largest entry of {np.abs(X).max():.1e}: squared distances overflow. Divide X by it first."
        )
    return z


def refuse_copies(k: Floats, n_nodes: int, remedy: str) -> None:
    """Raise where an entry is zero: the weight of this pair would be infinite."""
    if not k.all():
        p, q = np.triu_indices(n_nodes, 1)
        at = int(np.argmin(k))
        raise ValueError(f"nodes {p[at]} and {q[at]} have equal signals: the weight between them is infinite. {remedy}")


def degrees(w: Floats) -> Floats:
    """S w: the sum of the weights at each node."""
    return squareform(w, checks=False).sum(axis=1)


def sums_of_ends(d: Floats) -> Floats:
    """S' d: for each pair the sum of the values of its two nodes."""
    return squareform(d[:, None] + d, checks=False)


def laplacian(w: Floats) -> Floats:
    """L(w) as a dense matrix.

    >>> laplacian(np.array([1.0, 0.0, 2.0]))
    array([[ 1., -1.,  0.],
           [-1.,  3., -2.],
           [ 0., -2.,  2.]])
    """
    L = -squareform(w, checks=False)
    np.fill_diagonal(L, -L.sum(axis=1))
    return L + 0.0  # no negative zeros


def graph_of_pairs(w: Floats, n_nodes: int) -> Graph:
    """The graph of all pairs of positive weight, however small.

    >>> graph_of_pairs(np.array([1.0, 0.0, 2.0]), 3)
    Graph(3 nodes, 2 edges, density 0.67, 1 component; 2 given)
    """
    heads, tails = np.triu_indices(n_nodes, 1)
    edges = w > 0
    return Graph(n_nodes, heads[edges], tails[edges], w[edges])
