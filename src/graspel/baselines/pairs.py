r"""Weights of all node pairs: the vector w, the variable of the methods for small graphs.

It has one entry for each of the N (N - 1) / 2 pairs, in the order (0, 1), (0, 2), ..., (1, 2), ... of scipy's `pdist`.
With S the matrix that sums the weights at each node,

    (S w)_i = sum_j w_ij = degree of i,        (S' d)_ij = d_i + d_j,        L(w) = diag(S w) - W.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from graspel.graph import Graph
from graspel.runtime.types import Floats


def squared_distances(X: Floats) -> Floats:
    """z_ij = |x_i - x_j|^2 of all pairs of rows.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1., 18.])
    """
    z = pdist(X, "sqeuclidean")
    if not np.isfinite(z).all():
        raise ValueError(
            f"X with a largest entry of {np.abs(X).max():.1e}: squared distances overflow. Divide X by it first."
        )
    return z


def closest_pair(z: Floats, n_nodes: int) -> tuple[int, int]:
    """The two nodes of the smallest entry.

    >>> closest_pair(np.array([25.0, 1.0, 18.0]), 3)
    (0, 2)
    """
    p, q = np.triu_indices(n_nodes, 1)
    at = np.argmin(z)
    return int(p[at]), int(q[at])


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
