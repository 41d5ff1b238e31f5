"""Values: what was measured on some nodes, in columns, with NaN where it was not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graspel.graph.adjacency import check_nodes
from graspel.runtime.types import Floats, Ints

LARGEST = 1e140  # size of values whose variances, and likelihoods, neither overflow nor vanish


class ColumnGroup(NamedTuple):
    """Columns that were measured on the same nodes with the same relative noise.

    Attributes
    ----------
    columns : array of m column numbers
    nodes : array of n node numbers
    Y : array (n x m)
    noise : float or None, root mean square of the standard deviations of the noise, where it is known
    ratios : array of n, noise variances over their mean
    """

    columns: Ints
    nodes: Ints
    Y: Floats
    noise: float | None
    ratios: Floats


def check_measured(values: ArrayLike, nodes: ArrayLike | None, n_nodes: int) -> tuple[Ints, Floats]:
    """The nodes, and the values there as columns; NaN stands for a value that is not known.

    >>> check_measured([1.0, np.nan, 3.0], None, 3)[0]
    array([0, 1, 2])
    """
    Y = np.asarray(values)
    Y = Y.astype(np.float64) if Y.size == 0 else Y
    if Y.dtype.kind not in "biuf":
        raise ValueError(f"values of dtype {Y.dtype}: must be real numbers, NaN where a value is not known.")
    places = np.arange(n_nodes) if nodes is None else check_nodes(nodes, n_nodes).astype(np.int64)
    if Y.ndim not in (1, 2) or len(Y) != len(places):
        what = (
            f"one row for each of the {n_nodes} nodes" if nodes is None else f"one row for each of {len(places)} nodes"
        )
        raise ValueError(f"values have shape {Y.shape}: must have {what}, in one column or several.")
    if len(np.unique(places)) < len(places):
        twice = int(np.flatnonzero(np.bincount(places) > 1)[0])
        raise ValueError(f"node {twice} occurs twice in nodes: give the mean of its values, with less noise.")
    Y = Y.astype(np.float64).reshape(len(places), 1 if Y.ndim == 1 else Y.shape[1])
    if np.isnan(Y).all():
        raise ValueError("no value is known: give at least one number, and NaN where a value is not known.")
    if np.isinf(Y).any():
        raise ValueError("values hold an infinite number: must be finite, or NaN where a value is not known.")
    largest = np.nanmax(np.abs(Y), axis=0, initial=0.0)
    odd = (largest > LARGEST) | ((largest > 0) & (largest < 1 / LARGEST))
    if odd.any():
        raise ValueError(
            f"the largest of the values is {largest[odd][0]:.3g}: its square must be a normal number, so that "
            f"variances are. Give values in another unit, of sizes from {1 / LARGEST:g} to {LARGEST:g}."
        )
    return places, Y


def group_columns(places: Ints, Y: Floats, noise: Any) -> list[ColumnGroup]:
    """The columns of values in groups that need one factor each.

    Parameters
    ----------
    places : array of node numbers
    Y : array, with NaN where a value is not known
    noise : None, a number, or an array of the shape of the values or of one of their columns
    """
    deviations = None if noise is None else _check_noise(noise, Y.shape)
    found: dict[bytes, list[int]] = {}
    for column in range(Y.shape[1]):
        key = np.isnan(Y[:, column]).tobytes()
        if deviations is not None:
            key += deviations[:, column].tobytes()
        found.setdefault(key, []).append(column)
    return [_group(places, Y, deviations, np.array(columns)) for columns in found.values()]


def _check_noise(noise: Any, shape: tuple[int, ...]) -> Floats:
    given = np.asarray(noise)
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(
            f"noise={noise!r}: must be standard deviations, finite numbers that are not negative, or None."
        )
    if given.shape not in ((), shape[:1], shape):
        raise ValueError(f"noise has shape {given.shape}: must be one number, or one for each of the values {shape}.")
    column = given.reshape(-1, 1) if given.shape == shape[:1] else given
    return np.broadcast_to(column, shape).astype(np.float64)


def _group(places: Ints, Y: Floats, deviations: Floats | None, columns: Ints) -> ColumnGroup:
    known = np.flatnonzero(~np.isnan(Y[:, columns[0]]))
    if not len(known):
        raise ValueError(
            f"column {columns[0]} of the values has no known value: give at least one number, or leave it out."
        )
    ratios, level = np.ones(len(known)), None
    if deviations is not None:
        squares = deviations[known, columns[0]] ** 2
        mean = float(squares.mean())
        level = mean**0.5
        ratios = squares / mean if mean > 0 else ratios
    return ColumnGroup(columns, places[known], Y[np.ix_(known, columns)], level, ratios)
