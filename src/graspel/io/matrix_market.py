"""MatrixMarket files (.mtx): a matrix as text, dense ("array") or sparse ("coordinate").

We read them with numpy, not with ``scipy.io.mmread``: on damaged files scipy's reader (1.17) writes outside its arrays
and ends the process, for example where a symmetric matrix is not square or a line holds too many values.

References
----------
R. F. Boisvert, R. Pozo and K. A. Remington. The Matrix Market Exchange Formats: Initial Design. NISTIR 5935, 1996.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.io.checks import check_claimed_size
from graspel.runtime.shown import quote
from graspel.runtime.sparse_structure import MAX_SIDE

FORMS = {"coordinate": 3, "array": 2}  # number of sizes in the line below the header: rows, columns, entries
TYPES = {"real": np.float64, "double": np.float64, "integer": np.int64, "unsigned-integer": np.uint64, "pattern": None}
# Sign of the entries above the diagonal, which a file of this symmetry leaves out; None where it has all entries.
MIRRORED = {"general": None, "symmetric": 1, "hermitian": 1, "skew-symmetric": -1}


class Header(NamedTuple):
    """What the first line of a file says."""

    form: str
    kind: str
    symmetry: str


def read_matrix_market(path: str | os.PathLike[str]) -> Any:
    r"""Read a matrix from a MatrixMarket file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ndarray or scipy.sparse.csr_array
        As the file says: dense ("array") or sparse ("coordinate").

    Raises
    ------
    ValueError
        If the file is not a MatrixMarket file of real numbers, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graspel.io.matrix_market import read_matrix_market
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "matrix.mtx"
    ...     _ = path.write_text("%%MatrixMarket matrix array real general\n2 1\n0.5\n1.5")
    ...     read_matrix_market(path)
    array([[0.5],
           [1.5]])
    """
    with Path(path).open(encoding="utf-8", errors="strict") as file:
        header = _read_header(file.readline())
        sizes = _read_sizes(file, header)
        if 0 in sizes[:2]:
            return np.zeros(sizes[:2])
        return (_read_sparse if header.form == "coordinate" else _read_dense)(file, header, sizes)


def _read_header(line: str) -> Header:
    if "\0" in line:
        raise ValueError("it is not a text file")
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("its first line does not name the format, such as %%MatrixMarket matrix array real general")
    header = Header(*words[2:])
    if header.kind == "complex":
        raise ValueError("it holds complex numbers, but real numbers are needed")
    for word, known in zip(header, (list(FORMS), list(TYPES), list(MIRRORED)), strict=True):
        if word not in known:
            raise ValueError(f"its first line has the word {quote(word)}; known are {', '.join(known)}")
    if header.kind == "pattern" and header.form == "array":
        raise ValueError("it is an array of the type pattern, which only a matrix of coordinates can be")
    return header


def _read_sizes(file: TextIO, header: Header) -> list[int]:
    """Rows, columns, and for a sparse matrix entries; comments may stand above them."""
    line = next((line for line in file if line.strip() and not line.startswith("%")), "")
    words = line.split()
    if len(words) != FORMS[header.form] or not all(word.isascii() and word.isdigit() for word in words):
        raise ValueError(f"the line of its sizes is {quote(line.strip())}, must be {FORMS[header.form]} whole numbers")
    sizes = [int(word) for word in words]
    rows, columns = sizes[:2]
    if max(rows, columns) > MAX_SIDE:
        raise ValueError(f"it claims {rows} rows and {columns} columns; at most {MAX_SIDE:,} of each can be read")
    if MIRRORED[header.symmetry] is not None and rows != columns:
        raise ValueError(f"it is {header.symmetry}, but has {rows} rows and {columns} columns")
    return sizes


def _read_sparse(file: TextIO, header: Header, sizes: list[int]) -> Any:
    """One line for each entry: its row and column, counted from 1, and its value."""
    rows, columns, n_entries = sizes
    fields: list[Any] = [("row", np.int64), ("column", np.int64)]
    if TYPES[header.kind] is not None:
        fields.append(("value", TYPES[header.kind]))
    entries = _read_lines(file, np.dtype(fields))
    if len(entries) != n_entries:
        raise ValueError(f"it promises {n_entries} entries, and {len(entries)} follow")
    check_claimed_size(max(rows, columns), n_entries, "rows or columns", "entries")
    i, j = entries["row"] - 1, entries["column"] - 1
    outside = (i < 0) | (i >= rows) | (j < 0) | (j >= columns)
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"its entry ({i[at] + 1}, {j[at] + 1}) is outside of {rows} rows and {columns} columns")
    values = np.ones(n_entries) if TYPES[header.kind] is None else entries["value"]
    sign = MIRRORED[header.symmetry]
    if sign is not None:
        off = i != j
        values = np.concatenate([values, _times_sign(values[off], sign)])
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    return sp.coo_array((values, (i.astype(np.int32), j.astype(np.int32))), shape=(rows, columns)).tocsr()


def _read_dense(file: TextIO, header: Header, sizes: list[int]) -> NDArray[Any]:
    """One line for each value, column after column; a matrix with a symmetry has its lower triangle only."""
    rows, columns = sizes
    kind: Any = TYPES[header.kind]
    values = _read_lines(file, np.dtype([("value", kind)]))["value"]
    sign = MIRRORED[header.symmetry]
    skipped = 1 if sign == -1 else 0  # a skew-symmetric matrix leaves out its diagonal, which is zero
    n_values = rows * columns if sign is None else (rows - skipped) * (rows - skipped + 1) // 2
    if len(values) != n_values:
        raise ValueError(f"it promises {n_values} values, and {len(values)} follow")
    if sign is None:
        return values.reshape(columns, rows).T
    matrix = np.zeros((rows, rows), dtype=kind)
    above = np.triu_indices(rows, skipped)  # the lower triangle by columns is the upper one by rows
    matrix[above[1], above[0]] = values
    matrix[above] = _times_sign(values, sign)
    return matrix


def _times_sign(values: NDArray[Any], sign: int) -> NDArray[Any]:
    return values if sign == 1 else -values.astype(np.result_type(values, np.int8))


def _read_lines(file: TextIO, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The remaining lines, each with the fields of `dtype`."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # a number with a point where a whole one is needed
        warnings.filterwarnings("ignore", message=".*input contained no data.*")
        try:
            values: NDArray[Any] = np.loadtxt(_text_lines(file), dtype=dtype, comments="%", ndmin=1)
        except (ValueError, DeprecationWarning) as error:
            raise ValueError(str(error).partition(";")[0]) from error  # what follows is advice on parameters of numpy
    return values


def _text_lines(file: TextIO) -> Iterator[str]:
    for line in file:
        if "\0" in line:
            raise ValueError("it is not a text file")
        yield line
