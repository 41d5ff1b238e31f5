"""Values as the user reads them: a number, a date or a share in words, and what sets a group apart in one column."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from graspel.io.columns import CATEGORY, DATE, NUMBER, Column, Shown, TableColumns, read_columns
from graspel.io.encoder import TableEncoder


def show_value(value: float, kind: str) -> str:
    """A number with three or four digits, a date as a date, a share of a category in percent.

    >>> show_value(1234567.8, "number"), show_value(0.25, "category"), show_value(13.7361, "number")
    ('1,234,568', '25 %', '13.74')
    >>> show_value(19_000, "date")
    '2022-01-08'
    """
    if kind == DATE and abs(value) < 365e4:
        try:
            return (date(1970, 1, 1) + timedelta(days=round(value))).isoformat()
        except OverflowError:
            return f"{value:.4g} days"
    if kind == CATEGORY:
        return f"{abs(value):.0%}".replace("%", " %")  # rounding may make a share negative
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def say_difference(name: str, kind: str, inside: float, outside: float) -> str:
    """What sets a group apart in one column, in words.

    >>> say_difference("alcohol", "number", 13.74, 12.61)
    'alcohol is high: 13.74 here, 12.61 elsewhere'
    >>> say_difference("city = Paris", "category", 0.9, 0.1)
    'city = Paris is frequent: 90 % here, 10 % elsewhere'
    """
    side = SIDES[kind][0] if inside > outside else SIDES[kind][1]
    return f"{name} is {side}: {show_value(inside, kind)} here, {show_value(outside, kind)} elsewhere"


SIDES = {NUMBER: ("high", "low"), DATE: ("late", "early"), CATEGORY: ("frequent", "rare")}


def make_shown(X: Any, features: Any = None) -> Shown:
    """The values of a matrix or of a table, with the names of its columns if it has some.

    Parameters
    ----------
    X : array, CSR array or DataFrame (N x M)
    features : TableColumns, sequence of M str or None
    """
    if isinstance(X, Shown):
        return X
    if features is None and (hasattr(X, "columns") or hasattr(X, "column_names")):
        columns = read_columns(X)
        return TableEncoder(None).fit_columns(columns).show_columns(columns)
    values = X if hasattr(X, "tocsr") else np.asarray(X)
    if not isinstance(features, TableColumns):
        named = [""] * values.shape[1] if features is None else features
        features = TableColumns([str(name) or f"feature {j}" for j, name in enumerate(named)])
    is_dense = not hasattr(values, "tocsr")
    cells = [Column(name, values[:, j]) for j, name in enumerate(features.names)] if is_dense else []
    return Shown(values, features, cells)
