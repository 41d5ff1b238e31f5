"""A backend of networkx: its functions on Laplacians, computed by graspel.

networkx finds the backend by the entry points ``networkx.backends`` and ``networkx.backend_info``. The functions of
networkx have the same results as before, and take a fraction of the time and memory on large sparse graphs:

>>> import networkx as nx
>>> ring = nx.cycle_graph(6)
>>> round(nx.algebraic_connectivity(ring, backend="graspel"), 6)
1.0

They are also used where ``networkx.config.backend_priority`` names graspel. What the backend does not compute (directed
graphs, negative conductances, normalized Laplacians, weights that are no numbers, all eigenvalues of a large graph) it
declines by NotImplementedError; networkx then computes it by itself, unless ``backend="graspel"`` was asked for. The
start of the eigensolver is fixed, so that results can be repeated; `method` and `seed` of networkx choose and start its
own solvers, and make no difference here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple, NoReturn

import numpy as np

from graspel.graph import Graph
from graspel.linalg import effective_resistance, smallest_eigenpairs
from graspel.linalg.exact_resistances import MOST_WORK
from graspel.linalg.factor.exact_factor import EdgeResistances
from graspel.linalg.resistance import ELIMINATION_LIMIT, all_resistances
from graspel.runtime.optional import import_optional
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.types import Floats

BACKEND = "graspel"
METHODS = ("tracemin", "tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg")  # those of networkx
TOL = 1e-8  # relative residual of eigenpairs, as in networkx
FINEST_TOL = 1e-10  # the smallest that the eigensolver is asked for; 64-bit numbers allow little more
LOW_END = 1000  # nodes up to which `laplacian_spectrum` computes all eigenvalues: 0.2 s. Beyond, the first ones.


class BackendGraph:
    """A networkx graph that this backend computes with. It is read again at every call, so it may change in between."""

    __networkx_backend__ = BACKEND

    def __init__(self, G: Any) -> None:
        self.networkx_graph = G

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return bool(self.networkx_graph.is_directed())

    def is_multigraph(self) -> bool:
        """Whether a pair may have several edges."""
        return bool(self.networkx_graph.is_multigraph())


def convert_from_nx(G: Any, *_: Any, **__: Any) -> BackendGraph:
    """Wrap a networkx graph; networkx calls this."""
    return G if isinstance(G, BackendGraph) else BackendGraph(G)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Convert a result back to what networkx returns."""
    return result.networkx_graph if isinstance(result, BackendGraph) else result


def can_run(name: str, args: Any, kwargs: Any) -> bool:
    """Whether a call may be answered: not for directed graphs. Edges are looked at when the function runs."""
    graph = args[0] if args else kwargs.get("G")
    return name in FUNCTIONS and not (graph is not None and graph.is_directed())


class Read(NamedTuple):
    """The nodes of a networkx graph in their order, and the graph of their numbers; None for a graph without nodes."""

    nodes: list[Any]
    graph: Graph | None


def algebraic_connectivity(
    G: Any,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = TOL,
    method: str = METHODS[1],
    seed: Any = None,
) -> float:
    """The smallest nonzero eigenvalue of the Laplacian; 0 if the graph is not connected."""
    graph = _read_magnitudes(G, weight, normalized)
    return _second_pair(graph, tol, method)[0] if graph.is_connected else 0.0


def fiedler_vector(
    G: Any,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = TOL,
    method: str = METHODS[1],
    seed: Any = None,
) -> Floats:
    """The eigenvector of the algebraic connectivity, of unit length (of two nodes 1 and -1, as in networkx)."""
    graph = _read_magnitudes(G, weight, normalized)
    if not graph.is_connected:
        _fail("graph is not connected.")
    return _second_pair(graph, tol, method)[1]


