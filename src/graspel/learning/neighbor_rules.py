r"""Step 1, neighbor rules: which of the points in a neighbor list a point is joined to.

The nearest points are not always the best neighbors. A point between two clusters, or in a sparse region, is nearest to
points that have much nearer neighbors of their own, and such edges join clusters. Each rule gives every listed neighbor
a key, and the k neighbors of the smallest keys are chosen. With z the squared distance of p and q,

- "nearest": z itself;
- "mutual": the rank of q in the list of p plus the rank of p in the list of q. It is small only if both are near to
  each other as seen from both sides, at any density;
- "local-scale": z / (s_p s_q), where s is the distance of a point to its seventh neighbor. Distances count in units of
  the local density, so that a sparse point is not chosen because nothing else is near.

The rules look at the `CONSIDERED` nearest points. The weights of the edges chosen are 1/z under every rule.

References
----------
L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. Advances in Neural Information Processing Systems 17,
2004. The local scale.

K. C. Gowda and G. Krishna. Agglomerative clustering using the concept of mutual nearest neighbourhood. Pattern
Recognition 10, 1978. The mutual rank.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints, MeasuredPairs

CONSIDERED = 16  # nearest points among which a rule chooses
LOOKED_UP_TOGETHER = 4096  # points whose neighbors' lists are compared in one step
SCALE_NEIGHBOR = 7  # the neighbor whose distance is the local scale, as in self-tuning spectral clustering


def nearest_keys(indices: Ints, z: Floats) -> Floats:
    """Squared distances."""
    return z


def mutual_keys(indices: Ints, z: Floats) -> Floats:
    """Rank of q in the list of p plus rank of p in the list of q; a point not listed has twice the last rank."""
    n, width = indices.shape
    listed = np.where(np.isfinite(z), indices, -1).astype(np.int32)
    keys = np.empty((n, width))
    for block in row_blocks(n, LOOKED_UP_TOGETHER):
        is_back = listed[indices[block]] == np.arange(n, dtype=np.int32)[block, None, None]  # points x width x width
        returned = np.where(is_back.any(axis=2), 1 + is_back.argmax(axis=2), 2 * width)
        keys[block] = np.arange(1, width + 1) + returned
    return np.where(np.isfinite(z), keys, np.inf)


def local_scale_keys(indices: Ints, z: Floats) -> Floats:
    """Squared distances over the product of the two local scales."""
    seventh = np.where(np.isfinite(z[:, :SCALE_NEIGHBOR]), z[:, :SCALE_NEIGHBOR], 0.0).max(axis=1)
    scale = np.sqrt(np.maximum(seventh, np.finfo(np.float64).tiny))
    return z / scale[:, None] / scale[indices]


NEIGHBOR_RULES: dict[str, Callable[[Ints, Floats], Floats]] = {
    "nearest": nearest_keys,
    "mutual": mutual_keys,
    "local-scale": local_scale_keys,
}


def listed_for(rule: str, k: int) -> int:
    """How many neighbors must be searched for each point to choose k of them by a rule."""
    return k if rule == "nearest" else max(k, CONSIDERED)


def choose_neighbors(neighbors: Neighbors, rule: str, k: int) -> MeasuredPairs:
    """The k neighbors that a rule chooses for every distinct point (fewer, if its list is shorter).

    Returns
    -------
    heads, tails : arrays, numbers of distinct points; a pair can appear in both directions
    z : array, squared distances of the pairs

    Examples
    --------
    >>> from graspel.neighbors.search import nearest_neighbors
    >>> from graspel.data.prepare import prepare_rows
    >>> lists = nearest_neighbors(prepare_rows(np.array([[0.0], [1.0], [2.0], [10.0]])), 3, np.random.default_rng(0))
    >>> heads, tails, z = choose_neighbors(lists, "mutual", 1)
    >>> tails.tolist()
    [1, 0, 1, 2]
    """
    width = min(neighbors.indices.shape[1], listed_for(rule, k))
    indices, z = neighbors.indices[:, :width].astype(np.int64), neighbors.z[:, :width].astype(np.float64)
    if not width:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    chosen = np.argsort(NEIGHBOR_RULES[rule](indices, z), axis=1, kind="stable")[:, :k]
    tails, z = np.take_along_axis(indices, chosen, axis=1), np.take_along_axis(z, chosen, axis=1)
    found = np.isfinite(z)
    return np.repeat(np.arange(len(z)), found.sum(axis=1)), tails[found], z[found]
