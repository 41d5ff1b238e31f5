"""Columns as the user knows them: their names, what they hold, and a value of one in the user's own unit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from graspel.io.table import CATEGORY, DATE, TableColumns

__all__ = ["Shown", "make_shown", "say_difference"]


@dataclass(frozen=True)
class Shown:
    """The values by which findings are explained, before any scaling.

    Attributes
    ----------
    values : array or CSR array (N x M)
    columns : TableColumns
        What they hold. Categories have one column of 0 and 1 for each.
    """

    values: Any
    columns: TableColumns

    def cell(self, column: int, value: float) -> str:
        """A value of a column in words.

        >>> Shown(np.zeros((1, 1)), TableColumns(["since"], ["date"])).cell(0, 19_000)
        '2022-01-08'
        """
        return show_value(value, self.columns.kinds[column])


def show_value(value: float, kind: str) -> str:
    """A number with three or four digits, a date as a date, a share of a category in percent.

    >>> show_value(1234567.8, "number"), show_value(0.25, "category"), show_value(13.7361, "number")
    ('1,234,568', '25 %', '13.74')
    """
    if kind == DATE and abs(value) < 365e4:
        try:
            return (date(1970, 1, 1) + timedelta(days=round(value))).isoformat()
        except OverflowError:
            return f"{value:.4g} days"
    if kind == CATEGORY:
        return f"{value:.0%}".replace("%", " %")
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def say_difference(name: str, kind: str, inside: float, outside: float) -> str:
    """What sets a group apart in one column, in words.

    >>> say_difference("alcohol", "number", 13.74, 12.61)
    'alcohol is high: 13.74 here, 12.61 elsewhere'
    >>> say_difference("city = Paris", "category", 0.9, 0.1)
    'city = Paris is frequent: 90 % here, 10 % elsewhere'
    """
    sides = {DATE: ("late", "early"), CATEGORY: ("frequent", "rare")}.get(kind, ("high", "low"))
    side = sides[0] if inside > outside else sides[1]
    return f"{name} is {side}: {show_value(inside, kind)} here, {show_value(outside, kind)} elsewhere"


def make_shown(X: Any, features: Any = None) -> Shown:
    """The values of a matrix, with the names of its columns if it has some.

    Parameters
    ----------
    X : array, CSR array or DataFrame (N x M) of numbers
    features : TableColumns, sequence of M str or None
    """
    names = getattr(X, "columns", None) if features is None else features
    values = X if hasattr(X, "tocsr") else np.asarray(X)
    if isinstance(names, TableColumns):
        return Shown(values, names)
    if names is None:
        return Shown(values, TableColumns([f"feature {j}" for j in range(values.shape[1])]))
    return Shown(values, TableColumns([str(name) for name in names]))
