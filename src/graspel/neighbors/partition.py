r"""Partition: rows divided into cells of about equal size, each around a center, in nearly linear time.

Plain k-means with K centers costs N K distances. Here the rows are first divided into sqrt(K) regions, and centers are
placed in each region by a few rounds of Lloyd's iteration on a sample, which costs N sqrt(K). Then every row is
assigned to the nearest of all centers; if there are many centers, they are partitioned themselves to find it. Every
region has random numbers of its own, so that regions can be processed in any order by any thread.

References
----------
S. P. Lloyd. Least squares quantization in PCM. IEEE Transactions on Information Theory 28, 1982.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graspel.neighbors.products import nearest_rows, nearest_rows_rounded
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.types import Ints, Singles

ROWS_PER_CENTER = 32  # sampled rows per center in Lloyd's iteration
LLOYD_ROUNDS = 8  # rounds of Lloyd's iteration; centers need not converge, any that spread well will do
MANY_CENTERS = 2048  # number of centers above which the centers are partitioned too
REGION_PROBES = 6  # cells of centers searched for the centers nearest to a row
ASSIGNED_TOGETHER = 1 << 18  # rows that are assigned to their cells in one call, which bounds its memory: 40 MB
ROW_BLOCK = 1024  # rows compared with centers in one matrix product


@dataclass(frozen=True)
class Partition:
    """Cells of a set of rows: centers, and the rows of cell c as ``members[start[c]:start[c + 1]]``."""

    centers: Singles
    members: Ints
    start: Ints
    regions: Partition | None  # a partition of the centers, if there are many

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.centers)

    def rows_of(self, c: int) -> Ints:
        """The rows of cell c."""
        return self.members[self.start[c] : self.start[c + 1]]

    @classmethod
    def build(cls, X: Singles, size: int, rng: np.random.Generator, n_threads: int) -> Partition:
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


def search_cells(queries: Singles, X: Singles, partition: Partition, width: int, probes: int, n_threads: int) -> Ints:
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
