r"""Affinities: which points attract each other in t-SNE, and how strongly.

t-SNE takes a symmetric matrix P >= 0 that sums to one. Here every point gives equal shares to its k nearest neighbors
and to its neighbors on the learned graph, so that P is connected, as the graph is:

    P = (C + C') / sum,      C_pq = 1 / |N(p)|  for q in N(p).

Equal shares of 15 neighbors give nearly the same embedding as the usual Gaussians of perplexity 30, which need 90
neighbors (Boehm et al. 2022), and the learner has already found lists of that length.

The affinity of two groups of points is the sum over their members: S'PS, with S the 0/1 matrix that maps points to
groups, and a diagonal of zero. A representative is therefore attracted by the neighbors of its whole group, not only by
its own few.

References
----------
L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.

J. N. Boehm, P. Berens and D. Kobak. Attraction-repulsion spectrum in neighbor embeddings. Journal of Machine Learning
Research 23, 2022. Uniform affinities of 15 neighbors.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.contraction import contract

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def affinities(indices: Ints, z: Floats, k: int, graph: sp.csr_array) -> sp.csr_array:
    """P of N points, from neighbor lists (N x width, unused entries have z = inf) and the adjacency of their graph.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> P = affinities(np.array([[1], [0], [1]]), np.ones((3, 1)), 1, path)
    >>> P.toarray() * 6
    array([[0. , 1.5, 0. ],
           [1.5, 0. , 1.5],
           [0. , 1.5, 0. ]])
    """
    n = len(indices)
    near = np.isfinite(z[:, :k])
    heads = np.repeat(np.arange(n), near.sum(axis=1))
    edges = graph.tocoo()
    rows = np.concatenate([heads, edges.row.astype(np.int64)])
    columns = np.concatenate([indices[:, :k][near], edges.col.astype(np.int64)])
    C = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))  # sums repeated entries,
    C.data[:] = 1.0  # ... each of which counts once
    C = sp.csr_array(sp.diags_array(1 / np.maximum(C.sum(axis=1), 1.0)) @ C)
    return normalize(C + C.T)


def group_affinities(P: sp.csr_array, groups: Ints) -> sp.csr_array:
    """The affinities of groups of points."""
    return normalize(contract(P, groups))


def normalize(P: sp.csr_array) -> sp.csr_array:
    """P divided by its sum, with sorted indices."""
    P = sp.csr_array(P / P.sum())
    P.sort_indices()
    return P
