"""The edge list: the canonical form in which a graph keeps its edges, and why each of them is there.

An edge is stored once, with its smaller node first (heads < tails), and edges are sorted by head, then by tail. One
array for each property runs along them: weights, and the provenance (step, round, eta, gradient). Everything that
can be wrong with such a list is found here.
"""

from __future__ import annotations

from enum import IntEnum
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Step", "canonical_edges", "check_real"]

# Node pairs are keyed as p * n_nodes + q in 64 bits, and scikit-learn wants 32-bit sparse indices.
_MOST_NODES = 2**31 - 1


class Step(IntEnum):
    """The step of the method that put an edge into the graph.

    Examples
    --------
    >>> Step.JOIN.meaning
    'closest pair between two components'
    >>> Step(1).label
    'neighbor'
    """

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Step:
        """Make a member from its code and its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    GIVEN = 0, "edge of the graph that was given"
    NEIGHBOR = 1, "pair of nearest neighbours in the data"
    TREE = 2, "edge of a spanning tree"
    SPARSIFIER = 3, "off-tree edge kept by the spectral sparsifier"
    JOIN = 4, "closest pair between two components"
    CRITICAL = 5, "pair of large spectral distortion"
    LIKELY = 6, "pair without which the signals are much less likely"

    @property
    def label(self) -> str:
        """The name in lower case, as written to files."""
        return self.name.lower()


def canonical_edges(
    n_nodes: int,
    heads: ArrayLike,
    tails: ArrayLike,
    weights: ArrayLike,
    step: ArrayLike | None = None,
    round: ArrayLike | None = None,
    eta: ArrayLike | None = None,
    gradient: ArrayLike | None = None,
) -> dict[str, NDArray[Any]]:
    """Check the edges of a graph, and return them in canonical form.

    Parameters
    ----------
    n_nodes, heads, tails, weights, step, round, eta, gradient
        As for `graspel.graph.Graph`.

    Returns
    -------
    columns : dict of ndarray, each of shape (n_edges,)
        New arrays under the names of the parameters, heads < tails, sorted by head, then by tail.

    Examples
    --------
    >>> from graspel.edges import canonical_edges
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
        "step": _steps(step, len(p)),
        "round": _rounds(round, len(p)),
        "eta": _reals("eta", np.nan if eta is None else eta, len(p)),
        "gradient": _reals("gradient", np.nan if gradient is None else gradient, len(p)),
    }
    keys = columns["heads"] * n + columns["tails"]
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


def check_real(name: str, dtype: np.dtype[Any]) -> None:
    """Refuse what is not a dtype of real numbers: complex, text, objects."""
    if dtype.kind not in "biuf":
        hint = "Take the real part or the absolute value." if dtype.kind == "c" else "Convert it to float first."
        raise ValueError(f"{name} of dtype {dtype}: must hold real numbers. {hint}")


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


def _steps(step: ArrayLike | None, n_edges: int) -> NDArray[np.int8]:
    array = _reals("step", Step.GIVEN if step is None else step, n_edges)
    bad = ~np.isin(array, list(Step))
    if bad.any():
        allowed = ", ".join(f"{member.value} ({member.label})" for member in Step)
        raise ValueError(
            f"step = {array[bad][0]:g}: unknown. Allowed are the members of graspel.graph.Step: {allowed}."
        )
    return array.astype(np.int8)


def _no_duplicates(keys: NDArray[np.int64], n_nodes: int) -> None:
    same = keys[1:] == keys[:-1]
    if same.any():
        p, q = divmod(int(keys[np.argmax(same)]), n_nodes)
        raise ValueError(f"edge ({p}, {q}) is given twice: every edge is listed once. Sum or drop the duplicates.")
