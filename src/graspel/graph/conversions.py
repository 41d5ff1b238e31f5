"""Conversion to networkx and igraph, with weight and provenance as attributes of the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graspel.graph.files import labeled_columns
from graspel.runtime.optional import import_optional

if TYPE_CHECKING:
    import igraph
    import networkx

    from graspel.graph.graph import Graph


def to_networkx(graph: Graph) -> networkx.Graph:
    """Convert to a networkx.Graph; see `Graph.to_networkx`."""
    nx = import_optional("networkx", "networkx", "Graph.to_networkx")
    columns = labeled_columns(graph)
    heads, tails = columns.pop("head"), columns.pop("tail")
    result = nx.Graph()
    result.add_nodes_from(range(graph.n_nodes))
    attributes = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    result.add_edges_from(zip(heads, tails, attributes, strict=True))
    return result


def to_igraph(graph: Graph) -> igraph.Graph:
    """Convert to an igraph.Graph; see `Graph.to_igraph`."""
    ig = import_optional("igraph", "igraph", "Graph.to_igraph")
    columns = labeled_columns(graph)
    edges = list(zip(columns.pop("head"), columns.pop("tail"), strict=True))
    return ig.Graph(n=graph.n_nodes, edges=edges, directed=False, edge_attrs=columns)
