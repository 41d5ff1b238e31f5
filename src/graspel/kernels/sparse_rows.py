r"""Distances and nearest rows of sparse matrices, without making a row dense.

Columns are numbered by how many rows use them, the rarest first, and the entries of a row are sorted by column. So a
query meets its rarest columns first, whose lists of rows are short. A CSR matrix is a tuple (start, columns, values).

`multiply_rows` gives the entries of a product of two sparse matrices at given places.
"""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices

SHORTEST = 16  # rows of smallest length that every query is compared with, an empty one among them: bounds get sharper
PICKED = 64  # rows of smallest partial distance that are completed before any bound is known
FIRST_SHARE = 0.25  # share of a query's squared length that may be left out before rows are picked
CANCELLED = 1e-3  # |x - y|^2 / |x|^2 below which the product is summed again in double precision


@kernel
def merge_pairs(A, B, p, q, z):  # type: ignore[no-untyped-def]
    """z_i = |a_p - b_q|^2 for row p_i of one CSR matrix and row q_i of another, by merging their sorted entries."""
    a_start, a_columns, a_values = A
    b_start, b_columns, b_values = B
    for i in range(len(p)):
        s, s_end, t, t_end = a_start[p[i]], a_start[p[i] + 1], b_start[q[i]], b_start[q[i] + 1]
        total = 0.0
        while s < s_end or t < t_end:
            if t == t_end or (s < s_end and a_columns[s] < b_columns[t]):
                difference = np.float64(a_values[s])
                s += 1
            elif s == s_end or b_columns[t] < a_columns[s]:
                difference = np.float64(b_values[t])
                t += 1
            else:
                difference = np.float64(a_values[s]) - np.float64(b_values[t])
                s += 1
                t += 1
            total += difference * difference
        z[i] = total


@kernel
def product_from(v, cut, rows, dense):  # type: ignore[no-untyped-def]
    """The product of row v with the query in `dense`, over the columns from `cut` on."""
    start, columns, values = rows
    total = 0.0
    t = start[v + 1] - 1
    while t >= start[v] and columns[t] >= cut:
        total += values[t] * dense[columns[t]]
        t -= 1
    return total


@kernel
def insert_nearest(z, index, d, v):  # type: ignore[no-untyped-def]
    """Insert v at distance d into a sorted list, among equals by number; the last entry drops out."""
    t = len(z) - 1
    if d > z[t] or (d == z[t] and index[t] >= 0 and index[t] < v):
        return
    while t > 0 and (z[t - 1] > d or (z[t - 1] == d and (index[t - 1] > v or index[t - 1] < 0))):
        z[t], index[t] = z[t - 1], index[t - 1]
        t -= 1
    z[t], index[t] = d, v


@kernel
def insert_completed(v, cut, partial, square, squares, rows, dense, z, index):  # type: ignore[no-untyped-def]
    """Add to the partial product with row v what the columns from `cut` on contribute, and insert the row."""
    d = square + squares[v] - 2 * (partial + product_from(v, cut, rows, dense))
    if d < CANCELLED * square:
        d = square + squares[v] - 2 * product_from(v, 0, rows, dense)
    insert_nearest(z, index, max(d, 0.0), v)


@kernel
def least_unseen(square, rest, shortest, longest):  # type: ignore[no-untyped-def]
    """A lower bound of |x - y|^2 for all rows y that share no column with a query x but those left out.

    These have the length `rest` in x. By Cauchy and Schwarz x'y <= rest |y|, so |x|^2 + |y|^2 - 2 rest |y| is the
    bound, with |y| from `shortest` to `longest`; it is smallest at |y| = rest.
    """
    length = min(max(rest, shortest), longest)
    return square + length * length - 2 * rest * length


@kernel
def add_column(x, c, mark, own, posted, label, partial, stamp, seen, n_seen):  # type: ignore[no-untyped-def]
    """Add x times column c to the partial products; returns the number of rows seen so far."""
    start, rows, values = posted
    for t in range(start[c], start[c + 1]):
        v = rows[t]
        if stamp[v] < mark:
            if label[v] == own:
                continue
            stamp[v] = mark
            partial[v] = np.float32(0)
            seen[n_seen] = v
            n_seen += 1
        partial[v] += x * values[t]
    return n_seen


@kernel
def pick_rows(seen, n_seen, partial, squares, stamp, done, picked_z, picked):  # type: ignore[no-untyped-def]
    """The rows of smallest |y|^2 - 2 (partial x'y) among those seen and not completed yet, in `picked`."""
    picked_z[:] = np.inf
    picked[:] = -1
    for s in range(n_seen):
        v = seen[s]
        if stamp[v] != done:
            d = squares[v] - 2.0 * partial[v]
            if d < picked_z[len(picked_z) - 1]:
                insert_nearest(picked_z, picked, d, v)


