"""The edge list: the canonical form in which a graph keeps its edges, and why each of them is there.

An edge is stored once, with its smaller node first (heads < tails), and edges are sorted by head, then by tail. One
array for each property runs along them: weights, and the provenance (origin, round, eta, gradient). Everything that
can be wrong with such a list is found here.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graspel.graph.adjacency import check_real
from graspel.graph.provenance import Origin

__all__ = ["canonical_edges", "edge_keys", "unique_edges"]

_MOST_NODES = 2**31 - 1  # so that edge keys fit 64 bits, and the 32-bit sparse indices that scikit-learn wants


def edge_keys(p: NDArray[np.integer], q: NDArray[np.integer], n_nodes: int) -> NDArray[np.int64]:
    """One number for each pair of nodes, the same for (p, q) and (q, p): smaller node times n_nodes plus larger node.

    Keys sort like canonical edges. ``divmod(key, n_nodes)`` gives the two nodes back.

    >>> edge_keys(np.array([2, 0]), np.array([1, 1]), 3)
    array([5, 1])
    """
    return np.minimum(p, q).astype(np.int64, copy=False) * n_nodes + np.maximum(p, q)


def unique_edges(p: NDArray[np.integer], q: NDArray[np.integer], n_nodes: int) -> tuple[Any, Any]:
    """The pairs as canonical heads and tails: smaller node first, sorted, each once.

    >>> unique_edges(np.array([2, 0, 1]), np.array([1, 1, 2]), 3)
    (array([0, 1]), array([1, 2]))
    """
    return np.divmod(np.unique(edge_keys(p, q, n_nodes)), n_nodes)


def canonical_edges(
    n_nodes: int,
    heads: ArrayLike,
    tails: ArrayLike,
    weights: ArrayLike,
    origin: ArrayLike | None = None,
    round: ArrayLike | None = None,
    eta: ArrayLike | None = None,
    gradient: ArrayLike | None = None,
) -> dict[str, NDArray[Any]]:
    """Check the edges of a graph, and return them in canonical form.

    Parameters
    ----------
    n_nodes, heads, tails, weights, origin, round, eta, gradient
        As for `graspel.graph.Graph`.

    Returns
    -------
    columns : dict of ndarray, each of shape (n_edges,)
        New arrays under the names of the parameters, heads < tails, sorted by head, then by tail.

    Examples
    --------
    >>> columns = canonical_edges(3, [2, 1], [1, 0], [0.5, 2.0])
    >>> columns["heads"], columns["tails"], columns["weights"]
    (array([0, 1]), array([1, 2]), array([2. , 0.5]))
    """
    n = _node_count(n_nodes)
    p, q = _nodes("heads", heads, n), _nodes("tails", tails, n)
    if len(p) != len(q):
        raise ValueError(f"heads has {len(p)} entries and tails has {len(q)}: give both ends of every edge.")
    if np.any(p == q):
        at = int(p[np.argmax(p == q)])
        raise ValueError(f"edge ({at}, {at}): a node cannot be joined to itself. Leave self-loops out.")
    columns: dict[str, NDArray[Any]] = {
        "heads": np.minimum(p, q),
        "tails": np.maximum(p, q),
        "weights": _weights(weights, len(p)),
        "origin": _origins(origin, len(p)),
        "round": _rounds(round, len(p)),
        "eta": _reals("eta", np.nan if eta is None else eta, len(p)),
        "gradient": _reals("gradient", np.nan if gradient is None else gradient, len(p)),
    }
    keys = edge_keys(columns["heads"], columns["tails"], n)
    if np.any(keys[1:] <= keys[:-1]):
        order = np.argsort(keys, kind="stable")
        _no_duplicates(keys[order], n)
        columns = {name: column[order] for name, column in columns.items()}
    return columns


def _node_count(n_nodes: int) -> int:
    if not isinstance(n_nodes, Integral) or isinstance(n_nodes, bool) or not 1 <= n_nodes <= _MOST_NODES:
        raise ValueError(f"n_nodes={n_nodes!r}: must be a whole number from 1 to {_MOST_NODES:,}.")
    return int(n_nodes)


def _nodes(name: str, nodes: ArrayLike, n_nodes: int) -> NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(nodes))
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size > 0):
        raise ValueError(
            f"{name} of shape {array.shape} and dtype {array.dtype}: must be a list of node numbers (integers)."
        )
    outside = (array < 0) | (array >= n_nodes)
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"{name}[{at}] = {array[at]}: nodes are numbered from 0 to n_nodes - 1 = {n_nodes - 1}.")
    return array.astype(np.int64)


def _reals(name: str, values: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.broadcast_to(array, (n_edges,))
    if array.shape != (n_edges,):
        raise ValueError(f"{name} of shape {array.shape}: must have one entry for each of the {n_edges} edges.")
    if array.size > 0:
        check_real(name, array.dtype)
    return array.astype(np.float64)


def _weights(weights: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    array = _reals("weights", weights, n_edges)
    bad = ~((array > 0) & (array < np.inf))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"weights[{at}] = {array[at]}: must be positive and finite. Leave out edges of weight 0.")
    return array


def _rounds(rounds: ArrayLike | None, n_edges: int) -> NDArray[np.int32]:
    array = _reals("round", 0 if rounds is None else rounds, n_edges)
    bad = ~((array >= 0) & (array < 2**31) & (array % 1 == 0))
    if bad.any():
        raise ValueError(f"round = {array[bad][0]}: must be a whole number from 0, the start, on.")
    return array.astype(np.int32)


def _origins(origin: ArrayLike | None, n_edges: int) -> NDArray[np.int8]:
    array = _reals("origin", Origin.GIVEN if origin is None else origin, n_edges)
    bad = ~np.isin(array, list(Origin))
    if bad.any():
        allowed = ", ".join(f"{member.value} ({member.label})" for member in Origin)
        raise ValueError(
            f"origin = {array[bad][0]:g}: unknown. Allowed are the members of graspel.graph.Origin: {allowed}."
        )
    return array.astype(np.int8)


def _no_duplicates(keys: NDArray[np.int64], n_nodes: int) -> None:
    same = keys[1:] == keys[:-1]
    if same.any():
        p, q = divmod(int(keys[np.argmax(same)]), n_nodes)
        raise ValueError(f"edge ({p}, {q}) is given twice: every edge is listed once. Sum or drop the duplicates.")
