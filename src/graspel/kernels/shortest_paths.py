"""The nearest nodes along a graph: Dijkstra's algorithm, stopped as soon as k nodes are settled."""

from __future__ import annotations

from heapq import heappop, heappush

from graspel.kernels.compile import kernel


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
