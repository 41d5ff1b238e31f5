"""Checked input: what the public functions of this package accept, and what they say about the rest.

A graph comes as a scipy sparse matrix of weights (any format, any real type), or as an object that holds one as
`.adjacency`, such as :class:`graspel.Graph`. Explicit zeros and self-loops have no part in a Laplacian and are left
out; duplicate entries are summed. Whatever is not a graph gets an error that names the entry.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def checked_adjacency(graph: Any) -> sp.csr_array:
    """The weights of an undirected graph as a symmetric CSR array, sorted, without zeros and diagonal.

    The input is never changed; the result may share its memory.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> checked_adjacency(sp.coo_array([[5, 1], [1, 0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    A = _square(getattr(graph, "adjacency", graph), "adjacency")
    weights = _off_diagonal(A)
    _refuse_negative(
        weights,
        "adjacency",
        "weights must not be negative. If this is a Laplacian L, pass its off-diagonal part with the sign changed.",
    )
    return _symmetric(weights, "adjacency", _tolerance(A.dtype))


def checked_laplacian(L: Any) -> sp.csr_array:
    """The adjacency to which a graph Laplacian belongs, as `checked_adjacency` returns it.

    An object with an `adjacency` stands for the Laplacian of that graph.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> checked_laplacian(sp.csr_array([[2, -2], [-2, 2]])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    if hasattr(L, "adjacency"):
        return checked_adjacency(L)
    A = _square(L, "L")
    tolerance = _tolerance(A.dtype)
    weights = _off_diagonal(A)
    weights = sp.csr_array((-weights.data, weights.indices, weights.indptr), shape=weights.shape)
    _refuse_negative(
        weights,
        "-L",
        "the entries of a Laplacian off its diagonal must not be positive. "
        "If this is an adjacency A, pass scipy.sparse.csgraph.laplacian(A).",
    )
    adjacency = _symmetric(weights, "-L", tolerance)
    degrees, diagonal = adjacency.sum(axis=1), sp.csr_array(A, dtype=np.float64).diagonal()
    right = np.abs(diagonal - degrees) <= tolerance * degrees
    if not right.all():
        p = int(np.argmin(right))
        raise ValueError(
            f"L[{p}, {p}] is {diagonal[p]:g}, and the weights at node {p} sum to {degrees[p]:g}: the rows of a "
            "Laplacian sum to zero. Pass L without what was added to its diagonal; a normalised Laplacian will not do."
        )
    return adjacency


def checked_columns(name: str, values: ArrayLike, n_nodes: int) -> Floats:
    """A vector or a block of vectors on the nodes, as N x m."""
    X = np.asarray(values)
    if X.ndim not in (1, 2) or len(X) != n_nodes:
        raise ValueError(
            f"{name} has shape {X.shape}: must be ({n_nodes},) or ({n_nodes}, m), one row for each node of the graph."
        )
    if X.dtype.kind not in "biuf":
        raise TypeError(f"{name} has entries of type {X.dtype}: must be real numbers.")
    X = X.astype(np.float64, copy=False).reshape(n_nodes, -1)
    if not np.isfinite(X).all():
        raise ValueError(f"{name} has NaN or infinite entries: must be finite. Remove or replace them first.")
    return X


def checked_positive(name: str, value: float, meaning: str) -> float:
    """A positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name}={value!r}: must be a positive finite number, {meaning}.")
    return float(value)


def checked_count(name: str, value: int, largest: int, meaning: str) -> int:
    """A whole number from 1 to `largest`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= value <= largest:
        raise ValueError(f"{name}={value!r}: must be a whole number from 1 to {largest}, {meaning}.")
    return int(value)


def checked_nodes(nodes: ArrayLike, n_nodes: int) -> NDArray[np.intp]:
    """Numbers of nodes, as a vector."""
    chosen = np.asarray(nodes)
    if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and chosen.size > 0):
        raise ValueError(
            f"nodes of shape {chosen.shape} and type {chosen.dtype}: must be a list of node numbers, "
            f"from 0 to {n_nodes - 1}."
        )
    outside = (chosen < 0) | (chosen >= n_nodes)
    if outside.any():
        raise ValueError(f"node {chosen[np.argmax(outside)]}: nodes are numbered from 0 to {n_nodes - 1}.")
    return chosen.astype(np.intp)


def _square(A: Any, name: str) -> Any:
    if not sp.issparse(A):
        raise TypeError(
            f"{name} is a {type(A).__name__}: must be a scipy sparse matrix or a graph with such an `adjacency`. "
            f"For a dense array pass scipy.sparse.csr_array({name})."
        )
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"{name} has shape {A.shape}: must be square, one row and column for each node, at least one.")
    if A.dtype.kind not in "biuf":
        raise TypeError(f"{name} has entries of type {A.dtype}: must be real numbers.")
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


def _refuse_negative(weights: sp.csr_array, name: str, what_to_do: str) -> None:
    if not np.isfinite(weights.data).all():
        p, q = _place(weights, int(np.argmin(np.isfinite(weights.data))))
        raise ValueError(f"{name}[{p}, {q}] is {weights[p, q]}: weights must be finite. Remove or replace it first.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"the entries of {name} sum to infinity: scale them down first, for example by their largest.")
    if weights.nnz and weights.data.min() < 0:
        p, q = _place(weights, int(np.argmin(weights.data)))
        raise ValueError(f"{name}[{p}, {q}] is {weights[p, q]:g}: {what_to_do}")


def _symmetric(A: sp.csr_array, name: str, tolerance: float) -> sp.csr_array:
    """A itself where it equals its transpose, their mean where they differ by rounding, an error otherwise."""
    B = A.T.tocsr()
    same = np.array_equal(A.indptr, B.indptr) and np.array_equal(A.indices, B.indices)
    if same and np.array_equal(A.data, B.data):
        return A
    excess = (abs(A - B) - tolerance * A.maximum(B)).tocoo()
    if excess.nnz and excess.data.max() > 0:
        at = int(np.argmax(excess.data))
        p, q = sorted((int(excess.row[at]), int(excess.col[at])))
        raise ValueError(
            f"{name} is not symmetric: {name}[{p}, {q}] is {A[p, q]:g} and {name}[{q}, {p}] is {A[q, p]:g}. "
            "Pass (A + A.T) / 2 or A.maximum(A.T)."
        )
    return ((A + B) / 2).tocsr()


def _place(A: sp.csr_array, at: int) -> tuple[int, int]:
    """Row and column of a stored entry."""
    return int(np.searchsorted(A.indptr, at, side="right")) - 1, int(A.indices[at])


def _tolerance(dtype: np.dtype[Any]) -> float:
    """The relative difference that rounding may leave: half the digits of the type."""
    return float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))
