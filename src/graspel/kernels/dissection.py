r"""Nested dissection: an order of elimination from small separators, found on many levels.

A *separator* is a set of nodes without which a graph falls into two parts of similar size. If it is eliminated last,
the two parts do not touch each other's factors. Each part is cut again, until few nodes are left. So the order comes
with a tree of pieces: a leaf is a few nodes, and every other piece is two pieces and their separator.

A separator is found as in METIS. The graph is contracted along heavy edges until about a hundred nodes are left, there
parts are grown from several random nodes, and the best separator is carried back level by level, and improved on each
by moving nodes out of it (Fiduccia and Mattheyses): a node that leaves the separator for one part pulls its neighbors
in the other part into it. Moves that make the separator larger are tried too, and taken back if nothing comes of them.

**Why not METIS itself?** Its orders are better: an elimination takes 1.2 to 1.7 times as many multiplications after
ours (learned graph of USPS 1.4, 3NN graph 1.2, grid of 300 x 300 1.7, by ``python -m benchmarks.kernels --only
dissection``), and METIS is 1.4 to 1.9 times as fast. But pymetis (2025.2) has no wheels for Windows and for Linux on
ARM, so that installing it would need a compiler there; and it returns the order without the tree of the pieces, which
the fronts are made of.

References
----------
A. George. Nested dissection of a regular finite element mesh. SIAM Journal on Numerical Analysis 10, 1973.

G. Karypis and V. Kumar. A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM Journal on
Scientific Computing 20, 1998.

C. M. Fiduccia and R. M. Mattheyses. A linear-time heuristic for improving network partitions. Design Automation
Conference, 1982.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from graspel.kernels.compile import kernel
from graspel.runtime.types import Indices

COARSEST = 120  # nodes at which contraction ends
SHRINKAGE = 0.9  # share of the nodes that a contraction may leave to be worth another
GROWN = 4  # random nodes that a part is grown from; 8 take longer and separate no better
LARGEST_PART = 0.6  # share of the weight that the larger part may have
PASSES = 3  # most passes over a separator on one level; 6 take longer and separate no better
NUMBERS = 1 << 33  # numbers of nodes and sides are below it
PATIENCE = 200  # moves without a smaller separator after which a pass ends


@kernel
def next_random(state: Indices, below: int) -> Any:
    """A random number from 0 up to `below`, by xorshift (Marsaglia)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(below))


@kernel
def encode(cost: int, number: int) -> Any:
    """One number for a heap that gives the lowest cost first."""
    return np.int64(cost) * NUMBERS + np.int64(number)


@kernel
def decode(code: int) -> Any:
    """The cost and the number of a code."""
    return code // NUMBERS, code % NUMBERS


@kernel
def take_subgraph(indptr: Indices, indices: Indices, nodes: Indices, place: Indices) -> tuple[Indices, Indices]:
    """The edges among some nodes, numbered in their order; `place` is scratch, -1 everywhere."""
    n = len(nodes)
    for i in range(n):
        place[nodes[i]] = i
    pointers = np.zeros(n + 1, np.int64)
    for i in range(n):
        count = 0
        for e in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
            count += place[indices[e]] >= 0
        pointers[i + 1] = pointers[i] + count
    ends = np.empty(pointers[n], np.int32)
    at = 0
    for i in range(n):
        for e in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
            if place[indices[e]] >= 0:
                ends[at] = place[indices[e]]
                at += 1
    for i in range(n):
        place[nodes[i]] = -1
    return pointers, ends


@kernel
def match_nodes(
    pointers: Indices, ends: Indices, edge_weight: Indices, weight: Indices, largest: int, state: Indices
) -> Indices:
    """The mate of every node along a heavy edge, or two edges away if all neighbors are taken, or the node itself."""
    n = len(weight)
    visit: Indices = np.arange(n)
    for t in range(n - 1, 0, -1):
        s = next_random(state, t + 1)
        visit[t], visit[s] = visit[s], visit[t]
    mate = np.full(n, -1, np.int32)
    for v in visit:
        if mate[v] >= 0:
            continue
        best = -1
        heaviest = 0
        for e in range(pointers[v], pointers[v + 1]):
            u = ends[e]
            if mate[u] < 0 and u != v and edge_weight[e] > heaviest and weight[u] + weight[v] <= largest:
                best = u
                heaviest = edge_weight[e]
        if best < 0:
            for e in range(pointers[v], pointers[v + 1]):
                for f in range(pointers[ends[e]], pointers[ends[e] + 1]):
                    u = ends[f]
                    if best < 0 and mate[u] < 0 and u != v and weight[u] + weight[v] <= largest:
                        best = u
                if best >= 0:
                    break
        if best < 0:
            best = v
        mate[v] = best
        mate[best] = v
    return mate


