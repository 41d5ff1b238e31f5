r"""Odd columns: which columns make a point an outlier.

The squared distances of a point to its k near points are sums over the columns. The part of column j that is more than
usual is

    e_ij = max(0, mean over near q of (x_ij - x_qj)^2 - u_j),      u_j = the same mean for an ordinary point,

and e_ij / sum_l e_il is the share of column j in what makes point i an outlier. The columns of one category, of which
each cell has one, count together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graspel.data.prepare import is_of_rows
from graspel.data.protocol import Data
from graspel.findings.near_points import NearPoints
from graspel.findings.shown import Shown, show_value
from graspel.findings.table import Table
from graspel.io.columns import CATEGORY
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.types import Floats, Ints

ORDINARY = 500  # points from which the usual part of a column is estimated
SMALLEST_SHARE = 0.1  # of the columns that are named
WIDE = 2_000  # columns of a sparse matrix from which single columns explain no outlier


def can_explain(index: NeighborIndex, shown: Shown) -> bool:
    """Whether distances are sums over the columns that are shown, and few enough to be named."""
    if index.is_remote or not is_of_rows(index.metric):
        return False
    width = shown.values.shape[1]
    return index.points.n_features == width and (width <= WIDE or not hasattr(shown.values, "tocsr"))


def find_odd_columns(chosen: Ints, near: NearPoints, points: Data, shown: Shown, n_most: int = 3) -> Table:
    """The columns that make some points outliers, those of the largest share first for each point.

    Parameters
    ----------
    chosen : array of the points to explain
    near : NearPoints
    points : Data
        The rows whose distances were compared.
    shown : Shown
        The same columns in the units of the user.
    n_most : int
        Columns of each point.

    Returns
    -------
    odd : Table
        With the `point`, the `column` of the user's table, its `share` of what makes the point an outlier, the `value`
        there, and the `usual` values at the near points, both as text.

    Examples
    --------
    >>> from graspel import NeighborIndex
    >>> from graspel.findings import near_points
    >>> from graspel.findings.shown import make_shown
    >>> X = np.random.default_rng(0).uniform(size=(100, 3))
    >>> X[7, 2] = 40.0
    >>> index = NeighborIndex(X)
    >>> odd = find_odd_columns(np.array([7]), near_points(index), index.points, make_shown(X))
    >>> odd["column"], odd["value"], odd["share"].round(2)
    (array(['feature 2'], dtype=object), array(['40'], dtype=object), array([1.]))
    """
    sample = np.unique(np.linspace(0, len(near.original) - 1, ORDINARY).astype(np.int64))
    usual = np.zeros(points.n_features)
    for _, parts in _parts(sample, near, points):
        usual += parts / len(sample)
    sources, of = np.unique(np.asarray(shown.columns.sources, dtype=object).astype(str), return_inverse=True)
    rows: list[tuple[int, str, float, str, str]] = []
    for point, parts in _parts(chosen, near, points):
        excess = np.maximum(parts - usual, 0.0)
        by_source = np.bincount(of, excess, minlength=len(sources))
        share = by_source / (by_source.sum() or 1.0)
        for k in np.argsort(-share, kind="stable")[:n_most].tolist():
            if share[k] >= SMALLEST_SHARE:
                columns = np.flatnonzero(of == k)
                value, around = _describe(point, near.of(point), columns, shown)
                rows.append((point, str(sources[k]), float(share[k]), value, around))
    kinds = {"point": np.int64, "column": object, "share": np.float64, "value": object, "usual": object}
    return Table(
        {name: np.array([row[at] for row in rows], dtype=kind) for at, (name, kind) in enumerate(kinds.items())}
    )


def _parts(chosen: Ints, near: NearPoints, points: Data) -> Iterator[tuple[int, Floats]]:
    """For each point the mean squared difference to its near points in every column."""
    for point in chosen.tolist():
        around = near.of(point)
        if len(around):
            off = _dense(points.rows(around)) - _dense(points.rows(np.array([point])))
            yield point, np.einsum("ij,ij->j", off, off, dtype=np.float64) / len(around)


def _dense(rows: object) -> Floats:
    toarray = getattr(rows, "toarray", None)
    values: Floats = np.asarray(rows if toarray is None else toarray(), dtype=np.float64)
    return values


def _describe(point: int, around: Ints, columns: Ints, shown: Shown) -> tuple[str, str]:
    """The value of a point in a column of the table, and the values around it."""
    here = _dense(shown.values[[point]][:, columns])[0]
    there = _dense(shown.values[around][:, columns])
    kind = shown.columns.kinds[columns[0]]
    if kind == CATEGORY:
        names = [shown.columns.names[j].removeprefix(f"{shown.columns.sources[j]} = ") for j in columns.tolist()]
        if len(names) == 1:  # one of two
            return f"{'not ' * bool(here[0] < 0.5)}{names[0]}", f"{show_value(there.mean(), CATEGORY)} {names[0]}"
        usual = there.mean(axis=0)
        return names[int(here.argmax())], f"{names[int(usual.argmax())]} ({show_value(usual.max(), CATEGORY)})"
    low, high = (show_value(float(value), kind) for value in (there.min(), there.max()))
    return show_value(float(here[0]), kind), low if low == high else f"{low} to {high}"
