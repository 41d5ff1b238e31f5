r"""Affinities: which points attract each other in t-SNE, and how strongly.

All copies of a point become one node of the graph (`merge_copies`), and so have the same coordinates. t-SNE takes a
symmetric matrix P >= 0 that sums to one. Here every point gives Gaussian shares to its k nearest neighbors, and a few
percent to its neighbors on the learned graph, so that P is connected, as the graph is:

    P = (C + C') / sum,      C_pq ~ exp(-b_p z_pq)  for the k nearest q of p,

with the width 1/b_p for which the perplexity, the exponential of the entropy of p's shares, is two thirds of k. With
k = 30 this keeps as much as the usual perplexity of 30 on 90 neighbors, at a third of the entries, and these lists are
cheap to find together with those that the learner needs (docs/notes/embedding.md compares).

The affinity of two groups of points is the sum over their members: S'PS, with S the 0/1 matrix that maps points to
groups, and a diagonal of zero. A representative is therefore attracted by the neighbors of its whole group, not only by
its own few.

References
----------
L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.linalg.coarsen import contract
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import row_blocks, run_blocks
from graspel.runtime.types import Ints, Singles

PERPLEXITY = 2 / 3  # effective number of neighbors, as a share of their number
GRAPH_SHARE = 0.05  # of a point's affinity, for its neighbors on the graph; enough to keep components together
STEEPEST = 1e30  # largest b, of distances that single precision can hardly tell from zero
SMALLEST_SHARE = 1e-6  # a smaller share is rounded so much that its logarithm does not give the width of the Gaussian
BLOCK = 4096  # points in one block of work


class DistinctPoints(NamedTuple):
    """The distinct points, with their graph and their neighbor lists.

    Attributes
    ----------
    A : adjacency of the learned graph, all copies of a point contracted to one node
    indices, z : neighbor lists of the distinct points
    points : the distinct points themselves
    point_of_node : for each distinct point its index among all points
    node_of_point : for each of all points the distinct point that it is or copies
    """

    A: sp.csr_array
    indices: NDArray[np.integer]
    z: NDArray[np.floating]
    points: Data
    point_of_node: Ints
    node_of_point: Ints

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.point_of_node)


def merge_copies(graph: Graph, neighbors: Neighbors) -> DistinctPoints:
    """Contract all copies of a point in the learned graph to one node."""
    original = np.arange(graph.n_nodes)
    original[neighbors.copies] = neighbors.copy_of
    node_of_point = np.searchsorted(neighbors.distinct, original)
    A = contract(graph.adjacency, node_of_point) if len(neighbors.copies) else graph.adjacency
    points, lists = neighbors.points, (neighbors.indices, neighbors.z)
    return DistinctPoints(sp.csr_array(A), *lists, points, neighbors.distinct, node_of_point)


def affinities(
    indices: NDArray[np.integer], z: NDArray[np.floating], k: int, graph: sp.csr_array, n_threads: int = 1
) -> sp.csr_array:
    """P of N points, from neighbor lists (N x width, unused entries have z = inf) and the adjacency of their graph.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> P = affinities(np.array([[1], [0], [1]]), np.ones((3, 1)), 1, path)
    >>> (P.toarray() * 6).round(2)
    array([[0.  , 1.98, 0.  ],
           [1.98, 0.  , 1.02],
           [0.  , 1.02, 0.  ]], dtype=float32)
    """
    n, near = len(indices), np.isfinite(z[:, :k])
    start = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    shares = gaussian_shares(z[:, :k], n_threads)[near]
    C = sp.csr_array((shares, indices[:, :k][near].astype(np.int32), start.astype(_index_type(2 * start[-1]))), (n, n))
    C.sort_indices()
    joined = sp.csr_array((np.ones(graph.nnz, dtype=np.float32), graph.indices, graph.indptr), shape=graph.shape)
    joined.data *= np.repeat(GRAPH_SHARE / np.maximum(np.diff(graph.indptr), 1), np.diff(graph.indptr))
    C = sp.csr_array(C + joined)
    return normalize(sp.csr_array(C + C.T))


def gaussian_shares(z: NDArray[np.floating], n_threads: int = 1) -> Singles:
    """Gaussian weights of the entries of each row, with sum one and a perplexity of two thirds of their number.

    Examples
    --------
    >>> gaussian_shares(np.array([[1.0, 1.0, np.inf], [1.0, 2.0, 3.0]])).round(2)
    array([[0.5 , 0.5 , 0.  ],
           [0.75, 0.2 , 0.05]], dtype=float32)
    """
    from graspel.kernels.tsne import calibrate_entropy

    z = np.ascontiguousarray(z)
    shares = np.zeros(z.shape, dtype=np.float32)
    entropy = np.log(max(PERPLEXITY * z.shape[1], 1.0))
    blocks = row_blocks(len(z), BLOCK)
    run_blocks(lambda block: calibrate_entropy(z, entropy, block.start, block.stop, shares), blocks, n_threads)
    return shares


def gaussian_widths(z: NDArray[np.floating], shares: Singles) -> Singles:
    """For each row the b and the c of its Gaussian: the share of an entry is exp(c - b z).

    Examples
    --------
    >>> z = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, np.inf]])
    >>> shares = gaussian_shares(z)
    >>> b, c = gaussian_widths(z, shares).T
    >>> np.exp(c[0] - b[0] * z[0]).round(2), b[1]
    (array([0.75, 0.2 , 0.05]), np.float32(0.0))
    """
    rows = np.arange(len(z))
    middle = np.maximum((shares > SMALLEST_SHARE).sum(axis=1) - 1, 0)  # the farthest entry that can be read off
    first, far = shares[:, 0].astype(np.float64), shares[rows, middle].astype(np.float64)
    apart = z[rows, middle].astype(np.float64) - z[:, 0]
    falls = apart > 0
    b = np.where(falls, np.log(first / np.where(falls, far, first)) / np.where(falls, apart, 1.0), 0.0)
    b = np.minimum(b, STEEPEST)
    return np.column_stack([b, np.log(first) + b * z[:, 0]]).astype(np.float32)


def group_affinities(P: sp.csr_array, groups: Ints) -> sp.csr_array:
    """The affinities of groups of points."""
    return normalize(contract(P, groups))


def normalize(P: sp.csr_array) -> sp.csr_array:
    """P divided by its sum in place, with sorted indices."""
    P.data /= P.data.sum(dtype=np.float64)
    P.sort_indices()
    return P


def _index_type(n_entries: int) -> type:
    return np.int32 if n_entries <= np.iinfo(np.int32).max else np.int64
