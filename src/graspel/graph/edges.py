"""The edge list: the canonical form of the edges of a graph, with weights, and why each edge is there.

An edge is stored once, with its smaller node first (heads < tails), and edges are sorted by head, then by tail. Each
property is one array in that order: weights, and the provenance (origin, round, eta, gradient). This module checks all
of them.
"""

from __future__ import annotations

from enum import IntEnum
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graspel.graph.adjacency import check_real
from graspel.graph.names import find_node, shown_node
from graspel.runtime.shown import quote
from graspel.runtime.sparse_structure import MAX_SIDE

if TYPE_CHECKING:
    from graspel.graph.graph import Graph


class Origin(IntEnum):
    """Why an edge is in the graph: the step of the method that added it.

    Examples
    --------
    >>> Origin.JOIN.meaning
    'closest pair between two components'
    >>> Origin(1).label
    'neighbor'
    """

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Origin:
        """Make a member from its code and its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    GIVEN = 0, "edge of the graph that was given"
    NEIGHBOR = 1, "pair of nearest neighbors in the data"
    TREE = 2, "edge of a spanning tree"
    SPARSIFIER = 3, "off-tree edge kept by the spectral sparsifier"
    JOIN = 4, "closest pair between two components"
    CRITICAL = 5, "pair of large spectral distortion"
    LIKELY = 6, "pair without which the signals are much less likely"

    @property
    def label(self) -> str:
        """The name in lower case, as written to files."""
        return self.name.lower()


def why(graph: Graph, p: int | str, q: int | str) -> str:
    """Explain in one sentence why the edge between nodes `p` and `q` (numbers or names) is in the graph.

    Examples
    --------
    >>> from graspel import Graph
    >>> Graph(3, [0, 1], [1, 2], [1.0, 2.0], origin=[Origin.NEIGHBOR, Origin.JOIN], round=[0, 1]).why(1, 0)
    'Nodes 0 and 1 are joined, with weight 1: pair of nearest neighbors in the data, from the start.'
    """
    low, high = sorted((find_node(graph, p), find_node(graph, q)))
    at = _find_edge(graph, low, high)
    numbers = {"eta": graph.eta[at], "gradient": graph.gradient[at]}
    known = " and ".join(f"{name} {value:.4g}" for name, value in numbers.items() if not np.isnan(value))
    when = "from the start" if graph.round[at] == 0 else f"in round {graph.round[at]}"
    reason = f"{Origin(graph.origin[at]).meaning}, {when}{', with ' if known else ''}{known}"
    ends = f"{shown_node(graph, low)} and {shown_node(graph, high)}"
    return f"Nodes {ends} are joined, with weight {graph.weights[at]:.4g}: {reason}."


def _find_edge(graph: Graph, p: int, q: int) -> int:
    """The position of the edge (p, q) with p < q; raise if the graph does not have it."""
    first, last = np.searchsorted(graph.heads, [p, p + 1])
    at = int(first + np.searchsorted(graph.tails[first:last], q))
    if at < last and graph.tails[at] == q:
        return at
    if p < 0 or q >= graph.n_nodes:
        hint = f"Nodes are numbered from 0 to {graph.n_nodes - 1}."
        raise ValueError(f"edge ({p}, {q}) is not in the graph, so there is nothing to explain. {hint}")
    near = np.concatenate([graph.heads[graph.tails == p], graph.tails[graph.heads == p]])[:5].tolist()
    listed = ", ".join(shown_node(graph, node) for node in near) or "none"
    hint = f"Node {shown_node(graph, p)} is joined to {listed} (its first neighbors)."
    pair = f"({shown_node(graph, p)}, {shown_node(graph, q)})"
    raise ValueError(f"edge {pair} is not in the graph, so there is nothing to explain. {hint}")


_MAX_NODES = MAX_SIDE  # nodes; edge keys fit 64 bits


def edge_keys(p: NDArray[np.integer], q: NDArray[np.integer], n_nodes: int) -> NDArray[np.int64]:
    """Return a number for each pair of nodes: smaller node * n_nodes + larger node, the same for (p, q) and (q, p).

    Keys sort like canonical edges. ``divmod(key, n_nodes)`` gives the two nodes back.

    >>> edge_keys(np.array([2, 0]), np.array([1, 1]), 3)
    array([5, 1])
    """
    return np.minimum(p, q).astype(np.int64, copy=False) * n_nodes + np.maximum(p, q)


def unique_edges(p: NDArray[np.integer], q: NDArray[np.integer], n_nodes: int) -> tuple[Any, Any]:
    """Return the pairs as canonical heads and tails: smaller node first, sorted, without repetition.

    >>> unique_edges(np.array([2, 0, 1]), np.array([1, 1, 2]), 3)
    (array([0, 1]), array([1, 2]))
    """
    keys = np.sort(edge_keys(p, q, n_nodes))  # np.unique, which looks each key up in a table, takes ten times as long
    return np.divmod(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]], n_nodes)


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
    n = _check_n_nodes(n_nodes)
    p, q = _check_nodes("heads", heads, n), _check_nodes("tails", tails, n)
    if len(p) != len(q):
        raise ValueError(f"heads has {len(p)} entries and tails has {len(q)}: give both ends of every edge.")
    if np.any(p == q):
        at = int(p[np.argmax(p == q)])
        raise ValueError(f"edge ({at}, {at}): a node cannot be joined to itself. Leave self-loops out.")
    columns: dict[str, NDArray[Any]] = {
        "heads": np.minimum(p, q),
        "tails": np.maximum(p, q),
        "weights": _check_weights(weights, len(p)),
        "origin": _check_origins(origin, len(p)),
        "round": _check_rounds(round, len(p)),
        "eta": _check_reals("eta", np.nan if eta is None else eta, len(p)),
        "gradient": _check_reals("gradient", np.nan if gradient is None else gradient, len(p)),
    }
    keys = edge_keys(columns["heads"], columns["tails"], n)
    if np.any(keys[1:] <= keys[:-1]):
        order = np.argsort(keys, kind="stable")
        _check_distinct(keys[order], n)
        columns = {name: column[order] for name, column in columns.items()}
    return columns


def _check_n_nodes(n_nodes: int) -> int:
    if not isinstance(n_nodes, Integral) or isinstance(n_nodes, bool) or not 1 <= n_nodes <= _MAX_NODES:
        raise ValueError(f"n_nodes={quote(n_nodes)}: must be a whole number from 1 to {_MAX_NODES:,}.")
    return int(n_nodes)


def _check_nodes(name: str, nodes: ArrayLike, n_nodes: int) -> NDArray[np.int64]:
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


def _check_reals(name: str, values: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.broadcast_to(array, (n_edges,))
    if array.shape != (n_edges,):
        raise ValueError(f"{name} of shape {array.shape}: must have one entry for each of the {n_edges} edges.")
    if array.size > 0:
        check_real(name, array.dtype)
    return array.astype(np.float64)


def _check_weights(weights: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    array = _check_reals("weights", weights, n_edges)
    bad = ~((array > 0) & (array < np.inf))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"weights[{at}] = {array[at]}: must be positive and finite. Leave out edges of weight 0.")
    return array


def _check_rounds(rounds: ArrayLike | None, n_edges: int) -> NDArray[np.int32]:
    array = _check_reals("round", 0 if rounds is None else rounds, n_edges)
    bad = ~((array >= 0) & (array < 2**31) & (array % 1 == 0))
    if bad.any():
        raise ValueError(f"round = {array[bad][0]}: must be a whole number from 0 on; round 0 is the start.")
    return array.astype(np.int32)


def _check_origins(origin: ArrayLike | None, n_edges: int) -> NDArray[np.int8]:
    array = _check_reals("origin", Origin.GIVEN if origin is None else origin, n_edges)
    bad = ~np.isin(array, list(Origin))
    if bad.any():
        allowed = ", ".join(f"{member.value} ({member.label})" for member in Origin)
        raise ValueError(
            f"origin = {array[bad][0]:g}: unknown. Allowed are the members of graspel.graph.Origin: {allowed}."
        )
    return array.astype(np.int8)


def _check_distinct(keys: NDArray[np.int64], n_nodes: int) -> None:
    same = keys[1:] == keys[:-1]
    if same.any():
        p, q = divmod(int(keys[np.argmax(same)]), n_nodes)
        raise ValueError(f"edge ({p}, {q}) is given twice: every edge is listed once. Sum or drop the duplicates.")
