r"""Points in chunks: a dask array whose rows stay on the machines that hold them.

The array is first rechunked to blocks of a fixed number of rows. All sums are taken block by block on the workers and
added in the order of the blocks, so that no bit depends on how the array was chunked or how many workers there are.
The client holds only the mean, the principal directions and the norm. It fetches the few rows that Steps 3 and 4 and
the certificate need.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from graspel.data.coordinates import Coordinates
from graspel.data.far_rows import FAR, find_median, spread_sample
from graspel.data.fingerprint import describe_fingerprint, sum_hashes
from graspel.data.preparation import SAFE_RANGE, TINY_SHARE, Preparation, power_of_two_unit
from graspel.data.prepared import BLOCK_BYTES, Data
from graspel.data.validation import check_finite
from graspel.graph.edges import edge_keys
from graspel.runtime.optional import import_optional
from graspel.runtime.parallel import one_thread_per_call, row_blocks
from graspel.runtime.types import Floats

CHUNK_VALUES = 1 << 23  # values of a block of rows: 32 MB in single precision


def is_dask_array(X: Any) -> bool:
    """Whether X is a dask array; dask is not imported."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "chunks")


def check_dask_array(X: Any) -> Any:
    """Return X if it is a matrix of known size; its values are checked on the workers."""
    if X.ndim != 2 or not all(np.isfinite(side) for side in X.shape) or X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(
            f"X is a dask array of shape {X.shape}: must be a matrix with at least two rows and known sizes; "
            "X.compute_chunk_sizes() finds them."
        )
    return X


