r"""Step 0, prepare: the data points, and z_data(p, q) = |x_p - x_q|^2 / M between them.

The points are never copied. Rows are read in blocks, brought to a common scale and, if the user asks for it, centered
(each row's mean is subtracted: the paper's footnote 1) or divided by their norm (cosine). All rows are then divided by
the spectral norm of X - mean over sqrt(M), where mean is the mean row, so that sigma and the tolerances mean the same
on every data set:

    z_data(p, q) = |x_p - x_q|^2 / |X - mean|_2^2.

A *sketch* holds the points in few dimensions: their coordinates along the leading principal directions. Distances in
the sketch never exceed those between the points. The sketch is used to find candidates, whose distances
:meth:`Points.squared_distances` then computes exactly.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, equation (12) and footnote 1.

N. Halko, P.-G. Martinsson and J. A. Tropp. Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions. SIAM Review 53, 2011.
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
SKETCH_DIMENSIONS = 64  # principal directions in the sketch of data with more features than MAX_SKETCH_FEATURES
MAX_SKETCH_FEATURES = 128  # number of features up to which the sketch keeps all of them
SKETCH_SAMPLE = 8192  # largest number of rows that the principal directions are computed from
BLOCK_BYTES = 1 << 22  # size of a block of rows in double precision: small enough for the cache
SAFE_RANGE = (1e-6, 1e6)  # range of the largest absolute value in which squares neither overflow nor underflow


class Points:
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
        # Integers and floats of up to 2 bytes are exact in float32; wider types are read as float64.
        self.dtype: type = np.float32 if X.dtype.itemsize <= 2 or X.dtype == np.float32 else np.float64
        self.block = int(np.clip(BLOCK_BYTES // (8 * self.n_features), 1, 4096))
        self._unit = self._choose_unit()
        self.mean = self._blockwise_mean()
        self.sketch, self.spectral_norm = self._principal_coordinates(rng or np.random.default_rng(0))

    def rows(self, index: slice | NDArray[np.integer]) -> NDArray[np.floating]:
        """The chosen rows as a new dense block, scaled, and centered or normalized if asked for."""
        block = self.X[index]
        block = block.toarray() if sp.issparse(block) else np.asarray(block)
        if self._unit == 1.0:
            block = block.astype(self.dtype, copy=isinstance(index, slice))
        else:  # in double precision first, so that nothing overflows; a power of two causes no rounding
            block = (block.astype(np.float64) * self._unit).astype(self.dtype, copy=False)
        if self.center:
            block -= block.mean(axis=1, keepdims=True)
        if self.metric == "cosine":
            norms = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            block /= np.where(norms > 0, norms, 1.0)[:, None].astype(self.dtype)
        return block

    def centered_rows(self, index: slice | NDArray[np.integer], dtype: type = np.float32) -> NDArray[Any]:
        """The chosen rows minus the mean row: distances stay the same, and products of rows lose fewer digits."""
        block = self.rows(index)
        block -= self.mean.astype(self.dtype)
        return np.ascontiguousarray(block, dtype=dtype)

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i), computed from differences: exactly zero for equal rows, no cancellation."""
        p, q = np.asarray(p), np.asarray(q)
        z = np.empty(len(p))

        def work(block: slice) -> None:
            difference = self.rows(p[block])
            difference -= self.rows(q[block])
            z[block] = np.einsum("ij,ij->i", difference, difference)

        self.run(work, row_blocks(len(p), self.block))
        return z / self._norm_squared

    def squared_distances_to(self, p: NDArray[np.integer], Q: NDArray[np.integer]) -> Floats:
        """z_data between p_i and each of Q_i1, ..., Q_ik, as a matrix; each row of p is read once."""
        z = np.empty(Q.shape)

        def work(block: slice) -> None:
            width = Q.shape[1]
            difference = self.rows(Q[block].ravel()).reshape(-1, width, self.n_features)
            difference -= self.rows(p[block])[:, None]
            z[block] = np.einsum("ijk,ijk->ij", difference, difference)

        self.run(work, row_blocks(len(p), max(1, self.block // Q.shape[1])))
        return z / self._norm_squared

    def subset(self, index: NDArray[np.integer]) -> Points:
        """Some of the points, prepared in the same way: scale, mean and sketch are those of all points."""
        subset = object.__new__(Points)
        subset.__dict__.update(self.__dict__)
        subset.X, subset.n_points = self.X[index], len(index)
        subset.sketch = self.sketch[index]
        return subset

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

    def _choose_unit(self) -> float:
        """A factor that brings the data near 1: a power of two, or 1 if squares are safe without it."""
        data = self.X.data if sp.issparse(self.X) else self.X
        blocks = row_blocks(data.shape[0], 65536 if data.ndim == 1 else self.block)
        largest = max((float(np.abs(data[block].astype(np.float64)).max(initial=0.0)) for block in blocks), default=0.0)
        if largest == 0.0 or SAFE_RANGE[0] < largest < SAFE_RANGE[1]:
            return 1.0
        return float(2.0 ** -np.clip(np.frexp(largest)[1], -1000, 1000))

    def _blockwise_mean(self) -> Floats:
        """Mean of the prepared rows; it is subtracted before the sketch, so that a common offset costs no precision."""
        total = np.zeros(self.n_features)
        blocks = row_blocks(self.n_points, self.block)
        for subtotal in map_blocks(
            lambda block: self.rows(block).sum(axis=0, dtype=np.float64), blocks, self.n_threads
        ):
            total += subtotal
        return total / self.n_points

    def _principal_coordinates(self, rng: np.random.Generator) -> tuple[NDArray[np.float32], float]:
        """The sketch, in units of the spectral norm, and the norm (1 if all points are equal)."""
        axes: NDArray[Any] | None = (
            None if self.n_features <= MAX_SKETCH_FEATURES else self._principal_axes(rng).astype(self.dtype)
        )
        coordinates = np.empty((self.n_points, SKETCH_DIMENSIONS if axes is not None else self.n_features))

        def work(block: slice) -> None:
            rows = self.centered_rows(block, self.dtype)
            coordinates[block] = rows if axes is None else rows @ axes

        self.run(work, row_blocks(self.n_points, self.block))
        gram = coordinates.T @ coordinates
        norm = float(np.sqrt(max(scipy.linalg.eigvalsh(gram)[-1], 0.0)))
        if norm <= np.finfo(np.float64).tiny:
            return np.zeros(coordinates.shape, dtype=np.float32), 1.0
        coordinates *= np.sqrt(self.n_points) / norm  # of order one for any N
        return coordinates.astype(np.float32), norm

    def _principal_axes(self, rng: np.random.Generator) -> Floats:
        """The leading principal directions of a sample of rows, as columns."""
        sample = np.arange(self.n_points)
        if self.n_points > SKETCH_SAMPLE:
            sample = np.sort(rng.choice(self.n_points, SKETCH_SAMPLE, replace=False))
        block = self.centered_rows(sample)
        rank = min(SKETCH_DIMENSIONS, *block.shape)
        _, _, axes = randomized_svd(block, rank, n_iter=3, random_state=int(rng.integers(2**31)))
        return np.pad(axes, ((0, SKETCH_DIMENSIONS - rank), (0, 0))).T
