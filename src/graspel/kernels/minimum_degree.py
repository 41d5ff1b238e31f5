r"""Minimum degree: an order of elimination that keeps the factor of a sparse graph sparse.

The node of the lowest degree in the graph that is left goes first. Eliminating it joins all its neighbors. This
clique is stored as a list of nodes, an *element*, not as edges: the neighbors of a node are those of its own edges, and
the nodes of its elements. The element of an eliminated node replaces those that contained the node, and every element
whose nodes all lie in it. So the memory needed is that of the pattern of the factor, which the lists of all elements
are. A degree is counted as the sum over the elements of a node of the nodes outside the newest one, an upper bound
(Amestoy, Davis and Duff).

References
----------
A. George and J. W. H. Liu. The evolution of the minimum degree ordering algorithm. SIAM Review 31, 1989.

P. R. Amestoy, T. A. Davis and I. S. Duff. An approximate minimum degree ordering algorithm. SIAM Journal on Matrix
Analysis and Applications 17, 1996.
"""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel
from graspel.runtime.types import Indices


@kernel
def put_in_bucket(v: int, degree: int, first: Indices, beside: Indices) -> None:
    """Put node v first in the bucket of its degree; `beside` holds the nodes before and after each in its bucket."""
    after = first[degree]
    beside[v, 0] = -1
    beside[v, 1] = after
    if after >= 0:
        beside[after, 0] = v
    first[degree] = v


@kernel
def take_from_bucket(v: int, degree: int, first: Indices, beside: Indices) -> None:
    """Take node v out of the bucket of its degree."""
    before = beside[v, 0]
    after = beside[v, 1]
    if before >= 0:
        beside[before, 1] = after
    else:
        first[degree] = after
    if after >= 0:
        beside[after, 0] = before


@kernel
def grow(array: Indices, size: int) -> Indices:
    """A copy of the array with room for at least `size` entries, if it has not that room yet."""
    if size <= len(array):
        return array
    larger = np.empty(2 * size, array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def collect_front(
    v: int,
    own: Indices,
    own_start: Indices,
    own_length: Indices,
    first_element: Indices,
    element: Indices,
    next_element: Indices,
    start: Indices,
    length: Indices,
    rows: Indices,
    n_rows: int,
    mark: Indices,
) -> int:
    """Append the neighbors of v to `rows`, absorb the elements of v, and return the new number of rows."""
    mark[v] = v
    for t in range(own_start[v], own_start[v] + own_length[v]):
        u = own[t]
        if length[u] < 0 and mark[u] != v:
            mark[u] = v
            rows[n_rows] = u
            n_rows += 1
    link = first_element[v]
    while link >= 0:
        e = element[link]
        for t in range(start[e], start[e] + length[e]):
            u = rows[t]
            if mark[u] != v:
                mark[u] = v
                rows[n_rows] = u
                n_rows += 1
        start[e] = -1  # absorbed
        link = next_element[link]
    return n_rows


@kernel
def count_outside(
    v: int,
    front: Indices,
    first_element: Indices,
    element: Indices,
    next_element: Indices,
    start: Indices,
    length: Indices,
    outside: Indices,
) -> None:
    """For every element of a node in the front of v, count its nodes that are not in the front, into outside[:, 0]."""
    for i in range(len(front)):
        link = first_element[front[i]]
        while link >= 0:
            e = element[link]
            if start[e] >= 0:
                if outside[e, 1] != v:
                    outside[e, 1] = v
                    outside[e, 0] = length[e]
                outside[e, 0] -= 1
            link = next_element[link]


@kernel
def update_node(
    u: int,
    v: int,
    own: Indices,
    own_start: Indices,
    own_length: Indices,
    first_element: Indices,
    element: Indices,
    next_element: Indices,
    start: Indices,
    length: Indices,
    outside: Indices,
    mark: Indices,
) -> int:
    """Drop what the element of v has replaced from the lists of u; return the neighbors of u outside that element."""
    kept = own_start[u]
    for t in range(own_start[u], own_start[u] + own_length[u]):
        x = own[t]
        if length[x] < 0 and mark[x] != v:
            own[kept] = x
            kept += 1
    own_length[u] = kept - own_start[u]
    degree = own_length[u]
    link = first_element[u]
    remaining = -1
    while link >= 0:
        following = next_element[link]
        e = element[link]
        if start[e] >= 0:
            if outside[e, 0] == 0:
                start[e] = -1  # all its nodes are in the element of v
            else:
                degree += outside[e, 0]
                next_element[link] = remaining
                remaining = link
        link = following
    first_element[u] = remaining
    return degree


@kernel
def eliminate_by_degree(
    indptr: Indices, indices: Indices, dense_share: float, most_squares: float
) -> tuple[Indices, Indices, Indices]:
    """The order of elimination, and for each node in it the neighbors it had then (pointers, rows: node numbers).

    The loop ends when the lowest degree exceeds the share `dense_share` of the nodes that are left, or when the sum of
    the squared degrees exceeds `most_squares`. The nodes that are left are not in the order.
    """
    n = len(indptr) - 1
    own = indices.copy()
    own_start = indptr[:-1].copy()
    own_length = indptr[1:] - indptr[:-1]
    degree = own_length.copy()
    first_element = np.full(n, -1, np.int64)
    element = np.empty(2 * len(indices) + n, np.int32)
    next_element = np.empty(2 * len(indices) + n, np.int64)
    n_links = 0
    start = np.full(n, -1, np.int64)  # of the list of an element in `rows`; -1 once it is absorbed
    length = np.full(n, -1, np.int64)  # of that list; -1 for a node that is left
    rows = np.empty(2 * len(indices) + n, np.int32)
    pointers = np.zeros(n + 1, np.int64)
    outside = np.full((n, 2), -1, np.int64)
    mark = np.full(n, -1, np.int64)
    order = np.empty(n, np.int32)
    first = np.full(n + 1, -1, np.int32)
    beside = np.empty((n, 2), np.int32)
    for u in range(n - 1, -1, -1):
        put_in_bucket(u, degree[u], first, beside)
    n_done = 0
    lowest = 0
    squares = 0.0
    while n_done < n:
        while first[lowest] < 0:
            lowest += 1
        if lowest > dense_share * (n - n_done) or squares > most_squares:
            break
        v = first[lowest]
        take_from_bucket(v, lowest, first, beside)
        begin = pointers[n_done]
        rows = grow(rows, begin + n)
        end = collect_front(
            v, own, own_start, own_length, first_element, element, next_element, start, length, rows, begin, mark
        )
        start[v] = begin
        length[v] = end - begin
        squares += float(end - begin) ** 2
        order[n_done] = v
        n_done += 1
        pointers[n_done] = end
        front = rows[begin:end]
        count_outside(v, front, first_element, element, next_element, start, length, outside)
        element = grow(element, n_links + end - begin)
        next_element = grow(next_element, n_links + end - begin)
        for i in range(end - begin):
            u = front[i]
            beyond = update_node(
                u, v, own, own_start, own_length, first_element, element, next_element, start, length, outside, mark
            )
            element[n_links] = v
            next_element[n_links] = first_element[u]
            first_element[u] = n_links
            n_links += 1
            take_from_bucket(u, degree[u], first, beside)
            degree[u] = min(beyond + end - begin - 1, n - n_done - 1)
            put_in_bucket(u, degree[u], first, beside)
            lowest = min(lowest, degree[u])
    return order[:n_done], pointers[: n_done + 1], rows[: pointers[n_done]].copy()
