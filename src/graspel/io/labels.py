"""Label files: one label for each point, in the order of the points.

======  ==============================================================================================
suffix  what it holds
======  ==============================================================================================
.csv    one column, one line for each point: numbers or text. Written with the name ``cluster`` above it
.npy    an array of one dimension: numbers or text
======  ==============================================================================================
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.atomic import check_target, written_whole
from graspel.io.csv_tables import DELIMITERS
from graspel.io.errors import UnusableFile
from graspel.io.suffix import check_suffix

__all__ = ["SUFFIXES", "check_labels_file", "read_labels", "write_labels"]

SUFFIXES = (".csv", ".npy")
COLUMN = "cluster"


def check_labels_file(path: Path) -> None:
    """Raise now what writing labels to `path` would raise after the work."""
    check_suffix(path, SUFFIXES, "labels")
    check_target(path)


def write_labels(path: Path, labels: Any) -> None:
    """Write one label for each point, whole or not at all."""
    with written_whole(path) as temporary:
        if path.suffix.lower() == ".npy":
            np.save(temporary, labels)
        else:
            lines = "\n".join(map(str, labels.tolist()))
            temporary.write_text(f"{COLUMN}\n{lines}\n", encoding="ascii", newline="\n")


def read_labels(path: Path, n_points: int, source: Path) -> list[Any]:
    """Read the known classes of the points.

    Parameters
    ----------
    path : Path
        A .csv or .npy file. The first line of a .csv file is a name if it is no number and all others are, or if it
        is one line too many and no other line has the same text.
    n_points : int
        How many labels there must be.
    source : Path
        The file of the points, for the message.
    """
    check_suffix(path, SUFFIXES, "labels")
    if path.is_dir():
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
    labels = _read_npy(path) if path.suffix.lower() == ".npy" else _read_csv(path, n_points)
    if len(labels) != n_points:
        raise UnusableFile(
            f"{path} holds {len(labels):,} labels, but {source} holds {n_points:,} points; give one label for each "
            "point, in the same order."
        )
    return labels


def _read_npy(path: Path) -> list[Any]:
    try:
        labels = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UnusableFile(
            f"{path} cannot be read as an array of labels: it holds Python objects, is damaged or no .npy file."
        ) from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise UnusableFile(f"{path} holds an array of shape {labels.shape}; give one dimension, one label per point.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.flatnonzero(np.isnan(labels))[0])
        raise UnusableFile(f"{path}: the label of row {row} is NaN; every point needs one.")
    values: list[Any] = labels.tolist()
    return values


def _read_csv(path: Path, n_points: int) -> list[str]:
    try:
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path} is not a text file in UTF-8 ({error.reason}); save it as CSV in UTF-8.") from error
    delimiter = next((mark for mark in DELIMITERS if lines and mark in lines[0]), ",")
    rows = list(csv.reader(lines, delimiter=delimiter))
    wide = next((row for row in rows if len(row) != 1), None)
    if wide is not None:
        raise UnusableFile(f"{path} has {len(wide)} columns; give the labels alone, one on each line.")
    labels = [row[0].strip() for row in rows]
    return labels[1:] if _has_name(labels, n_points) else labels


def _has_name(labels: list[str], n_points: int) -> bool:
    """Whether the first line names the column."""
    if len(labels) < 2 or _is_number(labels[0]):
        return False
    one_too_many = len(labels) == n_points + 1 and labels[0] not in labels[1:]
    return one_too_many or all(map(_is_number, labels[1:]))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
