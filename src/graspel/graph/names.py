"""Names of nodes: what the user calls the points, such as the index of a DataFrame or the id column of a table.

A graph numbers its nodes from 0. Names are optional; where there are any, every node has one and no two are equal, so
that a name can stand for a node. A whole number always means the number of a node, never its name.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.shown import quote

if TYPE_CHECKING:
    from graspel.graph.graph import Graph

SHOWN_NAMES = 3  # names that an error shows as examples


def check_names(names: Iterable[Any] | None, n_nodes: int) -> NDArray[np.object_] | None:
    """Return the names as a read-only array of str, or None; raise unless there is one for each node, all different.

    >>> check_names(["a", "b", "a"], 3)
    Traceback (most recent call last):
    ...
    ValueError: node_names: 'a' is the name of nodes 0 and 2; names must differ. Leave them out to number the nodes.
    """
    if names is None:
        return None
    if isinstance(names, str):
        raise ValueError(f"node_names={quote(names)}: must be a list of {n_nodes} names, one for each node.")
    texts = [str(name) for name in names]
    if len(texts) != n_nodes:
        raise ValueError(f"node_names has {len(texts)} names: must have one for each of the {n_nodes} nodes.")
    first: dict[str, int] = {}
    for node, text in enumerate(texts):
        if first.setdefault(text, node) != node:
            raise ValueError(
                f"node_names: {quote(text)} is the name of nodes {first[text]} and {node}; names must differ. "
                "Leave them out to number the nodes."
            )
    array: NDArray[np.object_] = np.array(texts, dtype=object)  # np.str_ gives every name the room of the longest one
    array.flags.writeable = False
    return array


def find_node(graph: Graph, node: Any) -> int:
    """Return the number of a node that is given by its number or by its name."""
    if not isinstance(node, str):
        return operator.index(node)
    names = graph.node_names
    if names is None:
        raise ValueError(f"node {quote(node)}: the nodes of this graph have no names, only numbers from 0 on.")
    found = np.flatnonzero(names == node)
    if not len(found):
        examples = ", ".join(quote(str(name)) for name in names[:SHOWN_NAMES])
        raise ValueError(f"node {quote(node)}: no node has this name. The first names are {examples}.")
    return int(found[0])


def shown_node(graph: Graph, node: int) -> str:
    """Return the name of a node, or its number if it has none, for messages."""
    return str(node) if graph.node_names is None else str(graph.node_names[node])
