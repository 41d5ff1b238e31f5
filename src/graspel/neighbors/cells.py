r"""Cells: rows divided into cells of about equal size around centers, to find a near point among few allowed ones.

Neighbor lists come from landmarks (:mod:`graspel.neighbors.landmarks`). To join components, the nearest point *outside*
a component is needed, which may be far beyond all lists. Whole cells that are too far from all allowed points are then
skipped. Blocks of work are fixed, so the result does not depend on the number of threads.

Plain k-means with K centers costs N K distances. Here the rows are first divided into sqrt(K) regions, and centers are
placed in each region by a few rounds of Lloyd's iteration on a sample, which costs N sqrt(K). Then every row is
assigned to the nearest of all centers; if there are many centers, they are partitioned themselves to find it. Every
region has random numbers of its own, so that regions can be processed in any order by any thread.

References
----------
S. P. Lloyd. Least squares quantization in PCM. IEEE Transactions on Information Theory 28, 1982.

H. Jegou, M. Douze and C. Schmid. Product quantization for nearest neighbor search. IEEE Transactions on Pattern
Analysis and Machine Intelligence 33, 2011. The inverted file, which searches the cells nearest to a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graspel.data.dense import DenseData
from graspel.data.products import squared_distances
from graspel.neighbors.exact import nearest_rows, nearest_rows_rounded
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Bools, Floats, Ints, MeasuredPairs, Singles

CELL_POINTS = 128  # approximate number of points in a cell
MAX_CANDIDATES = 1 << 21  # distances of a block of queries that are held in memory: 8 MB
CELL_BLOCK = 256  # cells whose distances to all other cells are held at a time
FIRST_CELLS = 16  # cells searched first for the closest pair; the pair they find rules out most other cells
ROUNDING_FACTOR = 1.001  # factor on a distance that covers the rounding errors of single precision
ROWS_PER_CENTER = 32  # sampled rows per center in Lloyd's iteration
LLOYD_ROUNDS = 8  # rounds of Lloyd's iteration; centers need not converge, any that spread well will do
MANY_CENTERS = 2048  # number of centers above which the centers are partitioned too
REGION_PROBES = 6  # cells of centers searched for the centers nearest to a row
ASSIGNED_TOGETHER = 1 << 18  # rows that are assigned to their cells in one call, which bounds its memory: 40 MB
ROW_BLOCK = 1024  # rows compared with centers in one matrix product


@dataclass(frozen=True)
class Cells:
    """The points, and a partition of their sketch into cells."""

    points: DenseData
    partition: CellPartition

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return self.partition.n_cells

    @classmethod
    def build(cls, points: DenseData, rng: np.random.Generator) -> Cells:
        """Divide the sketch of the points into cells."""
        announce("nearest neighbors", None, "dividing the points into cells")
        return cls(points, CellPartition.build(points.sketch, CELL_POINTS, rng, points.n_threads))

    def nearest_outside(self, queries: Ints, allowed: Bools, probes: int, best: float = np.inf) -> MeasuredPairs:
        """For each query a near allowed point, from the `probes` nearest cells that hold one: queries, points, z_data.

        Queries of one cell are searched together. A cell is skipped if all its points are farther from any allowed
        point than the closest pair known so far (z_data = `best` at the start); the cells nearest to allowed points go
        first.
        """
        order = np.argsort(self._cell_of[queries], kind="stable")
        query_cells, first = np.unique(self._cell_of[queries][order], return_index=True)
        groups = np.split(queries[order], first[1:])
        pools = [pool[allowed[pool]] for pool in map(self.partition.rows_of, range(self.n_cells))]
        allowed_cells = np.flatnonzero([len(pool) > 0 for pool in pools])
        gaps, nearest = self._nearest_cells(query_cells, allowed_cells, probes)

        def search_group(i: int) -> MeasuredPairs:
            group, pool = groups[i], np.concatenate([pools[cell] for cell in nearest[i]])
            sketch, center = self.points.sketch, self.partition.centers[query_cells[i]]
            Y, found = sketch[pool] - center, np.empty(len(group), dtype=np.int64)
            for block in row_blocks(len(group), max(1, MAX_CANDIDATES // len(pool))):
                found[block] = pool[nearest_rows(sketch[group[block]] - center, Y, 1)[1][:, 0]]
            return group, found, self.points.squared_distances(group, found)

        by_gap = np.argsort(gaps, kind="stable")
        results = list(map_blocks(search_group, by_gap[:FIRST_CELLS].tolist(), self.points.n_threads))
        best = min(best, *(float(z.min()) for _, _, z in results))
        # The sketch shortens distances, so a cell with a larger gap holds no closer pair.
        could_be_closer = gaps[by_gap] <= ROUNDING_FACTOR * self.points.sketch_distance(best)
        remaining = by_gap[FIRST_CELLS:][could_be_closer[FIRST_CELLS:]]
        results += map_blocks(search_group, remaining.tolist(), self.points.n_threads)
        p, q, z = (np.concatenate(column) for column in zip(*results, strict=True))
        return p, q, z

    def _nearest_cells(self, query_cells: Ints, allowed_cells: Ints, probes: int) -> tuple[Floats, Ints]:
        """For each query cell: a lower bound of its distance to points of allowed cells, and the nearest of them."""
        centers, radii = self.partition.centers, self._radii
        gaps = np.empty(len(query_cells))
        nearest = np.empty((len(query_cells), min(probes, len(allowed_cells))), dtype=np.int64)

        def work(block: slice) -> None:
            D = squared_distances(centers[query_cells[block]], centers[allowed_cells])
            nearest[block] = allowed_cells[np.argpartition(D, nearest.shape[1] - 1, axis=1)[:, : nearest.shape[1]]]
            gaps[block] = (np.sqrt(np.maximum(D, 0)) - radii[allowed_cells]).min(axis=1) - radii[query_cells[block]]

        run_blocks(work, row_blocks(len(query_cells), CELL_BLOCK), self.points.n_threads)
        return gaps, nearest

    @cached_property
    def _cell_of(self) -> Ints:
        """The cell of every point."""
        cell_of = np.empty(self.points.n_points, dtype=np.int64)
        cell_of[self.partition.members] = np.repeat(np.arange(self.n_cells), np.diff(self.partition.start))
        return cell_of

    @cached_property
    def _radii(self) -> Floats:
        """The largest distance of a point of each cell from its center."""
        sketch, centers, radii = self.points.sketch, self.partition.centers, np.zeros(self.n_cells)

        def work(cell: int) -> None:
            difference = sketch[self.partition.rows_of(cell)] - centers[cell]
            radii[cell] = np.sqrt(np.einsum("ij,ij->i", difference, difference).max(initial=0.0))

        run_blocks(work, range(self.n_cells), self.points.n_threads)
        return radii


@dataclass(frozen=True)
class CellPartition:
    """Cells of a set of rows: centers, and the rows of cell c as ``members[start[c]:start[c + 1]]``."""

    centers: Singles
    members: Ints
    start: Ints
    regions: CellPartition | None  # a partition of the centers, if there are many

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.centers)

    def rows_of(self, c: int) -> Ints:
        """The rows of cell c."""
        return self.members[self.start[c] : self.start[c + 1]]

    @classmethod
    def build(cls, X: Singles, size: int, rng: np.random.Generator, n_threads: int) -> CellPartition:
        """Divide the rows of X into cells of about `size` rows."""
        n_regions = max(1, int(np.sqrt(len(X) / size)))
        sample = X[rng.choice(len(X), min(len(X), 4 * ROWS_PER_CENTER * n_regions), replace=False)]
        region = assign_to_centers(X, lloyd(sample, n_regions, rng), n_threads)
        order = np.argsort(region, kind="stable")
        rows_of_regions = np.split(order, np.searchsorted(region[order], np.arange(1, n_regions)))
        seeds = rng.integers(2**63, size=n_regions)

        def place_centers(r: int) -> Singles:
            rows, region_rng = rows_of_regions[r], np.random.default_rng(seeds[r])
            if not len(rows):
                return X[:0]
            k = max(1, round(len(rows) / size))
            chosen = region_rng.choice(len(rows), min(len(rows), ROWS_PER_CENTER * k), replace=False)
            return lloyd(X[rows[chosen]], k, region_rng)

        centers = np.concatenate(list(map_blocks(place_centers, range(n_regions), n_threads)))
        many = len(centers) > MANY_CENTERS
        regions = cls.build(centers, int(np.sqrt(len(centers))), rng, n_threads) if many else None
        empty = cls(centers, np.empty(0, dtype=np.int64), np.zeros(len(centers) + 1, dtype=np.int64), regions)
        cell = np.concatenate(
            [empty.nearest_cells(X[block], 1, n_threads)[:, 0] for block in row_blocks(len(X), ASSIGNED_TOGETHER)]
        )
        members = np.argsort(cell, kind="stable")
        return cls(centers, members, np.searchsorted(cell[members], np.arange(len(centers) + 1)), regions)

    def nearest_cells(self, queries: Singles, k: int, n_threads: int) -> Ints:
        """The k cells whose centers are nearest to each query, unordered (filled with -1 if fewer were found)."""
        if self.regions is not None:
            return search_cells(queries, self.centers, self.regions, k, REGION_PROBES, n_threads)
        found = np.empty((len(queries), k), dtype=np.int64)

        def work(block: slice) -> None:
            found[block] = nearest_rows_rounded(queries[block], self.centers, k)[1]

        run_blocks(work, row_blocks(len(queries), ROW_BLOCK), n_threads)
        return found


def search_cells(
    queries: Singles, X: Singles, partition: CellPartition, width: int, probes: int, n_threads: int
) -> Ints:
    """For each query approximately the `width` nearest rows of X; filled with -1 if fewer were found.

    Only the `probes` cells nearest to a query are searched. All queries that search a cell are compared with its rows
    in one product, relative to the center of the cell, so that rows far from the origin lose no precision.
    """
    probes, n = min(probes, partition.n_cells), len(queries)
    cells = partition.nearest_cells(queries, probes, n_threads)
    slots = np.argsort(cells, axis=None, kind="stable")  # slot s: query s // probes searches its cell s % probes
    start = np.searchsorted(cells.ravel()[slots], np.arange(partition.n_cells + 1))
    D = np.full((n * probes, width), np.inf, dtype=np.float32)  # one cell may hold all the nearest rows
    found = np.full((n * probes, width), -1, dtype=np.int32)

    def search_cell(c: int) -> None:
        rows, slots_of_cell = partition.rows_of(c), slots[start[c] : start[c + 1]]
        k = min(width, len(rows))
        if k and len(slots_of_cell):
            center = partition.centers[c]
            in_cell = queries[slots_of_cell // probes] - center
            D[slots_of_cell, :k], index = nearest_rows_rounded(in_cell, X[rows] - center, k)
            found[slots_of_cell, :k] = rows[index]

    run_blocks(search_cell, range(partition.n_cells), n_threads)
    D, found = D.reshape(n, -1), found.reshape(n, -1)
    if D.shape[1] <= width:
        return np.pad(found, ((0, 0), (0, width - D.shape[1])), constant_values=-1).astype(np.int64)
    result = np.empty((n, width), dtype=np.int64)

    def merge(block: slice) -> None:
        nearest = np.argpartition(D[block], width - 1, axis=1)[:, :width]
        result[block] = np.take_along_axis(found[block], nearest, axis=1)

    run_blocks(merge, row_blocks(n, ROW_BLOCK), n_threads)
    return result


def lloyd(X: Singles, k: int, rng: np.random.Generator) -> Singles:
    """Place k centers by a few rounds of Lloyd's iteration, starting from random rows.

    A center that loses all its rows stays where it is.
    """
    centers = X[rng.choice(len(X), min(k, len(X)), replace=False)].copy()
    for _ in range(LLOYD_ROUNDS):
        centers = mean_of_labels(X, assign_to_centers(X, centers, 1), centers)
    return centers


def mean_of_labels(X: Singles, label: Ints, centers: Singles) -> Singles:
    """The mean of the rows of each label; a label without rows keeps its center."""
    order = np.argsort(label, kind="stable")
    used, first = np.unique(label[order], return_index=True)
    sizes = np.diff(np.append(first, len(X)))
    centers = centers.copy()
    centers[used] = np.add.reduceat(X[order], first, axis=0) / sizes[:, None].astype(np.float32)
    return centers


def assign_to_centers(X: Singles, centers: Singles, n_threads: int) -> Ints:
    """The nearest center of every row."""
    label = np.empty(len(X), dtype=np.int64)

    def work(block: slice) -> None:
        label[block] = nearest_rows(X[block], centers, 1)[1][:, 0]

    run_blocks(work, row_blocks(len(X), ROW_BLOCK), n_threads)
    return label
