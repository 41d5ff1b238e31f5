"""Data files: reading the user's matrix of points, in the format that the suffix names.

==============  ====================================================================================
suffix          what is read
==============  ====================================================================================
.npy            the array, memory-mapped; one of pictures (n, height, width) becomes rows of pixels
.npz            the array ``X``, or the only array, or the one named by `key`; also scipy's sparse format
.csv, .csv.gz   cells separated by comma, semicolon or tab, with or without a first line of names
.tsv            the same
.xlsx           the first sheet of a workbook (needs openpyxl)
.parquet        all columns (needs pyarrow)
.feather        the same
.mtx            MatrixMarket, sparse or dense
.h5ad           AnnData: X, or the array of `obsm` or `layers` named by `key` (needs anndata)
.zarr           a folder that holds an array, or AnnData (needs zarr, or anndata)
==============  ====================================================================================

Columns of tables may also name the points or hold their classes (:mod:`graspel.io.table_roles`).

Text files are read by numpy and the csv module, and the others by the libraries of their formats, not by pandas: it
needs these libraries too, reads missing cells and text as numbers or objects without a word, and is no smaller in
memory (a workbook of 10,000 x 21: 2.2 s and 34 MB by openpyxl, 3.0 s and 95 MB by pandas; .parquet of 100,000 x 50:
1.0 s and 0.5 s, both 210 to 240 MB; .csv of the same: 2.7 s and 77 MB by numpy, 0.9 s and 242 MB by pandas).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.checks import UnusableFile, check_claimed_size, check_suffix, refuse_unreadable
from graspel.io.csv_files import find_delimiter, is_number, number_lines, open_text, read_cells
from graspel.io.matrix_market import read_matrix_market
from graspel.io.npy_arrays import open_archive, read_member, read_npy
from graspel.io.other_tables import choose_array, read_arrow, read_h5ad, read_xlsx, read_zarr
from graspel.io.table import FileTable, parse_column, table_of_cells
from graspel.io.table_roles import PointTable, Reading, Roles, assign_roles
from graspel.runtime.shown import quote
from graspel.runtime.sparse_structure import check_sparse_structure
from graspel.runtime.types import Floats

CHANNELS = (1, 3)  # of pictures: gray, or red, green and blue
MIN_COUNTED = 3  # columns from which a first line 0, 1, 2, ... is taken for the names that pandas gives to columns
# What an array holds if not real numbers, by numpy's letter for its type.
_KINDS = {"c": "complex numbers", "U": "text", "S": "text", "T": "text", "M": "dates", "m": "durations", "V": "records"}


def read_data(path: Path, *, key: str | None = None, header: bool | None = None) -> Any:
    """Read a matrix of points from a file.

    Parameters
    ----------
    path : Path
        The file; its suffix tells the format.
    key : str, optional
        Which array of an .npz file to read.
    header : bool, optional
        Whether the first line of a .csv file holds names. By default it does if none of its cells is a number.

    Returns
    -------
    ndarray or scipy.sparse array
        One point per row. The values are not checked: estimators do that.

    Raises
    ------
    UnusableFile
        If the file is not a matrix of real numbers in the format that its suffix names; the message names the fault.
    """
    return read_table(path, key=key, header=header).X


def read_table(
    path: Path,
    *,
    key: str | None = None,
    header: bool | None = None,
    roles: Roles | None = None,
    like: Reading | None = None,
) -> PointTable:
    """Read points, and their names and classes if the file has them; parameters as for `read_data`.

    `roles` says which columns are features, names and classes, and how features are scaled. New points are read `like`
    those of a model; one is enough then.
    """
    if path.is_dir() and path.suffix.lower() not in FOLDERS:
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
    suffix = check_suffix(path, SUFFIXES, "a data matrix")
    if key is not None and suffix not in KEYED:
        raise UnusableFile(f"--key {key} names an array of an .npz file, but {path} is not one; leave --key out.")
    if path.stat().st_size == 0:
        raise UnusableFile(f"{path} is empty (0 bytes); give a file with one point per row.")
    with refuse_unreadable(path, suffix, "If it is truncated or damaged, write it again; real numbers are needed."):
        option = {"key": key} if suffix in KEYED else {"header": header} if suffix in WITH_HEADER else {}
        content = _READERS[suffix](path, **option)
    shape: tuple[int, ...] = tuple(getattr(content, "shape", ()))[1:]
    is_pictures = len(shape) == 2 or (len(shape) == 3 and shape[2] in CHANNELS)
    if is_pictures and not isinstance(content, FileTable):
        content = content.reshape(len(content), -1)
    table = content if isinstance(content, FileTable) else FileTable.of_numbers(content)
    _check_numbers(table, path)
    roles = roles or Roles()
    points = assign_roles(table, roles, path) if like is None else like.assign(table, roles.id_column, path)
    if points.X.shape[0] == 1 and like is None:
        raise UnusableFile(
            f"{path} holds one point (its shape is {points.X.shape}), but a graph needs two; give more rows."
        )
    same = is_pictures and points.X.shape[1] == math.prod(shape)
    return points._replace(pictures=shape) if same else points


def _check_numbers(table: FileTable, path: Path) -> None:
    """Raise unless the numbers of a table are a matrix of real numbers."""
    matrix = table.numbers
    if matrix.dtype.kind not in "buif":
        held = _KINDS.get(matrix.dtype.kind, f"values of type {matrix.dtype}")
        raise UnusableFile(f"{path} holds {held}, but real numbers are needed; convert it first.")
    if matrix.ndim != 2:
        raise UnusableFile(f"{path} {_describe_shape(matrix.shape)}.")
    if matrix.shape[0] == 0 or table.n_columns == 0:
        raise UnusableFile(f"{path} holds no numbers (its shape is {matrix.shape}); give one point per row.")


def _describe_shape(shape: tuple[int, ...]) -> str:
    held = f"holds an array of shape {shape}, but a matrix is needed, one point per row"
    if len(shape) == 1:
        return f"{held}; points of one feature each take the shape ({shape[0]}, 1)"
    if len(shape) > 2:
        return f"{held}; flatten it to the shape ({shape[0]}, {math.prod(shape[1:])})"
    return held


def _read_npy(path: Path) -> Any:
    return read_npy(path, mapped=True)


def _read_npz(path: Path, key: str | None) -> Any:
    with open_archive(path) as archive:
        if key is not None or not {"format", "shape", "data"} <= set(archive.files):
            return read_member(archive, choose_array(archive.files, key, path))
    from scipy.sparse import load_npz

    matrix = load_npz(path)
    check_sparse_structure(matrix, "the sparse matrix")
    check_claimed_size(max(matrix.shape), matrix.data.size, "rows or columns", "values")
    return matrix.tocsr()


def _read_csv(path: Path, header: bool | None) -> FileTable:
    """Read a table of text: numpy reads numbers.

    If it fails, the file is read again cell by cell: columns of text, missing values and decimal commas are found
    then, and so is the line and the column of a cell that is none of these.
    """
    with open_text(path) as file:
        number, first_line = next(number_lines(file), (1, ""))
    delimiter = find_delimiter(first_line)
    cells = [cell.strip() for cell in next(read_cells([first_line], delimiter))] if first_line else []
    if header is None:
        header = _is_header(path, number, cells, delimiter)
    names = cells if header and cells else None
    with open_text(path) as file:
        lines = (line for _, line in number_lines(file))
        if header:
            next(lines)
        numbers = _parse_numbers(path, lines, delimiter, header)
    if numbers is not None and names is not None and len(names) != numbers.shape[1]:
        raise UnusableFile(
            f"{path}: the header has {len(names)} names, but the lines below have {numbers.shape[1]} cells; "
            "correct the header, or pass --header no if there is none."
        )
    if numbers is not None:
        return FileTable.of_numbers(numbers, names)
    with open_text(path, newline="") as file:
        reader: Any = read_cells(file, delimiter)
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row[1:]) or "".join(row)]
    rows = rows[1:] if header else rows
    return table_of_cells(
        path, [row for _, row in rows], names, [at for at, _ in rows], decimal_commas=delimiter in ";\t"
    )


def _is_header(path: Path, number: int, cells: list[str], delimiter: str) -> bool:
    """Whether the first line holds names: none of its cells is a number, or pandas has counted its columns."""
    counted = cells[1:] if cells and not cells[0] else cells
    if len(counted) >= MIN_COUNTED and counted == [str(at) for at in range(len(counted))]:
        warnings.warn(
            f"{path}: the first line counts the columns and is taken as their names; pass --header no if it is a "
            "point.",
            stacklevel=2,
        )
        return True
    numeric = [is_number(cell) for cell in cells]
    if any(numeric) and not all(numeric):
        column = numeric.index(False) + 1
        raise UnusableFile(
            f"{path}, line {number}, column {column}: {quote(cells[column - 1])} is not a number, but other cells of "
            "this line are; if the line holds names pass --header yes, if it is a point pass --header no, else correct "
            "the cell."
        )
    if cells and not any(numeric) and delimiter in ";\t":
        return parse_column(cells, decimal_commas=True) is None  # decimal commas are no names
    return bool(cells) and not any(numeric)


def _parse_numbers(path: Path, lines: Iterator[str], delimiter: str, header: bool) -> Floats | None:
    """The whole table, if it holds nothing but numbers."""
    first = next(lines, None)
    if first is None:
        raise UnusableFile(f"{path} holds no numbers{' below its header' if header else ''}; give one point per line.")
    try:
        return np.loadtxt(chain([first], lines), delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
    except UnicodeDecodeError:
        raise
    except ValueError:
        return None


_READERS: dict[str, Callable[..., Any]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_csv,
    ".xlsx": read_xlsx,
    ".parquet": read_arrow,
    ".feather": read_arrow,
    ".mtx": read_matrix_market,
    ".h5ad": read_h5ad,
    ".zarr": read_zarr,
}
SUFFIXES = tuple(_READERS)
KEYED = (".npz", ".h5ad", ".zarr")  # formats that hold several arrays
WITH_HEADER = (".csv", ".csv.gz", ".tsv", ".xlsx")  # formats whose first line may hold names
FOLDERS = (".zarr",)  # formats that are folders
