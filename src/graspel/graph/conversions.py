"""Conversion of graphs to and from files, networkx and igraph, to PyTorch Geometric, and to relative weights.

Weight and provenance are attributes of the edges; names are the attribute ``name`` of the nodes, as in igraph. Files
hold an `EdgeTable` (:mod:`graspel.io.graph_files`), which is checked to be a graph when it was read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from graspel.graph.edges import Origin
from graspel.io.checks import check_claimed_size, file_suffix
from graspel.io.graph_files import COLUMNS, EdgeTable, check_edge_columns, read_graph_file, write_graph_file
from graspel.runtime.optional import import_optional
from graspel.runtime.shown import quote
from graspel.runtime.types import Floats

if TYPE_CHECKING:
    import igraph
    import networkx
    import torch_geometric.data

    from graspel.graph.graph import Graph

NAME = "name"  # attribute of a node that holds its name
ATTRIBUTES = {name: name for name in COLUMNS} | {"head": "heads", "tail": "tails", "weight": "weights"}
CODED_SUFFIX = ".npz"  # the format that stores origins as codes; the others store labels


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
    check_edge_columns(table.columns)
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


def to_networkx(graph: Graph) -> networkx.Graph:
    """Return a networkx.Graph, with weight and provenance as edge attributes and names as `name` of the nodes."""
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


def from_networkx(kind: type[Graph], G: networkx.Graph, weight: str | None = "weight") -> Graph:
    """Make a graph from an undirected networkx.Graph; edges without the attribute `weight` have weight 1.

    The names of the nodes are their attribute `name`, or else what networkx calls them, unless these are
    0, 1, 2, ... in order.
    """
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
    """Return an igraph.Graph, with weight and provenance as edge attributes and names as `name` of the vertices."""
    ig = import_optional("igraph", "igraph", "Graph.to_igraph")
    columns = labeled_columns(graph)
    edges = list(zip(columns.pop("head"), columns.pop("tail"), strict=True))
    names = {} if graph.node_names is None else {NAME: graph.node_names.tolist()}
    return ig.Graph(n=graph.n_nodes, edges=edges, directed=False, vertex_attrs=names, edge_attrs=columns)


def from_igraph(kind: type[Graph], G: igraph.Graph, weight: str | None = "weight") -> Graph:
    """Make a graph from an undirected igraph.Graph; without the edge attribute `weight` all weights are 1."""
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


def to_pyg(graph: Graph, x: Any = None, y: Any = None) -> torch_geometric.data.Data:
    """Return a torch_geometric Data object: every edge in both directions, with `edge_weight`.

    Parameters
    ----------
    x : array-like or tensor (n_nodes x features), optional
        Features of the nodes, dense. They become float32, as the weights.
    y : array-like or tensor (n_nodes), optional
        Labels of the nodes as numbers: whole numbers become int64, others float32.
    """
    torch = import_optional("torch", "pyg", "Graph.to_pyg")
    pyg = import_optional("torch_geometric.data", "pyg", "Graph.to_pyg")
    ends = np.stack([np.concatenate([graph.heads, graph.tails]), np.concatenate([graph.tails, graph.heads])])
    order = np.lexsort((ends[1], ends[0]))
    columns = {"x": x, "y": y}.items()
    given = {name: _to_tensor(name, values, graph.n_nodes) for name, values in columns if values is not None}
    if "x" in given:
        given["x"] = given["x"].to(torch.float32)  # the type of the weights, and of the parameters of a layer
    return pyg.Data(
        edge_index=torch.as_tensor(ends[:, order]),
        edge_weight=torch.as_tensor(np.tile(graph.weights, 2)[order], dtype=torch.float32),
        num_nodes=graph.n_nodes,
        **given,
    )


def _to_tensor(name: str, values: Any, n_nodes: int) -> Any:
    """Features or labels of the nodes as a tensor: float32, or int64 for whole numbers and booleans."""
    import torch

    if sp.issparse(values) or (torch.is_tensor(values) and values.layout != torch.strided):
        dense = "to_dense" if torch.is_tensor(values) else "toarray"
        raise TypeError(f"{name} is a sparse matrix: must be dense. Pass {name}.{dense}().")
    if not torch.is_tensor(values):
        array = np.array(values)
        if array.dtype.kind not in "biuf":
            raise TypeError(
                f"{name} holds {array.dtype}: must hold numbers. "
                "sklearn.preprocessing.OrdinalEncoder and LabelEncoder turn text into numbers."
            )
        values = torch.as_tensor(array)
    if values.shape[:1] != (n_nodes,):
        raise ValueError(f"{name} of shape {tuple(values.shape)}: must have one row for each of {n_nodes} nodes.")
    return values.to(torch.float32 if values.is_floating_point() else torch.int64)


def _from_edges(
    kind: type[Graph], n_nodes: int, edges: list[tuple[int, int, Any]], names: Sequence[Any] | None
) -> Graph:
    """Make a graph; self-loops do not change the Laplacian and are dropped, and so are edges of weight 0."""
    kept = [(p, q, w) for p, q, w in edges if p != q and w != 0]
    heads, tails, weights = zip(*kept, strict=True) if kept else ((), (), ())
    return kind(n_nodes, heads, tails, np.array(weights, dtype=np.float64), node_names=names)


def relative_weights(graph: Graph) -> Graph:
    r"""The graph with relative weights in (0, 1], for tools that expect affinities.

    The weights of a learned graph are 1 / z_data, and span many decades: between near copies of a point they are a
    million times the others. UMAP's layout and modularity would see little but these few edges. The relative weight

        c_pq = w_pq / sqrt(max_w(p) max_w(q))

    compares an edge with the heaviest edges at its two ends. It is 1 for mutual nearest neighbors, does not depend on
    the unit or the local density of the data, and keeps the order of the edges at a node up to the density at their
    other ends.

    References
    ----------
    L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. Advances in Neural Information Processing Systems,
    2004. The same idea, one scale for each point, in the exponent of a Gaussian.

    Examples
    --------
    >>> from graspel.graph import Graph
    >>> relative_weights(Graph(3, [0, 1], [1, 2], [4.0, 1.0])).weights
    array([1. , 0.5])
    """
    if not graph.n_edges:
        return graph
    heaviest: Floats = np.zeros(graph.n_nodes)
    for ends in (graph.heads, graph.tails):
        np.maximum.at(heaviest, ends, graph.weights)
    # Two roots instead of one root of a product, which could overflow.
    relative = graph.weights / np.sqrt(heaviest[graph.heads]) / np.sqrt(heaviest[graph.tails])
    return graph.with_weights(np.minimum(relative, 1.0))
