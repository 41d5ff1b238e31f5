"""Columns: the names of the columns of a matrix, and what they hold in the table that it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["CATEGORY", "DATE", "NUMBER", "TableColumns"]

NUMBER, DATE, CATEGORY = "number", "date", "category"


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
