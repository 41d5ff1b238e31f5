r"""Copies: points that are equal to an earlier point or nearly so, and copies that stand in two parts of the data.

Two points are near copies if their distance is tiny beside those to the other points around them,

    r_pq = d_pq / sqrt(s_p s_q) < r,        s_p = distance of p to the last of its near points.

How small r must be depends on the dimension D of the data: a ball of the radius r s_p holds the share r^D of the k
points near p, so that N k r^D pairs as near as this arise by chance among N points. The limit is the radius for which
that is one pair, and at most 1/8. D is estimated from the same distances (Levina and Bickel).

A copy of a training point among the test points is a leak: what is measured on such test points is memory.

References
----------
E. Levina and P. J. Bickel. Maximum likelihood estimation of intrinsic dimension. NIPS 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.runtime.types import Floats, Ints

EXACT, NEARLY = "equal", "nearly equal"
LARGEST_RATIO = 1 / 8  # of near copies, where chance would allow more: in many dimensions nothing else is as near


def find_copies(original: Ints) -> Table:
    """All points that are equal to an earlier one; those of the largest set first.

    Parameters
    ----------
    original : array of N, for every point the first point equal to it (`NearPoints.original`)

    Returns
    -------
    copies : Table
        With the `point`, the first point it is a copy of (`copy_of`), and how many points are equal (`n_equal`).

    Examples
    --------
    >>> list(find_copies(np.array([0, 1, 1, 3, 0, 1])).rows())[0]
    {'point': 2, 'copy_of': 1, 'n_equal': 3}
    """
    sizes = np.bincount(original, minlength=len(original))
    points = np.flatnonzero(original != np.arange(len(original)))
    first = original[points]
    order = np.lexsort([points, first, -sizes[first]])
    return Table({"point": points[order], "copy_of": first[order], "n_equal": sizes[first[order]]})


def find_near_copies(near: NearPoints) -> Table:
    """Pairs of points that differ, but by far less than the points around them; those of the smallest ratio first.

    Returns
    -------
    copies : Table
        With the `point`, the earlier point that it is nearly equal to (`copy_of`; the nearest, if there are several),
        their `distance`, and its `ratio` to that of the points around.

    Examples
    --------
    >>> from graspel import NeighborIndex
    >>> from graspel.findings import near_points
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> X = np.vstack([X, X[:2] + 1e-3])
    >>> copies = find_near_copies(near_points(NeighborIndex(X)))
    >>> sorted(zip(copies["point"].tolist(), copies["copy_of"].tolist()))
    [(200, 0), (201, 1)]
    """
    p, q, distance, ratio = _near_pairs(near)
    later, earlier = np.maximum(p, q), np.minimum(p, q)
    order = np.lexsort([earlier, ratio, later])
    chosen = order[np.append(True, np.diff(later[order]) > 0)] if len(order) else order
    chosen = chosen[np.lexsort([later[chosen], ratio[chosen]])]
    columns = {"point": later, "copy_of": earlier, "distance": distance * near.unit, "ratio": ratio}
    return Table(columns).take(chosen)


def find_leaks(near: NearPoints, split: Any) -> Table:
    """Points that have a copy, equal or nearly so, in a larger part of the data; equal ones first.

    Parameters
    ----------
    near : NearPoints
    split : array-like of N
        The part of every point, such as "train" and "test".

    Returns
    -------
    leaks : Table
        With the `point` and its part (`split`), the point in the larger part that it is a copy of (`copy_of`,
        `split_of`), the `kind` ("equal" or "nearly equal"), their `distance` and its `ratio` to that of the points
        around (both 0 if they are equal).

    Examples
    --------
    >>> from graspel import NeighborIndex
    >>> from graspel.findings import near_points
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> X[49] = X[0]
    >>> leaks = find_leaks(near_points(NeighborIndex(X)), ["train"] * 40 + ["test"] * 10)
    >>> next(leaks.rows())["point"], next(leaks.rows())["copy_of"], next(leaks.rows())["kind"]
    (49, 0, 'equal')
    """
    names, part, sizes = np.unique(np.asarray(split).astype(str), return_inverse=True, return_counts=True)
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(names))
    of, original = rank[part], near.original  # 0 is the largest part
    n, n_parts = len(of), len(names)
    first = sp.csr_array(_first_of_each(original * n_parts + of, n, n_parts))
    p, q, distance, ratio = _near_pairs(near)
    zero = np.zeros(n)
    everyone = np.arange(n)
    p, q = np.concatenate([everyone, p]), np.concatenate([everyone, q])
    distance, ratio = np.concatenate([zero, distance]), np.concatenate([zero, ratio])
    # Near points are distinct: for each, the first of its copies in every part stands for the others.
    lengths = np.diff(first.indptr)[original[q]]
    at = np.repeat(np.arange(len(p)), lengths)
    offset = np.arange(len(at)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entry = first.indptr[original[q]][at] + offset
    larger = first.indices[entry] < of[p[at]]
    at, other = at[larger], (first.data[entry][larger] - 1).astype(np.int64)
    order = np.lexsort([other, of[other], ratio[at], p[at]])
    kept = order[np.append(True, np.diff(p[at][order]) > 0)] if len(order) else order
    at, other = at[kept], other[kept]
    point = p[at]
    columns = {
        "point": point,
        "split": names[part[point]],
        "copy_of": other,
        "split_of": names[part[other]],
        "kind": np.where(ratio[at] == 0, EXACT, NEARLY),
        "distance": distance[at] * near.unit,
        "ratio": ratio[at],
    }
    return Table(columns).take(np.lexsort([point, ratio[at]]))


def _first_of_each(key: Ints, n: int, n_parts: int) -> sp.csr_array:
    """For every point that others are copies of (rows) and every part, the first equal point in it, counted from 1."""
    keys, first = np.unique(key, return_index=True)
    return sp.csr_array((first + 1, (keys // n_parts, keys % n_parts)), shape=(n, n_parts))


def _near_pairs(near: NearPoints) -> tuple[Ints, Ints, Floats, Floats]:
    """All pairs of a point and a near copy of it, with their distance and its ratio to that of the points around."""
    D, rows = near.D, np.repeat(np.arange(len(near.original)), near.counts)
    scale = np.zeros(len(near.original))
    np.maximum.at(scale, rows, D.data)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = D.data / np.sqrt(scale[rows] * scale[D.indices])
    differs = near.original[rows] != near.original[D.indices]
    limit = _largest_ratio(D.data[differs], scale[rows][differs], near)
    found = np.flatnonzero(differs & (ratio < limit))
    return rows[found], D.indices[found].astype(np.int64), D.data[found], ratio[found]


def _largest_ratio(distance: Floats, scale: Floats, near: NearPoints) -> float:
    """The ratio below which one pair is expected by chance."""
    below = (distance > 0) & (distance < scale)
    spread = float(np.log(scale[below] / distance[below]).mean()) if below.any() else 0.0
    n_pairs = max(len(distance), 1)
    dimension = 1 / spread if spread > 0 else np.inf
    return min(LARGEST_RATIO, float(n_pairs ** (-1 / dimension))) if np.isfinite(dimension) else LARGEST_RATIO
