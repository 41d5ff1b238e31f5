r"""kNN and cons-kNN: graphs of nearest neighbors.

In the usual graph, kNN, p and q are joined if either is among the other's k nearest. cons-kNN leaves out the edges on
which few neighborhoods agree (Premachandran and Kakarala 2013). With B the indicator of neighborhoods, B_ip = 1 if p is
i itself or among its k nearest, the consensus

    C = B'B,        C_pq = number of neighborhoods that contain both p and q,

is large for pairs inside a group and small for pairs that occur together in one list only. An edge of the kNN graph is
kept if C_pq >= tau. C has at most N (k + 1)^2 entries and is computed as a sparse product.

With z = |x_p - x_q|^2 and s_p the distance from p to the last of its k neighbors, the weight of an edge is

    unit        1
    inverse     1 / z
    gaussian    exp(-z / (s_p s_q))        local scaling (Zelnik-Manor and Perona 2004)

The neighbor lists (:func:`lists_with_copies`), which LSGL uses too, come from graspel's own search, in nearly linear
time. z is measured in units of the data's squared spectral norm, so that no graph depends on the scale of the data.

References
----------
V. Premachandran and R. Kakarala. Consensus of k-NNs for robust neighborhood selection on graph-based manifolds. IEEE
Conference on Computer Vision and Pattern Recognition, 2013.

L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. Advances in Neural Information Processing Systems 17,
2004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.graph import Graph, Origin
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice, check_flag, check_number, generator
from graspel.runtime.types import Bools, Floats, Ints

FAINTEST = 1e-6  # smallest Gaussian weight; keeps weights from underflow and the graph well conditioned


@dataclass(frozen=True)
class KNN:
    """The graph of k nearest neighbors.

    Parameters
    ----------
    n_neighbors : int
        Neighbors of each point (k).
    weights : "gaussian", "unit" or "inverse"
        exp(-z / (s_p s_q)), where s_p is the distance from p to its k-th neighbor; 1; or 1 / z, with a lower limit for
        z so that copies of a point have a finite weight.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.baselines import KNN
    >>> graph = KNN(n_neighbors=1, weights="unit").learn(np.array([[0.0], [1.0], [3.0]]))
    >>> graph
    Graph(3 nodes, 2 edges, density 0.67, 1 component; 2 neighbor)
    """

    n_neighbors: int = 10
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
        self._check()
        lists = lists_with_copies(type(self).__name__, X, "n_neighbors", self.n_neighbors, random_state)
        heads, tails, z = self._choose(lists, *lists.edges())
        return Graph(len(lists.z), heads, tails, WEIGHTS[self.weights](lists, heads, tails, z), origin=Origin.NEIGHBOR)

    def _check(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)

    def _choose(self, lists: ListsWithCopies, heads: Ints, tails: Ints, z: Floats) -> tuple[Ints, Ints, Floats]:
        """The edges that are kept: all."""
        return heads, tails, z


@dataclass(frozen=True)
class ConsensusKNN(KNN):
    """The graph of k nearest neighbors on which enough neighborhoods agree (Premachandran and Kakarala 2013).

    Parameters
    ----------
    n_neighbors, weights : as for :class:`~reproduction.baselines.KNN`
    tau : int
        Number of the N neighborhoods that must contain both ends of an edge. Each end that lists the other counts 1,
        so that 3 is the smallest value that needs a third point to agree. With 1, every kNN edge is kept.
    keep_best : bool
        Whether a point that would lose all its edges keeps the one of largest consensus, the shortest at a tie.
        With False such points are isolated, as in the paper.

    Examples
    --------
    Only its own list connects the point 9 to the others.

    >>> import numpy as np
    >>> from reproduction.baselines import ConsensusKNN
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> ConsensusKNN(n_neighbors=2, tau=1).learn(X)
    Graph(4 nodes, 5 edges, density 1.25, 1 component; 5 neighbor)
    >>> ConsensusKNN(n_neighbors=2, tau=3).learn(X)
    Graph(4 nodes, 4 edges, density 1.00, 1 component; 4 neighbor)
    >>> ConsensusKNN(n_neighbors=2, tau=3, keep_best=False).learn(X)
    Graph(4 nodes, 3 edges, density 0.75, 2 components; 3 neighbor)
    """

    tau: int = 3
    keep_best: bool = True

    def _check(self) -> None:
        super()._check()
        hint = "With 1, every kNN edge is kept."
        check_number("tau", self.tau, ">= 1", lambda value: value >= 1, whole=True, hint=hint)
        check_flag("keep_best", self.keep_best)

    def _choose(self, lists: ListsWithCopies, heads: Ints, tails: Ints, z: Floats) -> tuple[Ints, Ints, Floats]:
        """The edges of enough consensus, and the best one of every node that would lose all."""
        counts = consensus(lists, heads, tails)
        kept = counts >= self.tau
        if self.keep_best:
            kept[_best_of_isolated(len(lists.z), heads, tails, kept, np.lexsort((z, -counts)))] = True
        return heads[kept], tails[kept], z[kept]


def consensus(lists: ListsWithCopies, heads: Ints, tails: Ints) -> Ints:
    """C_pq = (B'B)_pq of the given edges, which are sorted by head, then by tail."""
    n = len(lists.z)
    i, at = np.nonzero(np.isfinite(lists.z))
    rows, columns = np.concatenate([np.arange(n), i]), np.concatenate([np.arange(n), lists.indices[i, at]])
    B = sp.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(n, n))
    C = (B.T @ B).tocsr()
    C.sort_indices()
    keys = np.repeat(np.arange(n), np.diff(C.indptr)) * n + C.indices
    return C.data[np.searchsorted(keys, heads * n + tails)]  # C has every edge: one of its ends lists the other


