"""What the prepared data of any kind can do; nobody outside this folder asks which kind they are.

There are four kinds: dense rows, sparse rows, a table of all distances, and rows that stay on other machines. All of
them satisfy `Data`, which is all that the rounds of Algorithm 1 need. `LocalData` can be searched on this machine, and
compared with new points. `RowData` has rows whose products give distances, which a table of distances has not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, cast

from numpy.typing import NDArray

from graspel.runtime.types import Bools, Floats, Indices, Ints


class PairTable(NamedTuple):
    """z_data between all pairs of two groups of points, and the largest rounding error of an entry."""

    z: NDArray[Any]
    error: Any


class Data(Protocol):
    """Prepared data points, and z_data(p, q) = |x_p - x_q|^2 / |X - mean|_2^2 between them."""

    @property
    def X(self) -> Any:
        """The data as they were checked: an array, a sparse matrix, a table of distances or a dask array."""

    @property
    def n_points(self) -> int:
        """The number of points."""

    @property
    def n_features(self) -> int:
        """The number of columns; 1 for a table of distances."""

    @property
    def metric(self) -> str:
        """The name of the metric; "precomputed" for every table of distances."""

    @property
    def n_threads(self) -> int:
        """The number of threads that work on the points."""

    @property
    def unit_length(self) -> float:
        """The distance, in the unit of the data as they were given, at which z_data is 1."""

    @property
    def is_local(self) -> bool:
        """Whether they are on this machine, see `local_points`."""

    def rows(self, index: Any) -> NDArray[Any]:
        """The chosen prepared rows as a new dense block; of a table, the distances to all points."""

    def squared_distances(self, p: Any, q: Any) -> Floats:
        """z_data of the pairs (p_i, q_i): exactly zero for equal points, without cancellation."""

    def table_to(self, nodes: Ints) -> Callable[[Ints], PairTable]:
        """A function from other points to the table of z_data between them and these."""

    def numbers(self) -> NDArray[Any]:
        """One number for each point; equal points have equal numbers."""

    def differ(self, p: Ints, q: Ints) -> Bools:
        """Whether the points p_i and q_i differ in any value."""

    def released(self) -> Self:
        """The same points for distances only, without what a search needs beside them."""


class LocalData(Data, Protocol):
    """Points on this machine: they can be searched, and compared with others that are prepared like them."""

    @property
    def engine(self) -> str:
        """The key of the engine in :mod:`graspel.neighbors.engines` that finds their nearest neighbors."""

    @property
    def is_ready(self) -> bool:
        """Whether they can be searched as they are, see `ready`."""

    def ready(self) -> Self:
        """The same points with all that a search needs, made again where it was released."""

    def squared_distances_to(
        self, p: Ints, Q: Indices, asking: Self | None = None, *, compiled: bool = False
    ) -> Floats:
        """z_data between point p_i of `asking` (default: these points) and each of Q_i1, ..., Q_ik, as a matrix."""

    def lower_distances(self, order: Ints, scale: float) -> Callable[[slice, slice], NDArray[Any]]:
        """A function that returns z_data between two slices of `order`, less what rounding may have added to it.

        In single precision, unless its rounding errors matter beside distances of this scale.
        """

    def subset(self, index: Ints) -> Self:
        """Some of the points, prepared in the same way and in the same unit."""

    def like(self, X: Any) -> Self:
        """Other points, prepared in the same way, for comparing them with these."""

    def principal_coordinates(self, n_components: int, rng: Any) -> Floats | None:
        """The leading principal coordinates of the points; None where there are fewer."""

    def principal_rows(self) -> Floats | None:
        """The points along their leading principal axes, for k-means; None where they have no coordinates."""

    @property
    def coordinates(self) -> NDArray[Any] | None:
        """Coordinates in few dimensions that keep the distances, if they are at hand."""


class WithoutSketch:
    """Points that hold nothing beside their rows or distances: there is nothing to release, or to make again."""

    is_ready = True
    coordinates = None

    def released(self) -> Self:
        """These points."""
        return self

    def ready(self) -> Self:
        """These points."""
        return self


class RowData(LocalData, Protocol):
    """Points whose rows, or their products, give the distances."""

    @property
    def block(self) -> int:
        """The number of rows that are handled together."""

    @property
    def spectral_norm(self) -> float:
        """|X - mean|_2 of the prepared rows."""

    def product_rows(self, index: Any, dtype: type = ...) -> Any:
        """The chosen rows for products: dense and minus the origin, or sparse and as they are."""


def local_points(points: Data) -> LocalData:
    """The points, if they are on this machine."""
    if not points.is_local:
        raise ValueError(
            "the points of a dask array stay on the workers, where only GRASPEL().fit(X) searches them; pass an array "
            "in memory or in a file, or X.compute(), for anything else."
        )
    return cast(LocalData, points)
