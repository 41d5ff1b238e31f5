"""Pictures: points that are images, as thumbnails on the page and as the mean picture of each group.

Thumbnails are packed into sheets of 32 x 32 pictures, of which the browser decodes only those it shows. A sheet is a
PNG with 16 shades of gray or a JPEG, whichever is smaller. Where all pictures together would be too large, they are
made smaller, and at last some are left out.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.io.checks import UnusableFile
from graspel.io.picture_files import SUFFIXES, list_pictures, open_picture
from graspel.runtime.types import Ints

Bytes = NDArray[np.uint8]

BUDGET = 7_000_000  # bytes of all sheets as text; with it the page of MNIST stays below 15 MB
PER_SHEET = 32  # pictures in each direction of a sheet
SIDES = (48, 32, 24, 20, 16)  # pixels of a thumbnail; the largest that fits the budget is taken
SHADES = 16  # of gray in a PNG: 4 bits; more are not seen at this size
QUALITY = 70  # of the JPEG; below it small pictures become hard to read
SAMPLED = 1024  # pictures from which the size of all is estimated: one sheet


@dataclass(frozen=True)
class Pictures:
    """The pictures of all points.

    Attributes
    ----------
    number : int
    read : function of a point that returns its picture (height x width, or height x width x 3), bytes
    shape : tuple (height, width) or (height, width, channels) if every row of X is a picture; None for files
    """

    number: int
    read: Callable[[int], Bytes]
    shape: tuple[int, ...] | None = None
    low: float = 0.0
    high: float = 1.0

    def from_row(self, row: NDArray[Any]) -> Bytes:
        """A row of X, or a mean of rows, as a picture."""
        assert self.shape is not None
        scaled = (np.asarray(row, dtype=np.float64) - self.low) / max(self.high - self.low, 1e-300)
        picture = (255 * np.clip(scaled, 0.0, 1.0)).round().astype(np.uint8).reshape(self.shape)
        return picture[:, :, 0] if picture.ndim == 3 and picture.shape[2] == 1 else picture


def open_pictures(images: Any, X: Any, n_points: int) -> Pictures:
    """The pictures of the points: rows of X of a given shape, an array of pictures, or the files of a folder."""
    if isinstance(images, str | os.PathLike):
        return _open_folder(Path(images), n_points)
    array = np.asarray(images)
    if array.ndim > 1:
        if len(array) != n_points or array.ndim not in (3, 4):
            raise ValueError(
                f"images of shape {array.shape}: must be ({n_points}, height, width) or ({n_points}, height, width, 3)."
            )
        return _rows_as_pictures(array.reshape(n_points, -1), array.shape[1:])
    shape = tuple(int(side) for side in images)
    if X is None:
        raise ValueError(f"images={shape}: the data are needed too, whose rows are pictures of this shape; pass X.")
    if len(shape) not in (2, 3) or min(shape) < 1 or int(np.prod(shape)) != X.shape[1]:
        wanted = " x ".join(map(str, shape))
        raise ValueError(
            f"images={shape}: {wanted} is {int(np.prod(shape)):,} values, but X has {X.shape[1]:,} columns; give "
            "(height, width) or (height, width, channels) of the pictures in the rows."
        )
    return _rows_as_pictures(X, shape)


def _rows_as_pictures(X: Any, shape: tuple[int, ...]) -> Pictures:
    if len(shape) == 3 and shape[2] not in (1, 3):
        raise ValueError(f"images of {shape[2]} channels: must be 1 (gray) or 3 (red, green, blue).")
    sample = X[:: max(1, X.shape[0] // 2000)]
    values = sample.toarray() if sp.issparse(sample) else np.asarray(sample)
    low, high = (0.0, 255.0) if values.dtype == np.uint8 else (float(values.min()), float(values.max()))

    def read(point: int) -> Bytes:
        row = X[[point]].toarray()[0] if sp.issparse(X) else X[point]
        return pictures.from_row(row)

    pictures = Pictures(X.shape[0], read, shape, low, high)
    return pictures


def _open_folder(folder: Path, n_points: int) -> Pictures:
    if not folder.is_dir():
        raise UnusableFile(f"{folder} is not a folder; give the folder of the pictures, or their shape such as 28x28.")
    files = list_pictures(folder)
    if len(files) != n_points:
        raise UnusableFile(
            f"{folder} holds {len(files):,} pictures ({', '.join(SUFFIXES)}), but there are {n_points:,} points; give "
            "one for each point, whose names sort in the order of the points."
        )
    return Pictures(n_points, lambda point: _read_file(files[point]))


def _read_file(path: Path) -> Bytes:
    """A picture, made small at once: no more of it is shown."""
    with open_picture(path) as image:
        image.draft("RGB", (4 * SIDES[0], 4 * SIDES[0]))
        small = image.convert("RGB")
        small.thumbnail((2 * SIDES[0], 2 * SIDES[0]))
        return np.asarray(small)


def make_sheets(pictures: Pictures, points: Ints, listed: NDArray[np.bool_]) -> dict[str, Any]:
    """Thumbnails of the points, in sheets.

    Parameters
    ----------
    pictures : Pictures
    points : array, the points on the page; their thumbnails come in this order
    listed : array of bool, which of them are named in a list; these come first where not all fit

    Returns
    -------
    dict with the side of a thumbnail, the sheets as text, and the places of those points that have a thumbnail
    (None if all have one)
    """
    rng = np.random.default_rng(0)
    sample = rng.permutation(points)[:SAMPLED]
    first = pictures.read(int(points[0])).shape
    sides = [side for side in SIDES if side <= 1.2 * max(first[:2])] or [SIDES[-1]]
    for side in sides:
        size_of_one = 4 / 3 * len(_encode_sheet(pictures, sample, side)) / len(sample)
        if size_of_one * len(points) <= BUDGET:
            break
    chosen = np.arange(len(points))
    if size_of_one * len(points) > BUDGET:
        order = np.concatenate([np.flatnonzero(listed), rng.permutation(np.flatnonzero(~listed))])
        chosen = np.sort(order[: max(1, int(BUDGET / size_of_one))])
    per_sheet = PER_SHEET * PER_SHEET
    parts = [points[chosen[i : i + per_sheet]] for i in range(0, len(chosen), per_sheet)]
    sheets = [base64.b64encode(_encode_sheet(pictures, part, side)).decode("ascii") for part in parts]
    some = chosen if len(chosen) < len(points) else None
    return {"side": side, "across": PER_SHEET, "sheets": sheets, "chosen": some}


def picture_as_text(picture: Bytes) -> str:
    """A picture as the text of a PNG."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _encode_sheet(pictures: Pictures, points: Ints, side: int) -> bytes:
    """A sheet of thumbnails, row by row, as the file of a picture."""
    from PIL import Image

    read = [pictures.read(int(point)) for point in points]
    is_gray = all(picture.ndim == 2 for picture in read)
    mode = "L" if is_gray else "RGB"
    n_rows = -(-len(points) // PER_SHEET)
    sheet = Image.new(mode, (PER_SHEET * side, n_rows * side))
    for place, picture in enumerate(read):
        image = Image.fromarray(picture).convert(mode)
        scale = side / max(image.size)
        small = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))
        x, y = place % PER_SHEET * side, place // PER_SHEET * side
        sheet.paste(small, (x + (side - small.width) // 2, y + (side - small.height) // 2))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return min(_encode_shades(sheet), buffer.getvalue(), key=len) if is_gray else buffer.getvalue()


def _encode_shades(sheet: Any) -> bytes:
    """A gray picture as a PNG of few shades."""
    from PIL import Image

    shades = Image.frombytes("P", sheet.size, (np.asarray(sheet) // (256 // SHADES)).astype(np.uint8).tobytes())
    shades.putpalette(np.repeat(np.arange(SHADES) * (255 // (SHADES - 1)), 3).tolist())
    buffer = io.BytesIO()
    shades.save(buffer, "PNG", bits=4, optimize=True)
    return buffer.getvalue()
