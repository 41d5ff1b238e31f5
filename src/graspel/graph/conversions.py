"""Conversion to and from networkx and igraph, and to PyTorch Geometric.

Weight and provenance are attributes of the edges; names are the attribute ``name`` of the nodes, as in igraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graspel.graph.files import labeled_columns
from graspel.runtime.optional import import_optional

if TYPE_CHECKING:
    import igraph
    import networkx
    import torch_geometric.data

    from graspel.graph.graph import Graph

NAME = "name"  # attribute of a node that holds its name


def to_networkx(graph: Graph) -> networkx.Graph:
    """Convert to a networkx.Graph; see `Graph.to_networkx`."""
    nx = import_optional("networkx", "networkx", "Graph.to_networkx")
    columns = labeled_columns(graph)
    heads, tails = columns.pop("head"), columns.pop("tail")
    result = nx.Graph()
    result.add_nodes_from(range(graph.n_nodes))
    if graph.node_names is not None:
        nx.set_node_attributes(result, dict(enumerate(graph.node_names.tolist())), NAME)
    attributes = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    result.add_edges_from(zip(heads, tails, attributes, strict=True))
    return result


def from_networkx(kind: type[Graph], G: networkx.Graph, weight: str | None) -> Graph:
    """Convert from a networkx.Graph; see `Graph.from_networkx`."""
    if not hasattr(G, "is_multigraph"):
        raise TypeError(f"G is a {type(G).__name__}: must be a networkx.Graph.")
    if G.is_directed() or G.is_multigraph():
        raise ValueError(
            "G is directed or has parallel edges: must be a plain networkx.Graph. "
            "Convert it by networkx.Graph(G) first."
        )
    nodes = list(G)
    number = {node: at for at, node in enumerate(nodes)}
    edges = [(number[p], number[q], 1 if weight is None else data.get(weight, 1)) for p, q, data in G.edges(data=True)]
    given = [G.nodes[node].get(NAME) for node in nodes]
    names = given if nodes and None not in given else None if nodes == list(range(len(nodes))) else nodes
    return _from_edges(kind, len(nodes), edges, names)


def to_igraph(graph: Graph) -> igraph.Graph:
    """Convert to an igraph.Graph; see `Graph.to_igraph`."""
    ig = import_optional("igraph", "igraph", "Graph.to_igraph")
    columns = labeled_columns(graph)
    edges = list(zip(columns.pop("head"), columns.pop("tail"), strict=True))
    names = {} if graph.node_names is None else {NAME: graph.node_names.tolist()}
    return ig.Graph(n=graph.n_nodes, edges=edges, directed=False, vertex_attrs=names, edge_attrs=columns)


def from_igraph(kind: type[Graph], G: igraph.Graph, weight: str | None) -> Graph:
    """Convert from an igraph.Graph; see `Graph.from_igraph`."""
    if not hasattr(G, "get_edgelist"):
        raise TypeError(f"G is a {type(G).__name__}: must be an igraph.Graph.")
    if G.is_directed() or G.has_multiple():
        raise ValueError(
            "G is directed or has parallel edges: must be an undirected igraph.Graph with single edges. "
            "Convert it by G.as_undirected() and G.simplify() first."
        )
    weights = G.es[weight] if weight is not None and weight in G.es.attributes() else [1] * G.ecount()
    edges = [(p, q, w) for (p, q), w in zip(G.get_edgelist(), weights, strict=True)]
    return _from_edges(kind, G.vcount(), edges, G.vs[NAME] if NAME in G.vs.attributes() else None)


def to_pyg(graph: Graph, x: Any, y: Any) -> torch_geometric.data.Data:
    """Convert to a torch_geometric Data object; see `Graph.to_pyg`."""
    torch = import_optional("torch", "pyg", "Graph.to_pyg")
    pyg = import_optional("torch_geometric.data", "pyg", "Graph.to_pyg")
    ends = np.stack([np.concatenate([graph.heads, graph.tails]), np.concatenate([graph.tails, graph.heads])])
    order = np.lexsort((ends[1], ends[0]))
    given = {}
    for name, values, dtype in (("x", x, torch.float32), ("y", y, None)):
        if values is None:
            continue
        tensor = values if torch.is_tensor(values) else torch.as_tensor(np.array(values), dtype=dtype)
        if tensor.shape[:1] != (graph.n_nodes,):
            raise ValueError(
                f"{name} of shape {tuple(tensor.shape)}: must have one row for each of {graph.n_nodes} nodes."
            )
        given[name] = tensor
    return pyg.Data(
        edge_index=torch.as_tensor(ends[:, order]),
        edge_weight=torch.as_tensor(np.tile(graph.weights, 2)[order], dtype=torch.float32),
        num_nodes=graph.n_nodes,
        **given,
    )


def _from_edges(
    kind: type[Graph], n_nodes: int, edges: list[tuple[int, int, Any]], names: Sequence[Any] | None
) -> Graph:
    """Make a graph; self-loops do not change the Laplacian and are dropped, and so are edges of weight 0."""
    kept = [(p, q, w) for p, q, w in edges if p != q and w != 0]
    heads, tails, weights = zip(*kept, strict=True) if kept else ((), (), ())
    return kind(n_nodes, heads, tails, np.array(weights, dtype=np.float64), node_names=names)
