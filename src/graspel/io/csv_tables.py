"""Tables of numbers in CSV files, one point per line.

numpy reads the file. Only if numpy fails, the file is read a second time, slowly, to find the line and the column of
the first cell that is not a number.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from graspel.io.csv_lines import find_delimiter, is_number, number_lines, open_text, refuse_other_encodings
from graspel.io.errors import UnusableFile
from graspel.runtime.shown import quote, shorten

__all__ = ["read_csv"]


def read_csv(path: Path, header: bool | None = None) -> np.ndarray:
    """Read a table of numbers; see :mod:`graspel.io.tables` for the parameters."""
    with refuse_other_encodings(str(path)):
        with open_text(path) as file:
            number, first_line = next(number_lines(file), (1, ""))
        delimiter = find_delimiter(first_line)
        if header is None:
            header = _is_header(path, number, first_line, delimiter)
        with open_text(path) as file:
            lines = (line for _, line in number_lines(file))
            if header:
                next(lines)
            return _parse(path, lines, delimiter, header)


def _split_cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _is_header(path: Path, number: int, line: str, delimiter: str) -> bool:
    cells = _split_cells(line, delimiter) if line else []
    numeric = [is_number(cell) for cell in cells]
    if any(numeric) and not all(numeric):
        column = numeric.index(False) + 1
        raise UnusableFile(
            f"{path}, line {number}, column {column}: {quote(cells[column - 1])} is not a number, but other cells of "
            "this line are; if the line holds names pass --header, else remove that column or correct the cell."
        )
    return bool(cells) and not any(numeric)


def _parse(path: Path, lines: Iterator[str], delimiter: str, header: bool) -> np.ndarray:
    first = next(lines, None)
    if first is None:
        raise UnusableFile(f"{path} holds no numbers{' below its header' if header else ''}; give one point per line.")
    try:
        return np.loadtxt(chain([first], lines), delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
    except ValueError as error:
        raise UnusableFile(_find_first_fault(path, delimiter, header) or f"{path}: {shorten(str(error))}") from error


def _find_first_fault(path: Path, delimiter: str, header: bool) -> str | None:
    """Describe the first line that is not a row of numbers of the same length as the rows before it."""
    width = None
    with open_text(path) as file:
        lines = number_lines(file)
        if header:
            next(lines)
        for number, line in lines:
            cells = _split_cells(line, delimiter)
            for column, cell in enumerate(cells, start=1):
                if not is_number(cell):
                    what = f"{quote(cell)} is not a number" if cell else "the cell is empty"
                    return (
                        f"{path}, line {number}, column {column}: {what}; "
                        "correct the cell, or remove this line or column."
                    )
            width = width or len(cells)
            if len(cells) != width:
                return (
                    f"{path}, line {number}: {len(cells)} cells, but the lines before have {width}; correct the line."
                )
    return None
