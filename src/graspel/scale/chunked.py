r"""Step 1 for points in chunks: neighbor lists and joins by partitions of near points, on the workers of Dask.

Centers are placed on a sample of the points. Every row goes to the partition of its nearest center, its home, and to
those of the next nearest ones, where it is a guest: so near points on two sides of a border meet in some partition.
Each partition is searched on its own worker as one machine would search all points. The k nearest that it finds for
each of its points come to the client, which keeps the best.

Components are joined in Boruvka's rounds (:mod:`graspel.learning.connect`). In each round every partition returns the
closest pair that leads out of each component; a component that fills all its partitions is compared with the points of
the partitions next to them. Only labels go to the workers, and only pairs come back.

The tasks are those of `dask.delayed`, and partitions stay on the workers. If a worker dies, Dask computes what it held
again. Random numbers belong to the partition and not to the worker, and results are merged in the order of the
partitions: the graph does not depend on the number of workers. What works on one partition depends on its arguments
only, so that Dask can repeat it on another worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.data.chunked import ChunkedData
from graspel.data.dense import DenseData
from graspel.data.products import squared_distances
from graspel.data.rows import Frame
from graspel.learning.connect import Joins, best_per_component, closest_in_lists, run_boruvka
from graspel.neighbors.approximate import SMALL
from graspel.neighbors.cells import lloyd
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.engines import LandmarkEngine
from graspel.neighbors.exact import exact_neighbors, is_compared_with_all, measure_candidates
from graspel.neighbors.landmarks import Landmarks
from graspel.neighbors.search import Neighbors, warn_low_recall
from graspel.runtime.parallel import one_thread_per_call, row_blocks
from graspel.runtime.progress import announce
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


PARTITION_POINTS = 200_000  # points whose home is one partition; with guests, three times as many are searched together
SAMPLE_PER_CENTER = 256  # sampled points for each center
ACROSS = 8  # pairs of partitions, nearest centers first, that are compared for a component which fills its partitions
RECALL_SAMPLE = 128  # points whose lists are checked, as in graspel.neighbors.exact


class ChunkedStart:
    """Step 1 on the workers: `search` finds neighbor lists and leaves the partitions there, and `join` uses them."""

    def __init__(self) -> None:
        self._partitions: list[Any] = []
        self._ids: list[Ints] = []
        self._home = np.empty(0, dtype=np.int32)
        self._centers = np.empty((0, 0), dtype=np.float32)
        self._seed = 0

    def search(self, points: ChunkedData, k: int, rng: np.random.Generator) -> Neighbors:
        """The k nearest neighbors of all distinct points, by partitions."""
        import dask

        announce("nearest neighbors", None, "dividing the points into partitions")
        n, frame = points.n_points, dask.delayed(points.frame)
        first = find_first_equals(points)
        distinct, copies = np.flatnonzero(first == np.arange(n)), np.flatnonzero(first != np.arange(n))
        n_partitions = -(-len(distinct) // PARTITION_POINTS)
        sample = np.sort(rng.choice(distinct, min(len(distinct), SAMPLE_PER_CENTER * n_partitions), replace=False))
        self._centers = lloyd(points.fetch(sample).ready().sketch, n_partitions, rng)
        self._seed = int(rng.integers(2**31))
        assign, split = dask.delayed(assign_rows, pure=True), dask.delayed(split_rows, pure=True)
        is_copy = first != np.arange(n)
        blocks = list(zip(points.blocks, points.starts, points.starts[1:], strict=False))
        centers = dask.delayed(self._centers)
        cells = [assign(rows, frame, centers, is_copy[a:b]) for rows, a, b in blocks]
        pieces = [split(rows, cell, n_partitions, a) for (rows, a, _), cell in zip(blocks, cells, strict=True)]
        build = dask.delayed(build_partition, pure=True)
        partitions = [build([piece[c] for piece in pieces], frame, k, (self._seed, c)) for c in range(n_partitions)]
        cells, self._partitions = dask.persist(cells, partitions)
        self._home = np.concatenate([cell[:, 0] for cell in dask.compute(*cells)])
        indices, z = self._merge_lists(points, k, distinct)
        self._ids = list(dask.compute(*(dask.delayed(ids_of)(partition) for partition in self._partitions)))
        recall = self._measure_recall(points, frame, distinct, z)
        warn_low_recall(recall)
        return Neighbors(points, indices, z, recall, distinct, copies, first[copies])

    def join(self, neighbors: Neighbors, labels: Ints, rng: np.random.Generator) -> Joins:
        """Join the components given by `labels` into one, by Boruvka's rounds over all partitions."""

        def find_closest(labels: Ints, n_labels: int, rounds: list[Joins]) -> MeasuredPairs:
            local = [labels[ids] for ids in self._ids]
            largest = int(np.bincount(labels[neighbors.distinct]).argmax())  # the others will join it
            best = self._best(closest_listed, [(part,) for part in local], labels, n_labels)
            limits = best[2].copy()
            limits[largest] = -np.inf  # it is not searched
            seeds = [(self._seed, c, len(rounds)) for c in range(len(local))]
            known = [(part, limits[np.unique(part)], seed) for part, seed in zip(local, seeds, strict=True)]
            best = self._best(closest_searched, known, labels, n_labels, best)
            alone = np.flatnonzero(np.isinf(best[2]) & (np.arange(n_labels) != largest))
            p, q, z = self._best_across(alone, local, labels, n_labels, best) if len(alone) else best
            return p, q, np.where(np.arange(n_labels) == largest, np.inf, z)

        return run_boruvka(neighbors, labels, find_closest)

    def _merge_lists(self, points: ChunkedData, k: int, distinct: Ints) -> tuple[Ints, Floats]:
        """The k nearest of every distinct point, from the lists of all its partitions."""
        import dask

        nearest, z = np.full((points.n_points, k), -1, dtype=np.int64), np.full((points.n_points, k), np.inf)
        listed = dask.delayed(list_nearest, pure=True)
        for done, partition in enumerate(self._partitions):
            announce("nearest neighbors", done / len(self._partitions), "searching the partitions")
            ids, found, found_z = dask.compute(listed(partition, k))[0]
            nearest[ids], z[ids] = merge_nearest(nearest[ids], z[ids], found, found_z)
        nearest, z = nearest[distinct], z[distinct]
        entry = np.isfinite(z)
        heads = np.broadcast_to(distinct[:, None], z.shape)[entry]
        points.learn_distances(heads, nearest[entry], z[entry])
        return np.where(entry, np.searchsorted(distinct, nearest), 0), z

    def _measure_recall(self, points: ChunkedData, frame: Any, distinct: Ints, z: Floats) -> float:
        """The share of true neighbors in the lists of a sample, which is compared with all points, block by block."""
        import dask

        if not z.shape[1]:
            return 1.0
        chosen = np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), RECALL_SAMPLE)).astype(np.int64))
        sample = distinct[chosen]
        rows, k = np.asarray(points.X[sample]), z.shape[1]
        true = dask.delayed(true_distances, pure=True)
        blocks = zip(points.blocks, points.starts, points.starts[1:], strict=False)
        is_distinct = np.zeros(points.n_points, dtype=bool)
        is_distinct[distinct] = True
        found = dask.compute(*(true(block, frame, rows, sample, a, is_distinct[a:b], k) for block, a, b in blocks))
        truth = np.sort(np.concatenate(found, axis=1), axis=1)[:, :k]
        return float((z[chosen] <= truth * (1 + 1e-6)).mean())

    def _best(
        self, work: Any, arguments: list[tuple[Any, ...]], labels: Ints, n: int, *known: MeasuredPairs
    ) -> MeasuredPairs:
        """The closest pair of every component, from work(partition, *arguments) on all partitions and those known."""
        import dask

        task = dask.delayed(work, pure=True)
        found = dask.compute(*(task(part, *given) for part, given in zip(self._partitions, arguments, strict=True)))
        return _merge_pairs([*found, *known], labels, n)

    def _best_across(
        self, alone: Ints, local: list[Ints], labels: Ints, n_labels: int, best: MeasuredPairs
    ) -> MeasuredPairs:
        """Pairs of components that fill all their partitions, with points of partitions near them."""
        import dask

        at_home = self._home >= 0
        table = np.zeros((n_labels, len(self._centers)), dtype=np.int64)
        np.add.at(table, (labels[at_home], self._home[at_home]), 1)
        across, tasks = dask.delayed(closest_across, pure=True), []
        for component in alone.tolist():
            inside = np.flatnonzero(table[component])
            outside = np.flatnonzero(table.sum(axis=0) > table[component])
            gaps = squared_distances(self._centers[inside], self._centers[outside])
            for pair in np.argsort(gaps, axis=None, kind="stable")[:ACROSS].tolist():
                a, b = int(inside[pair // len(outside)]), int(outside[pair % len(outside)])
                seed = (self._seed, a, b, component)
                tasks.append(across(self._partitions[a], self._partitions[b], local[a], local[b], component, seed))
        return _merge_pairs([*dask.compute(*tasks), best], labels, n_labels)


def _merge_pairs(pairs: list[MeasuredPairs], labels: Ints, n_labels: int) -> MeasuredPairs:
    """The closest pair of every component; infinitely far where there is none."""
    p, q, z = (np.concatenate(column) for column in zip(*pairs, strict=True))
    found = np.isfinite(z)
    # A pair joins two components, and is known to both.
    p, q, z = np.concatenate([p[found], q[found]]), np.concatenate([q[found], p[found]]), np.tile(z[found], 2)
    return best_per_component(p, q, z, labels, n_labels)


def merge_nearest(ids: Ints, z: Floats, more_ids: Ints, more_z: Floats) -> tuple[Ints, Floats]:
    """The nearest of two lists of every point, each neighbor once, by distance and then by number.

    >>> merge_nearest(np.array([[3, 5]]), np.array([[1.0, 4.0]]), np.array([[3, 9]]), np.array([[1.0, 2.0]]))
    (array([[3, 9]]), array([[1., 2.]]))
    """
    k, ids, z = ids.shape[1], np.hstack([ids, more_ids]), np.hstack([z, more_z])
    order = np.lexsort((ids, z), axis=1)
    ids, z = np.take_along_axis(ids, order, axis=1), np.take_along_axis(z, order, axis=1)
    repeated = np.zeros(ids.shape, dtype=bool)
    for column in range(1, ids.shape[1]):
        repeated[:, column] = (ids[:, :column] == ids[:, column, None]).any(axis=1)
    order = np.argsort(np.where(repeated, np.inf, z), axis=1, kind="stable")[:, :k]
    z = np.where(repeated, np.inf, z)
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(z, order, axis=1)