@kernel
def contract_mates(
    pointers: Indices, ends: Indices, edge_weight: Indices, weight: Indices, mate: Indices
) -> tuple[Indices, Indices, Indices, Indices, Indices]:
    """The group of every node, and the graph of the groups with summed weights."""
    n = len(weight)
    group = np.full(n, -1, np.int32)
    n_groups = 0
    for v in range(n):
        if group[v] < 0:
            group[v] = n_groups
            group[mate[v]] = n_groups
            n_groups += 1
    new_pointers = np.zeros(n_groups + 1, np.int64)
    new_ends = np.empty(len(ends), np.int32)
    new_edge_weight = np.empty(len(ends), np.int32)
    new_weight = np.zeros(n_groups, np.int32)
    seen = np.full(n_groups, -1, np.int64)
    at = 0
    g = 0
    for v in range(n):
        if v > mate[v]:
            continue
        begin = at
        for side in range(1 if mate[v] == v else 2):
            member = v if side == 0 else np.int64(mate[v])
            new_weight[g] += weight[member]
            for e in range(pointers[member], pointers[member + 1]):
                h = group[ends[e]]
                if h == g:
                    continue
                if seen[h] < begin:
                    seen[h] = at
                    new_ends[at] = h
                    new_edge_weight[at] = edge_weight[e]
                    at += 1
                else:
                    new_edge_weight[seen[h]] += edge_weight[e]
        g += 1
        new_pointers[g] = at
    return group, new_pointers, new_ends[:at].copy(), new_edge_weight[:at].copy(), new_weight


@kernel
def grow_part(pointers: Indices, ends: Indices, weight: Indices, seed: int, part: Indices) -> None:
    """Set part 0 to the nodes near `seed` that have half of the weight, and part 1 to the others."""
    n = len(weight)
    part[:] = 1
    half = weight.sum() // 2
    queue = np.empty(n, np.int64)
    queue[0] = seed
    seen = np.zeros(n, np.bool_)
    seen[seed] = True
    first = 0
    last = 1
    inside = 0
    unseen = 0
    while inside < half:
        if first == last:  # another component
            while unseen < n and seen[unseen]:
                unseen += 1
            if unseen == n:
                break
            seen[unseen] = True
            queue[last] = unseen
            last += 1
        v = queue[first]
        first += 1
        part[v] = 0
        inside += weight[v]
        for e in range(pointers[v], pointers[v + 1]):
            if not seen[ends[e]]:
                seen[ends[e]] = True
                queue[last] = ends[e]
                last += 1


@kernel
def improve_cut(
    pointers: Indices, ends: Indices, edge_weight: Indices, weight: Indices, part: Indices, largest: int
) -> tuple[int, int]:
    """One pass of moves between the two parts; returns the weight of the edges between them before and after."""
    n = len(weight)
    sums = np.zeros(2, np.int64)
    gain = np.zeros(n, np.int64)  # weight of the edges to the other part less that of those to the own part
    locked = np.zeros(n, np.bool_)
    heap: list[Any] = [np.int64(0)]
    heap.pop()
    cut = 0
    for v in range(n):
        sums[part[v]] += weight[v]
        is_inner = True
        for e in range(pointers[v], pointers[v + 1]):
            if part[ends[e]] == part[v]:
                gain[v] -= edge_weight[e]
            else:
                gain[v] += edge_weight[e]
                cut += edge_weight[e]
                is_inner = False
        if not is_inner:
            heapq.heappush(heap, encode(-gain[v], v))
    cut //= 2
    first = cut
    best = cut
    excess = max(0, max(sums[0], sums[1]) - largest)
    moved = np.empty(n, np.int64)
    n_moved = 0
    n_best = 0
    while len(heap) > 0 and n_moved - n_best < PATIENCE:
        cost, v = decode(heapq.heappop(heap))
        if locked[v] or cost != -gain[v]:
            continue
        side = part[v]
        if sums[1 - side] + weight[v] > largest and sums[1 - side] + weight[v] >= sums[side]:
            continue
        locked[v] = True
        part[v] = 1 - side
        sums[side] -= weight[v]
        sums[1 - side] += weight[v]
        cut -= gain[v]
        moved[n_moved] = v
        n_moved += 1
        for e in range(pointers[v], pointers[v + 1]):
            u = ends[e]
            if part[u] == side:
                gain[u] += 2 * edge_weight[e]
            else:
                gain[u] -= 2 * edge_weight[e]
            if not locked[u]:
                heapq.heappush(heap, encode(-gain[u], u))
        now = max(0, max(sums[0], sums[1]) - largest)
        if now < excess or (now == excess and cut < best):
            best = cut
            excess = now
            n_best = n_moved
    for t in range(n_best, n_moved):
        part[moved[t]] = 1 - part[moved[t]]
    return first, best


