"""Coordinate files: the coordinates of each point, in the order of the points.

======  ================================================================================
suffix  what it holds
======  ================================================================================
.csv    one line for each point; the header is x, y, z, or c1, c2, ... for more than three, after id where points
        have names
.npy    an array, points x coordinates
======  ================================================================================
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from graspel.io.atomic import check_target, write_atomically
from graspel.io.suffix import check_suffix

__all__ = ["PICTURES", "SUFFIXES", "check_coordinate_file", "check_picture_file", "write_coordinates"]

SUFFIXES = (".csv", ".npy")
PICTURES = (".png", ".pdf", ".svg")


def check_coordinate_file(path: Path) -> None:
    """Raise the error that writing coordinates to `path` would raise. Call it before a long computation."""
    check_suffix(path, SUFFIXES, "coordinates")
    check_target(path)


def check_picture_file(path: Path) -> None:
    """Raise the error that writing a picture to `path` would raise. Call it before a long computation."""
    check_suffix(path, PICTURES, "a picture")
    check_target(path)


def write_coordinates(path: Path, coordinates: Any, point_names: list[str] | None = None) -> None:
    """Write the coordinates of each point; the file is written completely or not at all."""
    import numpy as np

    n_axes = coordinates.shape[1]
    names = ["x", "y", "z"][:n_axes] if n_axes <= 3 else [f"c{axis + 1}" for axis in range(n_axes)]
    with write_atomically(path) as temporary:
        if path.suffix.lower() == ".npy":
            np.save(temporary, coordinates)
        else:
            rows = [[repr(value) for value in row] for row in coordinates.tolist()]
            if point_names is not None:
                names, rows = ["id", *names], [[name, *row] for name, row in zip(point_names, rows, strict=True)]
            with open(temporary, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([names, *rows])