def _best_of_isolated(n: int, heads: Ints, tails: Ints, kept: Bools, order: Ints) -> Ints:
    """For every node that keeps no edge, the first of its edges in the given order."""
    isolated = np.ones(n, dtype=np.bool_)
    isolated[heads[kept]] = isolated[tails[kept]] = False
    ends = np.concatenate([heads[order], tails[order]])
    ranks = np.tile(np.arange(len(order)), 2)
    best = np.full(n, len(order))
    np.minimum.at(best, ends, ranks)
    return order[best[isolated & (best < len(order))]]


class ListsWithCopies(NamedTuple):
    """The k nearest neighbors of every point; those of the data hold distinct points only, these hold copies as well.

    Attributes
    ----------
    indices, z : arrays (N x k), neighbors and their z, nearest first; z is inf where the search found fewer than k
    """

    indices: Ints
    z: Floats

    def edges(self) -> tuple[Ints, Ints, Floats]:
        """Heads, tails and z of every pair of which one lists the other, each pair once."""
        n = len(self.z)
        p, at = np.nonzero(np.isfinite(self.z))
        q = self.indices[p, at]
        code, first = np.unique(np.minimum(p, q) * n + np.maximum(p, q), return_index=True)
        return code // n, code % n, self.z[p, at][first]

    @property
    def floor(self) -> float:
        """The z below which two points count as copies of each other; 1 if all points are equal."""
        return Weights.from_distances(self.z, 1).floor


WeightRule = Callable[[ListsWithCopies, Ints, Ints, Floats], Floats]


def unit_weights(lists: ListsWithCopies, heads: Ints, tails: Ints, z: Floats) -> Floats:
    """1 for every edge."""
    return np.ones(len(z))


def inverse_weights(lists: ListsWithCopies, heads: Ints, tails: Ints, z: Floats) -> Floats:
    """1 / z, with the floor as the smallest z."""
    return 1.0 / np.maximum(z, lists.floor)


def gaussian_weights(lists: ListsWithCopies, heads: Ints, tails: Ints, z: Floats) -> Floats:
    """exp(-z / (s_p s_q)), with s_p the distance to the last neighbor of p; the weight between copies is 1."""
    farthest = np.where(np.isfinite(lists.z), lists.z, 0.0).max(axis=1)
    s = np.sqrt(np.maximum(farthest, lists.floor))
    return np.maximum(np.exp(-z / (s[heads] * s[tails])), FAINTEST)


WEIGHTS: dict[str, WeightRule] = {"gaussian": gaussian_weights, "unit": unit_weights, "inverse": inverse_weights}


def lists_with_copies(method: Any, X: Any, name: str, k: int, random_state: Any, factor: int = 1) -> ListsWithCopies:
    """Check X and k, and find the `factor` * k nearest points of every point (all others, if there are fewer).

    Error messages name the `method`, and call k by the `name` of its parameter.
    """
    check_number(name, k, ">= 1", lambda value: value >= 1, whole=True)
    rng = generator(random_state)
    index = NeighborIndex.of_data(X, method, metric="euclidean", rng=rng, n_jobs=None)
    n = index.n_points
    if k > n - 1:
        raise ValueError(
            f"{name}={k} with {n} points: each has only {n - 1} others. Give {name} <= {n - 1}, or more points."
        )
    wanted = min(factor * int(k), n - 1)
    with one_thread_per_call():
        return _add_copies(index.lists(wanted), wanted, n)


def _add_copies(found: Neighbors, k: int, n: int) -> ListsWithCopies:
    """Neighbor lists of all n points, from those of the distinct points.

    A group is a distinct point with its copies. The list of a group consists of the first k + 1 points of the group
    itself, of its nearest group, of the next nearest, and so on. Every member of the group uses this list without
    itself.
    """
    if not len(found.copies):
        return ListsWithCopies(found.indices[:, :k].astype(np.int64), found.z[:, :k].astype(np.float64))
    group = np.empty(n, dtype=np.int64)
    group[found.distinct] = np.arange(len(found.distinct))
    group[found.copies] = group[found.copy_of]
    members, size = np.argsort(group, kind="stable"), np.bincount(group)
    start = np.cumsum(size) - size

    itself = np.arange(len(size))
    groups = np.column_stack([itself, found.indices])
    z_groups = np.column_stack([np.zeros(len(size)), found.z])
    past = np.cumsum(np.where(np.isfinite(z_groups), size[groups], k + 1), axis=1)  # points up to and with this group
    indices, z = np.empty((len(size), k + 1), dtype=np.int64), np.empty((len(size), k + 1))
    for slot in range(k + 1):
        at = (past <= slot).sum(axis=1)
        chosen, z[:, slot] = groups[itself, at], z_groups[itself, at]
        offset = slot - past[itself, at] + size[chosen]
        indices[:, slot] = members[np.where(np.isfinite(z[:, slot]), start[chosen] + offset, 0)]

    indices, z = indices[group], z[group]
    mine = indices == np.arange(n)[:, None]
    mine[:, -1] |= ~mine.any(axis=1)  # a member of a large group may not be in the list: it leaves out the last entry
    return ListsWithCopies(indices[~mine].reshape(n, k), z[~mine].reshape(n, k))
