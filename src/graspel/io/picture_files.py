"""Pictures in files: those of a folder as points, each of them a row of pixels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.checks import UnusableFile, check_fits_memory
from graspel.io.table_roles import PointTable

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")
MAX_PIXELS = 50_000_000  # of one file; a larger one may be a trap for whoever opens it
GRAY = ("1", "L")  # modes of pictures without colors


def list_pictures(folder: Path) -> list[Path]:
    """The pictures in a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())


@contextmanager
def open_picture(path: Path) -> Iterator[Any]:
    """A picture of Pillow; raise one sentence if it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.width * image.height > MAX_PIXELS:
                raise UnusableFile(
                    f"{path} has {image.width} x {image.height} pixels; give pictures of at most {MAX_PIXELS:,}."
                )
            yield image
    except UnusableFile:
        raise
    except Exception as error:  # whatever a decoder raises
        raise UnusableFile(f"{path} cannot be read as a picture; write it again, or take it out.") from error


def read_pictures(folder: Path) -> PointTable:
    """The pictures of a folder as points: rows of pixels, gray unless one has colors, under the names of the files."""
    files = list_pictures(folder)
    sizes, modes = [], set()
    for path in files:
        with open_picture(path) as image:
            sizes.append(image.size)
            modes.add(image.mode)
        if sizes[-1] != sizes[0]:
            own, first = (f"{width} x {height}" for width, height in (sizes[-1], sizes[0]))
            raise UnusableFile(
                f"{path} is {own} pixels large, but {files[0].name} is {first}: pixels are compared one by one, so all "
                "pictures need one size. Bring them to one size, or give features of them, and the folder by --images."
            )
    if len(files) < 2:
        raise UnusableFile(f"{folder} holds one picture, but a graph needs two points.")
    (width, height), mode = sizes[0], "L" if modes <= set(GRAY) else "RGB"
    shape = (height, width) if mode == "L" else (height, width, 3)
    check_fits_memory(len(files) * int(np.prod(shape)), str(folder), "its pictures together", "Make them smaller.")
    X = np.empty((len(files), int(np.prod(shape))), dtype=np.uint8)
    for row, path in zip(X, files, strict=True):
        with open_picture(path) as image:
            row[:] = np.asarray(image.convert(mode)).ravel()
    return PointTable(X, [path.name for path in files], None, pictures=shape)
