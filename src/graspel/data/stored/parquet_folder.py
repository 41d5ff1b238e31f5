"""A folder of Parquet files with the same columns: one table, its rows in the order of the file names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.data.stored.matrix import StoredMatrix
from graspel.io.errors import UnusableFile
from graspel.runtime.optional import import_optional
from graspel.runtime.shown import quote, shorten

PURPOSE = "Reading a folder of Parquet files"


def find_parquet_files(folder: Path) -> list[Path]:
    """The files, sorted by name with numbers in their order (part.2 before part.10); hidden ones are left out."""
    files = [path for path in folder.iterdir() if path.suffix == ".parquet" and path.name[0] not in "._"]
    return sorted(files, key=lambda path: [int(s) if s.isdigit() else s for s in re.split(r"([0-9]+)", path.name)])


class ParquetFolder(StoredMatrix):
    """The rows of all files; every column must be numeric, and the same in all files."""

    def __init__(self, folder: Path, files: list[Path]) -> None:
        pq = import_optional("pyarrow.parquet", "parquet", PURPOSE)
        self.name, self._files = str(folder), files
        first, n_rows = None, 0
        for path in files:
            try:
                parquet = pq.ParquetFile(path)
            except Exception as error:
                reason = shorten(str(error)).rstrip(".") or type(error).__name__
                raise UnusableFile(f"{path} cannot be read as .parquet ({reason}); write it again.") from error
            with parquet:
                columns = [(field.name, field.type) for field in parquet.schema_arrow]
                n_rows += parquet.metadata.num_rows
            first = columns if first is None else first
            if columns != first:
                raise UnusableFile(f"{path} has other columns than {files[0].name}; all files need the same ones.")
        self.shape, self.dtype = (n_rows, len(first or [])), self._common_type(first or [])

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order, in batches of the files; a missing value is an error that names its column."""
        pq = import_optional("pyarrow.parquet", "parquet", PURPOSE)
        for path in self._files:
            with pq.ParquetFile(path) as parquet:
                for batch in parquet.iter_batches(batch_size=self.rows_at_once):
                    yield self._as_block(path, batch)

    def _as_block(self, path: Path, batch: Any) -> NDArray[Any]:
        block = np.empty((batch.num_rows, self.shape[1]), dtype=self.dtype)
        for j, column in enumerate(batch.columns):
            if column.null_count:
                name = quote(batch.schema.names[j])
                raise UnusableFile(f"{path}: column {name} has missing values; drop these rows or fill them in.")
            block[:, j] = column.to_numpy(zero_copy_only=False)
        return block

    def _common_type(self, columns: list[tuple[str, Any]]) -> np.dtype[Any]:
        """The numpy type that holds the values of all columns."""
        pa = import_optional("pyarrow", "parquet", PURPOSE)
        for name, kind in columns:
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
                raise UnusableFile(
                    f"{self.name}: column {quote(name)} holds {kind}, but numbers are needed; drop or convert it."
                )
        if not columns:
            raise UnusableFile(f"{self.name}: its files have no columns; give files with one point per row.")
        return np.result_type(*(kind.to_pandas_dtype() for _, kind in columns))
