"""Files with one entry for each point, in the order of the points: classes, texts, clusters and coordinates.

======  ==========================================================================================================
suffix  what it holds
======  ==========================================================================================================
.csv    one line for each point. Files written by graspel have a header, ``cluster`` or ``x,y,z`` (``c1,c2,...`` for
        more than three coordinates), after the names of the points under the name of that column, or ``id``
.txt    one text on each line
.npy    an array: numbers or text for classes and texts, points x coordinates
======  ==========================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.atomic import write_atomically
from graspel.io.checks import UnusableFile, check_suffix, refuse_unreadable
from graspel.io.csv_files import (
    find_delimiter,
    is_number,
    number_lines,
    open_text,
    read_cells,
    write_cells,
    write_name,
)
from graspel.io.npy_arrays import read_npy
from graspel.runtime.shown import quote

LABELS = (".csv", ".npy")
COORDINATES = (".csv", ".npy")
TEXTS = (".txt", ".csv", ".npy")


def write_labels(
    path: Path, labels: Any, names: Iterable[str] | None = None, id_name: str = "id", **columns: Any
) -> None:
    """Write one label for each point, after its name if it has one; the file is written completely or not at all.

    Parameters
    ----------
    path : Path
    labels : array of N
    names : iterable of N str, optional
    id_name : str
        The header of the names.
    **columns
        Arrays of N; further columns of a .csv file. By default the labels are the column `cluster`.
    """
    columns = columns or {"cluster": labels}
    rows = [list(row) for row in zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)]
    _write(path, labels, list(columns), rows, names, id_name)


def write_coordinates(path: Path, coordinates: Any, names: Iterable[str] | None = None, id_name: str = "id") -> None:
    """Write the coordinates of each point; the file is written completely or not at all."""
    n_axes = coordinates.shape[1]
    header = ["x", "y", "z"][:n_axes] if n_axes <= 3 else [f"c{axis + 1}" for axis in range(n_axes)]
    _write(path, coordinates, header, coordinates.tolist(), names, id_name)


def write_rows(path: Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    """Write a .csv file of rows under a header, completely or not at all; no text in it is a formula."""
    safe = ([write_name(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    with write_atomically(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        write_cells(file, [[write_name(name) for name in header]])
        write_cells(file, safe)


def _write(
    path: Path, values: Any, header: list[str], rows: list[list[Any]], names: Iterable[str] | None, id_name: str
) -> None:
    if path.suffix.lower() == ".npy":
        with write_atomically(path) as temporary:
            np.save(temporary, values)
        return
    if names is not None:
        header, rows = [id_name, *header], [[name, *row] for name, row in zip(names, rows, strict=True)]
    write_rows(path, header, rows)


def read_labels(path: Path, n_points: int, source: Path) -> list[Any]:
    """Read the known classes of the points.

    Parameters
    ----------
    path : Path
        A .csv or .npy file. The first line of a .csv file is the name of the column if it is not a number and all
        others are, or if there is one line more than points and no other line has the same text.
    n_points : int
        Number of points, which must be the number of labels.
    source : Path
        The file of the points, for the message.
    """
    suffix = check_suffix(path, LABELS, "labels")
    labels = _read_array(path, "labels") if suffix == ".npy" else _read_label_lines(path, n_points)
    if len(labels) != n_points:
        has_name = suffix == ".csv" and labels and not is_number(labels[0]) and labels[0] not in labels[1:]
        name = f" under the name {quote(labels[0])}" if has_name else ""
        raise UnusableFile(
            f"{path} holds {len(labels) - bool(name):,} labels{name}, but {source} holds {n_points:,} points; give one "
            "label for each point, in the same order."
        )
    missing = next((row for row, label in enumerate(labels) if label != label), None)
    if missing is not None:
        raise UnusableFile(f"{path}: the label of row {missing} is NaN; every point needs one.")
    return labels


def _read_label_lines(path: Path, n_points: int) -> list[str]:
    with refuse_unreadable(path, ".csv", "Save it as CSV in UTF-8."), _open(path) as file:
        lines = [line for _, line in number_lines(file.read().splitlines())]
        rows = list(read_cells(lines, find_delimiter(lines[0] if lines else "")))
    if rows and len(rows[0]) == 2 and rows[0][1].strip() == "cluster":
        rows = [row[1:] for row in rows]
    wide = next((row for row in rows if len(row) != 1), None)
    if wide is not None:
        raise UnusableFile(f"{path} has {len(wide)} columns; give the labels alone, one on each line.")
    labels = [row[0].strip() for row in rows]
    return labels[1:] if _has_name(labels, n_points) else labels


def _has_name(labels: list[str], n_points: int) -> bool:
    """Whether the first line is the name of the column."""
    if len(labels) < 2 or is_number(labels[0]):
        return False
    one_too_many = len(labels) == n_points + 1 and labels[0] not in labels[1:]
    return one_too_many or all(map(is_number, labels[1:]))


def read_texts(path: Path, number: int, what: str, counted: str) -> list[str]:
    """Read one text for each point or column, such as names or documents.

    Parameters
    ----------
    path : Path
        A .txt file, a .csv file of one column, where a text with commas or line breaks is quoted, or a .npy file. A
        text file may have one line more, the name of the column.
    number : int
        How many texts are needed.
    what, counted : str
        What the texts are, and what they belong to, for the message: "names", "points".
    """
    suffix = check_suffix(path, TEXTS, what)
    texts = [str(text) for text in _read_array(path, what)] if suffix == ".npy" else _read_lines(path, suffix)
    if suffix != ".npy" and len(texts) == number + 1:
        texts = texts[1:]  # the name of the column
    if len(texts) != number:
        raise UnusableFile(
            f"{path} holds {len(texts):,} {what}, but there are {number:,} {counted}; give one for each, in the same "
            "order."
        )
    return texts


def _read_lines(path: Path, suffix: str) -> list[str]:
    with refuse_unreadable(path, suffix, "Save it as text in UTF-8."):
        if suffix == ".txt":
            with _open(path) as file:
                return [line.rstrip("\n") for line in file]
        with _open(path, newline="") as file:
            rows = [row for row in read_cells(file) if row]
    wide = next((at for at, row in enumerate(rows) if len(row) != 1), None)
    if wide is not None:
        raise UnusableFile(
            f"{path}, row {wide + 1}, has {len(rows[wide])} columns; give one column, and quote texts with commas, or "
            "write a .txt file with one text on each line."
        )
    return [row[0] for row in rows]


def _read_array(path: Path, what: str) -> list[Any]:
    """The entries of an array of one dimension, or of one column."""
    _refuse_folder(path)
    with refuse_unreadable(path, f"an array of {what}", f"Save the {what} by numpy.save, as numbers or as text."):
        array = read_npy(path)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise UnusableFile(f"{path} holds an array of shape {array.shape}; give one dimension, one entry for each.")
    entries: list[Any] = array.tolist()
    return entries


def _open(path: Path, newline: str | None = None) -> Any:
    _refuse_folder(path)
    return open_text(path, newline)


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
