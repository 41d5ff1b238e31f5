"""Table: columns of equal length, one row for each thing that was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Named columns of equal length. ``pandas.DataFrame(table.columns)`` is the same as a DataFrame.

    Attributes
    ----------
    columns : dict of arrays

    Examples
    --------
    >>> import numpy as np
    >>> table = Table({"point": np.array([7, 2, 5]), "score": np.array([9.0, 4.0, 1.5])})
    >>> len(table), table["score"]
    (3, array([9. , 4. , 1.5]))
    >>> table.head(1)
    Table(1 row: point, score)
    >>> list(table.head(1).rows())
    [{'point': 7, 'score': 9.0}]
    """

    columns: dict[str, NDArray[Any]]

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of different lengths: {lengths}; all must have one value for each row.")

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def take(self, chosen: Any) -> Table:
        """Some of the rows: by their numbers, by a slice, or by an array of bool."""
        return Table({name: column[chosen] for name, column in self.columns.items()})

    def head(self, n: int) -> Table:
        """The first n rows."""
        return self.take(slice(n))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts of plain Python values."""
        values = [column.tolist() for column in self.columns.values()]
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True))

    def to_frame(self) -> Any:
        """The columns as a pandas DataFrame; as a dict of arrays where pandas is not installed."""
        try:
            from pandas import DataFrame
        except ModuleNotFoundError:
            return dict(self.columns)
        return DataFrame(self.columns)

    def __repr__(self) -> str:
        n = len(self)
        return f"Table({n:,} {'row' if n == 1 else 'rows'}: {', '.join(self.columns)})"
