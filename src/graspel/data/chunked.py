r"""Points in chunks: a dask array whose rows stay on the machines that hold them.

The array is first rechunked to blocks of a fixed number of rows. All sums are taken block by block on the workers and
added in the order of the blocks, so that no bit depends on how the array was chunked or how many workers there are.
The client holds only the frame of reference, from which a worker makes the points of its rows, and fetches the few rows
that Steps 3 and 4 and the certificate need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graspel.data.dense import Coordinates, DenseData
from graspel.data.fingerprint import rows_differ
from graspel.data.preparation import Preparation, choose_unit
from graspel.data.principal import principal_directions
from graspel.data.products import table_between
from graspel.data.protocol import PairTable
from graspel.data.rows import Frame, FramedData
from graspel.data.validation import check_finite
from graspel.graph.edges import edge_keys
from graspel.runtime.optional import import_optional
from graspel.runtime.parallel import one_thread_per_call, row_blocks
from graspel.runtime.types import Bools, Floats, Ints

CHUNK_VALUES = 1 << 23  # values of a block of rows: 32 MB in single precision
FETCHED = 1 << 16  # rows that the client fetches at a time, to compare those whose numbers are equal


@dataclass
class KnownDistances:
    """Pairs whose distances the workers have measured: their keys, sorted, and z_data."""

    keys: Ints
    z: Floats

    def find(self, keys: Ints) -> Floats:
        """z_data of the pairs of these keys; NaN where it is not known."""
        if not len(self.keys):
            return np.full(len(keys), np.nan)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.z[at], np.nan)


@dataclass(frozen=True, eq=False)
class ChunkedData(FramedData):
    """The points of a dask array, in blocks of a fixed number of rows, seen from the client.

    Parameters
    ----------
    blocks : list of delayed blocks of rows
    starts : the first row of each block, and the number of all rows
    """

    blocks: list[Any]
    starts: list[int]
    measured: KnownDistances = field(default_factory=lambda: KnownDistances(np.empty(0, dtype=np.int64), np.empty(0)))

    is_local = False

    @classmethod
    def prepare(cls, X: Any, metric: str, rng: np.random.Generator | None = None, n_threads: int = 1) -> ChunkedData:
        """The points of a dask array: the workers measure their frame of reference, and check their values."""
        import_optional("dask", "dask", "A dask array")
        n, n_features = (int(side) for side in X.shape)
        height = max(1, CHUNK_VALUES // n_features)
        X = X.rechunk((height, -1))
        starts = [block.start for block in row_blocks(n, height)] + [n]
        frame, blocks = Frame(Preparation(metric), np.zeros(n_features)), X.to_delayed().ravel().tolist()
        points = cls(X, frame, blocks, starts, n_threads=n_threads)
        smallest, largest = points._find_range()
        preparation, median, _ = choose_unit(X, metric, smallest, largest)
        if median is not None:
            raise ValueError(
                f"X has values up to {largest:.1e}, absurdly far from most rows: in a dask array such rows cannot be "
                "told apart. If they are fill values, drop these rows or replace the values."
            )
        points = points._with(preparation=preparation)
        points = points._with(origin=points._add_blocks(sum_rows) / n)
        rng = rng or np.random.default_rng(0)
        axes = principal_directions(n, n_features, lambda sample: points.fetch(sample).centered_rows(slice(None)), rng)
        points = points._with(axes=axes if axes is None else axes.astype(points.frame.preparation.dtype))
        return replace(points, frame=points.frame.scaled_to(points._add_blocks(sum_products), n))

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self.starts[-1]

    def fetch(self, index: Ints) -> DenseData:
        """Some of the points on the client, without a sketch; each row is fetched once."""
        used, place = np.unique(index, return_inverse=True)
        return DenseData(np.asarray(self.X[used]), self.frame, chosen=place)

    def rows(self, index: Any) -> NDArray[Any]:
        """The chosen rows, fetched to the client."""
        return self.fetch(np.arange(self.n_points)[index] if isinstance(index, slice) else index).rows(slice(None))

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs; rows are fetched only for pairs whose distance the workers have not measured."""
        p, q = np.asarray(p), np.asarray(q)
        z = self.measured.find(edge_keys(p, q, self.n_points))
        new = np.isnan(z)
        if new.any():
            used, place = np.unique(np.concatenate([p[new], q[new]]), return_inverse=True)
            z[new] = self.fetch(used).squared_distances(place[: new.sum()], place[new.sum() :])
        return z

    def table_to(self, nodes: Ints) -> Callable[[Ints], PairTable]:
        """A function from other points to the table of z_data between them and these, in single precision."""

        def read(index: Ints) -> NDArray[Any]:
            return self.fetch(index).product_rows(slice(None))

        return table_between(read(nodes), read, self.frame.spectral_norm)

    def numbers(self) -> NDArray[np.uint64]:
        """One number for each point, from the workers; equal points have equal numbers."""
        import dask

        task = dask.delayed(number_rows, pure=True)
        return np.concatenate(dask.compute(*(task(rows, dask.delayed(self.frame)) for rows in self.blocks)))

    def differ(self, p: Ints, q: Ints) -> Bools:
        """Whether the points p_i and q_i differ in any value."""
        return rows_differ(self.rows, p, q, FETCHED)

    def released(self) -> ChunkedData:
        """These points: the client holds nothing beside them."""
        return self

    def learn_distances(self, p: Ints, q: Ints, z: Floats) -> None:
        """Keep the distances of pairs that the workers have measured."""
        self.measured.keys, first = np.unique(edge_keys(p, q, self.n_points), return_index=True)
        self.measured.z = z[first]

    def _with(self, **changed: Any) -> ChunkedData:
        """The same with another frame of reference."""
        return replace(self, frame=replace(self.frame, **changed))

    def _find_range(self) -> tuple[float, float]:
        """The smallest positive and the largest absolute value."""
        import dask

        task = dask.delayed(measure_block, pure=True)
        ranges = dask.compute(*(task(rows, start) for rows, start in zip(self.blocks, self.starts, strict=False)))
        return min(r[0] for r in ranges), max(r[1] for r in ranges)

    def _add_blocks(self, work: Any) -> Any:
        """The sum of work(block, frame) over all blocks, in their order."""
        import dask

        frame, task = dask.delayed(self.frame), dask.delayed(work, pure=True)
        results = dask.compute(*(task(rows, frame) for rows in self.blocks))
        total = results[0]
        for result in results[1:]:
            total = total + result
        return total


def measure_block(rows: NDArray[Any], start: int) -> tuple[float, float]:
    """The smallest positive and the largest absolute value of a block."""
    if rows.dtype.kind not in "buif":
        raise ValueError(f"X holds values of type {rows.dtype}: all must be real numbers. Convert it first.")
    check_finite(rows, start)
    values = np.abs(rows.astype(np.float64))
    smallest = float(values.min(initial=np.inf, where=values > 0))
    return smallest, float(values.max(initial=0.0))


def sum_rows(rows: NDArray[Any], frame: Frame) -> Floats:
    """The sum of the prepared rows of a block."""
    with one_thread_per_call():
        points = DenseData(np.asarray(rows), frame)
        return np.asarray(points.mean() * points.n_points)


def sum_products(rows: NDArray[Any], frame: Frame) -> Floats:
    """C'C of the coordinates of a block."""
    with one_thread_per_call():
        coordinates: Coordinates = DenseData(np.asarray(rows), frame).coordinates_of_all()
        return coordinates.gram


def number_rows(rows: NDArray[Any], frame: Frame) -> NDArray[np.uint64]:
    """One number for each prepared row of a block."""
    return DenseData(np.asarray(rows), frame).numbers()
