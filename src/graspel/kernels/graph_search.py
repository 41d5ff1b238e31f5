r"""Searches along a graph: depth first, for bridges and cut points, and nearest nodes by Dijkstra's algorithm."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from graspel.kernels.compile import kernel


@kernel
def depth_first_low(indptr: Any, indices: Any) -> Any:
    """Search a graph in CSR form, without recursion.

    Returns for every node its parent in the tree (-1 for a root), the time when it was entered, its low point as such a
    time, the size of its subtree, and the number of its component.
    """
    n = len(indptr) - 1
    parent = np.full(n, -1, dtype=np.int64)
    entered = np.full(n, -1, dtype=np.int64)
    low = np.zeros(n, dtype=np.int64)
    size = np.ones(n, dtype=np.int64)
    component = np.zeros(n, dtype=np.int64)
    next_edge = indptr[:-1].copy()
    stack = np.empty(n, dtype=np.int64)
    time, n_components = 0, 0
    for root in range(n):
        if entered[root] >= 0:
            continue
        depth = 1
        stack[0] = root
        entered[root] = low[root] = time
        component[root] = n_components
        time += 1
        while depth:
            v = stack[depth - 1]
            if next_edge[v] < indptr[v + 1]:
                u = indices[next_edge[v]]
                next_edge[v] += 1
                if entered[u] < 0:
                    parent[u] = v
                    entered[u] = low[u] = time
                    component[u] = n_components
                    time += 1
                    stack[depth] = u
                    depth += 1
                elif u != parent[v]:
                    low[v] = min(low[v], entered[u])
            else:
                depth -= 1
                if depth:
                    p = stack[depth - 1]
                    low[p] = min(low[p], low[v])
                    size[p] += size[v]
        n_components += 1
    return parent, entered, low, size, component


@kernel
def nearest_along(indptr, indices, lengths, start, seeds, offsets, first, last, stamp, best, found, distances):  # type: ignore[no-untyped-def]
    """For each query from `first` to `last` the nearest nodes and their distances, which end up in row query - first.

    A query starts at the nodes ``seeds[start[query]:start[query + 1]]``, at distances `offsets`. Among nodes at the
    same distance the smaller number is nearer. `stamp` (zeros) and `best` are scratch arrays, one entry for each node.
    """
    k = found.shape[1]
    for query in range(first, last):
        row = query - first
        heap = [(0.0, -1)]
        heap.pop()
        mark = 2 * row + 1  # stamp[node] is mark if the node has been reached, mark + 1 if it is settled
        for i in range(start[query], start[query + 1]):
            node = seeds[i]
            if stamp[node] != mark or offsets[i] < best[node]:
                stamp[node] = mark
                best[node] = offsets[i]
                heappush(heap, (offsets[i], node))
        settled = 0
        while settled < k and len(heap) > 0:
            distance, node = heappop(heap)
            if stamp[node] == mark + 1:
                continue
            stamp[node] = mark + 1
            found[row, settled] = node
            distances[row, settled] = distance
            settled += 1
            for i in range(indptr[node], indptr[node + 1]):
                other = indices[i]
                if stamp[other] == mark + 1:
                    continue
                longer = distance + lengths[i]
                if stamp[other] != mark or longer < best[other]:
                    stamp[other] = mark
                    best[other] = longer
                    heappush(heap, (longer, other))
        for rest in range(settled, k):
            found[row, rest] = -1
            distances[row, rest] = float("inf")
