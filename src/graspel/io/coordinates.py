"""Coordinate files: the place of each point, in the order of the points.

======  ================================================================================
suffix  what it holds
======  ================================================================================
.csv    one line for each point; the names above are x, y, z, or c1, c2, ... where there are more
.npy    an array, points x coordinates
======  ================================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graspel.io.atomic import check_target, written_whole
from graspel.io.suffix import check_suffix

__all__ = ["PICTURES", "SUFFIXES", "check_coordinate_file", "check_picture_file", "write_coordinates"]

SUFFIXES = (".csv", ".npy")
PICTURES = (".png", ".pdf", ".svg")


def check_coordinate_file(path: Path) -> None:
    """Raise now what writing coordinates to `path` would raise after the work."""
    check_suffix(path, SUFFIXES, "coordinates")
    check_target(path)


def check_picture_file(path: Path) -> None:
    """Raise now what writing a picture to `path` would raise after the work."""
    check_suffix(path, PICTURES, "a picture")
    check_target(path)


def write_coordinates(path: Path, places: Any) -> None:
    """Write the place of each point, whole or not at all."""
    import numpy as np

    n_axes = places.shape[1]
    names = ["x", "y", "z"][:n_axes] if n_axes <= 3 else [f"c{axis + 1}" for axis in range(n_axes)]
    with written_whole(path) as temporary:
        if path.suffix.lower() == ".npy":
            np.save(temporary, places)
        else:
            lines = "\n".join(",".join(map(repr, row)) for row in places.tolist())
            temporary.write_text(f"{','.join(names)}\n{lines}\n", encoding="ascii", newline="\n")
