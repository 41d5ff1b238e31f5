r"""cons-kNN: the kNN graph without the edges on which few neighborhoods agree (Premachandran and Kakarala, 2013).

Let B be the indicator of neighborhoods, B_ip = 1 if p is i itself or among its k nearest. The consensus

    C = B'B,        C_pq = number of neighborhoods that contain both p and q,

is large for pairs inside a group and small for pairs that occur together in one list only. An edge of the kNN graph is
kept if C_pq >= tau. C has at most N (k + 1)^2 entries and is computed as a sparse product.

References
----------
V. Premachandran and R. Kakarala. Consensus of k-NNs for robust neighborhood selection on graph-based manifolds. IEEE
Conference on Computer Vision and Pattern Recognition, 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.baselines.knn import WEIGHTS, Ints, NeighborLists, neighbor_lists
from graspel.graph import Graph, Origin
from graspel.runtime.parameters import check_choice, check_flag, check_number


@dataclass(frozen=True)
class ConsensusKNN:
    """The graph of k nearest neighbors on which enough neighborhoods agree.

    Parameters
    ----------
    n_neighbors : int
        Neighbors of each point (k).
    tau : int
        Number of the N neighborhoods that must contain both ends of an edge. Each end that lists the other counts 1,
        so that 3 is the smallest value that needs a third point to agree. With 1, every kNN edge is kept.
    keep_best : bool
        Whether a point that would lose all its edges keeps the one of largest consensus, the shortest at a tie.
        With False such points are isolated, as in the paper.
    weights : "gaussian", "unit" or "inverse"
        As for :class:`~graspel.baselines.KNN`.

    Examples
    --------
    Only its own list connects the point 9 to the others.

    >>> import numpy as np
    >>> from graspel.baselines import ConsensusKNN
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> ConsensusKNN(n_neighbors=2, tau=1).learn(X)
    Graph(4 nodes, 5 edges, density 1.25, 1 component; 5 neighbor)
    >>> ConsensusKNN(n_neighbors=2, tau=3).learn(X)
    Graph(4 nodes, 4 edges, density 1.00, 1 component; 4 neighbor)
    >>> ConsensusKNN(n_neighbors=2, tau=3, keep_best=False).learn(X)
    Graph(4 nodes, 3 edges, density 0.75, 2 components; 3 neighbor)
    """

    n_neighbors: int = 10
    tau: int = 3
    keep_best: bool = True
    weights: str = "gaussian"

    def learn(self, X: Any, random_state: Any = None) -> Graph:
        """The graph of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (N, M)
            N points, more than `n_neighbors`.
        random_state : int, numpy Generator or RandomState, or None
            Seed of the neighbor search, which is approximate for many points.

        Returns
        -------
        graph : Graph
        """
        check_choice("weights", self.weights, WEIGHTS)
        check_number(
            "tau", self.tau, ">= 1", lambda value: value >= 1, whole=True, hint="With 1, every kNN edge is kept."
        )
        check_flag("keep_best", self.keep_best)
        lists = neighbor_lists(type(self).__name__, X, "n_neighbors", self.n_neighbors, random_state)
        heads, tails, z = lists.edges()
        counts = consensus(lists, heads, tails)
        kept = counts >= self.tau
        if self.keep_best:
            kept[_best_of_isolated(len(lists.z), heads, tails, kept, np.lexsort((z, -counts)))] = True
        heads, tails, z = heads[kept], tails[kept], z[kept]
        return Graph(len(lists.z), heads, tails, WEIGHTS[self.weights](lists, heads, tails, z), origin=Origin.NEIGHBOR)


def consensus(lists: NeighborLists, heads: Ints, tails: Ints) -> NDArray[np.int64]:
    """C_pq = (B'B)_pq of the given edges, which are sorted by head, then by tail."""
    n = len(lists.z)
    i, at = np.nonzero(np.isfinite(lists.z))
    rows, columns = np.concatenate([np.arange(n), i]), np.concatenate([np.arange(n), lists.indices[i, at]])
    B = sp.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(n, n))
    C = (B.T @ B).tocsr()
    C.sort_indices()
    keys = np.repeat(np.arange(n), np.diff(C.indptr)) * n + C.indices
    return C.data[np.searchsorted(keys, heads * n + tails)]  # C has every edge: one of its ends lists the other


def _best_of_isolated(n: int, heads: Ints, tails: Ints, kept: NDArray[np.bool_], order: Ints) -> Ints:
    """For every node that keeps no edge, the first of its edges in the given order."""
    isolated = np.ones(n, dtype=np.bool_)
    isolated[heads[kept]] = isolated[tails[kept]] = False
    ends = np.concatenate([heads[order], tails[order]])
    ranks = np.tile(np.arange(len(order)), 2)
    best = np.full(n, len(order))
    np.minimum.at(best, ends, ranks)
    return order[best[isolated & (best < len(order))]]