def balance_cut(
    pointers: Indices, ends: Indices, edge_weight: Indices, weight: Indices, part: Indices, largest: int
) -> int:
    """Passes as long as they lower the weight of the edges between the parts, which is returned."""
    best = 0
    for _ in range(PASSES):
        first, best = improve_cut(pointers, ends, edge_weight, weight, part, largest)
        if best >= first:
            break
    return best


@kernel
def cover_cut(pointers: Indices, ends: Indices, part: Indices) -> None:
    """Move nodes with edges between the two parts to part 2 until none is left, those with the most edges first."""
    n = len(pointers) - 1
    crossing = np.zeros(n, np.int64)
    heap: list[Any] = [np.int64(0)]
    heap.pop()
    for v in range(n):
        for e in range(pointers[v], pointers[v + 1]):
            crossing[v] += part[ends[e]] != part[v]
        if crossing[v] > 0:
            heapq.heappush(heap, encode(-crossing[v], v))
    while len(heap) > 0:
        cost, v = decode(heapq.heappop(heap))
        if part[v] == 2 or cost != -crossing[v] or cost == 0:
            continue
        for e in range(pointers[v], pointers[v + 1]):
            u = ends[e]
            if part[u] == 1 - part[v]:
                crossing[u] -= 1
                if crossing[u] > 0:
                    heapq.heappush(heap, encode(-crossing[u], u))
        part[v] = 2


@kernel
def weigh_sides(pointers: Indices, ends: Indices, weight: Indices, part: Indices, v: int, beside: Indices) -> None:
    """The weight of the neighbors of v in both parts, into beside[v]."""
    beside[v, 0] = 0
    beside[v, 1] = 0
    for e in range(pointers[v], pointers[v + 1]):
        if part[ends[e]] < 2:
            beside[v, part[ends[e]]] += weight[ends[e]]


@kernel
def improve_once(pointers: Indices, ends: Indices, weight: Indices, part: Indices, largest: int) -> int:
    """One pass of moves out of the separator; returns by how much lighter it became."""
    n = len(weight)
    sums = np.zeros(3, np.int64)
    beside = np.zeros((n, 2), np.int64)
    locked = np.zeros(n, np.bool_)
    heap: list[Any] = [np.int64(0)]
    heap.pop()
    for v in range(n):
        sums[part[v]] += weight[v]
    for v in range(n):
        if part[v] == 2:
            weigh_sides(pointers, ends, weight, part, v, beside)
            for side in range(2):
                heapq.heappush(heap, encode(beside[v, 1 - side] - weight[v], 2 * v + side))
    first = sums[2]
    best = first
    best_balance = abs(sums[0] - sums[1])
    changed = np.empty(n, np.int64)  # nodes in the order in which they first changed since the best state
    before = part.copy()
    is_changed = np.zeros(n, np.bool_)
    n_changed = 0
    waited = 0
    while len(heap) > 0 and waited < PATIENCE:
        cost, coded = decode(heapq.heappop(heap))
        v, side = coded // 2, coded % 2
        if part[v] != 2 or locked[v] or cost != beside[v, 1 - side] - weight[v]:
            continue
        if sums[side] + weight[v] > largest and sums[side] >= sums[1 - side]:
            continue
        locked[v] = True
        part[v] = side
        sums[2] -= weight[v]
        sums[side] += weight[v]
        if not is_changed[v]:
            is_changed[v] = True
            changed[n_changed] = v
            n_changed += 1
        for e in range(pointers[v], pointers[v + 1]):
            u = ends[e]
            if part[u] == 2:
                beside[u, side] += weight[v]
                if not locked[u]:
                    heapq.heappush(heap, encode(beside[u, side] - weight[u], 2 * u + 1 - side))
            elif part[u] == 1 - side:
                part[u] = 2
                sums[1 - side] -= weight[u]
                sums[2] += weight[u]
                if not is_changed[u]:
                    is_changed[u] = True
                    changed[n_changed] = u
                    n_changed += 1
                weigh_sides(pointers, ends, weight, part, u, beside)
                if not locked[u]:
                    for other in range(2):
                        heapq.heappush(heap, encode(beside[u, 1 - other] - weight[u], 2 * u + other))
                for f in range(pointers[u], pointers[u + 1]):
                    x = ends[f]
                    if part[x] == 2 and x != u:
                        beside[x, 1 - side] -= weight[u]
                        if not locked[x]:
                            heapq.heappush(heap, encode(beside[x, 1 - side] - weight[x], 2 * x + side))
        balance = abs(sums[0] - sums[1])
        waited += 1
        if sums[2] < best or (sums[2] == best and balance < best_balance):
            best = sums[2]
            best_balance = balance
            waited = 0
            for t in range(n_changed):
                before[changed[t]] = part[changed[t]]
                is_changed[changed[t]] = False
            n_changed = 0
    for t in range(n_changed):
        part[changed[t]] = before[changed[t]]
    return first - best


