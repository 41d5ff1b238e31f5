"""A backend of networkx: its functions on Laplacians, computed by graspel.

networkx finds the backend by the entry points ``networkx.backends`` and ``networkx.backend_info``. The functions of
networkx have the same results as before, and take a fraction of the time and memory on large sparse graphs:

>>> import networkx as nx
>>> ring = nx.cycle_graph(6)
>>> round(nx.algebraic_connectivity(ring, backend="graspel"), 6)
1.0

They are also used for a graph that was converted before, ``nxg = graspel.integrations.networkx.convert_from_nx(G)``,
and where ``networkx.config.backend_priority`` names graspel. The start of the eigensolver is fixed, so that results
can be repeated; `method` and `tol` of networkx, which choose and tune its own solvers, are accepted, and `tol` is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.linalg import effective_resistance, smallest_eigenpairs
from graspel.linalg.resistance import resistance_between
from graspel.runtime.optional import import_optional
from graspel.runtime.types import Floats

BACKEND = "graspel"
TOL = 1e-8  # relative residual of eigenpairs and solves, as in networkx
LOW_END = 1000  # eigenvalues up to which `laplacian_spectrum` is computed: all of them, or its first ones


class BackendGraph:
    """A networkx graph with its nodes in order, and the adjacency by every weight that was asked for."""

    __networkx_backend__ = BACKEND

    def __init__(self, G: Any) -> None:
        self.networkx_graph = G
        self.nodes = list(G)
        self._graphs: dict[str | None, Graph] = {}

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return bool(self.networkx_graph.is_directed())

    def is_multigraph(self) -> bool:
        """Whether a pair may have several edges."""
        return bool(self.networkx_graph.is_multigraph())

    def graph(self, weight: str | None, *, invert: bool = False) -> Graph:
        """The graph of graspel; parallel edges add up. With `invert`, an attribute is a resistance, 1 / weight."""
        key = f"1/{weight}" if invert else weight
        if key not in self._graphs:
            self._graphs[key] = _convert(self.networkx_graph, self.nodes, weight, invert)
        return self._graphs[key]


def convert_from_nx(G: Any, *_: Any, **__: Any) -> BackendGraph:
    """Convert a networkx graph; networkx calls this."""
    return G if isinstance(G, BackendGraph) else BackendGraph(G)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Convert a result back to what networkx returns."""
    return result.networkx_graph if isinstance(result, BackendGraph) else result


def can_run(name: str, args: Any, kwargs: Any) -> bool:
    """Whether a call can be answered: graphs without direction only."""
    graph = args[0] if args else kwargs.get("G")
    return graph is None or not graph.is_directed()


def algebraic_connectivity(
    G: Any,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = TOL,
    method: str = "",
    seed: Any = None,
) -> float:
    """The smallest nonzero eigenvalue of the Laplacian; 0 if the graph is not connected."""
    _refuse_normalized(normalized)
    graph = _checked(convert_from_nx(G), weight, at_least=2)
    if not graph.is_connected:
        return 0.0
    return float(_eigenpairs(graph, 2, tol).values[1])


def fiedler_vector(
    G: Any,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = TOL,
    method: str = "",
    seed: Any = None,
) -> Floats:
    """The eigenvector of the algebraic connectivity, of unit length."""
    _refuse_normalized(normalized)
    graph = _checked(convert_from_nx(G), weight, at_least=2)
    if not graph.is_connected:
        raise _networkx().NetworkXError("graph is not connected.")
    vector: Floats = _eigenpairs(graph, 2, tol).vectors[:, 1]
    return vector


def spectral_ordering(
    G: Any,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = TOL,
    method: str = "",
    seed: Any = None,
) -> list[Any]:
    """The nodes, component by component, each sorted by its Fiedler vector."""
    _refuse_normalized(normalized)
    own = convert_from_nx(G)
    if not own.nodes:
        raise _networkx().NetworkXError("graph is empty.")
    order: list[Any] = []
    for members in _networkx().connected_components(own.networkx_graph):
        component = BackendGraph(own.networkx_graph.subgraph(members))
        if len(members) > 2:
            vector = fiedler_vector(component, weight, tol=tol)
            order.extend(component.nodes[at] for at in np.argsort(vector, kind="stable"))
        else:
            order.extend(component.nodes)
    return order


