r"""Step 1, neighbor lists: for every point the points nearest to it.

The lists come from our own engine (:mod:`graspel.neighbors.engines`), from a scikit-learn neighbors transformer, or
from arrays that the user brings. Of the last two only the indices are taken; distances are measured again on our
points, so that z means the same whoever searched.

Exact copies of a point would fill each other's lists. They are therefore set aside: lists hold distinct points only,
and `copy_of` says which point each copy is equal to.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from graspel.data.protocol import Data, LocalData, local_points
from graspel.io.models import check_array_read
from graspel.neighbors.approximate import SURE
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.engines import engine_of
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.neighbors.landmarks import Landmarks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

WARN_RECALL = 0.97  # measured recall below which the user is told; a sample of 128 points may be off by .01


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors of the distinct points.

    Attributes
    ----------
    points : Data, the distinct points
    indices, z : arrays (points x width), neighbors by increasing distance (ties by index) and their z_data; both in 32
        bits where there are many points
    recall : float, share of the true neighbors, of the first `SURE` at most, that the lists hold; measured on a sample
        by other means than the search; NaN after points came or went, until `measured_recall` is asked
    distinct : array, index of each distinct point in the full data
    copies, copy_of : arrays, indices of the other points in the full data, and of the points that they are equal to
    landmarks : Landmarks by which they were found; None if all distances were computed
    n_known : number of points that the landmarks were chosen from, the first ones; None for all
    """

    points: Data
    indices: NDArray[np.integer]
    z: NDArray[np.floating]
    recall: float
    distinct: Ints
    copies: Ints
    copy_of: Ints
    landmarks: Landmarks | None = None
    n_known: int | None = None

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        n = len(self.distinct) + len(self.copies)
        check_array_read("distinct", self.distinct, (self.points.n_points,), below=n)
        check_array_read("copies", self.copies, (-1,), below=n)
        check_array_read("copy_of", self.copy_of, self.copies.shape, below=n)
        check_array_read("indices", self.indices, (-1, -1), below=max(1, self.points.n_points))
        check_array_read("z", self.z, self.indices.shape)
        if len(self.indices) not in (0, self.points.n_points):
            raise ValueError("its neighbor lists are not as many as its points")
        if self.landmarks is not None:
            points: Any = self.points  # dense, since there are landmarks
            self.landmarks.check_members(min(self.n_known or points.n_points, points.n_points), points.frame.width)

    def measured_recall(self, k: int) -> float:
        """The recall of the first k neighbors; it is measured now if the lists have changed since they were searched.

        The sample is compared with all points, so a batch of new points does not wait for it.
        """
        if not np.isnan(self.recall) or not self.indices.shape[1]:
            return self.recall
        return engine_of(local_points(self.points)).recall(self.z, min(k, SURE))

    def released(self) -> Neighbors:
        """The same without the lists and what they were found by: the copies and the recall are left."""
        points = self.points.released()
        return replace(self, points=points, indices=self.indices[:0].copy(), z=self.z[:0].copy(), landmarks=None)


def set_copies_aside(points: LocalData) -> Neighbors:
    """The distinct points, whose lists are not searched yet, and the copies of others."""
    first, everyone = find_first_equals(points), np.arange(points.n_points)
    distinct, copies = np.flatnonzero(first == everyone), np.flatnonzero(first != everyone)
    points = points.subset(distinct) if len(copies) else points
    return Neighbors(points, np.empty((0, 0), dtype=np.int64), np.empty((0, 0)), 1.0, distinct, copies, first[copies])


def nearest_neighbors(points: Data, k: int, rng: np.random.Generator) -> Neighbors:
    """Find at least k neighbors (fewer if there are not so many distinct points) of every distinct point."""
    announce("nearest neighbors")
    neighbors = set_copies_aside(local_points(points))
    engine = engine_of(neighbors.points)
    found = engine.lists(k, rng)
    recall = engine.recall(found.z, min(k, SURE))
    warn_low_recall(recall)
    return replace(neighbors, indices=found.indices, z=found.z, recall=recall, landmarks=found.landmarks)


