"""Columns of a table, as the user has them: numbers, dates and words, each with the values that a reader knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.types import Floats

NUMBER, DATE, CATEGORY = "number", "date", "category"
FLAG_WORDS = ("false", "true")
ISO_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?")
DAY = 86_400.0  # seconds


@dataclass(frozen=True)
class TableColumns:
    """Names and kinds of columns.

    Attributes
    ----------
    names : list of str
    kinds : list of str, "number", "date" (days since 1970) or "category" (1 where a cell holds this one, 0 elsewhere)
    sources : list of str, the column of the table that each was made of

    Examples
    --------
    >>> TableColumns(["age", "city = Paris"], ["number", "category"], ["age", "city"]).sources
    ['age', 'city']
    """

    names: list[str]
    kinds: Sequence[str] = ()
    sources: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        """Without kinds all are numbers, and without sources each is made of itself."""
        if not self.kinds:
            object.__setattr__(self, "kinds", [NUMBER] * len(self.names))
        if not self.sources:
            object.__setattr__(self, "sources", list(self.names))


@dataclass(frozen=True)
class Column:
    """A column as it was given.

    Attributes
    ----------
    name : str
    values : array of N, the numbers, days since 1970, or the places of the cells in `words`; NaN where one is missing
    kind : str, as in `TableColumns`
    words : list of str, the categories; of true and false, "false" and "true"
    """

    name: str
    values: Any
    kind: str = NUMBER
    words: Sequence[str] = ()

    @property
    def n_missing(self) -> int:
        """Number of cells without a value."""
        return int(np.isnan(self.values).sum()) if np.asarray(self.values).dtype.kind == "f" else 0


@dataclass(frozen=True)
class Shown:
    """The values by which findings are explained, before any scaling.

    Attributes
    ----------
    values : array or CSR array (N x M), without missing values
    columns : TableColumns
        What they hold. Categories have one column of 0 and 1 for each.
    cells : list of Column
        The columns as they were given; empty where they are not read one by one, as those of embeddings.
    """

    values: Any
    columns: TableColumns
    cells: Sequence[Column] = ()


def read_columns(X: Any) -> list[Column]:
    """The columns of a table of pandas, polars or Arrow.

    >>> import pandas as pd
    >>> columns = read_columns(pd.DataFrame({"age": [31.0, None], "city": ["Nice", "Lyon"], "paid": [True, False]}))
    >>> [(column.name, column.kind, column.values.tolist(), list(column.words)) for column in columns]
    [('age', 'number', [31.0, nan], []), ('city', 'category', [1.0, 0.0], ['Lyon', 'Nice']),
     ('paid', 'category', [1.0, 0.0], ['false', 'true'])]
    """
    names = getattr(X, "column_names", None) or list(X.columns)
    return [make_column(str(name), _take(X, at)) for at, name in enumerate(names)]


def _take(X: Any, at: int) -> Any:
    if hasattr(X, "column_names"):  # Arrow
        return X.column(at)
    return X.iloc[:, at] if hasattr(X, "iloc") else X.to_series(at)


def make_column(name: str, values: Any) -> Column:
    """A column of any values: numbers, dates, or words.

    >>> make_column("since", ["2024-02-01", ""]).kind
    'date'
    """
    kind = str(getattr(values, "dtype", ""))
    cells = np.asarray(values)
    if cells.dtype.kind == "M":
        return Column(name, _days(cells), DATE)
    if cells.dtype.kind == "b":
        return Column(name, cells.astype(np.float64), CATEGORY, FLAG_WORDS)
    if cells.dtype.kind in "iuf":
        return Column(name, cells, NUMBER)
    cells = cells.astype(object)
    missing = np.array([cell is None or cell != cell or str(cell) in ("", "<NA>", "NaT") for cell in cells.tolist()])
    held = cells[~missing]
    if "category" not in kind and all(isinstance(cell, bool | np.bool_) for cell in held):
        return Column(name, _with_gaps(held.astype(np.float64), missing), CATEGORY, FLAG_WORDS)
    try:
        return Column(name, _with_gaps(held.astype(np.float64), missing), NUMBER)
    except (TypeError, ValueError):
        pass
    words = np.array([str(cell) for cell in held], dtype=object)
    dates = parse_dates(words.tolist())
    if dates is not None:
        return Column(name, _with_gaps(dates, missing), DATE)
    if {word.lower() for word in words} <= set(FLAG_WORDS):
        return Column(
            name, _with_gaps(np.array([w.lower() == "true" for w in words], float), missing), CATEGORY, FLAG_WORDS
        )
    known, codes = np.unique(words.astype(str), return_inverse=True)
    return Column(name, _with_gaps(codes.astype(np.float64), missing), CATEGORY, known.tolist())


def _with_gaps(held: Floats, missing: NDArray[np.bool_]) -> Floats:
    values = np.full(len(missing), np.nan)
    values[~missing] = held
    return values


def _days(cells: NDArray[Any]) -> Floats:
    days: Floats = cells.astype("datetime64[s]").astype(np.int64) / DAY
    return np.where(np.isnat(cells), np.nan, days)


def parse_dates(words: Sequence[str]) -> Floats | None:
    """Days since 1970 of dates in the form of ISO 8601; None if one of the words is something else.

    >>> parse_dates(["1970-01-02", "1970-01-01 12:00"])
    array([1. , 0.5])
    >>> parse_dates(["yesterday"])
    """
    if not words or not all(ISO_DATE.fullmatch(word) for word in words):
        return None
    try:
        moments = [datetime.fromisoformat(word.strip()).replace(tzinfo=None) for word in words]
    except ValueError:
        return None
    return np.array([(moment - datetime(1970, 1, 1)).total_seconds() / DAY for moment in moments])
