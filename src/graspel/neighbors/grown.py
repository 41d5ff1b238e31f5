"""Neighbor lists that change: points are added and removed, and every list stays sorted and of the same length.

A new point is searched among all others. It enters the lists of those that it is nearer to than the end of their lists.
Landmarks know the points that they were chosen for; points that came later are compared one by one, until they are so
many that landmarks are chosen anew. The recall of changed lists is measured anew when it is asked for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graspel.data.protocol import RowData
from graspel.neighbors.approximate import LARGE, SURE
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.engines import engine_of
from graspel.neighbors.exact import exact_neighbors, is_compared_with_all
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Floats, Ints, MeasuredPairs

RECENT_SHARE = 0.2  # new points, as a share of those that the landmarks know, up to which they are compared one by one


def add_to_lists(old: Neighbors, points: RowData, n_before: int, rng: np.random.Generator) -> Neighbors:
    """The lists after points were appended to the `n_before` that the lists were made for.

    `points` are all points, copies among them.
    """
    arrived = np.arange(n_before, points.n_points)
    first = find_first_equals(points.subset(arrived)) + n_before
    fresh = arrived[first == arrived]
    n_lists, width = old.indices.shape[0], old.indices.shape[1]
    old = _renew_landmarks(old, _subset(points, old.distinct), n_lists, len(fresh), rng)
    stands_for = np.arange(points.n_points)
    local, distinct, found, z = _search_arrivals(old, points, fresh)
    equal = (z[:, 0] == 0) & (found[:, 0] < n_lists)  # copies of an old point need no list
    if equal.any():
        stands_for[fresh[equal]] = old.distinct[found[equal, 0]]
        fresh = fresh[~equal]
        local, distinct, found, z = _search_arrivals(old, points, fresh)  # copies crowd others out of the lists
    copies = np.concatenate([old.copies, np.setdiff1d(arrived, fresh)])
    copy_of = np.concatenate([old.copy_of, stands_for[first[copies[len(old.copies) :] - n_before]]])
    back = _nearest_arrivals(local, n_lists, width) if old.landmarks is None else None
    grown = _merge(old.indices.astype(np.int64), old.z.astype(np.float64), found, z, n_lists, width, back)
    old = replace(old, recall=np.nan, distinct=distinct, copies=copies, copy_of=copy_of)
    return replace(old, points=local, indices=grown[0], z=grown[1])


def _subset(points: RowData, numbers: Ints) -> RowData:
    """Some points, in the order of their numbers: that of the last copy of a point that was removed may be any."""
    return points if np.array_equal(numbers, np.arange(points.n_points)) else points.subset(numbers)


def _search_arrivals(old: Neighbors, points: RowData, fresh: Ints) -> tuple[RowData, Ints, Ints, Floats]:
    """The distinct points with the new ones, their numbers, and the nearest of each new one with z_data."""
    distinct = np.concatenate([old.distinct, fresh])
    local, (n_lists, width) = _subset(points, distinct), old.indices.shape
    width, n_known = min(width, len(distinct) - 1), old.n_known or n_lists
    return local, distinct, *engine_of(local).near(np.arange(n_lists, len(distinct)), width, old.landmarks, n_known)


def remove_from_lists(old: Neighbors, points: RowData, kept: Ints, k: int) -> Neighbors:
    """The lists after all points except `kept` were removed; `points` are those that are left."""
    number = np.full(int(max(old.distinct.max(), old.copies.max(initial=0))) + 1, -1)
    number[kept] = np.arange(len(kept))
    originals = old.distinct.copy()
    copy_of = old.copy_of.copy()
    lost = np.isin(originals, old.copy_of) & (number[originals] < 0)
    for at in np.flatnonzero(lost):  # the first copy that is left takes the place of its original
        left = old.copies[(old.copy_of == originals[at]) & (number[old.copies] >= 0)]
        if len(left):
            copy_of[old.copy_of == originals[at]] = left[0]
            originals[at] = left[0]
    alive = number[originals] >= 0
    local = np.cumsum(alive) - 1
    indices, z = old.indices[alive].astype(np.int64), old.z[alive].astype(np.float64)
    gone = ~alive[indices]
    z = np.where(gone, np.inf, z)
    at_hand = np.isfinite(z[:, : max(k, SURE)]).sum(axis=1)  # the ends of approximate lists may miss nearer points
    order = np.argsort(z, axis=1, kind="stable")
    indices = np.take_along_axis(np.where(gone, 0, local[indices]), order, axis=1)
    z = np.take_along_axis(z, order, axis=1)
    staying = (number[old.copies] >= 0) & ~np.isin(old.copies, originals)
    distinct = number[originals[alive]]
    subset = _subset(points, distinct)
    width = min(indices.shape[1], len(distinct) - 1)
    indices, z = indices[:, :width], z[:, :width]
    short = np.flatnonzero(at_hand < min(k, width))
    if len(short):
        indices[short], z[short] = exact_neighbors(subset, short, width)
    return Neighbors(subset, indices, z, np.nan, distinct, number[old.copies[staying]], number[copy_of[staying]])


def _renew_landmarks(old: Neighbors, points: RowData, n_lists: int, n_new: int, rng: np.random.Generator) -> Neighbors:
    """Choose landmarks anew where too many points came after the last choice, or where they are needed and missing."""
    n_known = old.n_known or n_lists
    if old.landmarks is None and is_compared_with_all(points, n_new):
        return old
    if old.landmarks is not None and n_lists - n_known <= RECENT_SHARE * n_known:
        return replace(old, n_known=n_known)
    return replace(old, landmarks=engine_of(points).choose_landmarks(LARGE, n_lists, rng), n_known=n_lists)


def _nearest_arrivals(points: RowData, n_lists: int, width: int) -> MeasuredPairs:
    """Old points and the new ones nearest to them, as triples with z_data.

    An old point far from all others may be missing in the lists of the new points that are its nearest ones. Where all
    distances can be computed, this finds them; with landmarks such a point keeps a slightly longer edge.
    """
    arrivals = np.arange(n_lists, points.n_points)
    if not len(arrivals):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    found, z = exact_neighbors(points, np.arange(n_lists), min(width, len(arrivals)), arrivals)
    return np.repeat(np.arange(n_lists), found.shape[1]), found.ravel(), z.ravel()


def _ends(z: Floats, n_points: int) -> Floats:
    """The distance below which a list is complete: that of its last entry, any if it holds all other points."""
    n_found = np.isfinite(z).sum(axis=1)
    last: Floats = z[np.arange(len(z)), np.maximum(n_found - 1, 0)]
    return np.where(n_found < n_points - 1, last, np.inf)


def _merge(
    indices: Ints,
    z: Floats,
    more: Ints,
    more_z: Floats,
    n_old: int,
    width: int,
    back: MeasuredPairs | None,
) -> tuple[Ints, Floats]:
    """Old lists with the new points that belong into them, and the lists of the new points below."""
    new = n_old + np.repeat(np.arange(len(more)), more.shape[1])
    target, distance = more.ravel(), more_z.ravel()
    if back is not None:
        target, new, distance = back
    useful = (target >= 0) & (target < n_old) & np.isfinite(distance)
    useful[useful] = distance[useful] < _ends(z, n_old)[target[useful]]
    target, new, distance = target[useful], new[useful], distance[useful]
    indices, z = indices.copy(), z.copy()
    if len(target):
        order = np.lexsort((new, distance, target))
        target, new, distance = target[order], new[order], distance[order]
        rows, start, count = np.unique(target, return_index=True, return_counts=True)
        rank = np.arange(len(target)) - np.repeat(start, count)
        extra = np.full((len(rows), int(count.max())), np.inf)
        extra_index = np.zeros(extra.shape, dtype=np.int64)
        at = np.repeat(np.arange(len(rows)), count)
        extra[at, rank], extra_index[at, rank] = distance, new
        both, both_z = np.hstack([indices[rows], extra_index]), np.hstack([z[rows], extra])
        nearest = np.argsort(both_z, axis=1, kind="stable")[:, :width]
        indices[rows] = np.take_along_axis(both, nearest, axis=1)
        z[rows] = np.take_along_axis(both_z, nearest, axis=1)
    order = np.argsort(more_z, axis=1, kind="stable")
    new_rows = np.full((len(more), width), 0), np.full((len(more), width), np.inf)
    new_rows[0][:, : more.shape[1]] = np.maximum(np.take_along_axis(more, order, axis=1), 0)
    new_rows[1][:, : more.shape[1]] = np.take_along_axis(more_z, order, axis=1)
    return np.vstack([indices, new_rows[0]]), np.vstack([z, new_rows[1]])