def improve(pointers: Indices, ends: Indices, weight: Indices, part: Indices, largest: int) -> None:
    """Passes as long as they make the separator lighter."""
    for _ in range(PASSES):
        if improve_once(pointers, ends, weight, part, largest) <= 0:
            break


def separate(pointers: Indices, ends: Indices, state: Indices) -> Indices:
    """The part of every node: 0 or 1, and 2 in the separator between them."""
    n = len(pointers) - 1
    weight = np.ones(n, np.int32)
    edge_weight = np.ones(len(ends), np.int32)
    largest = int(LARGEST_PART * n)
    graphs = [(pointers, ends, edge_weight, weight)]
    groups = [np.empty(0, np.int32)]
    while len(weight) > COARSEST:
        mate = match_nodes(pointers, ends, edge_weight, weight, max(2, n // 40), state)
        group, pointers, ends, edge_weight, new_weight = contract_mates(pointers, ends, edge_weight, weight, mate)
        if len(new_weight) > SHRINKAGE * len(weight):
            break
        weight = new_weight
        graphs.append((pointers, ends, edge_weight, weight))
        groups.append(group)
    pointers, ends, edge_weight, weight = graphs[-1]
    part = np.empty(len(weight), np.int8)
    best, lightest = part, -1
    for _ in range(GROWN):
        grow_part(pointers, ends, weight, next_random(state, len(weight)), part)
        cut = balance_cut(pointers, ends, edge_weight, weight, part, largest)
        if lightest < 0 or cut < lightest:
            lightest = cut
            best = part.copy()
    part = best
    for level in range(len(graphs) - 1, 0, -1):
        pointers, ends, edge_weight, weight = graphs[level - 1]
        part = part[groups[level]]
        balance_cut(pointers, ends, edge_weight, weight, part, largest)
    pointers, ends, edge_weight, weight = graphs[0]
    cover_cut(pointers, ends, part)
    improve(pointers, ends, weight, part, largest)
    return part


def dissect(indptr: Indices, indices: Indices, leaf_size: int) -> tuple[Indices, Indices]:
    """The nodes in the order of elimination, and the pieces, every piece after its parts.

    A row of the pieces has its first place in the order, the first place of its own nodes (its separator, or all nodes
    of a leaf), the place after the last, and the row of the piece that it is a part of, or -1.
    """
    n = len(indptr) - 1
    order, place = np.arange(n), np.full(n, -1, np.int32)
    pieces = [(0, 0, n, -1)]
    for row, (start, _, stop, parent) in enumerate(pieces):  # a piece comes before its parts, which are appended, here
        if stop - start <= leaf_size:
            continue
        nodes = order[start:stop].copy()
        pointers, ends = take_subgraph(indptr, indices, nodes, place)
        part = separate(pointers, ends, np.array([88172645463325252 + stop], dtype=np.uint64))
        first, second = (start + np.cumsum(np.bincount(part, minlength=3))[:2]).tolist()
        if first > start and second > first:
            order[start:stop] = nodes[np.argsort(part, kind="stable")]
            pieces += [(start, start, first, row), (first, first, second, row)]
            pieces[row] = start, second, stop, parent
    found = np.array(pieces[::-1], dtype=np.int64)
    found[:, 3] = np.where(found[:, 3] >= 0, len(pieces) - 1 - found[:, 3], -1)
    return order, found
