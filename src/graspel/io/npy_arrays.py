"""Arrays in NumPy's formats, read without pickle: .npy, one array, and .npz, an archive of arrays.

numpy opens either format under any name, and hands out members of an archive that are no arrays as bytes. The readers
of graspel know which of the two they expect, and refuse the other with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from graspel.runtime.shown import quote

__all__ = ["open_archive", "read_member", "read_npy", "read_whole_number"]

MAPPED_BYTES = 10_000  # bytes from which a .npy file is mapped; a smaller one may be empty, which cannot be mapped


def read_npy(path: Path, *, mapped: bool = False) -> np.ndarray:
    """Read the array of a .npy file; a large one may stay on the disk (`mapped`), to be read as it is used."""
    with path.open("rb") as file:
        if file.read(6) != np.lib.format.MAGIC_PREFIX:
            raise ValueError("it does not begin like a .npy file")
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
        yield archive


def read_member(archive: Any, name: str) -> np.ndarray:
    """Read one array of an archive."""
    if name not in archive:
        raise ValueError(f"it has no array {quote(name)}")
    array = archive[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"its member {quote(name)} is not an array")
    return array


def read_whole_number(archive: Any, name: str) -> int:
    """Read one whole number of an archive."""
    array = read_member(archive, name)
    if array.ndim != 0 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} is {quote(array.tolist())}, must be one whole number")
    return int(array)
