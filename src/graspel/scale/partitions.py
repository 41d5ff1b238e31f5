"""Partitions of near points, and what a worker of Dask does with one of them (:mod:`graspel.scale.chunked`).

Every function here is a task: it depends on its arguments only, so that Dask can repeat it on another worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.data.dense import DenseData
from graspel.data.products import squared_distances
from graspel.data.rows import Frame
from graspel.learning.connect import closest_in_lists
from graspel.neighbors.approximate import SMALL
from graspel.neighbors.engines import LandmarkEngine
from graspel.neighbors.exact import exact_neighbors, is_compared_with_all, measure_candidates
from graspel.neighbors.landmarks import Landmarks
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import one_thread_per_call, row_blocks
from graspel.runtime.types import Bools, Floats, Ints, MeasuredPairs, Singles

MEMBERSHIPS = 3  # partitions of each point: its home and two others
ASSIGNED_TOGETHER = 4096  # rows whose distances to all centers are held at a time


@dataclass(frozen=True)
class Partition:
    """The points of one partition: their numbers among all points, whether it is their home, and their lists."""

    ids: Ints
    is_home: Bools
    points: DenseData
    indices: NDArray[Any]
    z: NDArray[Any]

    @property
    def neighbors(self) -> Neighbors:
        """The lists; all points are distinct."""
        nobody = np.empty(0, dtype=np.int64)
        return Neighbors(self.points, self.indices, self.z, 1.0, np.arange(len(self.ids)), nobody, nobody)


class Piece(NamedTuple):
    """The rows of one block that belong to one partition: their numbers, whether it is their home, the rows."""

    ids: Ints
    is_home: Bools
    rows: NDArray[Any]


def assign_rows(rows: NDArray[Any], frame: Frame, centers: Singles, is_copy: Bools) -> NDArray[np.int32]:
    """The partitions of each row of a block, its home first; -1 for copies of other points."""
    with one_thread_per_call():
        sketch = DenseData(np.asarray(rows), frame).ready().sketch
        cells = np.empty((len(sketch), min(MEMBERSHIPS, len(centers))), dtype=np.int32)
        for block in row_blocks(len(sketch), ASSIGNED_TOGETHER):
            order = np.argsort(squared_distances(sketch[block], centers), axis=1, kind="stable")
            cells[block] = order[:, : cells.shape[1]]
    cells[is_copy] = -1
    return cells


def split_rows(rows: NDArray[Any], cells: NDArray[np.int32], n_partitions: int, start: int) -> list[Piece]:
    """The rows of a block by their partitions."""
    pieces = []
    for c in range(n_partitions):
        chosen = np.flatnonzero((cells == c).any(axis=1))
        pieces.append(Piece(chosen + start, cells[chosen, 0] == c, np.asarray(rows)[chosen]))
    return pieces


def build_partition(pieces: list[Piece], frame: Frame, k: int, seed: tuple[int, ...]) -> Partition:
    """Search the points of one partition."""
    ids, is_home, rows = (np.concatenate(column) for column in zip(*pieces, strict=True))
    with one_thread_per_call():
        points = DenseData(rows, frame).ready()
        lists = LandmarkEngine(points).lists(k, np.random.default_rng(seed))
    return Partition(ids, is_home, points, lists.indices, lists.z)


def ids_of(partition: Partition) -> Ints:
    """The numbers of the points of a partition."""
    return partition.ids


def list_nearest(partition: Partition, k: int) -> MeasuredPairs:
    """The points of a partition, and up to k nearest of each: numbers (-1: none) and z_data."""
    listed, found = partition.indices[:, :k].astype(np.int64), partition.z[:, :k]
    nearest, z = np.full((len(listed), k), -1, dtype=np.int64), np.full((len(listed), k), np.inf)
    if listed.size:
        exists, used = np.isfinite(found), slice(0, listed.shape[1])
        nearest[:, used] = np.where(exists, partition.ids[listed], -1)
        measured = partition.points.squared_distances_to(np.arange(len(listed)), listed)
        z[:, used] = np.where(exists, measured, np.inf)
    return partition.ids, nearest, z


def true_distances(
    rows: NDArray[Any],
    frame: Frame,
    asked: NDArray[Any],
    sample: Ints,
    start: int,
    is_distinct: Bools,
    k: int,
) -> Floats:
    """z_data of the k points of a block nearest to each sampled point, itself and copies left out."""
    with one_thread_per_call():
        points, asking = DenseData(np.asarray(rows), frame), DenseData(asked, frame)
        pool = np.flatnonzero(is_distinct)
        width = min(k + 1, len(pool))
        if not width:
            return np.full((len(sample), k), np.inf)
        found, z = exact_neighbors(points, np.arange(len(sample)), width, pool, asking)
    z[found + start == sample[:, None]] = np.inf
    return np.pad(np.sort(z, axis=1), ((0, 0), (0, max(0, k - width))), constant_values=np.inf)[:, :k]


def closest_listed(partition: Partition, labels: Ints) -> MeasuredPairs:
    """For each component in a partition the closest pair in its lists."""
    present, local = np.unique(labels, return_inverse=True)
    if len(present) < 2:
        return _no_pairs()
    with one_thread_per_call():
        p, q, z, _ = closest_in_lists(partition.neighbors, local, len(present))
    return _to_numbers(partition, p, q, z)


def closest_searched(partition: Partition, labels: Ints, limits: Floats, seed: tuple[int, ...]) -> MeasuredPairs:
    """Search the points at home here that could beat the pairs known, whose z_data are `limits`."""
    present, local = np.unique(labels, return_inverse=True)
    if len(present) < 2:
        return _no_pairs()
    with one_thread_per_call():
        end = closest_in_lists(partition.neighbors, local, len(present))[3]
        open_points = np.flatnonzero((end < limits[local]) & partition.is_home)
        if not len(open_points):
            return _no_pairs()
        unknown, rng = np.full(len(present), np.inf), np.random.default_rng(seed)
        return _to_numbers(partition, *LandmarkEngine(partition.points).outside(open_points, local, unknown, rng))


def closest_across(
    a: Partition, b: Partition, labels_a: Ints, labels_b: Ints, component: int, seed: tuple[int, ...]
) -> MeasuredPairs:
    """The closest pair of a point of the component in partition a and a point of another one in partition b."""
    queries, pool = np.flatnonzero(labels_a == component), np.flatnonzero(labels_b != component)
    points, asking = b.points.subset(pool), a.points.subset(queries)
    everyone = np.arange(len(queries))
    with one_thread_per_call():
        if is_compared_with_all(points, len(queries)):
            found, z = exact_neighbors(points, everyone, 1, asking=asking)
        else:
            landmarks, _ = Landmarks.build(points.sketch, SMALL, np.random.default_rng(seed), 1)
            candidates = landmarks.search(asking.sketch, points.sketch, 4, 1)
            found, z = measure_candidates(points, everyone, candidates, 1, asking)
    best = int(np.lexsort((b.ids[pool[found[:, 0]]], a.ids[queries], z[:, 0]))[0])
    return a.ids[queries[best : best + 1]], b.ids[pool[found[best]]], z[best]


def _no_pairs() -> MeasuredPairs:
    nobody = np.empty(0, dtype=np.int64)
    return nobody, nobody, np.empty(0)


def _to_numbers(partition: Partition, p: Ints, q: Ints, z: Floats) -> MeasuredPairs:
    """Finite pairs of a partition, in the numbers of all points."""
    found = np.isfinite(z)
    return partition.ids[p[found]], partition.ids[q[found]], z[found]