class ChunkedData(Data):
    """The points of a dask array, seen from the client; parameters as those of `Data`.

    Attributes
    ----------
    blocks : list of delayed blocks of rows
    starts : the first row of each block, and the number of all rows
    template : Data without rows, from which a worker makes the points of its rows
    """

    def __init__(self, X: Any, *, metric: str, center: bool, rng: np.random.Generator, n_threads: int) -> None:
        dask = import_optional("dask", "dask", "A dask array")
        self.n_points, self.n_features = (int(side) for side in X.shape)
        height = max(1, CHUNK_VALUES // self.n_features)
        self.X = X.rechunk((height, -1))
        self.blocks = self.X.to_delayed().ravel().tolist()
        self.starts = [block.start for block in row_blocks(self.n_points, height)] + [self.n_points]
        self.metric, self.center, self.n_threads, self._chosen = metric, center, n_threads, None
        self.sparse = None
        self.block = int(np.clip(BLOCK_BYTES // (8 * self.n_features), 1, 4096))
        self._known: tuple[NDArray[np.int64], Floats] | None = None
        measure = dask.delayed(measure_block, pure=True)
        with_start = zip(self.blocks, self.starts, strict=False)
        ranges = dask.compute(*(measure(rows, start) for rows, start in with_start))
        self.preparation = self._choose_preparation(min(r[0] for r in ranges), max(r[1] for r in ranges))
        self.dtype = self.preparation.dtype
        self.spectral_norm, self._sketch_scale, self._axes = 1.0, 1.0, None
        self.mean = self.origin = np.zeros(self.n_features)
        self.mean = self.origin = self._add_blocks(sum_rows) / self.n_points
        self._axes = self._principal_axes(rng)
        gram = self._add_blocks(sum_products)
        norm = float(np.sqrt(max(scipy.linalg.eigvalsh(gram)[-1], 0.0)))
        is_flat = norm <= np.finfo(np.float32).tiny
        self._sketch_scale = 0.0 if is_flat else np.sqrt(self.n_points) / norm
        self.spectral_norm = 1.0 if is_flat else norm
        self.sketch = np.empty((0, len(gram)), dtype=np.float32)  # stays with the rows

    @property
    def template(self) -> Data:
        """Points without rows, prepared like these; small enough to send to every worker."""
        template = Data.__new__(Data)
        left_out = ("X", "blocks", "starts", "_known")
        template.__dict__.update({name: value for name, value in vars(self).items() if name not in left_out})
        template.X, template.n_threads = None, 1
        return template

    def rows(self, index: slice | NDArray[np.integer]) -> NDArray[np.floating]:
        """The chosen rows, fetched to the client in the order of their numbers, each once."""
        if isinstance(index, slice):
            return self.preparation.apply(np.asarray(self.X[index]))
        used, place = np.unique(index, return_inverse=True)
        return self.preparation.apply(np.asarray(self.X[used]))[place]

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs; rows are fetched only for pairs whose distance the workers have not measured."""
        p, q = np.asarray(p), np.asarray(q)
        z = np.full(len(p), np.nan)
        if self._known is not None and len(p):
            keys, (known, known_z) = edge_keys(p, q, self.n_points), self._known
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            z = np.where(known[at] == keys, known_z[at], np.nan) if len(known) else z
        new = np.isnan(z)
        if new.any():
            used, place = np.unique(np.concatenate([p[new], q[new]]), return_inverse=True)
            near = self.template.with_rows(np.asarray(self.X[used]), with_sketch=False)
            z[new] = near.squared_distances(place[: new.sum()], place[new.sum() :])
        return z

    def learn_distances(self, p: NDArray[np.int64], q: NDArray[np.int64], z: Floats) -> None:
        """Keep the distances of pairs that the workers have measured."""
        keys, first = np.unique(edge_keys(p, q, self.n_points), return_index=True)
        self._known = keys, z[first]

    def without_sketch(self) -> ChunkedData:
        """The same: the client has no sketch."""
        return self

    def subset(self, index: NDArray[np.integer]) -> Data:
        """The same: copies of points are told apart by the engine."""
        return self

    def like(self, X: Any) -> Data:
        """Refuse: the points stay on the workers."""
        raise ValueError(
            "new points cannot be compared with the points of a dask array, which stay on the workers; fit an array in "
            "memory or in a file instead."
        )

    def _choose_preparation(self, smallest: float, largest: float) -> Preparation:
        """The preparation of :func:`graspel.data.preparation.find_preparation`; far rows are refused."""
        single = self.X.dtype.itemsize <= 2 or self.X.dtype == np.float32
        has_tiny = smallest < TINY_SHARE * largest
        plain = Preparation(self.metric, self.center, np.float32 if single else np.float64, has_tiny=has_tiny)
        if largest == 0.0 or SAFE_RANGE[0] < largest < SAFE_RANGE[1]:
            return plain
        sample = spread_sample(self.n_points, self.n_features)
        typical = find_median(np.asarray(self.X[sample]).astype(np.float64))[1]
        if self.metric == "euclidean" and largest > FAR * typical > 0:
            raise ValueError(
                f"X has values up to {largest:.1e}, absurdly far from most rows: in a dask array such rows cannot be "
                "told apart. If they are fill values, drop these rows or replace the values."
            )
        return replace(plain, unit=power_of_two_unit(largest))

    def _add_blocks(self, work: Any) -> Any:
        """The sum of work(block, template) over all blocks, in their order."""
        import dask

        template, task = dask.delayed(self.template), dask.delayed(work, pure=True)
        results = dask.compute(*(task(rows, template) for rows in self.blocks))
        total = results[0]
        for result in results[1:]:
            total = total + result
        return total


def chunked_fingerprint(X: Any) -> str:
    """The fingerprint of a dask array; it is that of the same matrix in memory."""
    import dask

    X = X.rechunk((max(1, CHUNK_VALUES // max(1, X.shape[1])), -1))
    blocks, starts = X.to_delayed().ravel().tolist(), np.cumsum([0, *X.chunks[0]]).tolist()
    task = dask.delayed(sum_hashes, pure=True)
    sums = dask.compute(*(task(rows, start, np.uint64(0)) for rows, start in zip(blocks, starts, strict=False)))
    return describe_fingerprint(np.uint64(sum(map(int, sums)) % 2**64), X.shape, X.dtype)


def measure_block(rows: NDArray[Any], start: int) -> tuple[float, float]:
    """The smallest positive and the largest absolute value of a block."""
    if rows.dtype.kind not in "buif":
        raise ValueError(f"X holds values of type {rows.dtype}: all must be real numbers. Convert it first.")
    check_finite(rows, start)
    values = np.abs(rows.astype(np.float64))
    smallest = float(values.min(initial=np.inf, where=values > 0))
    return smallest, float(values.max(initial=0.0))


def sum_rows(rows: NDArray[Any], template: Data) -> Floats:
    """The sum of the prepared rows of a block."""
    with one_thread_per_call():
        points = template.with_rows(np.asarray(rows), with_sketch=False)
        return np.asarray(points._blockwise_mean() * points.n_points)


def sum_products(rows: NDArray[Any], template: Data) -> Floats:
    """C'C of the coordinates of a block."""
    with one_thread_per_call():
        coordinates: Coordinates = template.with_rows(np.asarray(rows), with_sketch=False)._coordinates()
        return coordinates.gram
