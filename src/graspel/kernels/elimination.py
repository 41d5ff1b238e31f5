r"""Elimination node by node: the loop behind :mod:`graspel.linalg.approximate_factor` for large graphs.

Edge number k is stored as two half-edges, 2 k and 2 k + 1, one in the list of each of its ends. Eliminating node v
takes its list apart: the half-edges of its neighbors become ends of the edges that replace its star, so that hardly any new
memory is needed. Nodes wait in buckets by degree; the node that has waited longest in the lowest bucket goes first. As
nodes come in an order that keeps neighbors together, so does this one.

References
----------
R. Kyng and S. Sachdeva. Approximate Gaussian elimination for Laplacians: fast, sparse, and simple. IEEE Symposium on
Foundations of Computer Science, 2016.

Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023. The lists of half-edges and the buckets of degrees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.kernels.compile import kernel

Ints = NDArray[Any]
Floats = NDArray[np.float64]

N_BUCKETS = 128  # degrees up to 63 have a bucket each, larger ones one for each 64, the last one all above 4,096


@kernel
def bucket_of(degree: int) -> int:
    """The bucket of a degree."""
    if degree < 64:
        return degree
    return min(N_BUCKETS - 1, 63 + degree // 64)


@kernel
def enqueue(v: int, bucket: int, heads: Ints, ends: Ints, before: Ints, after: Ints) -> None:
    """Append node v to the end of a bucket."""
    last = ends[bucket]
    before[v], after[v], ends[bucket] = last, -1, v
    if last >= 0:
        after[last] = v
    else:
        heads[bucket] = v


@kernel
def dequeue(v: int, bucket: int, heads: Ints, ends: Ints, before: Ints, after: Ints) -> None:
    """Take node v out of its bucket."""
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        heads[bucket] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
    else:
        ends[bucket] = before[v]


@kernel
def sort_by_weight(n: int, weights: Floats, nodes: Ints, slots: Ints) -> None:
    """Sort the first n entries of three arrays by ascending weight (Shell's method, in place)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, n):
            w, node, slot, j = weights[i], nodes[i], slots[i], i
            while j >= gap and weights[j - gap] > w:
                weights[j], nodes[j], slots[j] = weights[j - gap], nodes[j - gap], slots[j - gap]
                j -= gap
            weights[j], nodes[j], slots[j] = w, node, slot
        gap //= 3


@kernel
def next_uniform(state: NDArray[np.uint64]) -> float:
    """The next number in [0, 1) of a generator with one word of state (SplitMix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """A copy of an array with room for more entries."""
    result = np.empty(length, array.dtype)
    result[: len(array)] = array
    return result


# Longer than 60 lines: one loop whose steps share nearly all of their arrays.
@kernel
def eliminate_nodes(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    ground: Floats,
    seed: int,
    dense_size: int,
    dense_limit: int,
    dense_fill: float,
    careful_share: float,
    quick: tuple[int, int],
    careful: tuple[int, int],
) -> tuple[Ints, Ints, Ints, Floats, Floats, Floats]:
    """Eliminate the nodes of a graph (CSR) until the rest is small or dense.

    `ground` is changed in place. `quick` and `careful` are (largest degree of an exact clique, number of trees).

    Returns
    -------
    order : nodes in the order of their elimination, then the rest in ascending order
    pointers, columns, shares : the entries w_i / W of each eliminated node, columns in elimination order
    pivots : total weight W at elimination, infinite for a node without edges
    rest : dense adjacency of the nodes that are left
    """
    n = len(indptr) - 1
    # Half-edges.
    n_edges = len(indices) // 2
    link, node, weight = (
        np.empty(2 * n_edges + 64, np.int32),
        np.empty(2 * n_edges + 64, np.int32),
        np.empty(2 * n_edges + 64),
    )
    first, degree = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    used = 0
    for v in range(n - 1, -1, -1):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u > v:
                node[used], node[used + 1] = u, v
                weight[used] = weight[used + 1] = data[e]
                link[used], link[used + 1] = first[v], first[u]
                first[v], first[u] = used, used + 1
                degree[v] += 1
                degree[u] += 1
                used += 2
    # Buckets.
    heads, ends = np.full(N_BUCKETS, -1, np.int32), np.full(N_BUCKETS, -1, np.int32)
    before, after = np.empty(n, np.int32), np.empty(n, np.int32)
    for v in range(n):
        enqueue(v, bucket_of(degree[v]), heads, ends, before, after)
    # Results and the star of the current node.
    order, place, pivots = np.empty(n, np.int32), np.full(n, -1, np.int32), np.empty(n)
    pointers = np.zeros(n + 1, np.int64)
    columns, shares = np.empty(len(indices) + 64, np.int32), np.empty(len(indices) + 64)
    star_nodes, star_slots, star_weights = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    later, old_degree = np.empty(n), np.empty(n, np.int32)
    at = np.full(n, -1, np.int32)
    state = np.array([seed], np.uint64)
    n_left, edges_left, bucket, done, filled = n, n_edges, 0, 0, 0
    while n_left > dense_size and not (n_left <= dense_limit and 2 * edges_left > dense_fill * n_left * n_left):
        while heads[bucket] < 0:
            bucket += 1
        v = heads[bucket]
        dequeue(v, bucket, heads, ends, before, after)
        # The star of v: parallel edges are added up.
        d, total, e = 0, ground[v], first[v]
        while e >= 0:
            u, w = node[e], weight[e]
            if w > 0:
                edges_left -= 1
                total += w
                i = at[u]
                if i < 0:
                    at[u] = i = d
                    star_nodes[d], star_slots[d], star_weights[d], old_degree[d] = u, e, w, degree[u]
                    d += 1
                else:
                    star_weights[i] += w
                    weight[e ^ 1] = 0.0  # stays in the list of u, and is passed over
                degree[u] -= 1
            e = link[e]
        for i in range(d):
            at[star_nodes[i]] = -1
            u = star_nodes[i]
            enqueue_at = bucket_of(old_degree[i])
            dequeue(u, enqueue_at, heads, ends, before, after)
        sort_by_weight(d, star_weights, star_nodes, star_slots)
        # The row of the factor.
        if filled + d > len(columns):
            columns, shares = longer(columns, 2 * len(columns) + d), longer(shares, 2 * len(columns) + d)
        pivot = total if total > 0 else np.inf
        for i in range(d):
            columns[filled + i], shares[filled + i] = star_nodes[i], star_weights[i] / pivot
            ground[star_nodes[i]] += star_weights[i] / pivot * ground[v]
            weight[star_slots[i] ^ 1] = 0.0
        filled += d
        order[done], pivots[done], place[v] = v, pivot, done
        done += 1
        pointers[done] = filled
        # The edges that replace the star.
        exact_degree, n_trees = careful if edges_left <= careful_share * n_edges else quick
        exact = d <= exact_degree
        if used + 2 * max(n_trees * d, exact_degree * exact_degree) > len(node):
            room = 2 * len(node) + 2 * n_trees * d + 64
            node, weight, link = longer(node, room), longer(weight, room), longer(link, room)
        later_sum = 0.0
        for i in range(d - 1, -1, -1):
            later[i] = later_sum
            later_sum += star_weights[i]
        for i in range(d - 1):
            is_free = True  # whether the half-edges between v and neighbor i have no new use yet
            for draw in range(d - 1 - i if exact else n_trees):
                if exact:
                    j = i + 1 + draw
                    w = star_weights[i] / pivot * star_weights[j]
                else:
                    target = (1.0 - next_uniform(state)) * later[i]
                    low, high = i + 1, d - 1
                    while low < high:
                        middle = (low + high) // 2
                        if later[middle] <= target:
                            high = middle
                        else:
                            low = middle + 1
                    j = low
                    w = star_weights[i] / pivot * later[i] / n_trees
                if not w > 0:  # lost to underflow
                    continue
                p, q = star_nodes[i], star_nodes[j]
                if is_free:
                    e = star_slots[i]
                    is_free = False
                else:
                    e = used
                    used += 2
                    link[e ^ 1], first[p] = first[p], e ^ 1
                node[e ^ 1], weight[e ^ 1] = q, w
                node[e], weight[e], link[e], first[q] = p, w, first[q], e
                degree[p] += 1
                degree[q] += 1
                edges_left += 1
        for i in range(d):
            u = star_nodes[i]
            b = bucket_of(degree[u])
            enqueue(u, b, heads, ends, before, after)
            bucket = min(bucket, b)
        n_left -= 1
    # The rest, as a dense matrix.
    rest = np.zeros((n_left, n_left))
    k = done
    for v in range(n):
        if place[v] < 0:
            order[k], place[v] = v, k
            k += 1
    for k in range(done, n):
        e = first[order[k]]
        while e >= 0:
            if weight[e] > 0:
                rest[k - done, place[node[e]] - done] += weight[e]
            e = link[e]
    for i in range(filled):
        columns[i] = place[columns[i]]
    return order, pointers[: done + 1], columns[:filled].copy(), shares[:filled].copy(), pivots[:done], rest