def warn_low_recall(recall: float) -> None:
    """Tell the user if too many neighbors are missing."""
    if recall < WARN_RECALL:
        warnings.warn(
            f"only {recall:.0%} of the nearest neighbors were found: the points are spread too evenly. "
            "The graph will still be connected; for exact lists, pass your own as initial=(indices, distances).",
            stacklevel=3,
        )


def check_engine(engine: Any) -> Any:
    """Raise unless this is "auto", a neighbors transformer, or lists.

    >>> check_engine("faiss")
    Traceback (most recent call last):
    ...
    ValueError: engine='faiss': must be "auto", a scikit-learn neighbors transformer (with n_neighbors), or ...
    """
    if isinstance(engine, str) and engine == "auto":
        return engine
    if isinstance(engine, tuple) and len(engine) == 2:
        return np.asarray(engine[0])
    if hasattr(engine, "fit_transform") and hasattr(engine, "get_params") and "n_neighbors" in engine.get_params():
        return engine
    shown = repr(engine) if isinstance(engine, str | int | float | None) else f"a {type(engine).__name__}"
    raise ValueError(
        f'engine={shown}: must be "auto", a scikit-learn neighbors transformer (with n_neighbors), or a tuple '
        "(indices, distances) of neighbor lists."
    )


def nearest_by_user(engine: Any, points: Data, k: int) -> Neighbors:
    """The same by an engine that `check_engine` returned."""
    announce("nearest neighbors")
    points = local_points(points)
    neighbors = set_copies_aside(points)
    own, distinct = local_points(neighbors.points), neighbors.distinct
    number = np.arange(points.n_points)
    number[neighbors.copies] = neighbors.copy_of
    number = np.searchsorted(distinct, number)
    width = min(len(distinct) - 1, k + EXTRA_CANDIDATES)
    given = engine if isinstance(engine, np.ndarray) else _ask(engine, points.X, min(width + 1, points.n_points - 1))
    _check_lists(given, points.n_points, k)
    indices, z = _measure(own, number[given[distinct]], width)
    recall = engine_of(own).recall(z, min(k, width)) if width else 1.0
    warn_low_recall(recall)
    return replace(neighbors, indices=indices, z=z, recall=recall)


def _ask(transformer: Any, X: Any, k: int) -> Ints:
    """The lists of a transformer as an array; -1 where a list is shorter."""
    A = sp.csr_array(clone(transformer).set_params(n_neighbors=k).fit_transform(X))
    lengths = np.diff(A.indptr)
    lists = np.full((A.shape[0], int(lengths.max(initial=0))), -1, dtype=np.int64)
    lists[np.arange(lists.shape[1]) < lengths[:, None]] = A.indices
    return np.where(lists < 0, np.arange(len(lists))[:, None], lists)


def _check_lists(indices: NDArray[Any], n_points: int, k: int) -> None:
    if indices.ndim != 2 or indices.dtype.kind not in "iu" or len(indices) != n_points:
        raise ValueError(
            f"engine: indices of shape {indices.shape} and type {indices.dtype}: must be whole numbers, one row for "
            f"each of the {n_points} points."
        )
    if indices.size and (indices.min() < 0 or indices.max() >= n_points):
        raise ValueError(
            f"engine: indices must lie between 0 and {n_points - 1}; they run from {indices.min()} to {indices.max()}."
        )
    if indices.shape[1] < min(k, n_points - 1):
        raise ValueError(
            f"engine: the lists hold {indices.shape[1]} neighbors, and {k} are needed. Bring longer lists."
        )


def _measure(points: LocalData, lists: Ints, width: int) -> tuple[Ints, Floats]:
    """The lists by increasing z (ties by index); the point itself and repeated ones get z = inf, at the end."""
    n = points.n_points
    lists = np.sort(lists, axis=1)
    unused = lists == np.arange(n)[:, None]
    unused[:, 1:] |= lists[:, 1:] == lists[:, :-1]
    z = np.where(unused, np.inf, points.squared_distances_to(np.arange(n), lists))
    order = np.argsort(z, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(lists, order, axis=1), np.take_along_axis(z, order, axis=1)
