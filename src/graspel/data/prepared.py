r"""Step 0, prepare: the data points, and z_data(p, q) = |x_p - x_q|^2 / M between them.

Dense points are never copied. Rows are read in blocks and prepared (:mod:`graspel.data.preparation`). The values of
a sparse matrix are prepared at once, and no row is made dense (:mod:`graspel.data.sparse_rows`). All rows are then
divided by the spectral norm of X - mean over sqrt(M), where mean is the mean row, so that sigma and the tolerances mean
the same on every data set:

    z_data(p, q) = |x_p - x_q|^2 / |X - mean|_2^2.

A *sketch* holds the points in few dimensions: their coordinates along the leading principal directions. Distances in
the sketch never exceed those between the points. The sketch is used to find candidates, whose distances
:meth:`Data.squared_distances` then computes exactly.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, equation (12) and footnote 1.

N. Halko, P.-G. Martinsson and J. A. Tropp. Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions. SIAM Review 53, 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import randomized_svd

from graspel.data.coordinates import Coordinates
from graspel.data.preparation import dense_rows, find_preparation
from graspel.data.sparse_rows import can_stay_sparse, centered_norm, pair_distances, prepare_sparse_rows
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.types import Floats

METRICS = ("euclidean", "cosine")
SKETCH_DIMENSIONS = 128  # principal directions in the sketch of data with more features than MAX_SKETCH_FEATURES
MOST_SKETCH_DIMENSIONS = 256  # and at most so many, where more are needed for SKETCH_VARIANCE
SKETCH_VARIANCE = 0.9  # share of the variance in the sketch: with less it loses some of the nearest neighbors
MAX_SKETCH_FEATURES = 128  # number of features up to which the sketch keeps all of them
MAX_GRAM_FEATURES = 1024  # number of features up to which the directions come from their products, which is faster
SKETCH_SAMPLE = 8192  # largest number of rows that the principal directions are computed from
COMPILED_WORK = 1 << 27  # differences from which loading the compiled kernel pays: a second in numpy
COMPILED_ROWS = 1 << 14  # rows listed in one block of the compiled kernel, which reads each of them once
SPARSE_PAIRS = 1 << 16  # pairs of sparse rows that are measured together
BLOCK_BYTES = 1 << 22  # size of a block of rows in double precision: small enough for the cache


class Data:
    """The prepared data points: rows of X and distances between them, without a copy of X.

    Parameters
    ----------
    X : array or CSR array (N x M), finite numbers
    metric : "euclidean" or "cosine"
    center : bool, subtract each row's mean
    rng : numpy Generator
    n_threads : int

    Examples
    --------
    >>> import numpy as np
    >>> points = Data(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    >>> z = points.squared_distances([0, 0], [1, 2])
    >>> round(float(z[0] / z[1]), 6)
    25.0
    """

    def __init__(
        self,
        X: Any,
        *,
        metric: str = "euclidean",
        center: bool = False,
        rng: np.random.Generator | None = None,
        n_threads: int = 1,
    ) -> None:
        self.X = X
        self.n_points, self.n_features = X.shape
        self.metric, self.center, self.n_threads = metric, center, n_threads
        self.block = int(np.clip(BLOCK_BYTES // (8 * self.n_features), 1, 4096))
        self.preparation = find_preparation(X, metric, center, self.block)
        self.dtype = self.preparation.dtype
        self._chosen: NDArray[np.integer] | None = None  # the rows of X that are points; None for all
        # A sparse matrix stays sparse: its prepared rows, as many values as X has. None for all other matrices.
        self.sparse = prepare_sparse_rows(X, self.preparation) if can_stay_sparse(X, self.preparation) else None
        self.mean = self._blockwise_mean()
        # Products are taken about the origin. Far rows drag the mean away from all others, but not the median.
        middle = self.preparation.middle
        self.origin = self.mean if middle is None else middle
        rng = rng or np.random.default_rng(0)
        self._sketch_scale = 1.0
        if self.sparse is not None:  # its search needs no sketch
            norm = centered_norm(self.sparse, self.mean, rng)
            self.sketch = np.empty((self.n_points, 0), dtype=np.float32)
            self.spectral_norm = norm if norm > np.finfo(np.float32).tiny else 1.0
            return
        self._axes = self._principal_axes(rng)
        self.sketch, self.spectral_norm = self._principal_coordinates()

    def rows(self, index: slice | NDArray[np.integer]) -> NDArray[np.floating]:
        """The chosen rows as a new dense block, scaled, and centered or normalized if asked for."""
        if self.sparse is not None:
            return self.sparse[index].toarray()
        index = index if self._chosen is None else self._chosen[index]
        return self.preparation.apply(dense_rows(self.X, index), copy=isinstance(index, slice))

    def centered_rows(self, index: slice | NDArray[np.integer], dtype: type = np.float32) -> NDArray[Any]:
        """The chosen rows minus the origin: distances stay the same, and products of rows lose fewer digits."""
        block = self.rows(index)
        block -= self.origin.astype(self.dtype)
        return np.ascontiguousarray(block, dtype=dtype)

    def product_rows(self, index: slice | NDArray[np.integer], dtype: type = np.float32) -> Any:
        """The chosen rows for products: dense and minus the origin, or sparse and as they are."""
        return self.centered_rows(index, dtype) if self.sparse is None else self.sparse[index].astype(dtype)

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i), computed from differences: exactly zero for equal rows, no cancellation."""
        p, q = np.asarray(p), np.asarray(q)
        z = np.empty(len(p))

        def work(block: slice) -> None:
            if self.sparse is not None:
                z[block] = pair_distances(self.sparse, p[block], self.sparse, q[block])
                return
            difference = self.rows(p[block])
            difference -= self.rows(q[block])
            z[block] = np.einsum("ij,ij->i", difference, difference)

        self.run(work, row_blocks(len(p), self.block if self.sparse is None else SPARSE_PAIRS))
        return z / self._norm_squared

    def squared_distances_to(
        self, p: NDArray[np.integer], Q: NDArray[np.integer], asking: Data | None = None, *, compiled: bool = False
    ) -> Floats:
        """z_data between point p_i of `asking` (default: these points) and each of Q_i1, ..., Q_ik, as a matrix."""
        asking = asking or self
        if self.sparse is not None:
            return self._sparse_distances(p, Q, asking)
        compiled = compiled or Q.size * self.n_features > COMPILED_WORK
        z = np.empty(Q.shape)
        work = self._distances_by_kernel if compiled else self._distances_by_numpy
        self.run(
            lambda block: work(p[block], Q[block], asking, z[block]),
            row_blocks(len(p), max(1, (COMPILED_ROWS if compiled else self.block) // Q.shape[1])),
        )
        return z / self._norm_squared

    def _sparse_distances(self, p: NDArray[Any], Q: NDArray[Any], asking: Data) -> Floats:
        """z_data between listed rows of sparse matrices."""
        z = np.empty(Q.shape)

        def work(block: slice) -> None:
            owners = np.repeat(p[block], Q.shape[1])
            z[block] = pair_distances(asking.sparse, owners, self.sparse, Q[block].ravel()).reshape(z[block].shape)

        self.run(work, row_blocks(len(p), max(1, SPARSE_PAIRS // Q.shape[1])))
        return z / self._norm_squared

    def _distances_by_numpy(self, p: NDArray[Any], Q: NDArray[Any], asking: Data, z: Floats) -> None:
        """Squared distances between listed rows of one block: the slow twin of the compiled kernel."""
        difference = self.rows(Q.ravel()).reshape(*Q.shape, self.n_features)
        difference -= asking.rows(p)[:, None]
        z[:] = np.einsum("ijk,ijk->ij", difference, difference)

    def _distances_by_kernel(self, p: NDArray[Any], Q: NDArray[Any], asking: Data, z: Floats) -> None:
        """The same by the compiled kernel, which reads every row that is listed more than once only once."""
        from graspel.kernels.distances import listed_distances

        used, local = np.unique(Q, return_inverse=True)
        listed_distances(asking.rows(p), self.rows(used), local.reshape(Q.shape), z)

    def subset(self, index: NDArray[np.integer]) -> Data:
        """Some of the points, prepared in the same way: scale, origin and sketch are those of all points."""
        subset = copy(self)
        subset._chosen = index if self._chosen is None else self._chosen[index]
        subset.n_points = len(index)
        subset.sketch = self.sketch[index]
        subset.sparse = None if self.sparse is None else self.sparse[index]
        return subset

    def magnify(self, index: NDArray[np.integer]) -> Data:
        """Some of the points, about an origin of their own and with a sketch in the scale of their own distances."""
        subset = copy(self)
        subset._chosen = index if self._chosen is None else self._chosen[index]
        subset.n_points = len(index)
        subset.origin = subset._blockwise_mean()
        coordinates = subset._coordinates()
        spread = float(np.sqrt(np.trace(coordinates.gram) / len(index)))
        subset._sketch_scale = 1 / spread if spread > 0 else 0.0
        subset.sketch = coordinates.scaled(subset._sketch_scale)
        return subset

    def sketch_distance(self, z: ArrayLike) -> Any:
        """The distance in the sketch that belongs to z_data; the sketch may shorten it."""
        return np.sqrt(z) * self.spectral_norm * self._sketch_scale

    def like(self, X: Any) -> Data:
        """Other points with the same features, prepared in the same way, for comparing them with these."""
        others = copy(self)
        others.X, others._chosen, others.n_points = X, None, X.shape[0]
        others.preparation = replace(self.preparation, cut=True)
        if self.sparse is not None:
            others.sparse = prepare_sparse_rows(X, others.preparation)
            others.sketch = np.empty((others.n_points, 0), dtype=np.float32)
            return others
        others.sketch = others._coordinates().scaled(self._sketch_scale)
        return others

    def with_rows(self, X: Any, *, with_sketch: bool = True) -> Data:
        """Other rows of the same matrix, prepared in the same way."""
        others = copy(self)
        others.X, others._chosen, others.n_points = X, None, X.shape[0]
        if with_sketch:
            others.sketch = others._coordinates().scaled(self._sketch_scale)
        return others

    def without_sketch(self) -> Data:
        """The same points for distances only: the sketch, which takes as much memory as X, is left out."""
        if self.sparse is not None:  # it has none
            return self
        others = copy(self)
        others.sketch = np.empty((0, self.sketch.shape[1]), dtype=np.float32)
        return others

    @property
    def has_sketch(self) -> bool:
        """Whether the sketch is there, see :meth:`without_sketch`."""
        return self.sparse is not None or len(self.sketch) == self.n_points

    def with_sketch(self) -> Data:
        """The same points with their sketch, which is computed again where it was left out."""
        if self.has_sketch:
            return self
        others = copy(self)
        others.sketch = others._coordinates().scaled(self._sketch_scale)
        return others

    @property
    def raw_unit(self) -> float:
        """The length in the data, as they were given, that the unit of prepared rows stands for."""
        return 1.0 if self.metric == "cosine" else 1 / self.preparation.unit

    @property
    def sketch_is_exact(self) -> bool:
        """Whether the sketch keeps all features, so that its distances are those of the points (up to rounding)."""
        return self.sketch.shape[1] >= self.n_features

    @property
    def _norm_squared(self) -> float:
        return self.spectral_norm**2

    def run(self, work: Callable[[slice], None], blocks: list[slice]) -> None:
        """Do the work on every block, spread over the threads of this run."""
        run_blocks(work, blocks, self.n_threads)

    def _blockwise_mean(self) -> Floats:
        """Mean of the prepared rows; it is subtracted before the sketch, so that a common offset costs no precision."""
        if self.sparse is not None:
            return np.asarray(self.sparse.sum(axis=0, dtype=np.float64)).ravel() / self.n_points
        total = np.zeros(self.n_features)
        blocks = row_blocks(self.n_points, self.block)
        for subtotal in map_blocks(
            lambda block: self.rows(block).sum(axis=0, dtype=np.float64), blocks, self.n_threads
        ):
            total += subtotal
        return total / self.n_points

    def _principal_coordinates(self) -> tuple[NDArray[np.float32], float]:
        """The sketch, in units of the spectral norm, and the norm (1 if all points are equal)."""
        coordinates = self._coordinates()
        gram = coordinates.gram
        if self.origin is not self.mean:  # the norm is that about the mean
            gram = gram - np.outer(coordinates.total, coordinates.total) / self.n_points
        norm = float(np.sqrt(max(scipy.linalg.eigvalsh(gram)[-1], 0.0)))
        if norm <= np.finfo(np.float32).tiny:  # rounding errors of equal points; prepared rows that differ are larger
            self._sketch_scale = 0.0
            return np.zeros((self.n_points, len(gram)), dtype=np.float32), 1.0
        self._sketch_scale = np.sqrt(self.n_points) / norm  # brings coordinates to order one for any N
        return coordinates.scaled(self._sketch_scale), norm

    def _coordinates(self) -> Coordinates:
        """Coordinates of all rows about the origin, along the principal directions where there are many features."""
        axes = self._axes

        def read(block: slice) -> NDArray[Any]:
            rows = self.centered_rows(block, self.dtype)
            return rows if axes is None else rows @ axes

        width = self.n_features if axes is None else axes.shape[1]
        return Coordinates(
            read, (self.n_points, width), self.dtype, row_blocks(self.n_points, self.block), self.n_threads
        )

    def _principal_axes(self, rng: np.random.Generator) -> NDArray[Any] | None:
        """The leading principal directions of a sample of rows, as columns; None if the sketch keeps all features."""
        if self.n_features <= MAX_SKETCH_FEATURES:
            return None
        sample = np.arange(self.n_points)
        if self.n_points > SKETCH_SAMPLE:
            sample = np.sort(rng.choice(self.n_points, SKETCH_SAMPLE, replace=False))
        block = self.centered_rows(sample)
        most = min(MOST_SKETCH_DIMENSIONS, *block.shape)
        squares, axes = _leading_directions(block, most, rng)
        total = float(np.einsum("ij,ij->", block, block, dtype=np.float64))
        enough = 1 + int(np.searchsorted(np.cumsum(squares), SKETCH_VARIANCE * total))
        width = max(SKETCH_DIMENSIONS, min(most, -(-enough // 32) * 32))
        axes = axes[:width]
        padded = np.pad(axes, ((0, width - len(axes)), (0, 0))).T
        return padded.astype(self.dtype)


def _leading_directions(
    block: NDArray[np.float32], rank: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.floating]]:
    """The squares of the `rank` largest singular values of a block of rows, and the right singular vectors as rows."""
    n_features = block.shape[1]
    if n_features <= MAX_GRAM_FEATURES:
        last = (n_features - rank, n_features - 1)
        squares, vectors = scipy.linalg.eigh((block.T @ block).astype(np.float64), subset_by_index=last)
        return np.maximum(squares[::-1], 0.0), vectors[:, ::-1].T
    _, values, axes = randomized_svd(block, rank, n_iter=3, random_state=int(rng.integers(2**31)))
    return values.astype(np.float64) ** 2, axes
