r"""Nearest rows among given candidates: the inner loops of the neighbor search.

Lists are sorted by distance and changed in place. Members of a row are numbers shifted left by one bit; the lowest bit
says that the entry is new. A candidate that was reached through two old entries was compared before: it is passed over.
"""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel

TILE = 128  # queries of one matrix product
CLASSES = 32  # classes of columns whose minima are compared first: some vector registers
CHUNK = 32  # columns between two comparisons with the last distance kept


@kernel
def insert_sorted(z, index, fresh, i, d, v):  # type: ignore[no-untyped-def]
    """Insert candidate v at distance d into the sorted list of query i; the last entry drops out."""
    t = z.shape[1] - 1
    while t > 0 and z[i, t - 1] > d:
        z[i, t], index[i, t], fresh[i, t] = z[i, t - 1], index[i, t - 1], fresh[i, t - 1]
        t -= 1
    z[i, t], index[i, t], fresh[i, t] = d, v, True


@kernel
def bounded_distance(X, i, v, limit):  # type: ignore[no-untyped-def]
    """|x_i - x_v|^2, or a number above `limit` if it is larger than that."""
    total = np.float32(0)
    for start in range(0, X.shape[1], CHUNK):
        part = np.float32(0)
        for c in range(start, min(start + CHUNK, X.shape[1])):
            difference = X[i, c] - X[v, c]
            part += difference * difference
        total += part
        if total >= limit:
            break
    return total


@kernel
def pull_nearest(X, queries, start, members, z, index, fresh, stamp):  # type: ignore[no-untyped-def]
    """Improve the lists of some rows by the members of their members.

    Parameters
    ----------
    X : float32 matrix of all rows
    queries : numbers of the rows to work on
    start, members : the members of row i are members[start[i]:start[i + 1]]
    z, index, fresh : lists (rows x width) by increasing distance, changed in place; an index of -1 is none
    stamp : int32 scratch, one entry for each row; none of them may be the number + 1 of one of the queries
    """
    width = z.shape[1]
    for i in queries:
        mark = i + 1
        stamp[i] = mark
        for t in range(width):
            if index[i, t] >= 0:
                stamp[index[i, t]] = mark
        limit = z[i, width - 1]
        for g in range(start[i], start[i + 1]):
            middle, middle_is_new = members[g] >> 1, members[g] & 1
            for s in range(start[middle], start[middle + 1]):
                v = members[s] >> 1
                if stamp[v] == mark or not (middle_is_new or members[s] & 1):
                    continue
                stamp[v] = mark
                d = bounded_distance(X, i, v, limit)
                if d < limit:
                    insert_sorted(z, index, fresh, i, d, v)
                    limit = z[i, width - 1]


@kernel
def keep_nearest_of_products(products, squares, labels, queries, own, z, index, first):  # type: ignore[no-untyped-def]
    """For each row i of x'y the entries of smallest d = |y|^2 - 2 x'y, merged into the sorted list z[first + i].

    With `own`, the label queries[i] is left out. Columns are dealt out to `CLASSES` classes. The w-th smallest of the
    minima of the classes bounds the w-th smallest entry, so that few entries are inserted and dropped again.
    """
    n, width = len(squares), z.shape[1]
    d, least, ordered = np.empty(n, np.float32), np.empty(CLASSES, np.float32), np.empty(width + 1, np.float32)
    whole = n - n % CLASSES
    for i in range(len(products)):
        least[:] = np.inf
        for start in range(0, whole, CLASSES):
            for s in range(CLASSES):
                d[start + s] = squares[start + s] - 2 * products[i, start + s]
                least[s] = min(least[s], d[start + s])
        for j in range(whole, n):
            d[j] = squares[j] - 2 * products[i, j]
            least[j - whole] = min(least[j - whole], d[j])
        limit = z[first + i, width - 1]
        n_promising = 0
        for s in range(CLASSES):
            n_promising += least[s] < limit
        if n_promising == 0:
            continue
        if width < n_promising:  # one more than the list holds, since one of them may be left out
            ordered[:] = np.inf
            for s in range(CLASSES):
                if least[s] < ordered[width]:
                    t = width
                    while t > 0 and ordered[t - 1] > least[s]:
                        ordered[t] = ordered[t - 1]
                        t -= 1
                    ordered[t] = least[s]
            limit = min(limit, np.nextafter(ordered[width], np.float32(np.inf)))
        for s in range(CLASSES):
            if least[s] >= limit:
                continue
            for j in range(s, n, CLASSES):
                if d[j] < limit and not (own and labels[j] == queries[i]):
                    t = width - 1
                    while t > 0 and z[first + i, t - 1] > d[j]:
                        z[first + i, t], index[first + i, t] = z[first + i, t - 1], index[first + i, t - 1]
                        t -= 1
                    z[first + i, t], index[first + i, t] = d[j], labels[j]
                    limit = min(limit, z[first + i, width - 1])


