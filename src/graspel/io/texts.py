"""Files of texts: one text for each point or column, in their order, such as names or documents.

======  ==========================================================================================================
suffix  what it holds
======  ==========================================================================================================
.txt    one text on each line
.csv    one column; a text with commas or line breaks is quoted. There may be one line more, the name of the column
.npy    an array of one dimension
======  ==========================================================================================================
"""

from __future__ import annotations

import csv
from pathlib import Path

from graspel.io.csv_lines import open_text, refuse_other_encodings
from graspel.io.errors import UnusableFile
from graspel.io.npy_arrays import read_npy
from graspel.io.suffix import check_suffix

__all__ = ["read_texts"]

SUFFIXES = (".txt", ".csv", ".npy")
LONGEST_CELL = 10_000_000  # characters of one cell; Python's own limit, 131,072, is less than some documents


def read_texts(path: Path, number: int, what: str, counted: str) -> list[str]:
    """Read one text for each point or column.

    Parameters
    ----------
    path : Path
    number : int
        How many texts are needed.
    what, counted : str
        What the texts are, and what they belong to, for the message: "names", "points".
    """
    suffix = check_suffix(path, SUFFIXES, what)
    if path.is_dir():
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
    with refuse_other_encodings(str(path)):
        texts = _READERS[suffix](path)
    if suffix != ".npy" and len(texts) == number + 1:
        texts = texts[1:]  # the name of the column
    if len(texts) != number:
        raise UnusableFile(
            f"{path} holds {len(texts):,} {what}, but there are {number:,} {counted}; give one for each, in the same "
            "order."
        )
    return texts


def _read_lines(path: Path) -> list[str]:
    with open_text(path) as file:
        return [line.rstrip("\n") for line in file]


def _read_csv(path: Path) -> list[str]:
    csv.field_size_limit(LONGEST_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = [row for row in csv.reader(file) if row]
        except csv.Error as error:
            raise UnusableFile(f"{path} cannot be read as .csv ({error}); write it again, or as .txt.") from error
    wide = next((at for at, row in enumerate(rows) if len(row) != 1), None)
    if wide is not None:
        raise UnusableFile(
            f"{path}, row {wide + 1}, has {len(rows[wide])} columns; give one column, and quote texts with commas, or "
            "write a .txt file with one text on each line."
        )
    return [row[0] for row in rows]


def _read_npy(path: Path) -> list[str]:
    try:
        texts = read_npy(path)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # whatever the parser raises
        raise UnusableFile(
            f"{path} cannot be read as an array of texts: it holds Python objects, is damaged or is not a .npy file. "
            "Save the texts again by numpy.save(path, numpy.array(texts, dtype=str))."
        ) from error
    if texts.ndim != 1:
        raise UnusableFile(f"{path} holds an array of shape {texts.shape}; give one dimension, one text for each.")
    return [str(text) for text in texts.tolist()]


_READERS = {".txt": _read_lines, ".csv": _read_csv, ".npy": _read_npy}
