"""Arrays in NumPy's formats, read without pickle: .npy, one array, and .npz, an archive of arrays.

numpy opens either format under any name, hands out members of an archive that are no arrays as bytes, and reserves the
memory that the header of an array promises before it looks whether so much follows. The readers of graspel know which
format they expect, and compare the promise with the size of the file first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from graspel.runtime.shown import quote

__all__ = ["open_archive", "read_member", "read_npy", "read_whole_number"]

MAPPED_BYTES = 10_000  # bytes from which a .npy file is mapped; a smaller one may be empty, which cannot be mapped


def read_npy(path: Path, *, mapped: bool = False) -> np.ndarray:
    """Read the array of a .npy file; a large one may stay on the disk (`mapped`), to be read as it is used."""
    with path.open("rb") as file:
        _check_promise(file, path.stat().st_size)
    if mapped and path.stat().st_size >= MAPPED_BYTES:
        return np.lib.format.open_memmap(path, mode="r")
    array: np.ndarray = np.load(path, allow_pickle=False)
    return array


@contextmanager
def open_archive(path: Path) -> Iterator[Any]:
    """Open an .npz file; its arrays are read one by one with `read_member`."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise ValueError("it is not an archive of arrays")
    with np.load(path, allow_pickle=False) as archive:
        for member in archive.zip.infolist():
            if member.filename.endswith(".npy"):
                with archive.zip.open(member) as file:
                    _check_promise(file, member.file_size)
        yield archive


def read_member(archive: Any, name: str) -> np.ndarray:
    """Read one array of an archive."""
    if name not in archive:
        raise ValueError(f"it has no array {quote(name)}")
    array = archive[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"its member {quote(name)} is not an array")
    return array


def _check_promise(file: IO[bytes], size: int) -> None:
    """Raise unless a file of `size` bytes begins like a .npy file, and the array that its header names follows."""
    if file.read(6) != np.lib.format.MAGIC_PREFIX:
        raise ValueError("it does not begin like a .npy file")
    version = file.read(2)
    read_header = np.lib.format.read_array_header_1_0 if version[:1] == b"\1" else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    least = math.prod(shape) * max(dtype.itemsize, 1)  # also empty texts take memory, once they are read
    if not dtype.hasobject and (min(shape, default=0) < 0 or least > size):
        raise ValueError(f"its header names an array of shape {shape}, but the file is too small for it")


def read_whole_number(archive: Any, name: str) -> int:
    """Read one whole number of an archive."""
    array = read_member(archive, name)
    if array.ndim != 0 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} is {quote(array.tolist())}, must be one whole number")
    return int(array)
