"""A table as it was read: columns of numbers and columns of text, with the names in its header.

A column is text if no cell of it is a number. If some are, the others are taken for faults, which are named if the
column is used as a feature. Empty cells and the usual words for a missing value are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.io.csv_lines import is_number

__all__ = ["MISSING", "Table", "parse_column"]

MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")  # cells that hold no value, in lower case


@dataclass(frozen=True)
class Table:
    """Columns of numbers, as one matrix, and columns of text.

    Attributes
    ----------
    numbers : matrix of the columns of numbers; it may be sparse, or stay on the disk
    positions : the position of each of its columns in the table
    texts : columns of text by their positions
    faults : for columns that should hold numbers but also hold text, what is wrong; their cells are in `texts`
    header : names of all columns; None if the file has none
    missing : (row, position) of the first missing value; None if there is none
    row_names, row_labels : names and columns of labels that the format keeps apart from the points (AnnData)
    lines : for text files the line of the file that each row stands on
    """

    numbers: Any
    positions: Sequence[int]
    texts: dict[int, list[str]] = field(default_factory=dict)
    header: list[str] | None = None
    missing: tuple[int, int] | None = None
    row_names: list[str] | None = None
    row_labels: dict[str, list[Any]] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    lines: Sequence[int] | None = None

    @classmethod
    def of_numbers(cls, matrix: Any, header: list[str] | None = None, **more: Any) -> Table:
        """A table of numbers only."""
        n_columns = matrix.shape[1] if matrix.ndim == 2 else 0
        return cls(matrix, range(n_columns), header=header, **more)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.numbers.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns, of text and of numbers."""
        return len(self.positions) + len(self.texts)

    def name(self, position: int) -> str:
        """The name of a column, or its number, counted from 1, if it has none."""
        named = "" if self.header is None else self.header[position].strip()
        return repr(named) if named else f"number {position + 1}"

    def column(self, position: int) -> list[Any]:
        """The cells of a column as text or numbers; whole numbers without a decimal point."""
        if position in self.texts:
            return self.texts[position]
        values = _dense_column(self.numbers, self.positions.index(position))
        return [int(v) if float(v).is_integer() else float(v) for v in values.tolist()]


def parse_column(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """The numbers in a column of cells, NaN where a cell is missing; None if there is another text.

    >>> parse_column(["1", "", "2.5"])
    array([1. , nan, 2.5])
    >>> parse_column(["1", "one"])
    """
    try:
        return np.array([float(cell) if "_" not in cell else float("x") for cell in cells])
    except ValueError:
        pass
    values = ["nan" if cell.strip().lower() in MISSING else cell for cell in cells]
    return np.array([float(cell) for cell in values]) if all(map(is_number, values)) else None


def _dense_column(matrix: Any, at: int) -> NDArray[Any]:
    column = matrix[:, [at]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]
