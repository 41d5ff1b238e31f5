r"""Ward's clustering along the edges of a graph.

Clusters a and b of masses m_a, m_b and means c_a, c_b, joined by an edge, are merged where that adds least to the sum
of squared distances within clusters,

    cost(a, b) = m_a m_b / (m_a + m_b) |c_a - c_b|^2.

All pairs that are each other's cheapest partner are merged in one round, as array operations: merging one pair changes
the cheapest partner of few others, so the tree is that of merging one pair at a time but for a few late branches. Where
one cluster is the cheapest partner of very many (a star), only one pair would be merged in a round; there all who
prefer one of a pair join it at once. Cost: O(E) per round, and few rounds.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SLOW = 0.02  # share of the clusters merged in a round below which suitors join at once


class MergeTree(NamedTuple):
    """Merges in their order: merge t makes node N + t of two earlier nodes; `roots` are the nodes left over.

    Heights are the costs of the merges, raised where needed so that they never fall on the way up.
    """

    n_leaves: int
    children: Ints
    heights: Floats
    roots: Ints

    def cut(self, n_clusters: int) -> Ints:
        """Undo the costliest merges until there are `n_clusters` clusters: the label of every leaf.

        Labels are numbered by the first leaf of each cluster. There are never fewer clusters than roots.
        """
        height = np.concatenate([np.full(self.n_leaves, -1.0), self.heights])  # leaves are never split
        nodes = [(-height[root], root) for root in self.roots.tolist()]
        heapq.heapify(nodes)
        while len(nodes) < n_clusters:
            _, node = heapq.heappop(nodes)
            for child in self.children[node - self.n_leaves].tolist():
                heapq.heappush(nodes, (-height[child], child))
        label = np.full(len(height), -1)
        label[[node for _, node in nodes]] = np.arange(len(nodes))
        for t in range(len(self.heights) - 1, -1, -1):
            if label[self.n_leaves + t] >= 0:
                label[self.children[t]] = label[self.n_leaves + t]
        leaves = label[: self.n_leaves]
        _, first = np.unique(leaves, return_index=True)
        return np.argsort(np.argsort(first))[leaves]


class Merges(NamedTuple):
    """The merges of one round: clusters `joining` go into clusters `into`, those of one target in order of cost."""

    into: Ints
    joining: Ints
    cost: Floats


def ward_tree(X: Floats, adjacency: sp.csr_array) -> MergeTree:
    """Merge the rows of X along the edges of a graph until every component is one cluster.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> ward_tree(np.array([[0.0], [1.0], [7.0], [9.0]]), path).cut(2)
    array([0, 0, 1, 1])
    """
    n = len(X)
    edges = sp.triu(adjacency, 1, format="coo")
    head, tail = edges.row.astype(np.int64), edges.col.astype(np.int64)
    total, mass, node = np.array(X, dtype=np.float64), np.ones(n), np.arange(n)
    children, heights, n_nodes = [], [], n
    while len(head):
        merges = _merges(head, tail, _costs(head, tail, total, mass), len(mass))
        group = np.arange(len(mass))
        group[merges.joining] = merges.into
        made = n_nodes + np.arange(len(merges.into))
        is_first = np.append(True, merges.into[1:] != merges.into[:-1])
        before = np.where(is_first, node[merges.into], made - 1)
        children.append(np.stack([before, node[merges.joining]], axis=1))
        heights.append(merges.cost)
        node[merges.into] = made  # of several merges into one cluster the last is its node
        n_nodes += len(made)
        kept, group = np.unique(group, return_inverse=True)
        member = sp.csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(len(kept), len(group)))
        total, mass, node = member @ total, member @ mass, node[kept]
        head, tail = _contracted(group[head], group[tail], len(kept))
    if not children:
        return MergeTree(n, np.zeros((0, 2), dtype=np.int64), np.zeros(0), node)
    merged = np.concatenate(children)
    return MergeTree(n, merged, _never_falling(merged, np.concatenate(heights), n), node)


def _costs(head: Ints, tail: Ints, total: Floats, mass: Floats) -> Floats:
    mean = total / mass[:, None]
    difference = mean[head] - mean[tail]
    return mass[head] * mass[tail] / (mass[head] + mass[tail]) * np.einsum("ij,ij->i", difference, difference)


def _merges(head: Ints, tail: Ints, cost: Floats, n_clusters: int) -> Merges:
    """Mutual cheapest partners; where these are few, with all their suitors. Ties go to the smaller number."""
    asking, asked, both = np.concatenate([head, tail]), np.concatenate([tail, head]), np.concatenate([cost, cost])
    order = np.lexsort((asked, both, asking))
    who, first = np.unique(asking[order], return_index=True)
    partner, price = np.full(n_clusters, -1), np.full(n_clusters, np.inf)
    partner[who], price[who] = asked[order[first]], both[order[first]]
    everyone = np.arange(n_clusters)
    mutual = (partner >= 0) & (partner[partner] == everyone)
    joining = np.flatnonzero(mutual & (partner < everyone))
    into = partner[joining]
    if len(joining) < SLOW * n_clusters:
        suitors = np.flatnonzero((partner >= 0) & ~mutual & mutual[partner])
        host = np.minimum(partner[suitors], partner[partner[suitors]])
        joining, into = np.concatenate([joining, suitors]), np.concatenate([into, host])
    order = np.lexsort((joining, price[joining], into))
    return Merges(into[order], joining[order], price[joining][order])


def _contracted(head: Ints, tail: Ints, n_clusters: int) -> tuple[Ints, Ints]:
    """Edges between clusters, each once."""
    apart = head != tail
    low, high = np.minimum(head[apart], tail[apart]), np.maximum(head[apart], tail[apart])
    code = np.unique(low * n_clusters + high)
    return code // n_clusters, code % n_clusters


def _never_falling(children: Ints, heights: Floats, n_leaves: int) -> Floats:
    """Raise every height to those below it."""
    height = [0.0] * n_leaves + heights.tolist()
    for t, (a, b) in enumerate(children.tolist(), start=n_leaves):
        height[t] = max(height[t], height[a], height[b])
    return np.array(height[n_leaves:])