@kernel
def reverse_entries(index, fresh, forward, reverse, count):  # type: ignore[no-untyped-def]
    """Write every entry (p, q) of the first `forward` columns, the nearest first, to the list of q while it has room.

    Entries are shifted left by one bit, and the lowest bit says that they are new; `count` holds the lengths.
    """
    for t in range(forward):
        for p in range(len(index)):
            q = index[p, t]
            if q >= 0 and count[q] < reverse.shape[1]:
                reverse[q, count[q]] = (p << 1) | fresh[p, t]
                count[q] += 1


@kernel
def subtract_row(X, i, centers, c, Y, j):  # type: ignore[no-untyped-def]
    """Y_j = X_i - centers_c; return its squared length."""
    total = np.float32(0)
    for k in range(X.shape[1]):
        Y[j, k] = X[i, k] - centers[c, k]
        total += Y[j, k] * Y[j, k]
    return total


@kernel
def compare_in_cells(Q, X, centers, queries, query_start, members, start, first, last, own, bound, z, index):  # type: ignore[no-untyped-def]
    """For cells `first` to `last`: each query of the cell against the members of the cell, by matrix products.

    The nearest members of each query, if they are nearer than its `bound`, and their squared distances are written to
    the row of z and index that belongs to its place in `queries`, counted from the first place of cell `first`; what is
    left of the row keeps the index that it had. Products are taken about the center of the cell, so that rows which are
    far from the origin and near each other lose no digits.
    """
    n_columns = X.shape[1]
    for c in range(first, last):
        chosen = members[start[c] : start[c + 1]]
        asking = queries[query_start[c] : query_start[c + 1]]
        if len(chosen) == 0 or len(asking) == 0:
            continue
        Y, squares = np.empty((len(chosen), n_columns), dtype=np.float32), np.empty(len(chosen), dtype=np.float32)
        for j in range(len(chosen)):
            squares[j] = subtract_row(X, chosen[j], centers, c, Y, j)
        for low in range(0, len(asking), TILE):
            tile = asking[low : low + TILE]
            rows, sizes = np.empty((len(tile), n_columns), dtype=np.float32), np.empty(len(tile), dtype=np.float32)
            for i in range(len(tile)):
                sizes[i] = subtract_row(Q, tile[i], centers, c, rows, i)
            products = np.dot(rows, Y.T)
            place = query_start[c] - query_start[first] + low
            for i in range(len(tile)):
                z[place + i] = bound[tile[i]] - sizes[i]
            keep_nearest_of_products(products, squares, chosen, tile, own, z, index, place)
            for i in range(len(tile)):
                for t in range(z.shape[1]):
                    z[place + i, t] = max(z[place + i, t] + sizes[i], np.float32(0))


@kernel
def merge_found(rows, near, places, low, high, found_z, found_index, z, index, fresh):  # type: ignore[no-untyped-def]
    """Merge what cells `low` to `high` found into the lists of some rows.

    The t-th cell of row p is near[p, t], and what it found is in row places[p, t] of `found_z` and `found_index`.
    """
    width = z.shape[1]
    for p in rows:
        for t in range(near.shape[1]):
            if near[p, t] < low or near[p, t] >= high:
                continue
            place = places[p, t]
            for j in range(found_z.shape[1]):
                v = found_index[place, j]
                d = found_z[place, j]
                if v < 0 or d >= z[p, width - 1]:
                    break
                known = False
                for s in range(width):
                    known |= index[p, s] == v
                if not known:
                    insert_sorted(z, index, fresh, p, d, v)


@kernel
def fill_groups(near, limit, start, members, places):  # type: ignore[no-untyped-def]
    """Turn the nearest groups of each row (rows x m, nearest first) into the rows of each group, at most `limit`.

    `start` holds the first position of each group; rows that are nearer come first. The position of row p in the
    group near[p, t], counted from the start of all groups, goes to places[p, t]; -1 where the group was full.
    """
    filled = np.zeros(len(start) - 1, dtype=np.int64)
    for t in range(near.shape[1]):
        for p in range(len(near)):
            g = near[p, t]
            if g >= 0 and filled[g] < limit:
                places[p, t] = start[g] + filled[g]
                members[start[g] + filled[g]] = p
                filled[g] += 1
            else:
                places[p, t] = -1
