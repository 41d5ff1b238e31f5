"""Coordinate files: the coordinates of each point, in the order of the points.

======  ================================================================================
suffix  what it holds
======  ================================================================================
.csv    one line for each point; the header is x, y, z, or c1, c2, ... for more than three
.npy    an array, points x coordinates
======  ================================================================================
"""

from __future__ import annotations

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


def write_coordinates(path: Path, coordinates: Any) -> None:
    """Write the coordinates of each point; the file is written completely or not at all."""
    import numpy as np

    n_axes = coordinates.shape[1]
    names = ["x", "y", "z"][:n_axes] if n_axes <= 3 else [f"c{axis + 1}" for axis in range(n_axes)]
    with write_atomically(path) as temporary:
        if path.suffix.lower() == ".npy":
            np.save(temporary, coordinates)
        else:
            lines = "\n".join(",".join(map(repr, row)) for row in coordinates.tolist())
            temporary.write_text(f"{','.join(names)}\n{lines}\n", encoding="ascii", newline="\n")
