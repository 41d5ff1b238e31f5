r"""Ward's clustering along the edges of a graph.

Clusters a and b of masses m_a, m_b and means c_a, c_b, joined by an edge, are merged where that adds least to the sum
of squared distances within clusters,

    cost(a, b) = m_a m_b / (m_a + m_b) |c_a - c_b|^2.

All pairs that are each other's cheapest partner are merged in one round, as array operations: merging one pair changes
the cheapest partner of few others, so the tree is that of merging one pair at a time but for a few late branches. Where
one cluster is the cheapest partner of very many (a star), only one pair would be merged in a round; there all who
prefer one of a pair join it at once. Cost: O(E) per round, and few rounds.

On real data merges near the top often cost nearly the same, and their order decides which classes come out whole. The
cost looks at the rows only. The graph knows more: the *conductance* of a merge, the weight of the edges between its
two halves over the smaller of their volumes (sums of degrees),

    phi(a, b) = w(a, b) / min(vol a, vol b),

is small where they hang together loosely. A cut may go by cost / phi^p; with p = 1/10 half the conductance counts as
much as a cost higher by 7 %, so that the graph decides between near-ties and nothing else.
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
    conductances: Floats
    roots: Ints

    def cut(self, n_clusters: int, power: float = 0.0) -> Ints:
        """Undo merges, those of largest height / conductance^power first, until there are `n_clusters` clusters.

        Returns the label of every leaf. Labels are numbered by the first leaf of each cluster. There are never fewer
        clusters than roots.
        """
        leaves = np.full(self.n_leaves, -1.0)  # never split
        looseness = np.maximum(self.conductances, np.finfo(float).tiny) ** -power
        rank = np.concatenate([leaves, self.heights * looseness])
        nodes = [(-rank[root], root) for root in self.roots.tolist()]
        heapq.heapify(nodes)
        while len(nodes) < n_clusters:
            _, node = heapq.heappop(nodes)
            for child in self.children[node - self.n_leaves].tolist():
                heapq.heappush(nodes, (-rank[child], child))
        label = np.full(len(rank), -1)
        label[[node for _, node in nodes]] = np.arange(len(nodes))
        for t in range(len(self.heights) - 1, -1, -1):
            if label[self.n_leaves + t] >= 0:
                label[self.children[t]] = label[self.n_leaves + t]
        found = label[: self.n_leaves]
        _, first = np.unique(found, return_index=True)
        return np.argsort(np.argsort(first))[found]


class Merges(NamedTuple):
    """The merges of one round: clusters `joining` go into clusters `into`, those of one target in order of cost."""

    into: Ints
    joining: Ints
    cost: Floats
    edge: Ints  # the edge along which it happens


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
    head, tail, weight = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data.astype(np.float64)
    total, mass, volume, node = np.array(X, dtype=np.float64), np.ones(n), adjacency.sum(axis=1), np.arange(n)
    children, heights, conductances, n_nodes = [], [], [], n
    while len(head):
        merges = _merges(head, tail, _costs(head, tail, total, mass), len(mass))
        group = np.arange(len(mass))
        group[merges.joining] = merges.into
        made = n_nodes + np.arange(len(merges.into))
        is_first = np.append(True, merges.into[1:] != merges.into[:-1])
        before = np.where(is_first, node[merges.into], made - 1)
        children.append(np.stack([before, node[merges.joining]], axis=1))
        heights.append(merges.cost)
        conductances.append(weight[merges.edge] / np.minimum(volume[merges.into], volume[merges.joining]))
        node[merges.into] = made  # of several merges into one cluster the last is its node
        n_nodes += len(made)
        kept, group = np.unique(group, return_inverse=True)
        member = sp.csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(len(kept), len(group)))
        total, mass, volume, node = member @ total, member @ mass, member @ volume, node[kept]
        head, tail, weight = _contracted(group[head], group[tail], weight, len(kept))
    if not children:
        return MergeTree(n, np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0), node)
    merged = np.concatenate(children)
    raised = _never_falling(merged, np.concatenate(heights), n)
    return MergeTree(n, merged, raised, np.concatenate(conductances), node)


def _costs(head: Ints, tail: Ints, total: Floats, mass: Floats) -> Floats:
    mean = total / mass[:, None]
    difference = mean[head] - mean[tail]
    return mass[head] * mass[tail] / (mass[head] + mass[tail]) * np.einsum("ij,ij->i", difference, difference)


def _merges(head: Ints, tail: Ints, cost: Floats, n_clusters: int) -> Merges:
    """Mutual cheapest partners; where these are few, with all their suitors. Ties go to the smaller number."""
    asking, asked, both = np.concatenate([head, tail]), np.concatenate([tail, head]), np.concatenate([cost, cost])
    order = np.lexsort((asked, both, asking))
    who, first = np.unique(asking[order], return_index=True)
    partner, price, edge = np.full(n_clusters, -1), np.full(n_clusters, np.inf), np.full(n_clusters, -1)
    partner[who], price[who], edge[who] = asked[order[first]], both[order[first]], order[first] % len(head)
    everyone = np.arange(n_clusters)
    mutual = (partner >= 0) & (partner[partner] == everyone)
    joining = np.flatnonzero(mutual & (partner < everyone))
    into = partner[joining]
    if len(joining) < SLOW * n_clusters:
        suitors = np.flatnonzero((partner >= 0) & ~mutual & mutual[partner])
        host = np.minimum(partner[suitors], partner[partner[suitors]])
        joining, into = np.concatenate([joining, suitors]), np.concatenate([into, host])
    order = np.lexsort((joining, price[joining], into))
    joining = joining[order]
    return Merges(into[order], joining, price[joining], edge[joining])


def _contracted(head: Ints, tail: Ints, weight: Floats, n_clusters: int) -> tuple[Ints, Ints, Floats]:
    """Edges between clusters, each once, with the sum of the weights."""
    apart = head != tail
    low, high = np.minimum(head[apart], tail[apart]), np.maximum(head[apart], tail[apart])
    code, number = np.unique(low * n_clusters + high, return_inverse=True)
    return code // n_clusters, code % n_clusters, np.bincount(number, weight[apart], len(code)).astype(np.float64)


def _never_falling(children: Ints, heights: Floats, n_leaves: int) -> Floats:
    """Raise every height to those below it."""
    height = [0.0] * n_leaves + heights.tolist()
    for t, (a, b) in enumerate(children.tolist(), start=n_leaves):
        height[t] = max(height[t], height[a], height[b])
    return np.array(height[n_leaves:])
