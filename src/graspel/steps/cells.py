r"""Cells: the space of the sketch cut up around k-means centres, for finding near points without looking at all.

Each point looks into the cells whose centres are nearest to it. The work is arranged cell by cell, not point by point: all points
that look into a cell are compared with its members in one matrix product. Coordinates are taken about the cell's centre, so
that a cluster far from the origin loses no precision. Blocks are fixed and centres come from one thread, so the
result does not depend on the number of threads.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.parallel import map_blocks, row_blocks
from graspel.progress import report
from graspel.steps.prepare import Points
from graspel.steps.products import nearest_rows

Ints = NDArray[np.int64]

TRAINING_POINTS = 32  # per centre
TRAINING_ROUNDS = 8
LIST = 8  # candidates taken from one cell, for lists of up to twice that
QUERIES = 1 << 17


@dataclass(frozen=True)
class Cells:
    """Cells of the sketch: centres, and the members of cell c as ``members[start[c]:start[c + 1]]``."""

    points: Points
    centres: NDArray[np.float32]
    members: Ints
    start: Ints

    @property
    def number(self) -> int:
        """How many cells there are."""
        return len(self.centres)

    @classmethod
    def of(cls, points: Points, rng: np.random.Generator) -> Cells:
        """Cut the sketch of the points into about 2 sqrt(N) cells."""
        report("nearest neighbours", 0.0, "cutting the space into cells")
        number = max(1, int(2 * np.sqrt(points.n_points)))
        centres = _kmeans_centres(points.sketch, number, rng)
        cell = _nearest_centres(points, centres, 1)[:, 0]
        members = np.argsort(cell, kind="stable")
        return cls(points, centres, members, np.searchsorted(cell[members], np.arange(len(centres) + 1)))

    def search(self, width: int, probes: int) -> Ints:
        """For every point, `width` near points (itself among them, -1 where fewer were found), from `probes` cells."""
        probes = min(probes, self.number)
        n = self.points.n_points
        result = np.empty((n, width), dtype=np.int64)
        for queries in row_blocks(n, QUERIES):
            report("nearest neighbours", 0.5 * queries.start / n, "comparing points cell by cell")
            result[queries] = self._search_block(queries, width, probes)
        return result

    def _search_block(self, queries: slice, width: int, probes: int) -> Ints:
        sketch, per_cell = self.points.sketch, min(width, max(LIST, width // 2))
        opened = _nearest_centres(self.points, self.centres, probes, queries)
        n = len(opened)
        slots = np.argsort(opened, axis=None, kind="stable")  # slot = query * probes + rank of the cell for it
        slot_start = np.searchsorted(opened.ravel()[slots], np.arange(self.number + 1))
        D = np.full((n * probes, per_cell), np.inf, dtype=np.float32)
        found = np.full((n * probes, per_cell), -1, dtype=np.int32)

        def look_into(cell: int) -> None:
            inside = self.members[self.start[cell] : self.start[cell + 1]]
            asking = slots[slot_start[cell] : slot_start[cell + 1]]
            k = min(per_cell, len(inside))
            if k and len(asking):
                centre = self.centres[cell]
                near, index = nearest_rows(sketch[queries][asking // probes] - centre, sketch[inside] - centre, k)
                D[asking, :k], found[asking, :k] = near, inside[index]

        for _ in map_blocks(look_into, range(self.number), self.points.n_threads):
            pass
        D, found = D.reshape(n, -1), found.reshape(n, -1)
        if D.shape[1] <= width:
            return np.pad(found, ((0, 0), (0, width - D.shape[1])), constant_values=-1)
        nearest = np.argpartition(D, width - 1, axis=1)[:, :width]
        return np.take_along_axis(found, nearest, axis=1)

    def nearest_outside(
        self, queries: Ints, allowed: NDArray[np.bool_], probes: int
    ) -> tuple[Ints, Ints, NDArray[np.float64]]:
        """For each query the nearest allowed point in the `probes` nearest cells that hold one: queries, points, z_data.

        Queries of one cell go together: the cells opened are those nearest to its centre.
        """
        sketch = self.points.sketch
        pools = [self.members[a:b] for a, b in zip(self.start[:-1], self.start[1:], strict=True)]
        pools = [pool[allowed[pool]] for pool in pools]
        useful = np.flatnonzero([len(pool) > 0 for pool in pools])
        home = _nearest_centres(self.points.subset(queries), self.centres, 1)[:, 0]
        groups = [queries[home == cell] for cell in np.unique(home)]

        def ask(group: Ints) -> Ints:
            centre = sketch[group].mean(axis=0, keepdims=True)
            nearest = nearest_rows(centre, self.centres[useful], min(probes, len(useful)))[1][0]
            pool = np.concatenate([pools[useful[i]] for i in nearest])
            return pool[nearest_rows(sketch[group] - centre, sketch[pool] - centre, 1)[1][:, 0]]

        asked = np.concatenate(groups)
        found = np.concatenate(list(map_blocks(ask, groups, self.points.n_threads)))
        return asked, found, self.points.squared_distances(asked, found)


def _kmeans_centres(sketch: NDArray[np.float32], number: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """A few rounds of k-means on a sample: cells need not be good, only even."""
    from sklearn.cluster import KMeans

    sample = rng.choice(len(sketch), min(len(sketch), TRAINING_POINTS * number), replace=False)
    seed = int(rng.integers(2**31))
    kmeans = KMeans(number, init="random", n_init=1, max_iter=TRAINING_ROUNDS, tol=0.0, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than centres: some cells stay empty
        return kmeans.fit(sketch[sample]).cluster_centers_


def _nearest_centres(points: Points, centres: NDArray[np.float32], k: int, queries: slice = slice(None)) -> Ints:
    """The k nearest centres of each queried point."""
    sketch = points.sketch[queries]
    result = np.empty((len(sketch), k), dtype=np.int64)

    def work(part: slice) -> None:
        result[part] = nearest_rows(sketch[part], centres, k)[1]

    points.run(work, row_blocks(len(sketch), 1024))
    return result
