"""The adjacency matrix of a graph from outside: the one place that decides whether a matrix is a graph.

A graph comes as a scipy sparse matrix of weights (any format, any real type), as a dense square array, or as an object
that holds such a matrix as `.adjacency`, for example :class:`graspel.Graph`. Zeros and self-loops do not change the
Laplacian and are dropped; duplicate entries of a sparse matrix are summed. Anything else raises an error that names
the entry.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graspel.runtime.sparse_structure import check_sparse_structure
from graspel.runtime.types import Floats

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-250, 1e250  # of the kernels: degrees and resistances of any graph stay finite
WEIGHT_RATIO = 1e50  # largest over smallest weight of the kernels: products of six weights and potentials stay finite
NEGATIVE_WEIGHT = (
    "weights must not be negative. If this is a Laplacian L, pass its off-diagonal part with the sign changed."
)
POSITIVE_ENTRY = (
    "the entries of a Laplacian off its diagonal must not be positive. "
    "If this is an adjacency A, pass scipy.sparse.csgraph.laplacian(A)."
)


def check_adjacency(
    graph: Any, name: str = "adjacency", *, directed: bool = False, bounded: bool = True
) -> sp.csr_array:
    """Return the weights of a graph as a CSR array in float64: sorted, without zeros and without the diagonal.

    The input is never changed; the result may share its memory.

    Parameters
    ----------
    graph : sparse matrix, dense array-like or object with `adjacency`
    name : str
        The name of the matrix in errors.
    directed : bool
        Accept a matrix that is not symmetric, such as the matrix of a k-nearest-neighbor search. Otherwise the matrix
        must be symmetric up to rounding (half the digits of its type), and the mean with its transpose is returned.
    bounded : bool
        Refuse weights outside of what computations with a Laplacian can hold in double precision: below 1e-250, above
        1e250, or more than a factor of 1e50 apart. A `Graph` keeps any finite weights.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> check_adjacency(sp.coo_array([[5, 1], [1, 0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    A = _as_square(_held_matrix(graph, name), name)
    weights = _off_diagonal(_finite_entries(A, name))
    _check_weights(weights, name, NEGATIVE_WEIGHT)
    if bounded:
        _check_range(weights, name)
    return weights if directed else _as_symmetric(weights, name, rounding_of(A.dtype))


def check_laplacian(L: Any, name: str = "L") -> sp.csr_array:
    """Return the adjacency matrix of the graph whose Laplacian is L, in the form that `check_adjacency` returns.

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
    weights = _off_diagonal(_finite_entries(A, name))
    weights = sp.csr_array((-weights.data, weights.indices, weights.indptr), shape=weights.shape)
    _check_weights(weights, f"-{name}", POSITIVE_ENTRY)
    _check_range(weights, f"-{name}")
    adjacency = _as_symmetric(weights, f"-{name}", rounding)
    degrees, diagonal = adjacency.sum(axis=1), A.astype(np.float64).diagonal()
    sums_to_zero = np.abs(diagonal - degrees) <= rounding * degrees
    if not sums_to_zero.all():
        p = int(np.argmin(sums_to_zero))
        raise ValueError(
            f"{name}[{p}, {p}] is {diagonal[p]:g}, and the weights at node {p} sum to {degrees[p]:g}: the rows of a "
            f"Laplacian sum to zero. Pass {name} without what was added to its diagonal; a normalized Laplacian will "
            "not do."
        )
    return adjacency


def check_real(name: str, dtype: np.dtype[Any]) -> None:
    """Raise unless `dtype` is a type of real numbers; complex numbers, text and objects are refused."""
    if dtype.kind not in "biuf":
        hint = "Take the real part or the absolute value." if dtype.kind == "c" else "Convert it to float first."
        raise ValueError(f"{name} of dtype {dtype}: must hold real numbers. {hint}")


def rounding_of(dtype: np.dtype[Any]) -> float:
    """Largest relative difference that counts as rounding: half the digits of the type."""
    return float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def _held_matrix(graph: Any, name: str) -> Any:
    """The matrix that an object holds as `.adjacency`, or the object itself."""
    A = getattr(graph, "adjacency", graph)
    if callable(A):  # networkx has a method of this name
        raise TypeError(
            f"{name} is a {type(graph).__module__.split('.')[0]} {type(graph).__name__}: must be a scipy sparse "
            "matrix, a square array or a graspel Graph. graspel.Graph.from_networkx converts a graph of networkx."
        )
    return A


def _as_square(A: Any, name: str) -> Any:
    if not sp.issparse(A):
        given, A = type(A).__name__, np.asarray(A)
        if A.ndim == 0 and A.dtype.kind not in "biufc":
            raise TypeError(f"{name} is a {given}: must be a scipy sparse matrix, a square array or a graspel Graph.")
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"{name} of shape {A.shape}: must be square, one row and column for each node, at least one.")
    if sp.issparse(A):
        check_sparse_structure(A, name)
    check_real(name, A.dtype)
    return A


def _finite_entries(A: Any, name: str) -> sp.csr_array:
    """All entries in float64, with duplicates summed, in sorted order; raise where one is NaN or infinite."""
    entries = sp.csr_array(A, dtype=np.float64)
    if not entries.has_canonical_format or len(entries.data) > entries.nnz:
        entries = entries.copy()
        entries.prune()  # arrays may be longer than their content
        entries.sum_duplicates()
    finite = np.isfinite(entries.data)
    if not finite.all():
        at = int(np.argmin(finite))
        p, q = _entry(entries, at)
        raise ValueError(f"{name}[{p}, {q}] is {entries.data[at]}: weights must be finite. Remove or replace it first.")
    return entries


def _off_diagonal(A: sp.csr_array) -> sp.csr_array:
    """The nonzero entries off the diagonal."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    kept = (A.indices != row) & (A.data != 0)
    if kept.all():
        return A
    indptr = np.concatenate([[0], np.cumsum(kept)])[A.indptr]
    return sp.csr_array((A.data[kept], A.indices[kept], indptr), shape=A.shape)


def _check_weights(weights: sp.csr_array, name: str, what_to_do: str) -> None:
    """Raise where a weight is negative."""
    if weights.nnz and weights.data.min() < 0:
        p, q = _entry(weights, int(np.argmin(weights.data)))
        raise ValueError(f"{name}[{p}, {q}] is {weights[p, q]:g}: {what_to_do}")


def _check_range(weights: sp.csr_array, name: str) -> None:
    """Raise where weights leave the range of the kernels, and name the entry."""
    if not weights.nnz:
        return
    low, high = int(np.argmin(weights.data)), int(np.argmax(weights.data))
    lightest, heaviest = weights.data[low], weights.data[high]
    if lightest >= SMALLEST_WEIGHT and heaviest <= LARGEST_WEIGHT and heaviest / WEIGHT_RATIO <= lightest:
        return
    at, other = (high, low) if heaviest > LARGEST_WEIGHT else (low, high)
    p, q = _entry(weights, at)
    raise ValueError(
        f"{name}[{p}, {q}] is {weights.data[at]:g}, and another weight is {weights.data[other]:g}: weights must lie "
        f"between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, and the largest be at most {WEIGHT_RATIO:g} times the "
        "smallest. Scale all of them, or raise or remove the smallest."
    )


def _as_symmetric(A: sp.csr_array, name: str, rounding: float) -> sp.csr_array:
    """Return A where it equals its transpose, their mean where they differ by rounding; raise otherwise."""
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


def check_vectors(name: str, values: ArrayLike, n_nodes: int) -> Floats:
    """Return a vector or a block of vectors on the nodes as an N x m array of float64."""
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


def check_positive(name: str, value: float, meaning: str) -> float:
    """Return `value` if it is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name}={value!r}: must be a positive finite number, {meaning}.")
    return float(value)


def check_count(name: str, value: int, largest: int, meaning: str) -> int:
    """Return `value` if it is a whole number from 1 to `largest`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= value <= largest:
        raise ValueError(f"{name}={value!r}: must be a whole number from 1 to {largest}, {meaning}.")
    return int(value)


def check_nodes(nodes: ArrayLike, n_nodes: int) -> NDArray[np.intp]:
    """Return node numbers as a vector of integers."""
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
