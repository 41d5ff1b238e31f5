"""Arrays in NumPy's formats, read without pickle: .npy, one array, and .npz, an archive of arrays.

numpy opens either format under any name, hands out members of an archive that are no arrays as bytes, and reserves the
memory that the header of an array promises before it looks whether so much follows. The readers of graspel know which
format they expect, and compare the promise with the size of the file first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from graspel.runtime.shown import quote

MAPPED_BYTES = 10_000  # bytes from which a .npy file is mapped; a smaller one may be empty, which cannot be mapped
ENDS = "_ends"  # what follows the name of an array of text, in the name of the array that says where each text ends


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


def pack_texts(name: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Arrays that hold texts under this name: their bytes in UTF-8, and where each ends.

    An array of text in numpy gives every text the room of the longest one, and drops zeros at the end of texts.

    >>> {name: array.tolist() for name, array in pack_texts("names", ["Ann", "Bo"]).items()}
    {'names': [65, 110, 110, 66, 111], 'names_ends': [3, 5]}
    """
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), name + ENDS: ends}


def unpack_texts(archive: Any, name: str) -> list[str]:
    """Read the texts that `pack_texts` has packed."""
    content, ends = read_member(archive, name), read_member(archive, name + ENDS)
    fits = content.dtype == np.uint8 and ends.dtype == np.int64 and content.ndim == ends.ndim == 1
    bounds = [0, *ends.tolist()] if fits else [-1]
    if bounds != sorted(bounds) or bounds[-1] != content.size:
        raise ValueError(f"the arrays {name} and {name + ENDS} do not hold texts")
    whole = content.tobytes()
    return [whole[start:end].decode() for start, end in pairwise(bounds)]
