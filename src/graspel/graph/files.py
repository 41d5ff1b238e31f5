"""Conversion between a graph and the edge table that files hold, with a check of every table that was read.

The file formats are in :mod:`graspel.io.graphs`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from graspel.graph.provenance import Origin
from graspel.io.claimed_size import check_claimed_size
from graspel.io.graphs import EdgeTable, read_graph_file, write_graph_file
from graspel.io.graphs.edge_table import check_columns
from graspel.io.suffix import file_suffix
from graspel.runtime.shown import quote

if TYPE_CHECKING:
    from graspel.graph.graph import Graph

__all__ = ["graph_from_file", "labeled_columns", "write_graph"]

CODED_SUFFIX = ".npz"  # the format that stores origins as codes; the others store labels
ATTRIBUTES = {"head": "heads", "tail": "tails", "weight": "weights"} | {
    name: name for name in ("origin", "round", "eta", "gradient")
}


def write_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph in the format that the suffix of `path` names, completely or not at all."""
    if file_suffix(path) == CODED_SUFFIX:
        columns = {name: getattr(graph, attribute) for name, attribute in ATTRIBUTES.items()}
    else:
        columns = labeled_columns(graph)
    names = None if graph.node_names is None else graph.node_names.tolist()
    write_graph_file(EdgeTable(graph.n_nodes, columns, names), path)


def graph_from_file(kind: type[Graph], path: str | os.PathLike[str], suffix: str | None = None) -> Graph:
    """Read a graph of class `kind`; the format is `suffix`, by default that of `path`."""

    def check(content: Any) -> Graph:
        if isinstance(content, EdgeTable):
            return kind(_count_nodes(content), **_constructor_columns(content.columns), node_names=content.node_names)
        return kind.from_adjacency(content)

    graph: Graph = read_graph_file(path, check, suffix)
    return graph


def labeled_columns(graph: Graph) -> dict[str, list[Any]]:
    """Return the edges as lists of Python values under the column names of all files, with labels for origins."""
    labels = {int(origin): origin.label for origin in Origin}
    columns = {name: getattr(graph, attribute).tolist() for name, attribute in ATTRIBUTES.items()}
    columns["origin"] = [labels[code] for code in columns["origin"]]
    return columns


def _count_nodes(table: EdgeTable) -> int:
    check_columns(table.columns)
    heads, tails = np.asarray(table.columns["head"]), np.asarray(table.columns["tail"])
    n_nodes = table.n_nodes
    if n_nodes is None:
        n_nodes = int(max(heads.max(initial=0), tails.max(initial=0))) + 1
    check_claimed_size(n_nodes, heads.size, "nodes", "edges")
    return n_nodes


def _constructor_columns(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns under the names of Graph's parameters, with codes for origins."""
    given = {ATTRIBUTES[name]: column for name, column in columns.items() if name in ATTRIBUTES}
    origin = given.get("origin")
    if origin is not None and np.asarray(origin).dtype.kind not in "iuf":
        codes = {member.label: member for member in Origin}
        unknown = next((label for label in origin if label not in codes), None)
        if unknown is not None:
            raise ValueError(f"the origin {quote(unknown)} is unknown; allowed are {', '.join(codes)}")
        given["origin"] = [codes[label] for label in origin]
    return given
