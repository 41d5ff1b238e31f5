"""The graph: a weighted, undirected graph that records why each of its edges is there.

A graph on N nodes is a list of edges (p, q), each with a weight w_pq > 0. Every edge is stored once, with
its smaller node first (heads < tails), and the edges are sorted by head, then by tail. So two graphs are equal
exactly when their arrays are equal, and nothing depends on the order in which the edges were found.

Its Laplacian, the matrix of the paper, is

    L = sum over edges of w_pq * e_pq e_pq',        e_pq = e_p - e_q,

so that x'Lx = sum w_pq (x_p - x_q)^2: L is symmetric, positive semidefinite, its rows sum to zero, and its null
space has one dimension for each connected component.

Beside the weight, each edge carries its provenance: the step of the method that put it there (`Origin`), the round of
densification (0 is the start), and its distortion eta = z_emb / z_data and gradient z_emb - z_data - 4 beta at that
moment (NaN where they were not computed).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graspel.graph.adjacency import check_adjacency
from graspel.graph.conversions import (
    from_igraph,
    from_networkx,
    graph_from_file,
    to_igraph,
    to_networkx,
    to_pyg,
    write_graph,
)
from graspel.graph.edges import Origin, canonical_edges, edge_keys, why
from graspel.graph.names import check_names
from graspel.graph.neighbor_lists import neighbor_lists
from graspel.io.checks import file_suffix
from graspel.runtime.optional import html_view
from graspel.runtime.parameters import check_number


class Graph:
    """Weighted undirected graph, immutable, with the provenance of each edge.

    The arrays are read-only. The matrices `adjacency` and `laplacian` are copies that may be changed.

    Parameters
    ----------
    n_nodes : int
        Number of nodes; they are called 0 .. n_nodes - 1.
    heads, tails : array-like of int, shape (n_edges,)
        The two nodes of each edge, in any orientation and order.
    weights : array-like of float, shape (n_edges,), or float
        Positive and finite.
    origin : array-like of Origin, or Origin, optional
        Why each edge is there; default `Origin.GIVEN`.
    round : array-like of int, or int, optional
        The round that added each edge; default 0, the start.
    eta, gradient : array-like of float, or float, optional
        Distortion and gradient of each edge when it was added; default NaN, unknown.
    node_names : list of str, optional
        What the nodes are called, all different. `why` takes these names, and files and exports keep them.

    Attributes
    ----------
    n_nodes : int
    heads, tails : ndarray of int64, shape (n_edges,)
        heads < tails, sorted by head, then by tail.
    weights, eta, gradient : ndarray of float64, shape (n_edges,)
    origin : ndarray of int8, shape (n_edges,)
    round : ndarray of int32, shape (n_edges,)
    node_names : ndarray of str objects, shape (n_nodes,), or None

    Examples
    --------
    >>> from graspel.graph import Graph, Origin
    >>> graph = Graph(4, heads=[2, 0, 1], tails=[1, 1, 3], weights=[2.0, 1.0, 0.5])
    >>> graph
    Graph(4 nodes, 3 edges, density 0.75, 1 component; 3 given)
    >>> graph.heads, graph.tails
    (array([0, 1, 1]), array([1, 2, 3]))
    >>> graph = graph.with_edges([3], [0], [0.1], origin=Origin.CRITICAL, round=1, eta=25.0)
    >>> graph.why(0, 3)
    'Nodes 0 and 3 are joined, with weight 0.1: pair of large spectral distortion, in round 1, with eta 25.'
    """

    n_nodes: int
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    weights: NDArray[np.float64]
    origin: NDArray[np.int8]
    round: NDArray[np.int32]
    eta: NDArray[np.float64]
    gradient: NDArray[np.float64]
    node_names: NDArray[np.object_] | None

    def __init__(
        self,
        n_nodes: int,
        heads: ArrayLike,
        tails: ArrayLike,
        weights: ArrayLike,
        *,
        origin: ArrayLike | None = None,
        round: ArrayLike | None = None,
        eta: ArrayLike | None = None,
        gradient: ArrayLike | None = None,
        node_names: Iterable[Any] | None = None,
    ) -> None:
        columns = canonical_edges(n_nodes, heads, tails, weights, origin, round, eta, gradient)
        for column in columns.values():
            column.flags.writeable = False
        # A graph does not change: __setattr__ raises, so the attributes are set directly.
        self.__dict__.update(columns, n_nodes=int(n_nodes), node_names=check_names(node_names, int(n_nodes)))

    @classmethod
    def from_adjacency(cls, A: Any, origin: Origin = Origin.GIVEN) -> Graph:
        """Make a graph from a symmetric matrix of weights.

        Parameters
        ----------
        A : sparse matrix or array, or dense array-like, shape (n_nodes, n_nodes)
            Real, finite, not negative, and symmetric up to rounding (the two entries are then averaged). Zeros and
            the diagonal are dropped; duplicate entries of a sparse matrix are summed.
        origin : Origin
            Provenance of all edges.

        Returns
        -------
        graph : Graph

        Examples
        --------
        >>> Graph.from_adjacency([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
        Graph(3 nodes, 2 edges, density 0.67, 1 component; 2 given)
        """
        weights = check_adjacency(A, "A", bounded=False)
        upper = sp.triu(weights, 1, format="coo")
        return cls(weights.shape[0], upper.row, upper.col, upper.data, origin=origin)

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return len(self.heads)

    @property
    def density(self) -> float:
        """Number of edges per node, |E| / |V|: just under 1 for a tree."""
        return self.n_edges / self.n_nodes

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Sum of the weights at each node."""
        degrees: NDArray[np.float64] = np.zeros(self.n_nodes)
        for ends in (self.heads, self.tails):
            degrees += np.bincount(ends, self.weights, self.n_nodes)
        degrees.flags.writeable = False
        return degrees

    @property
    def adjacency(self) -> sp.csr_array:
        """Symmetric matrix of the weights, CSR with sorted indices; scikit-learn takes it as a precomputed affinity.

        Every call returns a copy of its own, which other tools may change.
        """
        return self._adjacency.copy()

    @property
    def laplacian(self) -> sp.csr_array:
        """L = D - W, CSR with sorted indices; a copy, like `adjacency`."""
        return self._laplacian.copy()

    @cached_property
    def _adjacency(self) -> sp.csr_array:
        # The lower triangle comes first, because then every row is already sorted.
        rows, columns = np.concatenate([self.tails, self.heads]), np.concatenate([self.heads, self.tails])
        # scikit-learn requires indices of 32 bits.
        entries = (np.tile(self.weights, 2), (rows.astype(np.int32), columns.astype(np.int32)))
        return _freeze(sp.coo_array(entries, shape=(self.n_nodes, self.n_nodes)).tocsr())

    @cached_property
    def _laplacian(self) -> sp.csr_array:
        return _freeze((sp.diags_array(self.degrees, format="csr") - self._adjacency).tocsr())

    @cached_property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Number of connected components, and the component of each node."""
        from scipy.sparse.csgraph import connected_components

        n_components, labels = connected_components(self._adjacency, directed=False)
        labels.flags.writeable = False
        return int(n_components), labels

    @property
    def is_connected(self) -> bool:
        """Whether a path leads from every node to every other."""
        return self.components[0] == 1

    def with_edges(
        self,
        heads: ArrayLike,
        tails: ArrayLike,
        weights: ArrayLike,
        *,
        origin: ArrayLike = Origin.GIVEN,
        round: ArrayLike = 0,
        eta: ArrayLike | None = None,
        gradient: ArrayLike | None = None,
    ) -> Graph:
        """Return a new graph with these edges added; parameters as for `Graph`. The edges must be new."""
        added = Graph(self.n_nodes, heads, tails, weights, origin=origin, round=round, eta=eta, gradient=gradient)
        present = np.isin(added._keys, self._keys, assume_unique=True)
        if present.any():
            p, q = added.heads[np.argmax(present)], added.tails[np.argmax(present)]
            raise ValueError(
                f"edge ({p}, {q}) is already in the graph: only new edges can be added. Leave it out, "
                "or change its weight by with_weights."
            )
        columns = {name: np.concatenate([own, added._columns[name]]) for name, own in self._columns.items()}
        return Graph(self.n_nodes, **columns, node_names=self.node_names)

    def with_weights(self, weights: ArrayLike) -> Graph:
        """Return a new graph with the same edges and provenance, and these weights (in the order of `heads`)."""
        return Graph(self.n_nodes, **{**self._columns, "weights": weights}, node_names=self.node_names)

    def with_names(self, node_names: Iterable[Any] | None) -> Graph:
        """Return a new graph with the same edges, whose nodes have these names (None: no names).

        >>> Graph(2, [0], [1], [1.0]).with_names(["Ann", "Bob"]).why("Bob", "Ann")
        'Nodes Ann and Bob are joined, with weight 1: edge of the graph that was given, from the start.'
        """
        return Graph(self.n_nodes, **self._columns, node_names=node_names)

    def with_only(self, kept: ArrayLike) -> Graph:
        """Return a new graph that has only the edges for which `kept` (in the order of `heads`) is true.

        >>> Graph(3, [0, 1], [1, 2], [1.0, 2.0]).with_only([True, False]).n_edges
        1
        """
        chosen = np.asarray(kept)
        if chosen.dtype != np.bool_ or chosen.shape != (self.n_edges,):
            raise ValueError(
                f"kept of dtype {chosen.dtype} and shape {chosen.shape}: must be {self.n_edges} truth values, "
                "one for each edge."
            )
        columns = {name: column[chosen] for name, column in self._columns.items()}
        return Graph(self.n_nodes, **columns, node_names=self.node_names)

    def scaled(self, factor: float) -> Graph:
        """Return a new graph with all weights multiplied by `factor`."""
        if not (isinstance(factor, Real) and 0 < factor < np.inf):
            raise ValueError(f"factor={factor!r}: must be a positive finite number, it multiplies every weight.")
        return self.with_weights(self.weights * float(factor))

    why = why
    neighbor_lists = neighbor_lists
    to_networkx, to_igraph, to_pyg = to_networkx, to_igraph, to_pyg
    from_networkx, from_igraph = classmethod(from_networkx), classmethod(from_igraph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph with all its provenance to an .npz file. The file is written completely or not at all."""
        if file_suffix(path) != ".npz":
            raise ValueError(f"{path}: save writes .npz files only. Name it so, or use export for other formats.")
        write_graph(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Graph:
        """Read a graph that `save` has written, whatever the file is called."""
        return graph_from_file(cls, path, ".npz")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Graph:
        """Read a graph in the format that the suffix names: .npz, .mtx, .graphml, .csv or .parquet.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> graph = Graph(3, [0], [1], [0.5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "graph.csv"
        ...     graph.export(path)
        ...     print(path.read_text())
        ...     Graph.read(path) == graph
        # n_nodes=3 n_edges=1
        head,tail,weight,origin,round,eta,gradient
        0,1,0.5,given,0,,
        <BLANKLINE>
        True
        """
        return graph_from_file(cls, path)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the graph in the format that the suffix names: .npz, .mtx, .graphml, .csv or .parquet."""
        write_graph(self, path)

    def _repr_html_(self) -> str:
        """A small drawing and the figures of the graph, for notebooks."""
        return html_view(self)

    @property
    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("heads", "tails", "weights", "origin", "round", "eta", "gradient")
        return {name: getattr(self, name) for name in names}

    @property
    def _keys(self) -> NDArray[np.int64]:
        return edge_keys(self.heads, self.tails, self.n_nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        own, others = self._columns, other._columns
        if self.n_nodes != other.n_nodes or not np.array_equal(self.node_names, other.node_names):  # type: ignore[arg-type]
            return False
        return all(np.array_equal(own[name], others[name], equal_nan=name in ("eta", "gradient")) for name in own)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = zip(*np.unique(self.origin, return_counts=True), strict=True)
        origins = ", ".join(f"{count:,} {Origin(code).label}" for code, count in counts)
        counted = (_count(self.n_nodes, "node"), _count(self.n_edges, "edge"), f"density {self.density:.2f}")
        text = ", ".join((*counted, _count(self.components[0], "component")))
        return f"Graph({text}{'; ' if origins else ''}{origins})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"{name}: a Graph does not change. Make a new one, for example by with_edges or with_weights."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writable again, so unpickling calls the constructor. Cached matrices are not pickled.
        return _rebuild, (self.n_nodes, self._columns, self.node_names)


def _rebuild(n_nodes: int, columns: dict[str, NDArray[Any]], node_names: NDArray[np.object_] | None = None) -> Graph:
    return Graph(n_nodes, **columns, node_names=node_names)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _freeze(matrix: sp.csr_array) -> sp.csr_array:
    """Sort the indices of a matrix, and make its arrays read-only."""
    matrix.sort_indices()
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def grid_graph(rows: int = 4, columns: int = 5) -> Graph:
    """A grid of weights 1; the node in row i and column j is number i * columns + j.

    Examples
    --------
    >>> grid_graph(2, 3)
    Graph(6 nodes, 7 edges, density 1.17, 1 component; 7 given)
    """
    for name, size in (("rows", rows), ("columns", columns)):
        check_number(name, size, "of at least 1", lambda v: v >= 1, whole=True)
    node = np.arange(rows * columns).reshape(rows, columns)
    heads = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    tails = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return Graph(rows * columns, heads, tails, 1.0)
