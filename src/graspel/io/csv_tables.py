"""Tables in text files (.csv, .tsv), one point per line.

numpy reads a file of numbers. If it fails, the file is read again, slowly, cell by cell: columns of text, missing
values and decimal commas are found then, and so is the line and the column of a cell that is none of these.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graspel.io.csv_lines import find_delimiter, is_number, number_lines, open_text, refuse_other_encodings
from graspel.io.errors import UnusableFile
from graspel.io.table import MISSING, Table, parse_column
from graspel.runtime.shown import quote

__all__ = ["read_csv", "table_of_cells"]

MIN_COUNTED = 3  # columns from which a first line 0, 1, 2, ... is taken for the names that pandas gives to columns


def read_csv(path: Path, header: bool | None = None) -> Table:
    """Read a table; see :mod:`graspel.io.tables` for the parameters."""
    with refuse_other_encodings(str(path)):
        with open_text(path) as file:
            number, first_line = next(number_lines(file), (1, ""))
        delimiter = find_delimiter(first_line)
        if header is None:
            header = _is_header(path, number, first_line, delimiter)
        names = _split_cells(first_line, delimiter) if header and first_line else None
        with open_text(path) as file:
            lines = (line for _, line in number_lines(file))
            if header:
                next(lines)
            numbers = _parse_numbers(path, lines, delimiter, header)
        if numbers is None:
            return _read_cells(path, delimiter, names)
        if names is not None and len(names) != numbers.shape[1]:
            raise UnusableFile(
                f"{path}: the header has {len(names)} names, but the lines below have {numbers.shape[1]} cells; "
                "correct the header, or pass --header no if there is none."
            )
        return Table.of_numbers(numbers, names)


def _split_cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _is_header(path: Path, number: int, line: str, delimiter: str) -> bool:
    cells = _split_cells(line, delimiter) if line else []
    counted = cells[1:] if cells and not cells[0] else cells
    if len(counted) >= MIN_COUNTED and counted == [str(at) for at in range(len(counted))]:
        warnings.warn(
            f"{path}: the first line counts the columns and is taken as their names; pass --header no if it is a "
            "point.",
            stacklevel=2,
        )
        return True
    numeric = [is_number(cell) for cell in cells]
    if any(numeric) and not all(numeric):
        column = numeric.index(False) + 1
        raise UnusableFile(
            f"{path}, line {number}, column {column}: {quote(cells[column - 1])} is not a number, but other cells of "
            "this line are; if the line holds names pass --header yes, if it is a point pass --header no, else correct "
            "the cell."
        )
    if cells and not any(numeric) and delimiter in ";\t":
        return parse_column([cell.replace(",", ".") for cell in cells]) is None  # decimal commas are no names
    return bool(cells) and not any(numeric)


def _parse_numbers(path: Path, lines: Iterator[str], delimiter: str, header: bool) -> NDArray[np.float64] | None:
    """The whole table, if it holds nothing but numbers."""
    first = next(lines, None)
    if first is None:
        raise UnusableFile(f"{path} holds no numbers{' below its header' if header else ''}; give one point per line.")
    try:
        return np.loadtxt(chain([first], lines), delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
    except ValueError:
        return None


def _read_cells(path: Path, delimiter: str, names: list[str] | None) -> Table:
    """Read a table that holds more than numbers."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    with open_text(path) as file:
        for number, line in number_lines(file):
            rows.append(_split_cells(line, delimiter))
            numbers.append(number)
    if names is not None:
        rows, numbers = rows[1:], numbers[1:]
    return table_of_cells(path, rows, names, numbers, decimal_commas=delimiter in ";\t")


def table_of_cells(
    path: Path, rows: list[list[str]], names: list[str] | None, lines: Sequence[int], *, decimal_commas: bool = False
) -> Table:
    """A table from cells of text; `lines` are the numbers of the rows in messages."""
    width = len(rows[0] if names is None else names)
    for number, row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise UnusableFile(
                f"{path}, line {number}: {len(row)} cells, but the lines before have {width}; correct the line."
            )
    columns = [list(column) for column in zip(*rows, strict=True)]
    parsed, texts, faults = _parse_columns(path, columns, lines, decimal_commas)
    kept = list(parsed)
    matrix = np.column_stack([parsed[at] for at in kept]) if kept else np.empty((len(rows), 0))
    gaps = np.argwhere(np.isnan(matrix))
    missing = (int(gaps[0, 0]), kept[int(gaps[0, 1])]) if len(gaps) else None
    return Table(matrix, kept, texts, names, missing, lines=lines, faults=faults)


def _parse_columns(
    path: Path, columns: list[list[str]], lines: Sequence[int], decimal_commas: bool
) -> tuple[dict[int, NDArray[np.float64]], dict[int, list[str]], dict[int, str]]:
    """The columns of numbers, those of text, and what is wrong in some of these, by their positions."""
    parsed: dict[int, NDArray[np.float64]] = {}
    texts: dict[int, list[str]] = {}
    faults: dict[int, str] = {}
    with_commas = False
    for at, cells in enumerate(columns):
        values = parse_column(cells)
        if values is None and decimal_commas:
            values = parse_column([cell.replace(",", ".") for cell in cells])
            with_commas = with_commas or values is not None
        if values is not None:
            parsed[at] = values
            continue
        texts[at] = cells
        if any(is_number(cell) for cell in cells if cell.lower() not in MISSING):
            faults[at] = _describe_fault(path, cells, lines, at)
    if with_commas:
        warnings.warn(f"{path}: commas in numbers were read as decimal points (2,5 as 2.5).", stacklevel=2)
    return parsed, texts, faults


def _describe_fault(path: Path, cells: list[str], lines: Sequence[int], at: int) -> str:
    row = next(row for row, cell in enumerate(cells) if not is_number(cell) and cell.lower() not in MISSING)
    return (
        f"{path}, line {lines[row]}, column {at + 1}: {quote(cells[row])} is not a number; correct the cell, remove "
        f"this line, or leave the column out by --drop {at + 1}."
    )
