r"""Partition: rows cut into parts of about equal size, each around a center, in nearly linear time.

Flat k-means with K centers costs N K. Here the rows are first cut into sqrt(K) regions, and centers are placed in
every region, each by a few rounds of Lloyd's iteration on a sample: N sqrt(K). Then every row goes to the nearest
center of all; where there are many centers, they are partitioned themselves to find it. Random numbers are drawn
per region, so regions may be cut in any order, by any thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.products import near_rows, nearest_rows
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks

Ints = NDArray[np.int64]
Rows = NDArray[np.float32]

SAMPLE = 32  # rows per center that Lloyd's iteration sees
ROUNDS = 8
MANY_CENTERS = 2048  # beyond this, centers are partitioned too
REGION_PROBES = 6  # regions of centers that a row looks into
BLOCK = 1024


@dataclass(frozen=True)
class Partition:
    """Parts of a set of rows: centers, and the rows of part c as ``members[start[c]:start[c + 1]]``."""

    centers: Rows
    members: Ints
    start: Ints
    regions: Partition | None  # of the centers, where there are many

    @property
    def number(self) -> int:
        """How many parts there are."""
        return len(self.centers)

    def part(self, c: int) -> Ints:
        """The rows of part c."""
        return self.members[self.start[c] : self.start[c + 1]]

    @classmethod
    def of(cls, X: Rows, size: int, rng: np.random.Generator, n_threads: int) -> Partition:
        """Cut the rows of X into parts of about `size` rows."""
        n_regions = max(1, int(np.sqrt(len(X) / size)))
        sample = X[rng.choice(len(X), min(len(X), 4 * SAMPLE * n_regions), replace=False)]
        region = assigned(X, lloyd(sample, n_regions, rng), n_threads)
        order = np.argsort(region, kind="stable")
        rows_of_regions = np.split(order, np.searchsorted(region[order], np.arange(1, n_regions)))
        seeds = rng.integers(2**63, size=n_regions)

        def cut(number: int) -> Rows:
            rows, own = rows_of_regions[number], np.random.default_rng(seeds[number])
            if not len(rows):
                return X[:0]
            k = max(1, round(len(rows) / size))
            chosen = own.choice(len(rows), min(len(rows), SAMPLE * k), replace=False)
            return lloyd(X[rows[chosen]], k, own)

        centers = np.concatenate(list(map_blocks(cut, range(n_regions), n_threads)))
        many = len(centers) > MANY_CENTERS
        regions = cls.of(centers, int(np.sqrt(len(centers))), rng, n_threads) if many else None
        unfilled = cls(centers, np.empty(0, dtype=np.int64), np.zeros(len(centers) + 1, dtype=np.int64), regions)
        part = unfilled.nearest_parts(X, 1, n_threads)[:, 0]
        members = np.argsort(part, kind="stable")
        return cls(centers, members, np.searchsorted(part[members], np.arange(len(centers) + 1)), regions)

    def nearest_parts(self, queries: Rows, k: int, n_threads: int) -> Ints:
        """The k parts whose centers are nearest to each query, in no order (-1 where fewer were found)."""
        if self.regions is not None:
            return search(queries, self.centers, self.regions, k, REGION_PROBES, n_threads)
        found = np.empty((len(queries), k), dtype=np.int64)

        def work(block: slice) -> None:
            found[block] = near_rows(queries[block], self.centers, k)[1]

        run_blocks(work, row_blocks(len(queries), BLOCK), n_threads)
        return found


def search(queries: Rows, X: Rows, partition: Partition, width: int, probes: int, n_threads: int) -> Ints:
    """For each query about the `width` nearest rows of X, from the `probes` parts nearest to it; -1 where too few.

    All queries that look into a part are compared with its rows in one product, about the part's center, so that
    rows far from the origin lose no precision.
    """
    probes, n = min(probes, partition.number), len(queries)
    parts = partition.nearest_parts(queries, probes, n_threads)
    slots = np.argsort(parts, axis=None, kind="stable")  # slot = query * probes + which of its parts
    start = np.searchsorted(parts.ravel()[slots], np.arange(partition.number + 1))
    D = np.full((n * probes, width), np.inf, dtype=np.float32)  # a part may hold all the nearest
    found = np.full((n * probes, width), -1, dtype=np.int32)

    def look_into(c: int) -> None:
        rows, asking = partition.part(c), slots[start[c] : start[c + 1]]
        k = min(width, len(rows))
        if k and len(asking):
            center = partition.centers[c]
            D[asking, :k], index = near_rows(queries[asking // probes] - center, X[rows] - center, k)
            found[asking, :k] = rows[index]

    run_blocks(look_into, range(partition.number), n_threads)
    D, found = D.reshape(n, -1), found.reshape(n, -1)
    if D.shape[1] <= width:
        return np.pad(found, ((0, 0), (0, width - D.shape[1])), constant_values=-1).astype(np.int64)
    result = np.empty((n, width), dtype=np.int64)

    def merge(block: slice) -> None:
        nearest = np.argpartition(D[block], width - 1, axis=1)[:, :width]
        result[block] = np.take_along_axis(found[block], nearest, axis=1)

    run_blocks(merge, row_blocks(n, BLOCK), n_threads)
    return result


def lloyd(X: Rows, k: int, rng: np.random.Generator) -> Rows:
    """EmbeddedGraph k centers by a few rounds of Lloyd's iteration from random rows.

    A center that loses all its rows stays where it is.
    """
    centers = X[rng.choice(len(X), min(k, len(X)), replace=False)].copy()
    for _ in range(ROUNDS):
        centers = means(X, assigned(X, centers, 1), centers)
    return centers


def means(X: Rows, label: Ints, centers: Rows) -> Rows:
    """The mean of the rows of each label; a label without rows keeps its center."""
    order = np.argsort(label, kind="stable")
    used, first = np.unique(label[order], return_index=True)
    sizes = np.diff(np.append(first, len(X)))
    centers = centers.copy()
    centers[used] = np.add.reduceat(X[order], first, axis=0) / sizes[:, None].astype(np.float32)
    return centers


def assigned(X: Rows, centers: Rows, n_threads: int) -> Ints:
    """The nearest center of every row."""
    label = np.empty(len(X), dtype=np.int64)

    def work(block: slice) -> None:
        label[block] = nearest_rows(X[block], centers, 1)[1][:, 0]

    run_blocks(work, row_blocks(len(X), BLOCK), n_threads)
    return label
