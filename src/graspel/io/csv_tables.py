"""CSV files: numbers as text, one point per line.

numpy's reader does the work. Only when it stumbles is the file read a second time, slowly, to name the line and
column of the first cell that is not a number.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO, cast

import numpy as np

from graspel.io.errors import UnusableFile

__all__ = ["read_csv"]

DELIMITERS = ("\t", ";", ",")


def read_csv(path: Path, header: bool | None = None) -> np.ndarray:
    """Read a table of numbers; see :mod:`graspel.io.tables` for the parameters."""
    try:
        with _open(path) as file:
            number, first_line = next(_lines(file), (1, ""))
        delimiter = next((mark for mark in DELIMITERS if mark in first_line), ",")
        if header is None:
            header = _is_header(path, number, first_line, delimiter)
        with _open(path) as file:
            lines = (line for _, line in _lines(file))
            if header:
                next(lines)
            return _parse(path, lines, delimiter, header)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnusableFile(f"{path} cannot be unpacked: it is truncated or no gzip file ({error}).") from error
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path} is not a text file in UTF-8 ({error.reason}); save it as CSV in UTF-8.") from error


def _open(path: Path) -> TextIO:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=None))


def _lines(file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers, counted from 1."""
    for number, line in enumerate(file, start=1):
        if line.strip():
            yield number, line


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _is_header(path: Path, number: int, line: str, delimiter: str) -> bool:
    cells = _cells(line, delimiter) if line else []
    numeric = [_is_number(cell) for cell in cells]
    if any(numeric) and not all(numeric):
        column = numeric.index(False) + 1
        raise UnusableFile(
            f"{path}, line {number}, column {column}: {cells[column - 1]!r} is not a number, but other cells of this "
            "line are; if the line holds names pass --header, else remove that column or correct the cell."
        )
    return bool(cells) and not any(numeric)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _parse(path: Path, lines: Iterator[str], delimiter: str, header: bool) -> np.ndarray:
    first = next(lines, None)
    if first is None:
        raise UnusableFile(f"{path} holds no numbers{' below its header' if header else ''}; give one point per line.")
    try:
        return np.loadtxt(_chain(first, lines), delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
    except ValueError as error:
        raise UnusableFile(_first_fault(path, delimiter, header) or f"{path}: {error}") from error


def _chain(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _first_fault(path: Path, delimiter: str, header: bool) -> str | None:
    """Name the first line that is not a row of numbers as long as the row before it."""
    width = None
    with _open(path) as file:
        lines = _lines(file)
        if header:
            next(lines)
        for number, line in lines:
            cells = _cells(line, delimiter)
            for column, cell in enumerate(cells, start=1):
                if not _is_number(cell):
                    what = f"{cell!r} is not a number" if cell else "the cell is empty"
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