@kernel
def search_row(i, query, own, searched, label, n_sure, budget, limit, mark, work, z, index):  # type: ignore[no-untyped-def]
    """The nearest rows of query i (see below), whose values are in `dense`; whether its budget sufficed."""
    start, columns, values = query
    rows, posted, squares, by_length = searched
    n_short, n = min(SHORTEST, len(by_length)), len(by_length)
    shortest, longest = np.sqrt(squares[by_length[min(n_short, n - 1)]]), np.sqrt(squares[by_length[n - 1]])
    partial, stamp, seen, dense, picked_z, picked = work
    done = mark + 1
    square = 0.0
    for e in range(start[i], start[i + 1]):
        square += values[e] * values[e]
    for s in range(n_short):
        v = by_length[s]
        if label[v] != own:
            stamp[v] = done
            insert_completed(v, 0, 0.0, square, squares, rows, dense, z, index)
    n_seen, n_read, rest, e, is_picked, is_enough = 0, 0, square, start[i], False, True
    cut = len(dense)
    while True:
        # Read columns until those left out are too short a part to hide one of the nearest rows.
        while e < start[i + 1]:
            if not is_picked and rest <= FIRST_SHARE * square:
                break
            if is_picked:
                unseen = least_unseen(square, np.sqrt(max(rest, 0.0)), shortest, longest)
                if unseen > min(limit, z[n_sure - 1]):
                    break
            c = columns[e]
            n_read += posted[0][c + 1] - posted[0][c]
            if n_read > budget:
                is_enough = False
                break
            n_seen = add_column(np.float32(values[e]), c, mark, own, posted, label, partial, stamp, seen, n_seen)
            rest -= values[e] * values[e]
            e += 1
        cut = columns[e] if e < start[i + 1] else len(dense)
        if is_picked and is_enough:
            break
        pick_rows(seen, n_seen, partial, squares, stamp, done, picked_z, picked)
        for s in range(PICKED):
            if picked[s] >= 0:
                stamp[picked[s]] = done
                insert_completed(picked[s], cut, partial[picked[s]], square, squares, rows, dense, z, index)
        is_picked = True
        if not is_enough:
            return False
    # Complete every row that could be nearer.
    rest = np.sqrt(max(rest, 0.0))
    for s in range(n_seen):
        v = seen[s]
        if stamp[v] != done:
            least = square + squares[v] - 2 * (partial[v] + rest * np.sqrt(squares[v]))
            if least <= min(limit, z[n_sure - 1]):
                insert_completed(v, cut, partial[v], square, squares, rows, dense, z, index)
    # Of the rows that share no column the shortest are nearest; they matter only if all columns had to be read.
    for s in range(n_short if e == start[i + 1] else n, n):
        v = by_length[s]
        if square + squares[v] > min(limit, z[n_sure - 1]):
            break
        if stamp[v] < mark and label[v] != own:
            insert_nearest(z, index, square + squares[v], v)
    return True


@kernel
def nearest_sparse_rows(first, last, query, query_label, searched, label, n_sure, budget, limit, z, index):  # type: ignore[no-untyped-def]
    """The nearest rows of queries `first` to `last` among those with another label; returns how many budgets ran out.

    The products of a query with all rows grow column by column, the rarest first. Columns are left out as soon as
    `n_sure` rows are known to be nearer than any row could be that shares only these; then only rows that could still
    be nearer are completed. The first `n_sure` rows are exact, unless the budget of the query ran out.

    Parameters
    ----------
    query : CSR tuple of the queries, columns sorted
    searched : what is searched: the rows as a CSR tuple; (start, rows, values) of every column; |y|^2 of every row; all
        rows by increasing length
    query_label, label : rows with the label of the query are left out
    n_sure, budget : see above; the budget is the number of entries that are read for one query
    limit : only rows nearer than limit[i] are needed (inf: all)
    z, index : lists (queries x width), filled by increasing squared distance; inf and -1: none
    """
    n, n_columns = len(searched[2]), len(searched[1][0]) - 1
    dense = np.zeros(n_columns, np.float64)
    work = (
        np.zeros(n, np.float32),
        np.zeros(n, np.int32),
        np.empty(n, np.int32),
        dense,
        np.empty(PICKED, np.float64),
        np.empty(PICKED, np.int32),
    )
    start, columns, values = query
    n_short = 0
    for i in range(first, last):
        for e in range(start[i], start[i + 1]):
            dense[columns[e]] = values[e]
        mark = 2 * (i - first) + 1
        own = query_label[i]
        if not search_row(i, query, own, searched, label, n_sure, budget, limit[i], mark, work, z[i], index[i]):
            n_short += 1
        for e in range(start[i], start[i + 1]):
            dense[columns[e]] = 0.0
    return n_short


@kernel
def multiply_rows(
    a_start: Indices,
    a_columns: Indices,
    a_values: Floats,
    b_start: Indices,
    b_columns: Indices,
    b_values: Floats,
    p: Indices,
    q: Indices,
    products: Floats,
) -> None:
    """Row p_i of one CSR matrix times row q_i of another, for all i; the columns of each row are sorted."""
    for i in range(len(p)):
        s = a_start[p[i]]
        t = b_start[q[i]]
        s_end = a_start[p[i] + 1]
        t_end = b_start[q[i] + 1]
        total = 0.0
        while s < s_end and t < t_end:
            a = a_columns[s]
            b = b_columns[t]
            if a == b:
                total += a_values[s] * b_values[t]
                s += 1
                t += 1
            elif a < b:
                s += 1
            else:
                t += 1
        products[i] = total
