"""Engines of others: neighbor lists from a scikit-learn neighbors transformer, or from arrays that the user brings.

Their indices are taken; distances are measured again on our points, so that z means the same whoever searched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from graspel.data.prepared import Data
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.neighbors.recall import measure_recall
from graspel.neighbors.search import Neighbors, warn_low_recall
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints


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


def search_by_engine(engine: Any, points: Data, k: int) -> Neighbors:
    """The lists of the distinct points by an engine that `check_engine` returned."""
    announce("nearest neighbors")
    first = find_first_equals(points)
    everyone = np.arange(points.n_points)
    distinct, copies = np.flatnonzero(first == everyone), np.flatnonzero(first != everyone)
    number = np.searchsorted(distinct, first)
    own = points.subset(distinct) if len(copies) else points
    width = min(len(distinct) - 1, k + EXTRA_CANDIDATES)
    given = engine if isinstance(engine, np.ndarray) else _ask(engine, points.X, min(width + 1, points.n_points - 1))
    _check_lists(given, points.n_points, k)
    indices, z = _measure(own, number[given[distinct]], width)
    recall = measure_recall(own, z, min(k, width)) if width else 1.0
    warn_low_recall(recall)
    return Neighbors(own, indices, z, recall, distinct, copies, first[copies])


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


def _measure(points: Data, lists: Ints, width: int) -> tuple[Ints, Floats]:
    """The lists by increasing z (ties by index); the point itself and repeated ones get z = inf, at the end."""
    n = points.n_points
    lists = np.sort(lists, axis=1)
    unused = lists == np.arange(n)[:, None]
    unused[:, 1:] |= lists[:, 1:] == lists[:, :-1]
    z = np.where(unused, np.inf, points.squared_distances_to(np.arange(n), lists))
    order = np.argsort(z, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(lists, order, axis=1), np.take_along_axis(z, order, axis=1)