def laplacian_spectrum(G: Any, weight: str | None = "weight", *, k: int | None = None) -> Floats:
    """The eigenvalues of the Laplacian, ascending: all of them, or with `k` the first ones only, for large graphs."""
    own = convert_from_nx(G)
    graph = own.graph(weight)
    if k is None and graph.n_nodes > LOW_END:
        raise ValueError(
            f"the graph has {graph.n_nodes:,} nodes: backend 'graspel' computes the low end of the spectrum; pass k, "
            "for example k=50, or use networkx itself for all eigenvalues."
        )
    values: Floats = _eigenpairs(graph, graph.n_nodes if k is None else min(k, graph.n_nodes), TOL).values
    return values


def resistance_distance(
    G: Any, nodeA: Any = None, nodeB: Any = None, weight: str | None = None, invert_weight: bool = True
) -> Any:
    """Effective resistance: of two nodes, of one node to all others, or of all pairs, as networkx returns them."""
    nx, own = _networkx(), convert_from_nx(G)
    if not own.nodes:
        raise nx.NetworkXError("Graph G must contain at least one node.")
    graph = own.graph(weight, invert=invert_weight and weight is not None)
    if not graph.is_connected:
        raise nx.NetworkXError("Graph G must be strongly connected.")
    number = {node: at for at, node in enumerate(own.nodes)}
    for name, node in (("A", nodeA), ("B", nodeB)):
        if node is not None and node not in number:
            raise nx.NetworkXError(f"Node {name} is not in graph G.")
    if nodeA is not None and nodeB is not None:
        if nodeA == nodeB:
            return 0.0
        return float(effective_resistance(graph, [(number[nodeA], number[nodeB])]).values[0])
    if nodeA is None and nodeB is None:
        R = _all_resistances(graph)
        return {p: {q: float(R[i, j]) for j, q in enumerate(own.nodes)} for i, p in enumerate(own.nodes)}
    one = number[nodeA if nodeA is not None else nodeB]
    R = _all_resistances(graph)[one]
    return {node: float(R[at]) for at, node in enumerate(own.nodes)}


FUNCTIONS = {
    "algebraic_connectivity": "Multilevel LOBPCG; the start is fixed.",
    "fiedler_vector": "Multilevel LOBPCG; the start is fixed.",
    "spectral_ordering": "Multilevel LOBPCG on each component.",
    "laplacian_spectrum": "The first eigenvalues of a large graph with `k`.",
    "resistance_distance": "Solves with a nearly linear preconditioner in the place of a dense pseudoinverse.",
}


def get_info() -> dict[str, Any]:
    """What networkx asks about the backend without importing anything large."""
    return {
        "backend_name": BACKEND,
        "project": "graspel",
        "package": "graspel",
        "short_summary": "Spectral functions of large sparse graphs in nearly linear time.",
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
    }


def _all_resistances(graph: Graph) -> Floats:
    R: Floats = resistance_between(graph.adjacency, np.arange(graph.n_nodes), tol=TOL, random_state=0)
    return R


def _eigenpairs(graph: Graph, k: int, tol: float) -> Any:
    return smallest_eigenpairs(graph.laplacian, k, tol=max(float(tol), 1e-10), random_state=0)


def _checked(own: BackendGraph, weight: str | None, at_least: int) -> Graph:
    if len(own.nodes) < at_least:
        raise _networkx().NetworkXError("graph has less than two nodes.")
    return own.graph(weight)


def _convert(G: Any, nodes: list[Any], weight: str | None, invert: bool) -> Graph:
    number = {node: at for at, node in enumerate(nodes)}
    totals: dict[tuple[int, int], float] = {}
    for p, q, data in G.edges(data=True):
        value = float(data.get(weight, 1)) if weight is not None else 1.0
        if p != q and value != 0:
            pair = (min(number[p], number[q]), max(number[p], number[q]))
            totals[pair] = totals.get(pair, 0.0) + (1 / value if invert else abs(value))
    heads, tails = zip(*totals, strict=True) if totals else ((), ())
    return Graph(max(1, len(nodes)), heads, tails, np.array(list(totals.values())))


def _refuse_normalized(normalized: bool) -> None:
    if normalized:
        raise NotImplementedError("backend 'graspel' has no normalized Laplacian; leave out the backend.")


def _networkx() -> Any:
    return import_optional("networkx", "networkx", "The networkx backend")
