r"""Cells: the sketch of the points cut into parts, for finding near points without looking at all.

Each point looks into the cells whose centers are nearest to it (:mod:`graspel.neighbors.partition`). Blocks of work are
fixed, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.partition import Partition, search
from graspel.neighbors.products import nearest_rows, squared_distances
from graspel.points.prepared import Points
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CELL = 128  # points in a cell, about
HELD = 1 << 21  # candidates held at a time, at the least
HELD_PER_POINT = 16  # ... and for many points: fewer, larger blocks of work
BLOCK = 256  # cells whose distances to all others are held at a time
ASKED_FIRST = 16  # cells that look for the closest pair first; what they find spares most others the search
ROUNDING = 1.001  # of distances in single precision


@dataclass(frozen=True)
class Cells:
    """The sketch of some points, partitioned."""

    points: Points
    partition: Partition

    @property
    def number(self) -> int:
        """How many cells there are."""
        return self.partition.number

    @classmethod
    def of(cls, points: Points, rng: np.random.Generator) -> Cells:
        """Cut the sketch of the points into cells."""
        announce("nearest neighbors", None, "cutting the space into cells")
        return cls(points, Partition.of(points.sketch, CELL, rng, points.n_threads))

    def search(self, queries: Ints, width: int, probes: int) -> Ints:
        """For each query about the `width` nearest points (itself among them, -1 where fewer were found)."""
        sketch, n_threads = self.points.sketch, self.points.n_threads
        found = np.empty((len(queries), width), dtype=np.int64)
        held = max(HELD, HELD_PER_POINT * self.points.n_points)
        for part in row_blocks(len(queries), max(1, held // (probes * width))):
            found[part] = search(sketch[queries[part]], sketch, self.partition, width, probes, n_threads)
        return found

    def nearest_outside(
        self, queries: Ints, allowed: NDArray[np.bool_], probes: int, best: float = np.inf
    ) -> tuple[Ints, Ints, Floats]:
        """For each query a near allowed point, from the `probes` nearest cells that hold one: queries, points, z_data.

        Queries of one cell go together. Left out are cells all of whose points are farther from any allowed point than
        the closest pair known, of z_data = `best` or found on the way: the cells nearest to allowed points go first.
        """
        order = np.argsort(self._home[queries], kind="stable")
        asking, first = np.unique(self._home[queries][order], return_index=True)
        groups = np.split(queries[order], first[1:])
        pools = [pool[allowed[pool]] for pool in map(self.partition.part, range(self.number))]
        useful = np.flatnonzero([len(pool) > 0 for pool in pools])
        gaps, nearest = self._nearest_cells(asking, useful, probes)

        def ask(i: int) -> tuple[Ints, Ints, Floats]:
            group, pool = groups[i], np.concatenate([pools[cell] for cell in nearest[i]])
            sketch, center = self.points.sketch, self.partition.centers[asking[i]]
            found = pool[nearest_rows(sketch[group] - center, sketch[pool] - center, 1)[1][:, 0]]
            return group, found, self.points.squared_distances(group, found)

        by_gap = np.argsort(gaps, kind="stable")
        answers = list(map_blocks(ask, by_gap[:ASKED_FIRST].tolist(), self.points.n_threads))
        best = min(best, *(float(z.min()) for _, _, z in answers))
        could_be_closer = gaps[by_gap] <= ROUNDING * np.sqrt(best * self.points.n_points)  # the sketch is |x| sqrt(N)
        rest = by_gap[ASKED_FIRST:][could_be_closer[ASKED_FIRST:]]
        answers += map_blocks(ask, rest.tolist(), self.points.n_threads)
        p, q, z = (np.concatenate(column) for column in zip(*answers, strict=True))
        return p, q, z

    def _nearest_cells(self, asking: Ints, useful: Ints, probes: int) -> tuple[Floats, Ints]:
        """For each asking cell: how far its points are at least from those of useful cells, and the nearest cells."""
        centers, radii = self.partition.centers, self._radii
        gaps = np.empty(len(asking))
        nearest = np.empty((len(asking), min(probes, len(useful))), dtype=np.int64)

        def work(block: slice) -> None:
            D = squared_distances(centers[asking[block]], centers[useful])
            nearest[block] = useful[np.argpartition(D, nearest.shape[1] - 1, axis=1)[:, : nearest.shape[1]]]
            gaps[block] = (np.sqrt(np.maximum(D, 0)) - radii[useful]).min(axis=1) - radii[asking[block]]

        run_blocks(work, row_blocks(len(asking), BLOCK), self.points.n_threads)
        return gaps, nearest

    @cached_property
    def _home(self) -> Ints:
        """The cell of every point."""
        home = np.empty(self.points.n_points, dtype=np.int64)
        home[self.partition.members] = np.repeat(np.arange(self.number), np.diff(self.partition.start))
        return home

    @cached_property
    def _radii(self) -> Floats:
        """How far the points of each cell are from its center, at most."""
        sketch, centers, radii = self.points.sketch, self.partition.centers, np.zeros(self.number)

        def work(cell: int) -> None:
            off = sketch[self.partition.part(cell)] - centers[cell]
            radii[cell] = np.sqrt(np.einsum("ij,ij->i", off, off).max(initial=0.0))

        run_blocks(work, range(self.number), self.points.n_threads)
        return radii
