"""The adjacency matrix of a graph that somebody brings: the one place that says what is a graph and what is not.

A graph comes as a scipy sparse matrix of weights (any format, any real type), as a dense square array, or as an object
that holds such a matrix as `.adjacency`, for example :class:`graspel.Graph`. Zeros and self-loops have no part in a
Laplacian and are left out; duplicate entries of a sparse matrix are summed. Anything else is refused by an error that
names the entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["check_adjacency", "check_laplacian", "check_real"]

NEGATIVE_WEIGHT = (
    "weights must not be negative. If this is a Laplacian L, pass its off-diagonal part with the sign changed."
)
POSITIVE_ENTRY = (
    "the entries of a Laplacian off its diagonal must not be positive. "
    "If this is an adjacency A, pass scipy.sparse.csgraph.laplacian(A)."
)


def check_adjacency(graph: Any, name: str = "adjacency", *, directed: bool = False) -> sp.csr_array:
    """Return the weights of a graph as a CSR array in float64: sorted, without zeros and without the diagonal.

    The input is never changed; the result may share its memory.

    Parameters
    ----------
    graph : sparse matrix, dense array-like or object with `adjacency`
    name : str
        What errors call it.
    directed : bool
        Accept a matrix that is not symmetric, such as the matrix of a k-nearest-neighbor search. Otherwise the matrix
        must be symmetric up to rounding (half the digits of its type), and the mean with its transpose is returned.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> check_adjacency(sp.coo_array([[5, 1], [1, 0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    A = _as_square(getattr(graph, "adjacency", graph), name)
    weights = _off_diagonal(A)
    _check_weights(weights, name, NEGATIVE_WEIGHT)
    return weights if directed else _as_symmetric(weights, name, rounding_of(A.dtype))


def check_laplacian(L: Any, name: str = "L") -> sp.csr_array:
    """Return the adjacency matrix that a graph Laplacian belongs to, as `check_adjacency` returns it.

    An object with an `adjacency` stands for the Laplacian of that graph.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> check_laplacian(sp.csr_array([[2, -2], [-2, 2]])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    if hasattr(L, "adjacency"):
        return check_adjacency(L)
    A = _as_square(L, name)
    rounding = rounding_of(A.dtype)
    weights = _off_diagonal(A)
    weights = sp.csr_array((-weights.data, weights.indices, weights.indptr), shape=weights.shape)
    _check_weights(weights, f"-{name}", POSITIVE_ENTRY)
    adjacency = _as_symmetric(weights, f"-{name}", rounding)
    degrees, diagonal = adjacency.sum(axis=1), A.astype(np.float64).diagonal()
    right = np.abs(diagonal - degrees) <= rounding * degrees
    if not right.all():
        p = int(np.argmin(right))
        raise ValueError(
            f"{name}[{p}, {p}] is {diagonal[p]:g}, and the weights at node {p} sum to {degrees[p]:g}: the rows of a "
            f"Laplacian sum to zero. Pass {name} without what was added to its diagonal; a normalized Laplacian will "
            "not do."
        )
    return adjacency


def check_real(name: str, dtype: np.dtype[Any]) -> None:
    """Refuse what is not a dtype of real numbers: complex, text, objects."""
    if dtype.kind not in "biuf":
        hint = "Take the real part or the absolute value." if dtype.kind == "c" else "Convert it to float first."
        raise ValueError(f"{name} of dtype {dtype}: must hold real numbers. {hint}")


def rounding_of(dtype: np.dtype[Any]) -> float:
    """The relative difference that rounding may leave: half the digits of the type."""
    return float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def _as_square(A: Any, name: str) -> Any:
    if not sp.issparse(A):
        given, A = type(A).__name__, np.asarray(A)
        if A.ndim == 0:
            raise TypeError(f"{name} is a {given}: must be a scipy sparse matrix, a square array or a graspel Graph.")
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"{name} of shape {A.shape}: must be square, one row and column for each node, at least one.")
    check_real(name, A.dtype)
    return A


def _off_diagonal(A: Any) -> sp.csr_array:
    """The entries off the diagonal that are not zero, duplicates summed, sorted."""
    A = sp.csr_array(A, dtype=np.float64)
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    kept = (A.indices != row) & (A.data != 0)
    if kept.all():
        return A
    indptr = np.concatenate([[0], np.cumsum(kept)])[A.indptr]
    return sp.csr_array((A.data[kept], A.indices[kept], indptr), shape=A.shape)


def _check_weights(weights: sp.csr_array, name: str, what_to_do: str) -> None:
    """Raise unless the weights are finite and not negative."""
    if not np.isfinite(weights.data).all():
        p, q = _entry(weights, int(np.argmin(np.isfinite(weights.data))))
        raise ValueError(f"{name}[{p}, {q}] is {weights[p, q]}: weights must be finite. Remove or replace it first.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"the entries of {name} sum to infinity: scale them down first, for example by their largest.")
    if weights.nnz and weights.data.min() < 0:
        p, q = _entry(weights, int(np.argmin(weights.data)))
        raise ValueError(f"{name}[{p}, {q}] is {weights[p, q]:g}: {what_to_do}")


def _as_symmetric(A: sp.csr_array, name: str, rounding: float) -> sp.csr_array:
    """A itself where it equals its transpose, their mean where they differ by rounding, an error otherwise."""
    B = A.T.tocsr()
    same = np.array_equal(A.indptr, B.indptr) and np.array_equal(A.indices, B.indices)
    if same and np.array_equal(A.data, B.data):
        return A
    excess = (abs(A - B) - rounding * A.maximum(B)).tocoo()
    if excess.nnz and excess.data.max() > 0:
        at = int(np.argmax(excess.data))
        p, q = sorted((int(excess.row[at]), int(excess.col[at])))
        raise ValueError(
            f"{name} is not symmetric: {name}[{p}, {q}] is {A[p, q]:g} and {name}[{q}, {p}] is {A[q, p]:g}. "
            "Pass (A + A.T) / 2 or A.maximum(A.T)."
        )
    return (A + (B - A) / 2).tocsr()  # this form of the mean cannot overflow


def _entry(A: sp.csr_array, at: int) -> tuple[int, int]:
    """Row and column of a stored entry."""
    return int(np.searchsorted(A.indptr, at, side="right")) - 1, int(A.indices[at])
