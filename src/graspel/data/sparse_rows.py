r"""Sparse rows: the prepared rows of a CSR matrix, and distances between them, without making a row dense.

Text as TF-IDF has tens of values in a row and tens of thousands of columns. Nothing here costs more than the values
that are stored. Rows are not centered, since that would fill them; the mean only enters the spectral norm of X - mean,
which is found from products with X and with the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.data.preparation import MAX_NEW, MAX_UNITS, SHORT, Preparation, round_tiny
from graspel.runtime.types import Floats, Indices

COMPILED_VALUES = 1 << 24  # stored values of compared rows from which loading the compiled kernel pays: a second
NORM_TOL = 1e-6  # relative accuracy of the squared spectral norm
DENSE_NORM = 64  # smallest side of a matrix up to which its norm is computed from a dense Gram matrix


def can_stay_sparse(X: Any, preparation: Preparation) -> bool:
    """Whether prepared rows are as sparse as X: to subtract a median row or the mean of each row would fill them."""
    return sp.issparse(X) and preparation.shift is None and not preparation.center


def prepare_sparse_rows(X: Any, preparation: Preparation) -> sp.csr_array:
    """All rows, prepared as :meth:`Preparation.apply` prepares dense ones, with sorted columns and no stored zeros."""
    A = sp.csr_array(X, copy=True)
    A.sum_duplicates()
    values, unit = A.data, preparation.unit
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    if preparation.cut:
        values = np.clip(values, -MAX_NEW / unit, MAX_NEW / unit)
    if unit != 1.0:
        values = values.astype(np.float64)
        if preparation.metric == "cosine":  # rows may differ in length by hundreds of decades: each gets its own unit
            values = np.ldexp(values, -np.frexp(_largest_of_rows(A, row))[1][row])
        else:
            with np.errstate(over="ignore"):  # what overflows is cut
                values = np.clip(values, -MAX_UNITS / unit, MAX_UNITS / unit) * unit
    values = values.astype(preparation.dtype)
    if preparation.metric == "cosine":
        norms = np.sqrt(np.bincount(row, values.astype(np.float64) ** 2, A.shape[0]))
        short = (norms < SHORT)[row]
        if short.any():
            values[short] = np.ldexp(values[short], -np.frexp(_largest_of_rows(A, row))[1][row[short]])
            norms = np.sqrt(np.bincount(row, values.astype(np.float64) ** 2, A.shape[0]))
        values /= np.where(norms > 0, norms, 1.0)[row].astype(preparation.dtype)
    if preparation.has_tiny:
        values = round_tiny(values, preparation.tiny)
    A = sp.csr_array((values, A.indices, A.indptr), shape=A.shape)
    A.eliminate_zeros()
    A.sort_indices()
    return A


def _largest_of_rows(A: sp.csr_array, row: Indices) -> Floats:
    """The largest absolute value of each row."""
    largest = np.zeros(A.shape[0])
    np.maximum.at(largest, row, np.abs(A.data.astype(np.float64)))
    return largest


def row_squares(A: sp.csr_array) -> Floats:
    """|x|^2 of every row, in double precision."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.bincount(row, A.data.astype(np.float64) ** 2, A.shape[0]).astype(np.float64)


def centered_norm(A: sp.csr_array, mean: Floats, rng: np.random.Generator) -> float:
    """The spectral norm of A - mean, by Lanczos iterations on its Gram operator; 0 if all rows are equal."""
    n, m = A.shape
    if min(n, m) <= DENSE_NORM:
        gram = (A.T @ A if m <= n else A @ A.T).toarray().astype(np.float64)
        if m <= n:
            gram -= n * np.outer(mean, mean)
        else:
            products = A @ mean
            gram += float(mean @ mean) - products[:, None] - products
        return float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0)))
    transposed = A.T.tocsr()

    def apply_gram(v: Floats) -> Floats:
        u = A @ v.ravel() - float(mean @ v.ravel())
        return np.asarray(transposed @ u - mean * u.sum(), dtype=np.float64)

    start = rng.standard_normal(m)
    operator = LinearOperator((m, m), matvec=apply_gram, dtype=np.float64)
    return float(np.sqrt(max(eigsh(operator, 1, v0=start, tol=NORM_TOL, return_eigenvectors=False)[0], 0.0)))


def pair_distances(A: sp.csr_array, p: Indices, B: sp.csr_array, q: Indices) -> Floats:
    """|a_p - b_q|^2 of the pairs (p_i, q_i), from differences: exactly zero for equal rows, no cancellation."""
    if not len(p):
        return np.empty(0)
    if len(p) * (len(A.data) / A.shape[0] + len(B.data) / B.shape[0]) <= COMPILED_VALUES:
        return row_squares(sp.csr_array(A[p].astype(np.float64) - B[q].astype(np.float64)))
    from graspel.kernels.sparse_rows import merge_pairs

    z = np.empty(len(p))
    merge_pairs(csr_arrays(A), csr_arrays(B), p.astype(np.int64), q.astype(np.int64), z)
    return z


def csr_arrays(A: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """The arrays of a CSR or CSC matrix in the types that the kernels take: start, columns (or rows), values."""
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data
