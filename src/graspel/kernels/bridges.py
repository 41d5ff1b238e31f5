"""Depth-first search with low points, for bridges and cut points (:mod:`graspel.findings.bridges`)."""

from __future__ import annotations

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
