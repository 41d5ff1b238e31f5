"""Label files: one label for each point, in the order of the points.

======  ==========================================================================================================
suffix  what it holds
======  ==========================================================================================================
.csv    one column, one line for each point: numbers or text. Files written by graspel have the header ``cluster``,
        or ``id,cluster`` where points have names
.npy    an array of one dimension: numbers or text
======  ==========================================================================================================
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.atomic import check_target, write_atomically
from graspel.io.csv_lines import find_delimiter, is_number, number_lines, open_text, refuse_other_encodings
from graspel.io.errors import UnusableFile
from graspel.io.npy_arrays import read_npy
from graspel.io.suffix import check_suffix
from graspel.runtime.shown import quote

__all__ = ["SUFFIXES", "check_labels_file", "read_labels", "write_labels"]

SUFFIXES = (".csv", ".npy")
COLUMN = "cluster"
NAMED = ["id", COLUMN]  # header where points have names


def check_labels_file(path: Path) -> None:
    """Raise the error that writing labels to `path` would raise. Call it before a long computation."""
    check_suffix(path, SUFFIXES, "labels")
    check_target(path)


def write_labels(path: Path, labels: Any, names: Iterable[str] | None = None) -> None:
    """Write one label for each point, after its name if it has one; the file is written completely or not at all."""
    with write_atomically(path) as temporary:
        if path.suffix.lower() == ".npy":
            np.save(temporary, labels)
            return
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            cells = labels.tolist()
            writer.writerow([COLUMN] if names is None else NAMED)
            writer.writerows([label] for label in cells) if names is None else writer.writerows(
                zip(names, cells, strict=True)
            )


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
    check_suffix(path, SUFFIXES, "labels")
    if path.is_dir():
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
    labels = _read_npy(path) if path.suffix.lower() == ".npy" else _read_csv(path, n_points)
    if len(labels) != n_points:
        has_name = path.suffix.lower() == ".csv" and labels and labels[0] not in labels[1:]
        name = f" under the name {quote(labels[0])}" if has_name else ""
        raise UnusableFile(
            f"{path} holds {len(labels) - bool(name):,} labels{name}, but {source} holds {n_points:,} points; give one "
            "label for each point, in the same order."
        )
    return labels


def _read_npy(path: Path) -> list[Any]:
    try:
        labels = read_npy(path)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # whatever the parser raises
        raise UnusableFile(
            f"{path} cannot be read as an array of labels: it holds Python objects, is damaged or is not a "
            ".npy file. Save the labels again by numpy.save."
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
    with refuse_other_encodings(str(path)), open_text(path) as file:
        lines = [line for _, line in number_lines(file.read().splitlines())]
    rows = list(csv.reader(lines, delimiter=find_delimiter(lines[0] if lines else "")))
    if rows and [cell.strip() for cell in rows[0]] == NAMED:
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
