"""The frame of reference in which rows are compared, and what all points with rows share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from graspel.data.preparation import Preparation
from graspel.data.products import lower_distances, table_between
from graspel.data.protocol import PairTable
from graspel.io.models import check_array_read
from graspel.runtime.types import Floats, Ints

BLOCK_BYTES = 1 << 22  # size of a block of rows in double precision: small enough for the cache


@dataclass(frozen=True, eq=False)
class Frame:
    """The frame of reference in which rows are compared.

    Attributes
    ----------
    preparation : Preparation
    origin : array, the row about which products are taken: the mean, or where rows lie far out the median
    axes : array or None, the principal directions of the sketch as columns; None if it keeps all features
    spectral_norm : float, |X - mean|_2 (1 if all points are equal)
    sketch_scale : float, brings the coordinates of the sketch to order one (0 if all points are equal)
    """

    preparation: Preparation
    origin: Floats
    axes: NDArray[Any] | None = None
    spectral_norm: float = 1.0
    sketch_scale: float = 1.0

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        check_array_read("origin", self.origin, (-1,))
        if self.axes is not None:
            check_array_read("axes", self.axes, (len(self.origin), -1))

    @property
    def width(self) -> int:
        """The number of columns of the sketch."""
        return len(self.origin) if self.axes is None else int(self.axes.shape[1])

    def scaled_to(self, gram: Floats, n_points: int) -> Frame:
        """The same in the unit of points whose coordinates have these products with each other."""
        norm = float(np.sqrt(max(scipy.linalg.eigvalsh(gram)[-1], 0.0)))
        if norm <= np.finfo(np.float32).tiny:  # rounding errors of equal points; prepared rows that differ are larger
            return replace(self, spectral_norm=1.0, sketch_scale=0.0)
        return replace(self, spectral_norm=norm, sketch_scale=np.sqrt(n_points) / norm)


@dataclass(frozen=True, eq=False)
class FramedData:
    """Rows of a matrix, on this machine or elsewhere, in a frame of reference.

    Parameters
    ----------
    X : matrix (N x M), as it was given
    frame : Frame
    n_threads : int
    """

    X: Any
    frame: Frame
    n_threads: int = field(default=1, kw_only=True)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.frame.origin)

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.frame.preparation.metric

    @property
    def unit_length(self) -> float:
        """The distance, in the unit of the data as they were given, at which z_data is 1."""
        return self.frame.spectral_norm * self.frame.preparation.raw_unit


class LocalRows(FramedData):
    """Rows on this machine, whose products give their distances."""

    is_local = True

    @property
    def spectral_norm(self) -> float:
        """|X - mean|_2 of the prepared rows."""
        return self.frame.spectral_norm

    @property
    def block(self) -> int:
        """The number of rows that are handled together."""
        return block_of(self.n_features)

    @abstractmethod
    def rows(self, index: Any) -> NDArray[Any]:
        """The chosen prepared rows as a new dense block."""

    @abstractmethod
    def product_rows(self, index: Any, dtype: type = np.float32) -> Any:
        """The chosen rows for products: dense and minus the origin, or sparse and as they are."""

    def centered_rows(self, index: Any, dtype: type = np.float32) -> NDArray[Any]:
        """The chosen rows minus the origin: distances stay the same, and products of rows lose fewer digits."""
        block = self.rows(index)
        block -= self.frame.origin.astype(block.dtype)
        return np.ascontiguousarray(block, dtype=dtype)

    def table_to(self, nodes: Ints) -> Callable[[Ints], PairTable]:
        """A function from other points to the table of z_data between them and these, in single precision."""
        return table_between(self.product_rows(nodes), self.product_rows, self.spectral_norm)

    def lower_distances(self, order: Ints, scale: float) -> Callable[[slice, slice], NDArray[Any]]:
        """A function that returns z_data between two slices of `order`, less what rounding may have added to it."""

        def read(index: Ints) -> Floats:
            return self.centered_rows(index, np.float64) / self.spectral_norm

        return lower_distances(read, order, self.n_features, scale)


def block_of(n_features: int) -> int:
    """The number of rows of so many features that are handled together."""
    return int(np.clip(BLOCK_BYTES // (8 * n_features), 1, 4096))
