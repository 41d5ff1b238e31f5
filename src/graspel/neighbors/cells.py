r"""Cells: the sketch of the points divided into cells, to find a near point among few allowed ones.

Neighbor lists come from landmarks (:mod:`graspel.neighbors.landmarks`). To join components, the nearest point *outside*
a component is needed, which may be far beyond all lists. Whole cells (:mod:`graspel.neighbors.partition`) that are too
far from all allowed points are then skipped. Blocks of work are fixed, so the result does not depend on the number of
threads.

References
----------
H. Jegou, M. Douze and C. Schmid. Product quantization for nearest neighbor search. IEEE Transactions on Pattern
Analysis and Machine Intelligence 33, 2011. The inverted file, which searches the cells nearest to a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graspel.data.prepared import Data
from graspel.neighbors.partition import Partition
from graspel.neighbors.products import nearest_rows, squared_distances
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

CELL_POINTS = 128  # approximate number of points in a cell
MAX_CANDIDATES = 1 << 21  # distances of a block of queries that are held in memory: 8 MB
CELL_BLOCK = 256  # cells whose distances to all other cells are held at a time
FIRST_CELLS = 16  # cells searched first for the closest pair; the pair they find rules out most other cells
ROUNDING_FACTOR = 1.001  # factor on a distance that covers the rounding errors of single precision


@dataclass(frozen=True)
class Cells:
    """The points, and a partition of their sketch into cells."""

    points: Data
    partition: Partition

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return self.partition.n_cells

    @classmethod
    def build(cls, points: Data, rng: np.random.Generator) -> Cells:
        """Divide the sketch of the points into cells."""
        announce("nearest neighbors", None, "dividing the points into cells")
        return cls(points, Partition.build(points.sketch, CELL_POINTS, rng, points.n_threads))

    def nearest_outside(
        self, queries: Ints, allowed: NDArray[np.bool_], probes: int, best: float = np.inf
    ) -> tuple[Ints, Ints, Floats]:
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

        def search_group(i: int) -> tuple[Ints, Ints, Floats]:
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
