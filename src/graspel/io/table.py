"""A table as it was read: columns of numbers and columns of text, with the names in its header.

A column is text if no cell of it is a number; true and false are 1 and 0. If some cells are numbers, the others are
taken for faults, which are named if the column is used as a feature. Empty cells and the usual words for a missing
value are NaN.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.io.checks import UnusableFile
from graspel.io.csv_files import is_number, parse_float
from graspel.runtime.shown import quote
from graspel.runtime.types import Floats

MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")  # cells that hold no value, in lower case


@dataclass(frozen=True)
class FileTable:
    """Columns of numbers, as one matrix, and columns of text.

    Attributes
    ----------
    numbers : matrix of the columns of numbers; it may be sparse, or stay on the disk
    positions : the position of each of its columns in the table
    texts : columns of text by their positions
    header : names of all columns; None if the file has none
    has_gaps : whether a cell had no value, which is NaN in `numbers`
    row_names, row_labels : names and columns of labels that the format keeps apart from the points (AnnData)
    faults : for columns that should hold numbers but also hold text, what is wrong; their cells are in `texts`
    lines : for text files the line of the file that each row stands on
    flags : positions of the columns of numbers that held true and false
    """

    numbers: Any
    positions: Sequence[int]
    texts: dict[int, list[str]] = field(default_factory=dict)
    header: list[str] | None = None
    has_gaps: bool = False
    row_names: list[str] | None = None
    row_labels: dict[str, list[Any]] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    lines: Sequence[int] | None = None
    flags: Set[int] = frozenset()

    @classmethod
    def of_numbers(cls, matrix: Any, header: list[str] | None = None, **more: Any) -> FileTable:
        """A table of numbers only."""
        n_columns = matrix.shape[1] if matrix.ndim == 2 else 0
        return cls(matrix, range(n_columns), header=header, **more)

    @classmethod
    def of_columns(
        cls, columns: dict[int, Any], texts: dict[int, list[str]], n_rows: int, header: list[str] | None, **more: Any
    ) -> FileTable:
        """A table of columns of numbers and of text, by their positions."""
        matrix = np.column_stack(list(columns.values())) if columns else np.empty((n_rows, 0))
        return cls(matrix, list(columns), texts, header, **more)

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

    def argument_name(self, position: int) -> str:
        """How an option names a column: by its name, or by its number, counted from 1, if it has none."""
        named = "" if self.header is None else self.header[position].strip()
        return named if named and "," not in named else str(position + 1)  # options separate names by commas

    def argument(self, position: int) -> str:
        """How the user names a column on the command line."""
        return shlex.quote(self.argument_name(position))

    def values(self, position: int) -> NDArray[Any]:
        """The values of a column of numbers."""
        column = self.numbers[:, [self.positions.index(position)]]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]

    def column(self, position: int) -> list[Any]:
        """The cells of a column as text or numbers; whole numbers without a decimal point."""
        if position in self.texts:
            return self.texts[position]
        return [int(v) if float(v).is_integer() else float(v) for v in self.values(position).tolist()]


def parse_column(cells: Sequence[str], *, decimal_commas: bool = False) -> Floats | None:
    """The numbers in a column of cells, NaN where a cell is missing; None if there is another text.

    >>> parse_column(["1", "", "2.5"])
    array([1. , nan, 2.5])
    >>> parse_column(["1", "one"])
    >>> parse_column(["1,5"], decimal_commas=True)
    array([1.5])
    """
    if decimal_commas:
        cells = [cell.replace(",", ".") for cell in cells]
    try:
        return np.array([parse_float(cell) for cell in cells])
    except ValueError:
        values = ["nan" if cell.strip().lower() in MISSING else cell for cell in cells]
    return np.array([float(cell) for cell in values]) if all(map(is_number, values)) else None


def parse_flags(cells: Sequence[str]) -> Floats | None:
    """One for true and zero for false, NaN where a cell is missing; None if there is another text.

    >>> parse_flags(["True", "false", ""])
    array([ 1.,  0., nan])
    >>> parse_flags(["yes"])
    """
    known = {"true": 1.0, "false": 0.0, **dict.fromkeys(MISSING, np.nan)}
    values = [known.get(cell.lower()) for cell in cells]
    return None if None in values else np.array(values, dtype=np.float64)


def table_of_cells(
    path: Path, rows: list[list[str]], names: list[str] | None, lines: Sequence[int], *, decimal_commas: bool = False
) -> FileTable:
    """A table from cells of text; `lines` are the numbers of the rows in messages."""
    width = len(rows[0] if names is None else names)
    for number, row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise UnusableFile(
                f"{path}, line {number}: {len(row)} cells, but the lines before have {width}; correct the line."
            )
    parsed: dict[int, Floats] = {}
    texts: dict[int, list[str]] = {}
    faults: dict[int, str] = {}
    with_commas = False
    flags: set[int] = set()
    for at, column in enumerate(zip(*rows, strict=True)):
        cells = list(column)
        values = parse_column(cells)
        if values is None and decimal_commas:
            values = parse_column(cells, decimal_commas=True)
            with_commas = with_commas or values is not None
        if values is None:
            values = parse_flags(cells)
            flags |= {at} if values is not None else set()
        if values is not None:
            parsed[at] = values
            continue
        texts[at] = cells
        if any(is_number(cell) for cell in cells if cell.lower() not in MISSING):
            faults[at] = _describe_fault(path, cells, lines, at)
    if with_commas:
        warnings.warn(f"{path}: commas in numbers were read as decimal points (2,5 as 2.5).", stacklevel=2)
    has_gaps = any(np.isnan(values).any() for values in parsed.values())
    more = {"has_gaps": has_gaps, "lines": lines, "faults": faults, "flags": flags}
    return FileTable.of_columns(parsed, texts, len(rows), names, **more)


def _describe_fault(path: Path, cells: list[str], lines: Sequence[int], at: int) -> str:
    row = next(row for row, cell in enumerate(cells) if not is_number(cell) and cell.lower() not in MISSING)
    return (
        f"{path}, line {lines[row]}, column {at + 1}: {quote(cells[row])} is not a number; correct the cell, remove "
        f"this line, or leave the column out by --drop {at + 1}."
    )
