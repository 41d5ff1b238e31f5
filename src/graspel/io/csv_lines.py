"""Lines of CSV files: what the readers of tables, labels and edge lists have in common.

They open a file as UTF-8 text (with or without a byte order mark, unpacked if the name ends in .gz), skip blank lines
but count them, and guess the delimiter from the first line.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from graspel.io.errors import UnusableFile
from graspel.runtime.shown import quote

__all__ = [
    "find_delimiter",
    "is_number",
    "number_lines",
    "open_text",
    "parse_float",
    "parse_whole",
    "refuse_other_encodings",
]

DELIMITERS = ("\t", ";", ",")  # in the order in which they are looked for


def open_text(path: Path) -> TextIO:
    """Open a text file for reading."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=None))


@contextmanager
def refuse_other_encodings(subject: str) -> Iterator[None]:
    """Raise `UnusableFile` where a file that is read inside the ``with`` block is damaged or not text in UTF-8.

    Parameters
    ----------
    subject : str
        The first words of the message, for example the path of the file.
    """
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnusableFile(
            f"{subject} cannot be unpacked: it is truncated or not a gzip file ({error}); write it again."
        ) from error
    except UnicodeDecodeError as error:
        raise UnusableFile(
            f"{subject} is not a text file in UTF-8 ({error.reason}); save it as CSV in UTF-8."
        ) from error


def number_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Yield the lines that are not blank, with their numbers, counted from 1.

    >>> list(number_lines(["a\n", "\n", "b\n"]))
    [(1, 'a\n'), (3, 'b\n')]
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line


def find_delimiter(line: str) -> str:
    r"""Return the delimiter of the cells in a line: the first of tab, semicolon and comma that occurs.

    >>> find_delimiter("1,5;2,5"), find_delimiter("1")
    (';', ',')
    """
    return next((mark for mark in DELIMITERS if mark in line), ",")


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

    >>> parse_whole("12")
    12
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
