r"""Exact elimination on a given pattern, and the resistances of the pattern on the way back.

Node j is eliminated after all earlier nodes. What these add to its edges is collected column by column: every earlier
node i that has j among its later neighbors l adds w_ij w_il / d_i to the edge (j, l). Node i waits in the list of the
first of its later neighbors that has not been reached ("left-looking" elimination, as in Davis, chapter 4). Going back,
the resistances between the later neighbors of a node are known, because these are joined to each other, and give those
between the node and each of them (:mod:`graspel.linalg.edge_resistances`).

Nodes are numbered in the order of elimination; those from len(pointers) - 1 on are the core, which is not eliminated
here. The later neighbors of a node are sorted.

References
----------
T. A. Davis. Direct methods for sparse linear systems. SIAM, 2006.

K. Takahashi, J. Fagan and M.-S. Chin. Formation of a sparse bus impedance matrix and its application to short circuit
study. Power Industry Computer Applications Conference, 1973.
"""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices


@kernel
def eliminate(pointers: Indices, rows: Indices, weights: Floats, pivots: Floats, core: Floats) -> None:
    """Turn edge weights on the pattern into those at elimination, and add what elimination adds to the core.

    `weights` are those of the graph, zero where the pattern has no edge of it; `core` is a matrix whose upper triangle
    is used. `pivots` receives the weighted degree of every node at its elimination.
    """
    n = len(pointers) - 1
    n_nodes = n + len(core)
    reached = pointers[:-1].copy()
    first = np.full(n_nodes, -1, np.int32)
    following = np.full(n, -1, np.int32)
    work = np.zeros(n_nodes)
    for j in range(n_nodes):
        i = first[j]
        while i >= 0:
            after = following[i]
            t = reached[i]
            factor = weights[t] / pivots[i]
            t += 1
            reached[i] = t
            end = pointers[i + 1]
            if j < n:
                for s in range(t, end):
                    work[rows[s]] += factor * weights[s]
            else:
                for s in range(t, end):
                    core[j - n, rows[s] - n] += factor * weights[s]
            if t < end:
                following[i] = first[rows[t]]
                first[rows[t]] = i
            i = after
        if j < n:
            total = 0.0
            for s in range(pointers[j], pointers[j + 1]):
                weights[s] += work[rows[s]]
                work[rows[s]] = 0.0
                total += weights[s]
            pivots[j] = total
            if pointers[j] < pointers[j + 1]:
                following[j] = first[rows[pointers[j]]]
                first[rows[pointers[j]]] = j


@kernel
def restore_resistances(
    pointers: Indices, rows: Indices, weights: Floats, pivots: Floats, core: Floats, R: Floats
) -> None:
    """The resistances of all pairs of the pattern into R, from those of all pairs of the core (upper triangle)."""
    n = len(pointers) - 1
    place = np.full(n + len(core), -1, np.int32)
    width = 1
    for i in range(n):
        width = max(width, pointers[i + 1] - pointers[i])
    share = np.empty(width)
    mean = np.empty(width)
    for i in range(n - 1, -1, -1):
        begin = pointers[i]
        d = pointers[i + 1] - begin
        for t in range(d):
            share[t] = weights[begin + t] / pivots[i]
            mean[t] = 0.0
            place[rows[begin + t]] = t
        for t in range(d):
            v = rows[begin + t]
            total = 0.0
            if v < n:
                for s in range(pointers[v], pointers[v + 1]):
                    u = place[rows[s]]
                    if u >= 0:
                        total += share[u] * R[s]
                        mean[u] += share[t] * R[s]
            else:
                for u in range(t + 1, d):
                    r = core[v - n, rows[begin + u] - n]
                    total += share[u] * r
                    mean[u] += share[t] * r
            mean[t] += total
        half = 0.0
        for t in range(d):
            half += share[t] * mean[t]
            place[rows[begin + t]] = -1
        for t in range(d):
            # Rounding may leave less than 1/d, which no resistance of the node can be.
            R[begin + t] = 1 / pivots[i] + max(mean[t] - half / 2, 0.0)


@kernel
def solve_from(pointers: Indices, rows: Indices, shares: Floats, X: Floats, first: int) -> None:
    """Hand on the right sides X of nodes `first` and later, most of them zero, to later neighbors."""
    m = X.shape[1]
    for v in range(first, len(pointers) - 1):
        is_zero = True
        for k in range(m):
            if X[v - first, k] != 0:
                is_zero = False
                break
        if not is_zero:
            for e in range(pointers[v], pointers[v + 1]):
                u = rows[e] - first
                for k in range(m):
                    X[u, k] += shares[e] * X[v - first, k]


@kernel
def solve_back_to(pointers: Indices, rows: Indices, shares: Floats, pivots: Floats, X: Floats, first: int) -> None:
    """Divide by the pivots, and add to every node, last first, the weighted mean of its later neighbors."""
    m = X.shape[1]
    for v in range(len(pointers) - 2, first - 1, -1):
        for k in range(m):
            X[v - first, k] /= pivots[v]
        for e in range(pointers[v], pointers[v + 1]):
            u = rows[e] - first
            for k in range(m):
                X[v - first, k] += shares[e] * X[u, k]


@kernel
def find_far_pairs(
    M: Floats,
    diagonal: Floats,
    column_diagonal: Floats,
    z: Floats,
    floor: float,
    beta4: float,
    unit: float,
    at: Indices,
) -> int:
    """Positions (row, column) in M of the pairs with R > k, into `at` as far as it has room; returns their number.

    R = M_ii + M_jj - 2 M_ij and k = (max(z, floor) + 4 beta) / unit.
    """
    found = 0
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            R = diagonal[i] + column_diagonal[j] - 2 * M[i, j]
            if R * unit > max(z[i, j], floor) + beta4:
                if found < len(at):
                    at[found, 0] = i
                    at[found, 1] = j
                found += 1
    return found
