"""Zarr: arrays in compressed chunks, in a folder or in any other store that zarr knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.data.stored.matrix import StoredMatrix
from graspel.io.errors import UnusableFile
from graspel.runtime.optional import import_optional
from graspel.runtime.parallel import row_blocks
from graspel.runtime.shown import quote, shorten

MARKS = (".zarray", ".zgroup", "zarr.json")  # files by which versions 2 and 3 mark a folder


def is_zarr_folder(path: Path) -> bool:
    """Whether the folder is an array or a group of zarr."""
    return any((path / mark).is_file() for mark in MARKS)


class ZarrArray(StoredMatrix):
    """A matrix in zarr; `array` is the array of zarr."""

    def __init__(self, array: Any, name: str = "X") -> None:
        if len(array.shape) != 2:
            raise UnusableFile(
                f"{name} holds an array of shape {tuple(array.shape)}, but a matrix is needed, one point per row."
            )
        self.name, self.shape, self.dtype = name, (int(array.shape[0]), int(array.shape[1])), np.dtype(array.dtype)
        self._array = array

    @classmethod
    def open(cls, path: Path, key: str | None = None) -> ZarrArray:
        """Open a folder for reading: an array, or an array of a group."""
        zarr = import_optional("zarr", "zarr", "Reading zarr")
        try:
            opened = zarr.open(str(path), mode="r")
        except Exception as error:
            reason = shorten(str(error)).rstrip(".") or type(error).__name__
            raise UnusableFile(f"{path} cannot be read as zarr: it is damaged ({reason}); write it again.") from error
        if hasattr(opened, "chunks"):
            if key is not None:
                raise UnusableFile(f"--key {key} names an array of a group, but {path} is an array; leave --key out.")
            return cls(opened, str(path))
        keys = sorted(opened.array_keys())
        key = (keys[0] if len(keys) == 1 else "X") if key is None else key
        if key not in keys:
            held = shorten(", ".join(keys)) or "none"
            raise UnusableFile(f"{path} has no array {quote(key)}; it holds {held}: name the one to read with --key.")
        return cls(opened[key], f"{path}/{key}")

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order; blocks are whole chunks, so that no chunk is unpacked twice."""
        tall = max(1, int(self._array.chunks[0]))
        for block in row_blocks(self.shape[0], tall * max(1, self.rows_at_once // tall)):
            yield np.asarray(self._array[block])
