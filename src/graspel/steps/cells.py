r"""Cells: the sketch of the points cut into parts, for finding near points without looking at all.

Each point looks into the cells whose centres are nearest to it (:mod:`graspel.steps.partition`). Blocks of work are
fixed, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.parallel import map_blocks, row_blocks
from graspel.progress import report
from graspel.steps.partition import Partition, search
from graspel.steps.prepare import Points
from graspel.steps.products import nearest_rows

Ints = NDArray[np.int64]

CELL = 128  # points in a cell, about
HELD = 1 << 21  # candidates held at a time, at the least
HELD_PER_POINT = 16  # ... and for many points: fewer, larger blocks of work


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
        report("nearest neighbours", None, "cutting the space into cells")
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
        self, queries: Ints, allowed: NDArray[np.bool_], probes: int
    ) -> tuple[Ints, Ints, NDArray[np.float64]]:
        """For each query a near allowed point, from the `probes` nearest cells that hold one: queries, points, z_data.

        Queries of one cell go together: the cells opened are those nearest to their mean.
        """
        sketch, partition, n_threads = self.points.sketch, self.partition, self.points.n_threads
        pools = [pool[allowed[pool]] for pool in map(partition.part, range(partition.number))]
        useful = np.flatnonzero([len(pool) > 0 for pool in pools])
        home = partition.nearest_parts(sketch[queries], 1, n_threads)[:, 0]
        groups = [queries[home == cell] for cell in np.unique(home)]

        def ask(group: Ints) -> Ints:
            centre = sketch[group].mean(axis=0, keepdims=True)
            nearest = nearest_rows(centre, partition.centres[useful], min(probes, len(useful)))[1][0]
            pool = np.concatenate([pools[useful[i]] for i in nearest])
            return pool[nearest_rows(sketch[group] - centre, sketch[pool] - centre, 1)[1][:, 0]]

        asked = np.concatenate(groups)
        found = np.concatenate(list(map_blocks(ask, groups, n_threads)))
        return asked, found, self.points.squared_distances(asked, found)
