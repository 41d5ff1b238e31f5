"""Groups of nodes: edges are walked in a given order, and join groups as long as these stay small."""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel


@kernel
def merge_in_order(order, heads, tails, limit, n_nodes):  # type: ignore[no-untyped-def]
    """The group of every node, after the edges in this order have joined groups of up to `limit` nodes in all.

    Groups are numbered by their first nodes.
    """
    group, size = np.arange(n_nodes).astype(np.int32), np.ones(n_nodes, dtype=np.int32)
    for edge in order:
        a, b = heads[edge], tails[edge]
        while group[a] != a:
            group[a] = group[group[a]]
            a = group[a]
        while group[b] != b:
            group[b] = group[group[b]]
            b = group[b]
        if a != b and size[a] + size[b] <= limit:
            first, second = min(a, b), max(a, b)
            group[second] = first
            size[first] += size[second]
    found = 0
    for node in range(n_nodes):  # the first node of a group is its root, which has its number before the others ask
        if group[node] == node:
            size[node] = found
            found += 1
        else:
            root = group[node]
            while group[root] != root:
                root = group[root]
            size[node] = size[root]
    return size
