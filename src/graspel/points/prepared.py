r"""Origin 0, prepare: the data points, and z_data(p, q) = |x_p - x_q|^2 / M between them.

The points are never copied. Rows are fetched in blocks, brought to a common scale and, if asked for, centered (each
row's mean subtracted: the paper's footnote 1) or divided by their norm (cosine). All rows are then divided by the
spectral norm of the data matrix about its mean, times sqrt(M), so that sigma and the tolerances mean the same on
every data set:

    z_data(p, q) = |x_p - x_q|^2 / |X - mean|_2^2.

A *sketch* holds the points in few dimensions: the coordinates along the leading principal directions. Distances in
the sketch never exceed those between the points, so a sketch finds candidates that :meth:`Points.squared_distances`
then measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import randomized_svd

from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks

Floats = NDArray[np.float64]

METRICS = ("euclidean", "cosine")
SKETCH_DIMENSIONS = 64
WIDEST_SKETCH = 128  # data of up to this many features are kept whole
SKETCH_SAMPLE = 8192  # rows that the principal directions are computed from
BLOCK_BYTES = 1 << 22  # of a block of rows: small enough for the cache


class Points:
    """The prepared data points: distances between rows of X, without a copy of X.

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
    >>> points = Points(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
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
        # Small integers and floats are exact in float32; what is wider is kept in float64.
        self.dtype: type = np.float32 if X.dtype.itemsize <= 2 or X.dtype == np.float32 else np.float64
        self.block = int(np.clip(BLOCK_BYTES // (8 * self.n_features), 1, 4096))
        self._unit = self._power_of_two()
        self.mean = self._blockwise_mean()
        self.sketch, self.spectral_norm = self._principal_coordinates(rng or np.random.default_rng(0))

    def rows(self, index: slice | NDArray[np.integer]) -> NDArray[np.floating]:
        """The chosen rows as a new dense block.

        Scaled, centered or normalized as the metric asks, not yet divided by the norm.
        """
        block = self.X[index]
        block = block.toarray() if sp.issparse(block) else np.asarray(block)
        if self._unit == 1.0:
            block = block.astype(self.dtype, copy=isinstance(index, slice))
        else:  # in double first: no square over- or underflows, and a power of two costs no digit
            block = (block.astype(np.float64) * self._unit).astype(self.dtype, copy=False)
        if self.center:
            block -= block.mean(axis=1, keepdims=True)
        if self.metric == "cosine":
            norms = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            block /= np.where(norms > 0, norms, 1.0)[:, None].astype(self.dtype)
        return block

    def centered_rows(self, index: slice | NDArray[np.integer], dtype: type = np.float32) -> NDArray[Any]:
        """The chosen rows less the mean of all: distances are the same, and products of them lose less to rounding."""
        block = self.rows(index)
        block -= self.mean.astype(self.dtype)
        return np.ascontiguousarray(block, dtype=dtype)

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i), by differences: exact zeros for equal rows, no cancellation."""
        p, q = np.asarray(p), np.asarray(q)
        z = np.empty(len(p))

        def work(part: slice) -> None:
            difference = self.rows(p[part])
            difference -= self.rows(q[part])
            z[part] = np.einsum("ij,ij->i", difference, difference)

        self.run(work, row_blocks(len(p), self.block))
        return z / self._norm_squared

    def squared_distances_to(self, p: NDArray[np.integer], Q: NDArray[np.integer]) -> Floats:
        """z_data between p_i and each of Q_i1 .. Q_ik, as a matrix; reads each row of p once."""
        z = np.empty(Q.shape)

        def work(part: slice) -> None:
            width = Q.shape[1]
            difference = self.rows(Q[part].ravel()).reshape(-1, width, self.n_features)
            difference -= self.rows(p[part])[:, None]
            z[part] = np.einsum("ijk,ijk->ij", difference, difference)

        self.run(work, row_blocks(len(p), max(1, self.block // Q.shape[1])))
        return z / self._norm_squared

    def subset(self, index: NDArray[np.integer]) -> Points:
        """The same preparation, for some of the points."""
        part = object.__new__(Points)
        part.__dict__.update(self.__dict__)
        part.X, part.n_points = self.X[index], len(index)
        part.sketch = self.sketch[index]
        return part

    @property
    def sketch_is_exact(self) -> bool:
        """Whether the sketch keeps all dimensions, so that its distances are those of the points (to rounding)."""
        return self.sketch.shape[1] >= self.n_features

    @property
    def _norm_squared(self) -> float:
        return self.spectral_norm**2

    def run(self, work: Callable[[slice], None], blocks: list[slice]) -> None:
        """Do the work on every block, on this run's threads."""
        run_blocks(work, blocks, self.n_threads)

    def _power_of_two(self) -> float:
        """The power of two that brings the data near 1; 1 itself where squares are safe as they are."""
        data = self.X.data if sp.issparse(self.X) else self.X
        parts = row_blocks(data.shape[0], 65536 if data.ndim == 1 else self.block)
        largest = max((float(np.abs(data[part].astype(np.float64)).max(initial=0.0)) for part in parts), default=0.0)
        if largest == 0.0 or 1e-6 < largest < 1e6:
            return 1.0
        return float(2.0 ** -np.clip(np.frexp(largest)[1], -1000, 1000))

    def _blockwise_mean(self) -> Floats:
        """Mean of the prepared rows: the sketch is taken about it, so that a common offset costs no precision."""
        total = np.zeros(self.n_features)
        parts = row_blocks(self.n_points, self.block)
        for part_sum in map_blocks(lambda part: self.rows(part).sum(axis=0, dtype=np.float64), parts, self.n_threads):
            total += part_sum
        return total / self.n_points

    def _principal_coordinates(self, rng: np.random.Generator) -> tuple[NDArray[np.float32], float]:
        """The sketch, in units of the spectral norm, and the norm (1 if all points are equal)."""
        axes: NDArray[Any] | None = (
            None if self.n_features <= WIDEST_SKETCH else self._principal_axes(rng).astype(self.dtype)
        )
        coordinates = np.empty((self.n_points, SKETCH_DIMENSIONS if axes is not None else self.n_features))

        def work(part: slice) -> None:
            block = self.centered_rows(part, self.dtype)
            coordinates[part] = block if axes is None else block @ axes

        self.run(work, row_blocks(self.n_points, self.block))
        gram = coordinates.T @ coordinates
        norm = float(np.sqrt(max(scipy.linalg.eigvalsh(gram)[-1], 0.0)))
        if norm <= np.finfo(np.float64).tiny:
            return np.zeros(coordinates.shape, dtype=np.float32), 1.0
        coordinates *= np.sqrt(self.n_points) / norm  # of order one, whatever N
        return coordinates.astype(np.float32), norm

    def _principal_axes(self, rng: np.random.Generator) -> Floats:
        sample = np.arange(self.n_points)
        if self.n_points > SKETCH_SAMPLE:
            sample = np.sort(rng.choice(self.n_points, SKETCH_SAMPLE, replace=False))
        block = self.centered_rows(sample)
        rank = min(SKETCH_DIMENSIONS, *block.shape)
        _, _, axes = randomized_svd(block, rank, n_iter=3, random_state=int(rng.integers(2**31)))
        return np.pad(axes, ((0, SKETCH_DIMENSIONS - rank), (0, 0))).T