def spectral_ordering(
    G: Any,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = TOL,
    method: str = METHODS[1],
    seed: Any = None,
) -> list[Any]:
    """The nodes, component by component, each sorted by its Fiedler vector."""
    if normalized:
        raise _declined("the normalized Laplacian")
    nodes, graph = _read(G, weight, abs)
    if graph is None:
        _fail("graph is empty.")
    _check_method(method)
    number, labels = graph.components
    order: list[Any] = []
    for at in np.argsort(np.unique(labels, return_index=True)[1]) if number else ():
        members = np.flatnonzero(labels == at)
        if len(members) > 2:
            inside = labels[graph.heads] == at
            heads, tails = (np.searchsorted(members, ends[inside]) for ends in (graph.heads, graph.tails))
            _, vector = _second_pair(Graph(len(members), heads, tails, graph.weights[inside]), tol, method)
            members = members[np.argsort(vector, kind="stable")]
        order.extend(nodes[p] for p in members)
    return order


def laplacian_spectrum(G: Any, weight: str | None = "weight", *, k: int | None = None) -> Floats:
    """The eigenvalues of the Laplacian, ascending: all of them, or with `k` the first ones only, for large graphs."""
    nodes, graph = _read(G, weight, _conductance)
    if graph is None:
        _fail("Graph has no nodes or edges")
    if k is None and len(nodes) > LOW_END:
        raise _declined(f"all eigenvalues of {len(nodes):,} nodes, only the first, with k=50 for example")
    values: Floats = _first_eigenpairs(graph, len(nodes) if k is None else min(k, len(nodes)), TOL).values
    return values


def resistance_distance(
    G: Any, nodeA: Any = None, nodeB: Any = None, weight: str | None = None, invert_weight: bool = True
) -> Any:
    """Effective resistance: of two nodes, of one node to all others, or of all pairs, as networkx returns them."""
    invert = invert_weight and weight is not None
    nodes, graph = _read(G, weight, _conductance_of_resistance if invert else _conductance, required=invert)
    if graph is None:
        _fail("Graph G must contain at least one node.")
    if not graph.is_connected:
        if _networkx().is_connected(convert_to_nx(G)):
            raise _declined("resistances where only edges of weight 0 connect nodes")
        _fail("Graph G must be strongly connected.")
    number = {node: at for at, node in enumerate(nodes)}
    for name, node in (("A", nodeA), ("B", nodeB)):
        if node is not None and node not in number:
            _fail(f"Node {name} is not in graph G.")
    if nodeA is not None and nodeB is not None:
        pair = number[nodeA], number[nodeB]
        return float(effective_resistance(graph, [pair]).values[0]) if pair[0] != pair[1] else 0.0
    row = _resistances_from(graph)
    if nodeA is None and nodeB is None:
        return {node: dict(zip(nodes, row(p).tolist(), strict=True)) for p, node in enumerate(nodes)}
    return dict(zip(nodes, row(number[nodeA if nodeA is not None else nodeB]).tolist(), strict=True))


