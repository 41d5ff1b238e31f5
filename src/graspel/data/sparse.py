r"""Sparse points: the prepared rows of a CSR matrix, and distances between them, without making a row dense.

Text as TF-IDF has tens of values in a row and tens of thousands of columns. Nothing here costs more than the values
that are stored. Rows are not centered, since that would fill them; the mean only enters the spectral norm of X - mean,
which is found from products with X and with the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.data.fingerprint import hash_sparse_rows
from graspel.data.preparation import MAX_NEW, MAX_UNITS, SHORT, Preparation, round_tiny
from graspel.data.principal import singular_rows, sparse_principal_coordinates
from graspel.data.products import sparse_squares
from graspel.data.protocol import WithoutSketch
from graspel.data.rows import Frame, LocalRows
from graspel.io.models import check_array_read
from graspel.runtime.parallel import row_blocks, run_blocks
from graspel.runtime.types import Bools, Floats, Indices, Ints

COMPILED_VALUES = 1 << 24  # stored values of compared rows from which loading the compiled kernel pays: a second
SPARSE_PAIRS = 1 << 16  # pairs of sparse rows that are measured together
NORM_TOL = 1e-6  # relative accuracy of the squared spectral norm
DENSE_NORM = 64  # smallest side of a matrix up to which its norm is computed from a dense Gram matrix


@dataclass(frozen=True, eq=False)
class SparseData(WithoutSketch, LocalRows):
    """Sparse points.

    Parameters
    ----------
    A : CSR array, the prepared rows, which are as sparse as those of X

    Examples
    --------
    >>> X = sp.csr_array(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    >>> points = SparseData.prepare(X, Preparation("euclidean"))
    >>> z = points.squared_distances([0, 0], [1, 2])
    >>> round(float(z[0] / z[1]), 6)
    25.0
    """

    A: sp.csr_array

    engine = "inverted"

    @classmethod
    def prepare(
        cls, X: Any, preparation: Preparation, rng: np.random.Generator | None = None, n_threads: int = 1
    ) -> SparseData:
        """The points of a sparse matrix whose preparation keeps it sparse."""
        A = prepare_sparse_rows(X, preparation)
        mean = np.asarray(A.sum(axis=0, dtype=np.float64)).ravel() / A.shape[0]
        norm = centered_norm(A, mean, rng or np.random.default_rng(0))
        frame = Frame(preparation, mean, spectral_norm=norm if norm > np.finfo(np.float32).tiny else 1.0)
        return cls(X, frame, A, n_threads=n_threads)

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        check_array_read("X", self.X, (-1, self.n_features))
        check_array_read("A", self.A, self.X.shape)

    @property
    def n_points(self) -> int:
        """The number of points."""
        return int(self.A.shape[0])

    def rows(self, index: Any) -> NDArray[Any]:
        """The chosen prepared rows as a new dense block."""
        return np.asarray(self.A[index].toarray())

    def product_rows(self, index: Any, dtype: type = np.float32) -> sp.csr_array:
        """The chosen rows for products, as they are: their differences from the mean would not be sparse."""
        return self.A[index].astype(dtype)

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i), computed from differences: exactly zero for equal rows, no cancellation."""
        p, q = np.asarray(p), np.asarray(q)
        return self.squared_distances_to(p, q[:, None])[:, 0] if len(p) else np.empty(0)

    def squared_distances_to(
        self, p: Ints, Q: NDArray[Any], asking: SparseData | None = None, *, compiled: bool = False
    ) -> Floats:
        """z_data between point p_i of `asking` (default: these points) and each of Q_i1, ..., Q_ik, as a matrix."""
        others, z = (asking or self).A, np.empty(Q.shape)

        def work(block: slice) -> None:
            owners = np.repeat(p[block], Q.shape[1])
            z[block] = pair_distances(others, owners, self.A, Q[block].ravel()).reshape(z[block].shape)

        run_blocks(work, row_blocks(len(p), max(1, SPARSE_PAIRS // Q.shape[1])), self.n_threads)
        return z / self.spectral_norm**2

    def numbers(self) -> NDArray[np.uint64]:
        """One number for each point; equal points have equal numbers."""
        return hash_sparse_rows(self.A)

    def differ(self, p: Ints, q: Ints) -> Bools:
        """Whether the points p_i and q_i differ in any value; zeros are not stored."""
        return np.asarray(np.diff(sp.csr_array(self.A[p] != self.A[q]).indptr) > 0)

    def subset(self, index: Ints) -> SparseData:
        """Some of the points, prepared in the same way and in the same unit."""
        return replace(self, A=self.A[index])

    def like(self, X: Any) -> SparseData:
        """Other points with the same features, prepared in the same way, for comparing them with these."""
        frame = replace(self.frame, preparation=replace(self.frame.preparation, cut=True))
        return replace(self, X=X, frame=frame, A=prepare_sparse_rows(X, frame.preparation))

    def principal_rows(self) -> Floats | None:
        """The points along their leading singular directions."""
        return singular_rows(self.A)

    def principal_coordinates(self, n_components: int, rng: np.random.Generator) -> Floats | None:
        """The leading principal coordinates of the points; None where there are fewer."""
        few = min(self.A.shape) <= n_components
        return None if few else sparse_principal_coordinates(self.A, n_components, rng)


def can_stay_sparse(X: Any, preparation: Preparation) -> bool:
    """Whether prepared rows are as sparse as X: to subtract a median row or the mean of each row would fill them."""
    return sp.issparse(X) and preparation.shift is None and not preparation.is_centered


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
        if preparation.is_normalized:  # rows may differ in length by hundreds of decades: each gets its own unit
            values = np.ldexp(values, -np.frexp(_largest_of_rows(A, row))[1][row])
        else:
            with np.errstate(over="ignore"):  # what overflows is cut
                values = np.clip(values, -MAX_UNITS / unit, MAX_UNITS / unit) * unit
    values = values.astype(preparation.dtype)
    if preparation.is_normalized:
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
        return sparse_squares(sp.csr_array(A[p].astype(np.float64) - B[q].astype(np.float64)))
    from graspel.kernels.sparse_rows import merge_pairs

    z = np.empty(len(p))
    merge_pairs(csr_arrays(A), csr_arrays(B), p.astype(np.int64), q.astype(np.int64), z)
    return z


def csr_arrays(A: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """The arrays of a CSR or CSC matrix in the types that the kernels take: start, columns (or rows), values."""
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data
