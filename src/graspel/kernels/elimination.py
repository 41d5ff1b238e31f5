r"""Elimination node by node: the loop behind :mod:`graspel.linalg.factor.elimination`.

Edge number k is stored as two half-edges, 2 k and 2 k + 1, one in the list of each of its ends. Eliminating node v
takes its list apart: the half-edges of its neighbors become ends of the edges that replace its star, so that hardly any
new memory is needed. Nodes wait in buckets by degree; the node that has waited longest in the lowest bucket goes first.
As the nodes come in an order that keeps neighbors together, so does this one.

All arrays are allocated by the caller, and no two variables are assigned in one statement: this halves the time that it
takes to compile the kernels.

Triangular solves work on a few vectors at once. The vectors are the columns of an N x m array in elimination order, so
that the m entries of one node share a line of the cache.

References
----------
R. Kyng and S. Sachdeva. Approximate Gaussian elimination for Laplacians: fast, sparse, and simple. IEEE Symposium on
Foundations of Computer Science, 2016.

Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023. The lists of half-edges and the buckets of degrees.

G. L. Steele, D. Lea and C. H. Flood. Fast splittable pseudorandom number generators. ACM SIGPLAN Notices 49(10), 2014.
The generator SplitMix64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices

N_BUCKETS = 128  # degrees up to 63 have a bucket each, larger ones one for each 64, the last one all above 4,096


@kernel
def bucket_of(degree: int) -> int:
    """The bucket of a degree."""
    if degree < 64:
        return degree
    return min(N_BUCKETS - 1, 63 + degree // 64)


@kernel
def enqueue(v: int, bucket: int, queues: Indices, waiting: Indices) -> None:
    """Append node v to the end of a bucket; `queues` holds its first and last node, `waiting` the nodes beside each."""
    last = queues[bucket, 1]
    waiting[v, 0] = last
    waiting[v, 1] = -1
    queues[bucket, 1] = v
    if last >= 0:
        waiting[last, 1] = v
    else:
        queues[bucket, 0] = v


@kernel
def dequeue(v: int, bucket: int, queues: Indices, waiting: Indices) -> None:
    """Take node v out of its bucket."""
    before = waiting[v, 0]
    after = waiting[v, 1]
    if before >= 0:
        waiting[before, 1] = after
    else:
        queues[bucket, 0] = after
    if after >= 0:
        waiting[after, 0] = before
    else:
        queues[bucket, 1] = before


@kernel
def enqueue_all(degree: Indices, queues: Indices, waiting: Indices) -> None:
    """Append all nodes to the buckets of their degrees, in order."""
    for v in range(len(degree)):
        enqueue(v, bucket_of(degree[v]), queues, waiting)


@kernel
def sort_by_weight(n: int, weights: Floats, nodes: Indices, slots: Indices) -> None:
    """Sort the first n entries of three arrays by ascending weight (Shell's method, in place)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, n):
            w = weights[i]
            node = nodes[i]
            slot = slots[i]
            j = i
            while j >= gap and weights[j - gap] > w:
                weights[j] = weights[j - gap]
                nodes[j] = nodes[j - gap]
                slots[j] = slots[j - gap]
                j -= gap
            weights[j] = w
            nodes[j] = node
            slots[j] = slot
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
def link_half_edges(
    indptr: Indices, indices: Indices, data: Floats, ends: Indices, weight: Floats, first: Indices, degree: Indices
) -> None:
    """Store the edges of a CSR matrix as lists of half-edges: `ends` holds the node at the other end and the next."""
    used = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u > v:
                ends[used, 0] = u
                ends[used, 1] = first[v]
                ends[used + 1, 0] = v
                ends[used + 1, 1] = first[u]
                weight[used] = data[e]
                weight[used + 1] = data[e]
                first[v] = used
                first[u] = used + 1
                degree[v] += 1
                degree[u] += 1
                used += 2


# Longer than 60 lines: one loop whose steps share nearly all of their arrays.
@kernel
def eliminate_nodes(
    counters: Indices,
    ends: Indices,
    weight: Floats,
    first: Indices,
    degree: Indices,
    queues: Indices,
    waiting: Indices,
    ground: Floats,
    order: Indices,
    pivots: Floats,
    pointers: Indices,
    columns: Indices,
    shares: Floats,
    star_nodes: Indices,
    star_slots: Indices,
    star_weights: Floats,
    later: Floats,
    at: Indices,
    state: NDArray[np.uint64],
    n_last: int,
    careful_from: int,
    quick_degree: int,
    careful_degree: int,
    careful_trees: int,
) -> int:
    """Eliminate nodes until `n_last` are left, or memory is used up; return the room that the next star needs.

    Parameters
    ----------
    counters : where to go on: nodes left, edges left, lowest bucket, nodes done, entries of the factor, half-edges
    ends, weight, first, degree : the half-edges, see `link_half_edges`; a weight of 0 marks one that is no longer used
    queues, waiting : the buckets, see `enqueue`
    ground : the excess of each node
    order, pivots : filled with the eliminated nodes and their total weights, infinite for a node without edges
    pointers, columns, shares : filled with the neighbors of each eliminated node and their shares w_i / W
    star_nodes, star_slots, star_weights, later, at : memory for the star of one node; `at` holds -1
    state : of the random numbers
    careful_from : number of edges left from which on cliques of `careful_degree` nodes are kept exactly, and larger
        ones become `careful_trees` trees; before it is one tree for cliques of more than `quick_degree` nodes
    """
    n_left = counters[0]
    edges_left = counters[1]
    bucket = counters[2]
    done = counters[3]
    filled = counters[4]
    used = counters[5]
    room = 0
    while n_left > n_last:
        while queues[bucket, 0] < 0:
            bucket += 1
        v = queues[bucket, 0]
        is_careful = edges_left <= careful_from
        exact_degree = careful_degree if is_careful else quick_degree
        n_trees = careful_trees if is_careful else 1
        room = 2 * max(n_trees * degree[v], exact_degree * exact_degree)
        if filled + degree[v] > len(columns) or used + room > len(weight):
            break
        room = 0
        dequeue(v, bucket, queues, waiting)
        # The star of v: parallel edges are added up.
        d = 0
        total = ground[v]
        e = first[v]
        while e >= 0:
            w = weight[e]
            if w > 0:
                u = ends[e, 0]
                edges_left -= 1
                total += w
                i = at[u]
                if i < 0:
                    at[u] = d
                    star_nodes[d] = u
                    star_slots[d] = e
                    star_weights[d] = w
                    dequeue(u, bucket_of(degree[u]), queues, waiting)
                    d += 1
                else:
                    star_weights[i] += w
                degree[u] -= 1
                weight[e ^ 1] = 0.0  # stays in the list of u, and is passed over unless it gets a new use
            e = ends[e, 1]
        for i in range(d):
            at[star_nodes[i]] = -1
        sort_by_weight(d, star_weights, star_nodes, star_slots)
        # The row of the factor.
        pivot = total if total > 0 else np.inf
        later_sum = 0.0
        for i in range(d - 1, -1, -1):
            later[i] = later_sum
            later_sum += star_weights[i]
            share = star_weights[i] / pivot
            columns[filled + i] = star_nodes[i]
            shares[filled + i] = share
            ground[star_nodes[i]] += share * ground[v]
        order[done] = v
        pivots[done] = pivot
        done += 1
        filled += d
        pointers[done] = filled
        # The edges that replace the star.
        is_exact = d <= exact_degree
        for i in range(d - 1):
            share = star_weights[i] / pivot
            is_free = True  # whether the two half-edges between v and neighbor i have no new use yet
            for draw in range(d - 1 - i if is_exact else n_trees):
                if is_exact:
                    j = i + 1 + draw
                    w = share * star_weights[j]
                else:
                    target = (1.0 - next_uniform(state)) * later[i]
                    j = i + 1
                    high = d - 1
                    while j < high:
                        middle = (j + high) // 2
                        if later[middle] <= target:
                            high = middle
                        else:
                            j = middle + 1
                    w = share * later[i] / n_trees
                if not w > 0:  # lost to underflow
                    continue
                p = star_nodes[i]
                q = star_nodes[j]
                if is_free:
                    e = star_slots[i]
                    is_free = False
                else:
                    e = used
                    used += 2
                    ends[e ^ 1, 1] = first[p]
                    first[p] = e ^ 1
                ends[e ^ 1, 0] = q
                weight[e ^ 1] = w
                ends[e, 0] = p
                weight[e] = w
                ends[e, 1] = first[q]
                first[q] = e
                degree[p] += 1
                degree[q] += 1
                edges_left += 1
        for i in range(d):
            b = bucket_of(degree[star_nodes[i]])
            enqueue(star_nodes[i], b, queues, waiting)
            bucket = min(bucket, b)
        degree[v] = -1
        n_left -= 1
    counters[0] = n_left
    counters[1] = edges_left
    counters[2] = bucket
    counters[3] = done
    counters[4] = filled
    counters[5] = used
    return room


@kernel
def fill_rest(rest: Floats, nodes: Indices, place: Indices, ends: Indices, weight: Floats, first: Indices) -> None:
    """Add the edges between the nodes that are left to a dense adjacency; `place` is their row."""
    for i in range(len(nodes)):
        e = first[nodes[i]]
        while e >= 0:
            if weight[e] > 0:
                rest[i, place[ends[e, 0]]] += weight[e]
            e = ends[e, 1]


@kernel
def solve_forward(pointers: Indices, columns: Indices, shares: Floats, X: Floats) -> None:
    """Replace X by G^-1 X: every eliminated node hands its value on to its later neighbors."""
    m = X.shape[1]
    for v in range(len(pointers) - 1):
        for e in range(pointers[v], pointers[v + 1]):
            for k in range(m):
                X[columns[e], k] += shares[e] * X[v, k]


@kernel
def solve_backward(pointers: Indices, columns: Indices, shares: Floats, X: Floats) -> None:
    """Replace X by G^-T X: every eliminated node, last first, adds the weighted mean of its later neighbors."""
    m = X.shape[1]
    for v in range(len(pointers) - 2, -1, -1):
        for e in range(pointers[v], pointers[v + 1]):
            for k in range(m):
                X[v, k] += shares[e] * X[columns[e], k]
