"""Matrices in files that are larger than memory: zarr arrays and folders of Parquet files.

Such a matrix is read once, block by block, from the first row to the last, and never whole. The search for neighbors
needs rows in any order, for which a compressed file would have to be unpacked again and again. So the blocks are laid
out in a temporary file on the disk (:mod:`graspel.data.stored.temporary_copy`), which is mapped into memory like a
.npy file: the operating system loads what is used and drops it when memory runs short.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graspel.data.stored.dask_array import DaskBlocks
from graspel.data.stored.matrix import StoredMatrix
from graspel.data.stored.parquet_folder import ParquetFolder, find_parquet_files
from graspel.data.stored.temporary_copy import copy_to_disk
from graspel.data.stored.zarr_array import ZarrArray, is_zarr_folder
from graspel.io.errors import UnusableFile

__all__ = ["StoredMatrix", "as_stored", "copy_to_disk", "open_folder"]


def open_folder(path: Path, key: str | None = None) -> StoredMatrix:
    """Open the matrix in a folder: a zarr array (`key` names it in a group), or Parquet files with the same columns."""
    if is_zarr_folder(path):
        return ZarrArray.open(path, key)
    if key is not None:
        raise UnusableFile(f"--key {key} names an array of a zarr group, but {path} is not one; leave --key out.")
    files = find_parquet_files(path)
    if not files:
        raise UnusableFile(
            f"{path} is a folder, but neither a zarr array nor a folder of .parquet files; give the path of a file, or "
            "of such a folder."
        )
    return ParquetFolder(path, files)


def as_stored(X: Any) -> StoredMatrix | None:
    """X as a stored matrix if it is one, or an array of zarr or dask; otherwise None."""
    if isinstance(X, StoredMatrix):
        return X
    kind = {"zarr": ZarrArray, "dask": DaskBlocks}.get(type(X).__module__.partition(".")[0])
    return kind(X) if kind is not None and hasattr(X, "chunks") else None
