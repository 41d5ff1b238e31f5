"""Arguments: checks of the numbers, nodes and vectors that public functions take beside a graph.

Every error names the value that was given and says what is allowed. The graph itself is checked by
:mod:`graspel.graph.adjacency`.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graspel.runtime.types import Floats


def check_vectors(name: str, values: ArrayLike, n_nodes: int) -> Floats:
    """Return a vector or a block of vectors on the nodes as an N x m array of float64."""
    X = np.asarray(values)
    if X.ndim not in (1, 2) or len(X) != n_nodes:
        raise ValueError(
            f"{name} has shape {X.shape}: must be ({n_nodes},) or ({n_nodes}, m), one row for each node of the graph."
        )
    if X.dtype.kind not in "biuf":
        raise TypeError(f"{name} has entries of type {X.dtype}: must be real numbers.")
    X = X.astype(np.float64, copy=False).reshape(n_nodes, -1)
    if not np.isfinite(X).all():
        raise ValueError(f"{name} has NaN or infinite entries: must be finite. Remove or replace them first.")
    return X


def check_positive(name: str, value: float, meaning: str) -> float:
    """Return `value` if it is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name}={value!r}: must be a positive finite number, {meaning}.")
    return float(value)


def check_count(name: str, value: int, largest: int, meaning: str) -> int:
    """Return `value` if it is a whole number from 1 to `largest`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= value <= largest:
        raise ValueError(f"{name}={value!r}: must be a whole number from 1 to {largest}, {meaning}.")
    return int(value)


def check_nodes(nodes: ArrayLike, n_nodes: int) -> NDArray[np.intp]:
    """Return node numbers as a vector of integers."""
    chosen = np.asarray(nodes)
    if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and chosen.size > 0):
        raise ValueError(
            f"nodes of shape {chosen.shape} and type {chosen.dtype}: must be a list of node numbers, "
            f"from 0 to {n_nodes - 1}."
        )
    outside = (chosen < 0) | (chosen >= n_nodes)
    if outside.any():
        raise ValueError(f"node {chosen[np.argmax(outside)]}: nodes are numbered from 0 to {n_nodes - 1}.")
    return chosen.astype(np.intp)
