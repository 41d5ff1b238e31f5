r"""kNN: the usual graph, every point joined to its k nearest; p ~ q if either is among the other's k nearest.

With z = |x_p - x_q|^2 and s_p the distance from p to the last of its k neighbors, an edge weighs

    unit        1
    inverse     1 / z
    gaussian    exp(-z / (s_p s_q))        local scaling: Zelnik-Manor and Perona, 2004

The neighbor lists (:func:`neighbor_lists`) are graspel's own, nearly linear in N, and are what the other graphs of
this package start from too. z is measured in units of the data's squared spectral norm, so no graph depends on the
scale of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph, Origin
from graspel.learning.weights import Weights
from graspel.neighbors.lists import Neighbors, nearest_neighbors
from graspel.points.prepared import Points
from graspel.points.validation import check_data
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.parameters import check_choice, check_number, generator

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FAINTEST = 1e-6  # no Gaussian weight is smaller: an edge stays an edge, and solvers stay well behaved


@dataclass(frozen=True)
class KNN:
    """The graph of k nearest neighbors.

    Parameters
    ----------
    n_neighbors : int
        Neighbors of each point (k).
    weights : "gaussian", "unit" or "inverse"
        exp(-z / (s_p s_q)), where s_p is the distance from p to its k-th neighbor; 1; or 1 / z, finite for copies of
        a point.

    Examples
    --------
    >>> import numpy as np
    >>> from graspel.baselines import KNN
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
        check_choice("weights", self.weights, WEIGHTS)
        lists = neighbor_lists(type(self).__name__, X, "n_neighbors", self.n_neighbors, random_state)
        heads, tails, z = lists.edges()
        return Graph(len(lists.z), heads, tails, WEIGHTS[self.weights](lists, heads, tails, z), origin=Origin.NEIGHBOR)


class NeighborLists(NamedTuple):
    """The k nearest of every point.

    Attributes
    ----------
    indices, z : arrays (N x k), neighbors by growing distance, and z; z is inf where a search found fewer
    """

    indices: Ints
    z: Floats

    def edges(self) -> tuple[Ints, Ints, Floats]:
        """Every pair with one in the list of the other, once: heads, tails and z."""
        n = len(self.z)
        p, at = np.nonzero(np.isfinite(self.z))
        q = self.indices[p, at]
        code, first = np.unique(np.minimum(p, q) * n + np.maximum(p, q), return_index=True)
        return code // n, code % n, self.z[p, at][first]

    @property
    def floor(self) -> float:
        """The z below which two points count as copies of each other; 1 if all points are equal."""
        return Weights.from_distances(self.z, 1).floor


Weighing = Callable[[NeighborLists, Ints, Ints, Floats], Floats]


def unit_weights(lists: NeighborLists, heads: Ints, tails: Ints, z: Floats) -> Floats:
    """1 for every edge."""
    return np.ones(len(z))


def inverse_weights(lists: NeighborLists, heads: Ints, tails: Ints, z: Floats) -> Floats:
    """1 / z, no z smaller than the floor."""
    return 1.0 / np.maximum(z, lists.floor)


def gaussian_weights(lists: NeighborLists, heads: Ints, tails: Ints, z: Floats) -> Floats:
    """exp(-z / (s_p s_q)), s_p the distance to the last neighbor of p; copies of a point weigh 1."""
    farthest = np.where(np.isfinite(lists.z), lists.z, 0.0).max(axis=1)
    s = np.sqrt(np.maximum(farthest, lists.floor))
    return np.maximum(np.exp(-z / (s[heads] * s[tails])), FAINTEST)


WEIGHTS: dict[str, Weighing] = {"gaussian": gaussian_weights, "unit": unit_weights, "inverse": inverse_weights}


def neighbor_lists(method: Any, X: Any, name: str, k: int, random_state: Any, factor: int = 1) -> NeighborLists:
    """The `factor` * k nearest points (all others, if there are fewer) of every point; checks X and k.

    `method` and `name`, of the method and of its parameter k, are for error messages.
    """
    check_number(name, k, ">= 1", lambda value: value >= 1, whole=True)
    X, rng = check_data(method, X), generator(random_state)
    n = X.shape[0]
    if k > n - 1:
        raise ValueError(
            f"{name}={k} with {n} points: each has only {n - 1} others. Give {name} <= {n - 1}, or more points."
        )
    wanted = min(factor * int(k), n - 1)
    with one_thread_per_call():
        points = Points(X, rng=rng, n_threads=count_threads(None))
        return _with_copies(nearest_neighbors(points, wanted, rng), wanted, n)


def _with_copies(found: Neighbors, k: int, n: int) -> NeighborLists:
    """Lists of all n points from those of the distinct ones: a point's copies come first, then its neighbors' groups.

    A group is a distinct point with its copies. The first k + 1 of all the points in p's group, its nearest group, the
    next, ... serve every member of the group: each leaves out itself.
    """
    if not len(found.copies):
        return NeighborLists(found.indices[:, :k], found.z[:, :k])
    group = np.empty(n, dtype=np.int64)
    group[found.distinct] = np.arange(len(found.distinct))
    group[found.copies] = group[found.copy_of]
    members, size = np.argsort(group, kind="stable"), np.bincount(group)
    start = np.cumsum(size) - size

    itself = np.arange(len(size))
    groups = np.column_stack([itself, found.indices])
    z_groups = np.column_stack([np.zeros(len(size)), found.z])
    past = np.cumsum(np.where(np.isfinite(z_groups), size[groups], k + 1), axis=1)  # points up to this group
    indices, z = np.empty((len(size), k + 1), dtype=np.int64), np.empty((len(size), k + 1))
    for slot in range(k + 1):
        at = (past <= slot).sum(axis=1)
        chosen, z[:, slot] = groups[itself, at], z_groups[itself, at]
        offset = slot - past[itself, at] + size[chosen]
        indices[:, slot] = members[np.where(np.isfinite(z[:, slot]), start[chosen] + offset, 0)]

    indices, z = indices[group], z[group]
    mine = indices == np.arange(n)[:, None]
    mine[:, -1] |= ~mine.any(axis=1)  # one of a large group may stand too far back: it drops the last
    return NeighborLists(indices[~mine].reshape(n, k), z[~mine].reshape(n, k))