FUNCTIONS = {
    "algebraic_connectivity": "Multilevel LOBPCG; the start is fixed.",
    "fiedler_vector": "Multilevel LOBPCG; the start is fixed, and the first node is not on the positive side.",
    "spectral_ordering": "Multilevel LOBPCG on each component.",
    "laplacian_spectrum": "The first eigenvalues of a large graph with `k`.",
    "resistance_distance": "A sparse factor, or solves for two nodes, instead of a dense pseudoinverse.",
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


def _resistances_from(graph: Graph) -> Callable[[int], Floats]:
    """A function of a node that gives its resistances to all nodes; with one factor for all of them.

    With the inverse M of the Laplacian without the row and the column of one node, R(p, q) = M_pp + M_qq - 2 M_pq.
    """
    if graph.n_nodes <= ELIMINATION_LIMIT:
        R = all_resistances(graph.adjacency)
        return lambda p: np.asarray(R[p])
    pattern = EdgeResistances(graph.heads, graph.tails, graph.n_nodes)
    if pattern.work > MOST_WORK:
        raise _declined(
            f"the resistances of {graph.n_nodes:,} nodes, for {pattern.work:.0e} multiplications are too many"
        )
    with one_thread_per_call():
        factor = pattern.factor(graph.weights)
        diagonal, solves = factor.diagonal(), factor.prepare_solves()

    def row(p: int) -> Floats:
        unit = np.zeros((graph.n_nodes, 1))
        unit[p] = 1.0
        R: Floats = np.maximum(diagonal[p] + diagonal - 2 * solves.solve(unit)[:, 0], 0.0)
        R[p] = 0.0
        return R

    return row


def _first_eigenpairs(graph: Graph, k: int, tol: float) -> Any:
    return smallest_eigenpairs(graph.laplacian, k, tol=max(float(tol), FINEST_TOL), random_state=0)


def _second_pair(graph: Graph, tol: float, method: str) -> tuple[float, Floats]:
    """The algebraic connectivity of a connected graph, and its eigenvector; its first node is not positive.

    Of two nodes the vector is (1, -1), and the method is not looked at, as in networkx.
    """
    if graph.n_nodes == 2:
        return float(graph.degrees.sum()), np.array([1.0, -1.0])
    _check_method(method)
    found = _first_eigenpairs(graph, 2, tol)
    vector: Floats = found.vectors[:, 1]
    return float(found.values[1]), -vector if vector[0] > 0 else vector


def _read_magnitudes(G: Any, weight: str | None, normalized: bool) -> Graph:
    """A graph of at least two nodes, with the magnitudes of its weights."""
    if normalized:
        raise _declined("the normalized Laplacian")
    nodes, graph = _read(G, weight, abs)
    if graph is None or len(nodes) < 2:
        _fail("graph has less than two nodes.")
    return graph


def _read(G: Any, weight: str | None, convert: Callable[[float], float], *, required: bool = False) -> Read:
    """Read a graph: loops and edges of weight 0 are left out, and parallel edges add up. A missing weight is 1."""
    own = convert_from_nx(G)
    if own.is_directed():
        raise _declined("directed graphs")
    nodes = list(own.networkx_graph)
    number = {node: at for at, node in enumerate(nodes)}
    totals: dict[tuple[int, int], float] = {}
    for p, q, data in own.networkx_graph.edges(data=True):
        if required and weight not in data:
            raise _declined(f"the inverse of {weight!r} of edge ({p!r}, {q!r}), which has none")
        value = data.get(weight, 1.0) if weight is not None else 1.0
        if not isinstance(value, Real) or not isfinite(value):
            raise _declined(f"with {weight}={value!r} of edge ({p!r}, {q!r}), which is no finite number")
        converted = convert(float(value))
        if p != q and converted != 0:
            pair = (min(number[p], number[q]), max(number[p], number[q]))
            totals[pair] = totals.get(pair, 0.0) + converted
    if not nodes:
        return Read(nodes, None)
    heads, tails = zip(*totals, strict=True) if totals else ((), ())
    return Read(nodes, Graph(len(nodes), heads, tails, np.array(list(totals.values()))))


def _conductance(value: float) -> float:
    if value < 0:
        raise _declined(f"with a negative weight ({value:g})")
    return value


def _conductance_of_resistance(value: float) -> float:
    if value <= 0:
        raise _declined(f"with a resistance of {value:g}")
    return 1.0 / value


def _declined(what: str) -> NotImplementedError:
    """The error that leaves a call to networkx itself, which then goes on with its own function."""
    return NotImplementedError(f"backend 'graspel' does not compute {what}. Leave out the backend.")


def _check_method(method: str) -> None:
    if method not in METHODS:
        _fail(f"unknown method {method!r}.")


def _fail(message: str) -> NoReturn:
    """Raise the error of networkx."""
    raise _networkx().NetworkXError(message)


def _networkx() -> Any:
    return import_optional("networkx", "networkx", "The networkx backend")
