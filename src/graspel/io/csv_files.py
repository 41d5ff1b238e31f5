"""CSV files: their text, their cells, and the numbers in them. Readers of tables, labels and edge lists share these.

A file is text in UTF-8, with or without a byte order mark, packed if its name ends in .gz. The delimiter is guessed
from the first line. A spreadsheet takes a cell that begins with = for a formula and runs it, so names that could be one
are written with an apostrophe before them, which :func:`read_name` takes away again.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO, cast

from graspel.runtime.shown import quote

DELIMITERS = ("\t", ";", ",")  # in the order in which they are looked for
LONGEST_CELL = 2**31 - 1  # characters; Python's own limit, 131,072, is less than some documents
FORMULA = "=+-@\t\r"  # characters with which formulas begin in Excel, LibreOffice and Google Sheets (OWASP)


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a text file for reading; with ``newline=""`` the ends of lines are not translated."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=newline))


def number_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Yield the lines that are not blank, with their numbers, counted from 1.

    >>> list(number_lines(["a\n", "\n", "b\n"]))
    [(1, 'a\n'), (3, 'b\n')]
    """
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def find_delimiter(line: str) -> str:
    r"""Return the delimiter of the cells in a line: the first of tab, semicolon and comma that occurs.

    >>> find_delimiter("1,5;2,5"), find_delimiter("1")
    (';', ',')
    """
    return next((mark for mark in DELIMITERS if mark in line), ",")


def read_cells(lines: Iterable[str], delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the cells of each line; a quoted cell may hold line breaks."""
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(lines, delimiter=delimiter)


def write_cells(file: TextIO, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of cells; the file must be open with ``newline=""``."""
    # Before Python 3.13 a writer that ends lines by \n does not quote a cell with \r, so they end by both at first.
    csv.writer(_LineFeeds(file), lineterminator="\r\n").writerows(rows)


class _LineFeeds:
    """A text file in which every row ends with a line feed alone."""

    def __init__(self, file: TextIO) -> None:
        self._write = file.write

    def write(self, row: str) -> int:
        """Write one row."""
        return self._write(f"{row[:-2]}\n")


def write_name(name: str) -> str:
    """Return the cell for a name: with an apostrophe before it if a spreadsheet would take it for a formula.

    >>> write_name("=1+1"), write_name("-5"), write_name("Ann")
    ("'=1+1", '-5', 'Ann')
    """
    bare = name.lstrip("'")
    return f"'{name}" if bare[:1] in FORMULA and bare and not is_number(name) else name


def read_name(cell: str) -> str:
    """Return the name in a cell that `write_name` has written.

    >>> read_name("'=1+1"), read_name("-5"), read_name("'tis")
    ('=1+1', '-5', "'tis")
    """
    bare = cell.lstrip("'")
    return cell[1:] if cell[:1] == "'" and bare[:1] in FORMULA and bare else cell


def is_number(cell: str) -> bool:
    """Whether the cell is a number.

    >>> is_number("1e3"), is_number("one")
    (True, False)
    """
    try:
        parse_float(cell)
    except ValueError:
        return False
    return True


def parse_float(cell: str) -> float:
    """Return the number in a cell; unlike Python, files do not group digits by underscores.

    >>> parse_float(" 1e3")
    1000.0
    """
    return float(_refuse_underscores(cell))


def parse_whole(cell: str) -> int:
    """Return the whole number in a cell.

    >>> parse_whole("1_2")
    Traceback (most recent call last):
    ...
    ValueError: '1_2' is not a number
    """
    return int(_refuse_underscores(cell))


def _refuse_underscores(cell: str) -> str:
    if "_" in cell:
        raise ValueError(f"{quote(cell)} is not a number")
    return cell
