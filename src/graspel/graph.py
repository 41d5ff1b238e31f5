"""The graph: a weighted, undirected graph that knows why each of its edges is there.

A graph on N nodes is a list of edges (p, q), each with a weight w_pq > 0. Every edge is stored once, with
its smaller node first (heads < tails), and the edges are sorted by head, then by tail. So two graphs are equal
exactly when their arrays are, and nothing depends on the order in which the edges were found.

Its Laplacian, the matrix of the paper, is

    L = sum over edges of w_pq * e_pq e_pq',        e_pq = e_p - e_q,

so that x'Lx = sum w_pq (x_p - x_q)^2: L is symmetric, positive semidefinite, its rows sum to zero, and its null
space has one dimension for each connected component.

Beside the weight, each edge carries its provenance: the step of the method that put it there (`Step`), the round of
densification (0 is the start), and its distortion eta = z_emb / z_data and gradient z_emb - z_data - 4 beta at that
moment (NaN where they were not computed).
"""

from __future__ import annotations

import operator
import os
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graspel.edges import Step, canonical_edges, check_real

if TYPE_CHECKING:
    import igraph
    import networkx

__all__ = ["Graph", "Step"]

_ASYMMETRY = 1e-8


class Graph:
    """Weighted undirected graph, immutable, with the provenance of each edge.

    The arrays are read-only, as are those of `adjacency` and `laplacian`: to change one of these, copy it.

    Parameters
    ----------
    n_nodes : int
        Number of nodes; they are called 0 .. n_nodes - 1.
    heads, tails : array-like of int, shape (n_edges,)
        The two nodes of each edge, in any orientation and order.
    weights : array-like of float, shape (n_edges,), or float
        Positive and finite.
    step : array-like of Step, or Step, optional
        Why each edge is there; default `Step.GIVEN`.
    round : array-like of int, or int, optional
        The round that added each edge; default 0, the start.
    eta, gradient : array-like of float, or float, optional
        Distortion and gradient of each edge when it was added; default NaN, unknown.

    Attributes
    ----------
    n_nodes : int
    heads, tails : ndarray of int64, shape (n_edges,)
        heads < tails, sorted by head, then by tail.
    weights, eta, gradient : ndarray of float64, shape (n_edges,)
    step : ndarray of int8, shape (n_edges,)
    round : ndarray of int32, shape (n_edges,)

    Examples
    --------
    >>> from graspel.graph import Graph, Step
    >>> graph = Graph(4, heads=[2, 0, 1], tails=[1, 1, 3], weights=[2.0, 1.0, 0.5])
    >>> graph
    Graph(4 nodes, 3 edges, density 0.75, 1 component; 3 given)
    >>> graph.heads, graph.tails
    (array([0, 1, 1]), array([1, 2, 3]))
    >>> graph = graph.with_edges([3], [0], [0.1], step=Step.CRITICAL, round=1, eta=25.0)
    >>> graph.why(0, 3)
    'Nodes 0 and 3 are joined, with weight 0.1: pair of large spectral distortion, in round 1, with eta 25.'
    """

    n_nodes: int
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    weights: NDArray[np.float64]
    step: NDArray[np.int8]
    round: NDArray[np.int32]
    eta: NDArray[np.float64]
    gradient: NDArray[np.float64]

    def __init__(
        self,
        n_nodes: int,
        heads: ArrayLike,
        tails: ArrayLike,
        weights: ArrayLike,
        *,
        step: ArrayLike | None = None,
        round: ArrayLike | None = None,
        eta: ArrayLike | None = None,
        gradient: ArrayLike | None = None,
    ) -> None:
        columns = canonical_edges(n_nodes, heads, tails, weights, step, round, eta, gradient)
        for column in columns.values():
            column.flags.writeable = False
        # Past __setattr__, which is closed.
        self.__dict__.update(columns, n_nodes=int(n_nodes))

    @classmethod
    def from_adjacency(cls, A: Any, step: Step = Step.GIVEN) -> Graph:
        """Make a graph from a symmetric matrix of weights.

        Parameters
        ----------
        A : sparse matrix or array, or dense array-like, shape (n_nodes, n_nodes)
            Real, non-negative and symmetric up to a relative 1e-8 in each entry (the two are then averaged). Zeros and
            the diagonal are left out; duplicate entries of a sparse matrix are summed.
        step : Step
            Provenance of all edges.

        Returns
        -------
        graph : Graph

        Examples
        --------
        >>> Graph.from_adjacency([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
        Graph(3 nodes, 2 edges, density 0.67, 1 component; 2 given)
        """
        A = A if sp.issparse(A) else np.asarray(A)
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(
                f"an adjacency matrix of shape {A.shape}: must be square, one row and column for each node."
            )
        check_real("an adjacency matrix", A.dtype)
        A = sp.coo_array(A.astype(np.float64)).tocsr()  # tocsr sums duplicates
        if not np.isfinite(A.data).all():
            raise ValueError(
                "an adjacency matrix with NaN or infinite entries: weights must be finite. Remove them first."
            )
        upper, lower = sp.triu(A, 1, format="csr"), sp.tril(A, -1, format="csr").T.tocsr()
        smallest = min(upper.min(), lower.min()) if A.shape[0] > 0 else 0.0
        if smallest < 0:
            raise ValueError(
                f"an adjacency matrix with the negative entry {smallest:g}: weights must not be negative. "
                "If this is a Laplacian L, pass its off-diagonal part with the sign changed."
            )
        excess = abs(upper - lower) - _ASYMMETRY * upper.maximum(lower)
        if excess.nnz and excess.max() > 0:
            excess = excess.tocoo()
            at = int(np.argmax(excess.data))
            p, q = int(excess.row[at]), int(excess.col[at])
            raise ValueError(
                f"an adjacency matrix that is not symmetric: A[{p}, {q}] is {upper[p, q]:g} and A[{q}, {p}] is "
                f"{lower[p, q]:g}. Pass (A + A.T) / 2 or the larger of A and A.T."
            )
        # This form of the mean is exact where the two are equal, and cannot overflow.
        mean = (upper + (lower - upper) / 2).tocoo()
        mean.eliminate_zeros()
        return cls(A.shape[0], mean.row, mean.col, mean.data, step=step)

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return len(self.heads)

    @property
    def density(self) -> float:
        """Edges for each node, |E| / |V|: just under 1 for a tree."""
        return self.n_edges / self.n_nodes

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Sum of the weights at each node."""
        degrees: NDArray[np.float64] = np.zeros(self.n_nodes)
        for ends in (self.heads, self.tails):
            degrees += np.bincount(ends, self.weights, self.n_nodes)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """Symmetric matrix of the weights, CSR with sorted indices, fit for `affinity="precomputed"`."""
        # Lower triangle first: then every row comes out sorted.
        rows, columns = np.concatenate([self.tails, self.heads]), np.concatenate([self.heads, self.tails])
        # scikit-learn wants indices of 32 bits.
        entries = (np.tile(self.weights, 2), (rows.astype(np.int32), columns.astype(np.int32)))
        return _frozen(sp.coo_array(entries, shape=(self.n_nodes, self.n_nodes)).tocsr())

    @cached_property
    def laplacian(self) -> sp.csr_array:
        """L = D - W, CSR with sorted indices."""
        return _frozen((sp.diags_array(self.degrees, format="csr") - self.adjacency).tocsr())

    @cached_property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Number of connected components, and the component of each node."""
        from scipy.sparse.csgraph import connected_components

        n_components, labels = connected_components(self.adjacency, directed=False)
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
        step: ArrayLike = Step.GIVEN,
        round: ArrayLike = 0,
        eta: ArrayLike | None = None,
        gradient: ArrayLike | None = None,
    ) -> Graph:
        """Return a new graph with these edges added; parameters as for `Graph`. None may be there already."""
        added = Graph(self.n_nodes, heads, tails, weights, step=step, round=round, eta=eta, gradient=gradient)
        present = np.isin(added._keys, self._keys, assume_unique=True)
        if present.any():
            p, q = added.heads[np.argmax(present)], added.tails[np.argmax(present)]
            raise ValueError(
                f"edge ({p}, {q}) is already in the graph: only new edges can be added. Leave it out, "
                "or change its weight by with_weights."
            )
        columns = {name: np.concatenate([mine, added._columns[name]]) for name, mine in self._columns.items()}
        return Graph(self.n_nodes, **columns)

    def with_weights(self, weights: ArrayLike) -> Graph:
        """Return a new graph with the same edges and provenance, and these weights (in the order of `heads`)."""
        return Graph(self.n_nodes, **{**self._columns, "weights": weights})

    def with_only(self, kept: ArrayLike) -> Graph:
        """Return a new graph with those edges alone for which `kept` (in the order of `heads`) is true.

        >>> Graph(3, [0, 1], [1, 2], [1.0, 2.0]).with_only([True, False]).n_edges
        1
        """
        chosen = np.asarray(kept)
        if chosen.dtype != np.bool_ or chosen.shape != (self.n_edges,):
            raise ValueError(
                f"kept of dtype {chosen.dtype} and shape {chosen.shape}: must be {self.n_edges} truth values, "
                "one for each edge."
            )
        return Graph(self.n_nodes, **{name: column[chosen] for name, column in self._columns.items()})

    def scaled(self, factor: float) -> Graph:
        """Return a new graph with all weights multiplied by `factor`."""
        if not (isinstance(factor, Real) and 0 < factor < np.inf):
            raise ValueError(f"factor={factor!r}: must be a positive finite number, it multiplies every weight.")
        return self.with_weights(self.weights * float(factor))

    def why(self, p: int, q: int) -> str:
        """Say in a sentence why the edge between nodes `p` and `q` is there.

        Examples
        --------
        >>> Graph(3, [0, 1], [1, 2], [1.0, 2.0], step=[Step.NEIGHBOR, Step.JOIN], round=[0, 1]).why(1, 0)
        'Nodes 0 and 1 are joined, with weight 1: pair of nearest neighbours in the data, from the start.'
        """
        p, q = sorted((operator.index(p), operator.index(q)))
        first, last = np.searchsorted(self.heads, [p, p + 1])
        at = int(first + np.searchsorted(self.tails[first:last], q))
        if at == last or self.tails[at] != q:
            near = np.concatenate([self.heads[self.tails == p], self.tails[self.heads == p]])[:5].tolist()
            hint = f"Node {p} is joined to {', '.join(map(str, near)) or 'none'} (its first neighbours)."
            if p < 0 or q >= self.n_nodes:
                hint = f"Nodes are numbered from 0 to {self.n_nodes - 1}."
            raise ValueError(f"edge ({p}, {q}) is not in the graph, so there is nothing to explain. {hint}")
        numbers = {"eta": self.eta[at], "gradient": self.gradient[at]}
        known = " and ".join(f"{name} {value:.4g}" for name, value in numbers.items() if not np.isnan(value))
        when = "from the start" if self.round[at] == 0 else f"in round {self.round[at]}"
        reason = f"{Step(self.step[at]).meaning}, {when}{', with ' if known else ''}{known}"
        return f"Nodes {p} and {q} are joined, with weight {self.weights[at]:.4g}: {reason}."

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph with all its provenance to an .npz file, whole or not at all."""
        from graspel.exchange import write_npz

        write_npz(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Graph:
        """Read a graph that `save` has written."""
        from graspel.exchange import read_npz

        return read_npz(path)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the graph in the format that the suffix names: .npz, .mtx, .graphml, .csv or .parquet."""
        from graspel.exchange import write_graph

        write_graph(self, path)

    def to_networkx(self) -> networkx.Graph:
        """Return a networkx.Graph, with weight and provenance as edge attributes."""
        from graspel.exchange import to_networkx

        return to_networkx(self)

    def to_igraph(self) -> igraph.Graph:
        """Return an igraph.Graph, with weight and provenance as edge attributes."""
        from graspel.exchange import to_igraph

        return to_igraph(self)

    @property
    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("heads", "tails", "weights", "step", "round", "eta", "gradient")
        return {name: getattr(self, name) for name in names}

    @property
    def _keys(self) -> NDArray[np.int64]:
        return self.heads * self.n_nodes + self.tails

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        mine, theirs = self._columns, other._columns
        return self.n_nodes == other.n_nodes and all(
            np.array_equal(mine[name], theirs[name], equal_nan=name in ("eta", "gradient")) for name in mine
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = zip(*np.unique(self.step, return_counts=True), strict=True)
        steps = ", ".join(f"{count:,} {Step(code).label}" for code, count in counts)
        parts = [_count(self.n_nodes, "node"), _count(self.n_edges, "edge"), f"density {self.density:.2f}"]
        return f"Graph({', '.join([*parts, _count(self.components[0], 'component')])}{'; ' if steps else ''}{steps})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a Graph does not change. Make a new one, e.g. by with_edges or with_weights.")

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because unpickled arrays are writable again; the caches are left behind.
        return _rebuild, (self.n_nodes, self._columns)


def _rebuild(n_nodes: int, columns: dict[str, NDArray[Any]]) -> Graph:
    return Graph(n_nodes, **columns)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _frozen(matrix: sp.csr_array) -> sp.csr_array:
    matrix.sort_indices()
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix
