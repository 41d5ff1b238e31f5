"""Matrices in files that are larger than memory: zarr arrays, folders of Parquet files, and arrays of dask.

Such a matrix is read once, block by block, from the first row to the last, and never whole. The search for neighbors
needs rows in any order, for which a compressed file would have to be unpacked again and again. So the blocks are laid
out in a temporary file on the disk (:func:`copy_to_disk`), which is mapped into memory like a .npy file: the operating
system loads what is used and drops it when memory runs short.
"""

from __future__ import annotations

import errno
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from graspel.io.checks import UnusableFile, check_fits_memory, refuse_unreadable
from graspel.io.other_tables import open_zarr
from graspel.runtime.optional import import_optional
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce
from graspel.runtime.shown import quote

BLOCK_BYTES = 1 << 26  # size of a block of rows that is read at once: 64 MB
ZARR_MARKS = (".zarray", ".zgroup", "zarr.json")  # files by which versions 2 and 3 mark a folder
PURPOSE = "Reading a folder of Parquet files"


class StoredMatrix(ABC):
    """A matrix of numbers in files.

    Attributes
    ----------
    name : str, its name in messages
    shape : tuple, the numbers of rows and columns
    dtype : numpy type of its values
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    ndim = 2

    @abstractmethod
    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order, in blocks of about BLOCK_BYTES."""

    @property
    def rows_at_once(self) -> int:
        """The rows of a block."""
        return max(1, BLOCK_BYTES // max(1, self.shape[1] * self.dtype.itemsize))

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"{self.name} is not loaded whole, because it may be larger than memory.")


class ZarrArray(StoredMatrix):
    """A matrix in zarr, in a folder or in any other store; `array` is the array of zarr."""

    def __init__(self, array: Any, name: str = "X") -> None:
        if len(array.shape) != 2:
            raise UnusableFile(
                f"{name} holds an array of shape {tuple(array.shape)}, but a matrix is needed, one point per row."
            )
        self.name, self.shape, self.dtype = name, (int(array.shape[0]), int(array.shape[1])), np.dtype(array.dtype)
        self._array, self._tall = array, max(1, int(array.chunks[0]))
        chunks = min(self._tall, self.shape[0]) * self.shape[1] * self.dtype.itemsize
        check_fits_memory(chunks, name, f"a row of chunks ({self._tall:,} rows)", "Write it again with smaller chunks.")

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order; blocks are whole chunks, so that no chunk is unpacked twice."""
        for block in row_blocks(self.shape[0], self._tall * max(1, self.rows_at_once // self._tall)):
            yield np.asarray(self._array[block])


class DaskBlocks(StoredMatrix):
    """A dask array, whose blocks of rows are computed one after the other.

    `GRASPEL` itself leaves a dask array on its workers. Estimators that need more than edges read it through this
    class.
    """

    name = "X"

    def __init__(self, array: Any) -> None:
        if array.ndim != 2 or not all(np.isfinite(side) for side in array.shape):
            raise ValueError(
                f"X is a dask array of shape {array.shape}: must be a matrix of known size; X.compute_chunk_sizes() "
                "finds it."
            )
        self.shape, self.dtype = (int(array.shape[0]), int(array.shape[1])), np.dtype(array.dtype)
        self._array = array.rechunk((self.rows_at_once, -1))

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order."""
        for i in range(self._array.numblocks[0]):
            yield np.asarray(self._array.blocks[i].compute())


class ParquetFolder(StoredMatrix):
    """The rows of all files; every column must be numeric, and the same in all files."""

    def __init__(self, folder: Path, files: list[Path]) -> None:
        self.name, self._files = str(folder), files
        n_rows = 0
        for number, path in enumerate(files):
            with self._open(path) as parquet:
                if number == 0:
                    self._columns = _columns_of(parquet)
                self._check_columns(path, parquet)
                n_rows += parquet.metadata.num_rows
        self.shape, self.dtype = (n_rows, len(self._columns)), self._common_type()

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order, in batches of the files; a missing value is an error that names its column."""
        for path in self._files:
            with self._open(path) as parquet:
                self._check_columns(path, parquet)
                for batch in parquet.iter_batches(batch_size=self.rows_at_once):
                    yield self._as_block(path, batch)

    def _open(self, path: Path) -> Any:
        pq = import_optional("pyarrow.parquet", "tables", PURPOSE)
        with refuse_unreadable(path, ".parquet", "Write it again."):
            return pq.ParquetFile(path)

    def _check_columns(self, path: Path, parquet: Any) -> None:
        if _columns_of(parquet) != self._columns:
            raise UnusableFile(f"{path} has other columns than {self._files[0].name}; all files need the same ones.")

    def _as_block(self, path: Path, batch: Any) -> NDArray[Any]:
        block = np.empty((batch.num_rows, self.shape[1]), dtype=self.dtype)
        for j, column in enumerate(batch.columns):
            if column.null_count:
                name = quote(batch.schema.names[j])
                raise UnusableFile(f"{path}: column {name} has missing values; drop these rows or fill them in.")
            block[:, j] = column.to_numpy(zero_copy_only=False)
        return block

    def _common_type(self) -> np.dtype[Any]:
        """The numpy type that holds the values of all columns."""
        pa = import_optional("pyarrow", "tables", PURPOSE)
        for name, kind in self._columns:
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
                raise UnusableFile(
                    f"{self.name}: column {quote(name)} holds {kind}, but numbers are needed; drop or convert it."
                )
        if not self._columns:
            raise UnusableFile(f"{self.name}: its files have no columns; give files with one point per row.")
        return np.result_type(*(kind.to_pandas_dtype() for _, kind in self._columns))


def _columns_of(parquet: Any) -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in parquet.schema_arrow]


def open_folder(path: Path, key: str | None = None) -> StoredMatrix:
    """Open the matrix in a folder: a zarr array (`key` names it in a group), or Parquet files with the same columns."""
    if is_zarr_folder(path):
        with refuse_unreadable(path, "zarr", "Write it again."):
            array = open_zarr(path, key)
        return ZarrArray(array, f"{path}/{array.name.lstrip('/')}".rstrip("/"))
    if key is not None:
        raise UnusableFile(f"--key {key} names an array of a zarr group, but {path} is not one; leave --key out.")
    files = _find_parquet_files(path)
    if not files:
        raise UnusableFile(
            f"{path} is a folder, but neither a zarr array nor a folder of .parquet files; give the path of a file, or "
            "of such a folder."
        )
    return ParquetFolder(path, files)


def is_zarr_folder(path: Path) -> bool:
    """Whether the folder is an array or a group of zarr."""
    return any((path / mark).is_file() for mark in ZARR_MARKS)


def _find_parquet_files(folder: Path) -> list[Path]:
    """The files, sorted by name with numbers in their order (part.2 before part.10); hidden ones are left out."""
    files = [path for path in folder.iterdir() if path.suffix == ".parquet" and path.name[0] not in "._"]
    return sorted(files, key=lambda path: [int(s) if s.isdigit() else s for s in re.split(r"([0-9]+)", path.name)])


def as_stored(X: Any) -> StoredMatrix | None:
    """X as a stored matrix if it is one, or an array of zarr or dask; otherwise None."""
    if isinstance(X, StoredMatrix):
        return X
    kind = {"zarr": ZarrArray, "dask": DaskBlocks}.get(type(X).__module__.partition(".")[0])
    return kind(X) if kind is not None and hasattr(X, "chunks") else None


def copy_to_disk(matrix: StoredMatrix, check: Callable[[NDArray[Any], int], None]) -> np.memmap[Any, Any]:
    """Lay the rows out in a temporary file and map it; `check(block, first_row)` is called for every block.

    The file has no name once it is open, so that nothing is left behind even if the process is killed. It lies in the
    folder for temporary files (TMPDIR), which should be on a disk and have room for the matrix.
    """
    size = matrix.shape[0] * matrix.shape[1] * matrix.dtype.itemsize
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if size > free:
        raise _no_room(matrix, size, free, folder)
    n_rows = 0
    with tempfile.TemporaryFile() as file:
        for block in matrix.blocks():
            check(block, n_rows)
            try:
                # Written, not assigned to a map: writing to a full disk is an error, assigning ends the process.
                file.write(np.ascontiguousarray(block, dtype=matrix.dtype).data)
            except OSError as error:
                raise (_no_room(matrix, size, 0, folder) if error.errno == errno.ENOSPC else error) from error
            n_rows += len(block)
            announce("reading", n_rows / max(1, matrix.shape[0]), f"{n_rows:,} rows")
        if n_rows != matrix.shape[0]:
            raise UnusableFile(f"{matrix.name} holds {n_rows:,} rows instead of {matrix.shape[0]:,}; write it again.")
        file.flush()
        return np.memmap(file, dtype=matrix.dtype, mode="r", shape=matrix.shape)


def _no_room(matrix: StoredMatrix, size: int, free: int, folder: str) -> OSError:
    return OSError(
        errno.ENOSPC,
        f"{matrix.name} needs {size / 1e9:.1f} GB for temporary files, but {folder} has {free / 1e9:.1f} GB left. Free "
        "some space, or let the variable TMPDIR name a folder on a larger disk.",
    )
