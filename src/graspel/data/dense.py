r"""Step 0, prepare: dense points, and z_data(p, q) = |x_p - x_q|^2 / |X - mean|_2^2 between them.

Dense points are never copied. Rows are read in blocks and prepared (:mod:`graspel.data.preparation`). Their squared
distances are divided by the squared spectral norm of X - mean, where mean is the mean row, so that sigma and the
tolerances mean the same on every data set:

    z_data(p, q) = |x_p - x_q|^2 / |X - mean|_2^2.

A *sketch* holds the points in few dimensions: their coordinates along the leading principal directions. Distances in
the sketch never exceed those between the points. The sketch is used to find candidates, whose distances
:meth:`DenseData.squared_distances` then computes exactly.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, equation (12) and footnote 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graspel.data.fingerprint import hash_values, rows_differ
from graspel.data.preparation import Preparation, dense_rows
from graspel.data.principal import principal_coordinates, principal_directions
from graspel.data.rows import Frame, LocalRows
from graspel.io.models import check_array_read
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.types import Bools, Floats, Ints, Singles

COMPILED_WORK = 1 << 27  # differences from which loading the compiled kernel pays: a second in numpy
COMPILED_ROWS = 1 << 14  # rows listed in one block of the compiled kernel, which reads each of them once
NO_SKETCH = np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class DenseData(LocalRows):
    """Dense points: rows of X, an array or a CSR array, and distances between them, without a copy of X.

    Parameters
    ----------
    sketch : array (N x d); without rows where it was released
    chosen : array or None, the rows of X that are points; None for all

    Examples
    --------
    >>> points = DenseData.prepare(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]), Preparation("euclidean"))
    >>> z = points.squared_distances([0, 0], [1, 2])
    >>> round(float(z[0] / z[1]), 6)
    25.0
    """

    sketch: Singles = field(default_factory=lambda: NO_SKETCH)
    chosen: Ints | None = None

    engine = "landmarks"

    @classmethod
    def prepare(
        cls,
        X: Any,
        preparation: Preparation,
        rng: np.random.Generator | None = None,
        n_threads: int = 1,
    ) -> DenseData:
        """The points of a matrix: their frame of reference and their sketch."""
        points = cls(X, Frame(preparation, np.zeros(X.shape[1])), n_threads=n_threads)
        mean = points.mean()
        # Products are taken about the origin. Far rows drag the mean away from all others, but not the median.
        middle = preparation.middle
        points = replace(points, frame=replace(points.frame, origin=mean if middle is None else middle))
        rng = rng or np.random.default_rng(0)
        axes = principal_directions(points.n_points, points.n_features, points.centered_rows, rng)
        points = replace(points, frame=replace(points.frame, axes=axes if axes is None else axes.astype(points.dtype)))
        coordinates = points.coordinates_of_all()
        gram = coordinates.gram
        if middle is not None:  # the norm is that about the mean
            gram = gram - np.outer(coordinates.total, coordinates.total) / points.n_points
        points = replace(points, frame=points.frame.scaled_to(gram, points.n_points))
        return replace(points, sketch=coordinates.scaled(points.frame.sketch_scale))

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        check_array_read("X", self.X, (-1, self.n_features))
        if self.chosen is not None:
            check_array_read("chosen", self.chosen, (-1,), below=self.X.shape[0])
        if len(self.sketch):
            check_array_read("sketch", self.sketch, (self.n_points, self.frame.width))

    @property
    def n_points(self) -> int:
        """The number of points."""
        return int(self.X.shape[0]) if self.chosen is None else len(self.chosen)

    @property
    def dtype(self) -> type:
        """The type of prepared rows."""
        return self.frame.preparation.dtype

    def rows(self, index: Any) -> NDArray[Any]:
        """The chosen rows as a new dense block, scaled, and centered or normalized if asked for."""
        numbers = index if self.chosen is None else self.chosen[index]
        return self.frame.preparation.apply(dense_rows(self.X, numbers), copy=isinstance(numbers, slice))

    def product_rows(self, index: Any, dtype: type = np.float32) -> NDArray[Any]:
        """The chosen rows minus the origin."""
        return self.centered_rows(index, dtype)

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i), computed from differences: exactly zero for equal rows, no cancellation."""
        p, q = np.asarray(p), np.asarray(q)
        z = np.empty(len(p))

        def work(block: slice) -> None:
            difference = self.rows(p[block])
            difference -= self.rows(q[block])
            z[block] = np.einsum("ij,ij->i", difference, difference)

        run_blocks(work, row_blocks(len(p), self.block), self.n_threads)
        return z / self.spectral_norm**2

    def squared_distances_to(
        self, p: Ints, Q: NDArray[Any], asking: DenseData | None = None, *, compiled: bool = False
    ) -> Floats:
        """z_data between point p_i of `asking` (default: these points) and each of Q_i1, ..., Q_ik, as a matrix."""
        asking = asking or self
        compiled = compiled or Q.size * self.n_features > COMPILED_WORK
        z = np.empty(Q.shape)
        work = self._distances_by_kernel if compiled else self._distances_by_numpy
        run_blocks(
            lambda block: work(p[block], Q[block], asking, z[block]),
            row_blocks(len(p), max(1, (COMPILED_ROWS if compiled else self.block) // Q.shape[1])),
            self.n_threads,
        )
        return z / self.spectral_norm**2

    def _distances_by_numpy(self, p: Ints, Q: NDArray[Any], asking: DenseData, z: Floats) -> None:
        """Squared distances between listed rows of one block: the slow twin of the compiled kernel."""
        difference = self.rows(Q.ravel()).reshape(*Q.shape, self.n_features)
        difference -= asking.rows(p)[:, None]
        z[:] = np.einsum("ijk,ijk->ij", difference, difference)

    def _distances_by_kernel(self, p: Ints, Q: NDArray[Any], asking: DenseData, z: Floats) -> None:
        """The same by the compiled kernel, which reads every row that is listed more than once only once."""
        from graspel.kernels.distances import listed_distances

        used, local = np.unique(Q, return_inverse=True)
        listed_distances(asking.rows(p), self.rows(used), local.reshape(Q.shape), z)

    def numbers(self) -> NDArray[np.uint64]:
        """One number for each point; equal points have equal numbers."""
        numbers = np.empty(self.n_points, dtype=np.uint64)

        def work(block: slice) -> None:
            numbers[block] = hash_values(self.rows(block))

        run_blocks(work, row_blocks(self.n_points, self.block), self.n_threads)
        return numbers

    def differ(self, p: Ints, q: Ints) -> Bools:
        """Whether the points p_i and q_i differ in any value."""
        return rows_differ(self.rows, p, q, self.block)

    def subset(self, index: Ints) -> DenseData:
        """Some of the points, prepared in the same way: scale, origin and sketch are those of all points."""
        chosen = index if self.chosen is None else self.chosen[index]
        return replace(self, chosen=chosen, sketch=self.sketch[index])

    def magnify(self, index: Ints) -> DenseData:
        """Some of the points, about an origin of their own and with a sketch in the scale of their own distances."""
        points = replace(self, chosen=index if self.chosen is None else self.chosen[index], sketch=NO_SKETCH)
        points = replace(points, frame=replace(self.frame, origin=points.mean()))
        coordinates = points.coordinates_of_all()
        spread = float(np.sqrt(np.trace(coordinates.gram) / len(index)))
        frame = replace(points.frame, sketch_scale=1 / spread if spread > 0 else 0.0)
        return replace(points, frame=frame, sketch=coordinates.scaled(frame.sketch_scale))

    def like(self, X: Any) -> DenseData:
        """Other points with the same features, prepared in the same way, for comparing them with these."""
        preparation = replace(self.frame.preparation, cut=True)
        return DenseData(X, replace(self.frame, preparation=preparation), n_threads=self.n_threads).ready()

    def released(self) -> DenseData:
        """The same points for distances only: the sketch, which takes as much memory as X, is left out."""
        return replace(self, sketch=NO_SKETCH)

    @property
    def is_ready(self) -> bool:
        """Whether the sketch is there."""
        return len(self.sketch) == self.n_points

    def ready(self) -> DenseData:
        """The same points with their sketch, which is computed again where it was left out."""
        if self.is_ready:
            return self
        return replace(self, sketch=self.coordinates_of_all().scaled(self.frame.sketch_scale))

    @property
    def coordinates(self) -> Singles | None:
        """The sketch, if it is there."""
        return self.sketch if self.is_ready else None

    def principal_rows(self) -> Floats | None:
        """The points along their leading principal axes."""
        return self.sketch.astype(np.float64) if self.is_ready else None

    def principal_coordinates(self, n_components: int, rng: Any) -> Floats | None:
        """The leading principal coordinates of the points, read off the sketch; None where there are fewer."""
        sketch = self.ready().sketch
        return None if self.frame.width < n_components else principal_coordinates(sketch, n_components, self.n_threads)

    @property
    def sketch_is_exact(self) -> bool:
        """Whether the sketch keeps all features, so that its distances are those of the points (up to rounding)."""
        return self.frame.width >= self.n_features

    def sketch_distance(self, z: ArrayLike) -> Any:
        """The distance in the sketch that belongs to z_data; the sketch may shorten it."""
        return np.sqrt(z) * self.spectral_norm * self.frame.sketch_scale

    def mean(self) -> Floats:
        """Mean of the prepared rows; it is subtracted before the sketch, so that a common offset costs no precision."""
        total = np.zeros(self.n_features)
        blocks = row_blocks(self.n_points, self.block)
        for subtotal in map_blocks(
            lambda block: self.rows(block).sum(axis=0, dtype=np.float64), blocks, self.n_threads
        ):
            total += subtotal
        return total / self.n_points

    def coordinates_of_all(self) -> Coordinates:
        """Coordinates of all rows about the origin, along the principal directions where there are many features."""
        axes = self.frame.axes

        def read(block: slice) -> NDArray[Any]:
            rows = self.centered_rows(block, self.dtype)
            return rows if axes is None else rows @ axes

        blocks = row_blocks(self.n_points, self.block)
        return Coordinates(read, (self.n_points, self.frame.width), self.dtype, blocks, self.n_threads)


class Coordinates:
    """Rows of coordinates that `read(block)` returns, measured in one pass and scaled to single precision.

    The scale of a sketch depends on all rows: it is set by the matrix of products C'C of the coordinates C. Holding C
    in double precision would take twice the memory of single-precision data. So C'C is summed block by block.
    Coordinates in single precision are kept meanwhile and scaled in place; those in double precision are read again.

    Attributes
    ----------
    gram : array, C'C, the products of all columns with each other
    total : array, the sum of all rows

    Examples
    --------
    >>> C = np.array([[3.0, 0.0], [0.0, 4.0]])
    >>> coordinates = Coordinates(C.__getitem__, C.shape, np.float64, [slice(0, 2)])
    >>> coordinates.gram.tolist(), coordinates.scaled(0.5).tolist()
    ([[9.0, 0.0], [0.0, 16.0]], [[1.5, 0.0], [0.0, 2.0]])
    """

    def __init__(
        self,
        read: Callable[[slice], NDArray[Any]],
        shape: tuple[int, int],
        dtype: type,
        blocks: list[slice],
        n_threads: int = 1,
    ) -> None:
        self._read, self._shape, self._blocks, self._n_threads = read, shape, blocks, n_threads
        self._kept = np.empty(shape, dtype=np.float32) if dtype == np.float32 else None
        self.gram, self.total = np.zeros((shape[1], shape[1])), np.zeros(shape[1])
        # The sums are added in the order of the blocks, so that they do not depend on the number of threads.
        for gram, total in map_blocks(self._sum, blocks, n_threads):
            self.gram += gram
            self.total += total

    def scaled(self, scale: float) -> Singles:
        """All coordinates times `scale`, in single precision; call it once, memory is reused."""
        result = np.empty(self._shape, dtype=np.float32) if self._kept is None else self._kept
        if scale == 0.0:
            result[:] = 0.0
            return result

        def work(block: slice) -> None:
            rows = self._read(block) if self._kept is None else self._kept[block]
            result[block] = rows.astype(np.float64) * scale

        run_blocks(work, self._blocks, self._n_threads)
        return result

    def _sum(self, block: slice) -> tuple[Floats, Floats]:
        rows = self._read(block)
        if self._kept is not None:
            self._kept[block] = rows
        rows = rows.astype(np.float64, copy=False)
        return rows.T @ rows, rows.sum(axis=0)
