r"""The members of a consensus: several cheap graphs from the same neighbor lists, each of them clustered.

Which clusters come out of one graph depends on its details: near the top of Ward's tree, two or three partitions cost
the same. Members differ in the two choices that matter, the number of neighbors and the rule by which they are chosen
(:mod:`graspel.learning.neighbor_rules`). Two neighbors are right where the data lie on curves; ten are right where
neighbors are noisy. All lists come from one search. Members do not wait for each other: threads cluster several of them
side by side.

**Nodes.** The members are graphs of the distinct points. Components are joined by their closest pairs, as in the
learner. Eigenvectors of seven graphs of very many points take several times as long as the neighbor search, and a few
points that are each other's nearest almost always share a cluster. So points beyond `MAX_NODES` are first merged into
groups, by the first rounds of Ward's method along the graph of two nearest neighbors. The members' graphs are
contracted: the weight between two groups is the sum of the weights between their points. A group has the mass of its
points, in the eigenvectors (:mod:`graspel.linalg.eigensolver`), in Ward's method and in the vote: without it small
groups count as much as large ones, and ACC on MNIST falls from .96 to .84. All points of a group get its cluster.

**The agreed graph** is the sum of the members' graphs, in which edges count by how many members keep their ends
together. With the graphs A_i, each divided by its median weight, and the weights w_i of the members in the consensus,
an edge has the weight

    w_pq = s_pq * sum over members i of w_i^3 (A_i)_pq,        s_pq = sum over i of w_i [p and q share a cluster in i].

Edges that most members cut become light, and those that they agree on stay: the choice between two merges of equal
cost, which single graphs make by accident (:mod:`graspel.cluster.ward`), is made by all of them. The graph is clustered
like any member, and votes with them. The power 3 leaves little of graphs that are far from the consensus; with powers
from 2 to 4 the results are the same.

References
----------
I. S. Dhillon, Y. Guan and B. Kulis. Weighted graph cuts without eigenvectors: a multilevel approach. IEEE Transactions
on Pattern Analysis and Machine Intelligence 29, 2007. Clustering of a coarsened graph.

A. Strehl and J. Ghosh. Cluster ensembles, a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002. Clustering the graph of agreements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.cluster.clustering import MAX_VECTORS, Assignment
from graspel.cluster.ward import ward_tree
from graspel.data.protocol import local_points
from graspel.graph.edges import edge_keys
from graspel.learning.connect import join_components
from graspel.learning.neighbor_rules import choose_neighbors
from graspel.learning.weights import Weights
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.components import Components
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.sparsify import thin_graph
from graspel.linalg.vectors import MIN_THREADED_LENGTH
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Floats, Ints, Singles

TOL = 1e-3  # relative residual of the eigenpairs in the energy norm; at 1e-2 two processors differ in 41 points of USPS
SIDE_BY_SIDE_MEMORY = 1 << 31  # bytes that members clustered side by side may take together
THIN_DENSITY = 1.15  # edges per node of a member of the start "unn"; the paper's uNN graphs have 1.10 to 1.19
MAX_NODES = 10_000  # nodes of a member's graph; on MNIST 9,726 groups give the ACC of 17,117 to .004 in half the time
TRUST = 3  # power of a member's weight in the agreed graph
LEAST_SHARE = 0.02  # of the members; edges that all of them cut keep this much, so that the graph stays connected


class Member(NamedTuple):
    """How the graph of a member is made: the rule of its neighbors, their number, and whether it is thinned."""

    rule: str
    k: int
    is_thin: bool = False

    @property
    def name(self) -> str:
        """The rule and the number of neighbors, for example "mutual 3"."""
        return f"{self.rule} {self.k}"


# Two, three, five and ten neighbors, and each rule at least twice. A consensus of fewer members takes the first ones.
MEMBERS = (
    Member("mutual", 3),
    Member("nearest", 2),
    Member("local-scale", 5),
    Member("mutual", 10),
    Member("local-scale", 2),
    Member("mutual", 2),
    Member("nearest", 10),
)

# Members of the start "unn" are thinned to THIN_DENSITY. Ultra-sparse graphs of ten neighbors lose six edges of seven:
# their errors are correlated and outvote the others (COIL-20).
THIN_MEMBERS = tuple(member._replace(is_thin=True) for member in MEMBERS if member.k < 10)


@dataclass(frozen=True)
class Nodes:
    """The nodes of the members' graphs: the distinct points, or groups of near ones.

    Attributes
    ----------
    neighbors : Neighbors, the lists of the distinct points
    weigh : Weights, the weight of an edge from its squared distance
    of_point : array, the node of every distinct point
    mass : array, number of points of every node; None where each point is a node
    """

    neighbors: Neighbors
    weigh: Weights
    of_point: Ints
    mass: Floats | None = None

    @classmethod
    def of_points(cls, neighbors: Neighbors, weigh: Weights) -> Nodes:
        """Every distinct point as a node."""
        return cls(neighbors, weigh, np.arange(neighbors.points.n_points))

    @property
    def number(self) -> int:
        """Number of nodes."""
        return int(self.of_point.max()) + 1


def find_nodes(neighbors: Neighbors, weigh: Weights, rng: np.random.Generator, max_nodes: int | None = None) -> Nodes:
    """Every distinct point as a node; where there are more than `max_nodes` (None: `MAX_NODES`), groups of them.

    There are between half as many groups as `max_nodes` and so many. Points without coordinates are not merged.
    """
    limit = MAX_NODES if max_nodes is None else max_nodes
    points, nodes = local_points(neighbors.points), Nodes.of_points(neighbors, weigh)
    if nodes.number <= limit or points.coordinates is None:
        return nodes
    tree = ward_tree(points.coordinates, build_member(Member("nearest", 2), nodes, rng), stop_at=limit)
    groups = tree.cut(len(tree.roots)).astype(np.int64)
    return replace(nodes, of_point=groups, mass=np.bincount(groups).astype(np.float64))


def build_member(member: Member, nodes: Nodes, rng: np.random.Generator) -> sp.csr_array:
    """The adjacency of a member's graph on the nodes, connected.

    A thin member has `THIN_DENSITY` edges per node at most (:mod:`graspel.linalg.sparsify`).
    """
    neighbors, node = nodes.neighbors, nodes.of_point
    n = neighbors.points.n_points
    heads, tails, z = choose_neighbors(neighbors, member.rule, member.k)
    code, first = np.unique(edge_keys(heads, tails, n), return_index=True)
    heads, tails, weights = code // n, code % n, nodes.weigh(z[first])
    adjacency = _adjacency(node[heads], node[tails], weights, nodes.number)
    labels = Components.of(adjacency).labels.astype(np.int64)
    if labels.max() > 0:
        none = np.empty(0, dtype=np.int64)
        alone = replace(neighbors, distinct=np.arange(n), copies=none, copy_of=none)
        joins = join_components(alone, labels[node], rng)
        heads, tails = np.concatenate([heads, joins.heads]), np.concatenate([tails, joins.tails])
        weights = np.concatenate([weights, nodes.weigh(joins.z)])
        adjacency = _adjacency(node[heads], node[tails], weights, nodes.number)
    return thin_graph(adjacency, THIN_DENSITY, rng) if member.is_thin else adjacency


def _adjacency(heads: Ints, tails: Ints, weights: Floats, n: int) -> sp.csr_array:
    """The adjacency of the edges; parallel edges are summed, and edges from a node to itself are left out."""
    apart = heads != tails
    heads, tails, weights = heads[apart], tails[apart], weights[apart]
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    return sp.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))


def agreed_graph(graphs: Sequence[sp.csr_array], partitions: Sequence[Ints], weights: Floats) -> sp.csr_array:
    """The adjacency of the agreed graph, connected if one of the graphs is.

    Parameters
    ----------
    graphs : list of adjacencies of the same nodes
    partitions : list of arrays of N, the clusters of each graph
    weights : array, weight of each graph in the consensus; they sum to one

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> agreed = agreed_graph([path, path], [np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([0.75, 0.25]))
    >>> round(float(agreed[0, 1] / agreed[1, 2]), 6)
    3.0
    """
    total = sp.csr_array(graphs[0].shape)
    for graph, weight in zip(graphs, weights, strict=True):
        total = total + graph * (weight**TRUST / np.median(graph.data))
    edges = sp.coo_array(total)
    share = np.zeros(len(edges.data))
    for labels, weight in zip(partitions, weights, strict=True):
        share += weight * (labels[edges.row] == labels[edges.col])
    return sp.csr_array((edges.data * np.maximum(share, LEAST_SHARE), (edges.row, edges.col)), shape=edges.shape)


class MemberClusters(NamedTuple):
    """One member's clusters.

    Attributes
    ----------
    labels : array, the cluster of every node
    rows : array, the rows that were clustered, in single precision
    eigenvalues : array, the nonzero eigenvalues used
    adjacency : the graph
    """

    labels: Ints
    rows: Singles
    eigenvalues: Floats
    adjacency: sp.csr_array


@dataclass(frozen=True)
class MemberSpectrum:
    """A member's graph, which is connected, with its first eigenvalues and their vectors, the constant one included.

    `mass` is the number of points that each node stands for (None: 1), see :mod:`graspel.linalg.eigensolver`.
    """

    adjacency: sp.csr_array
    mass: Floats | None
    values: Floats
    vectors: Floats

    @classmethod
    def of(
        cls, adjacency: sp.csr_array, mass: Floats | None, n_vectors: int, rng: np.random.Generator, n_jobs: int | None
    ) -> MemberSpectrum:
        """Compute the first eigenpairs; `n_vectors` of them, or `MAX_VECTORS`, are not constant."""
        wanted = min(adjacency.shape[0], 1 + min(n_vectors, MAX_VECTORS))
        pairs = smallest_eigenpairs(
            laplacian_of(adjacency), wanted, tol=TOL, norm="energy", mass=mass, random_state=rng, n_jobs=n_jobs
        )
        return cls(adjacency, mass, pairs.values, pairs.vectors)

    def cut(self, n_clusters: int, assignment: Assignment, seed: int) -> MemberClusters:
        """The clusters, from at most as many eigenvectors as the assignment stage wants."""
        used = 1 + min(assignment.vectors_per_cluster * n_clusters, MAX_VECTORS)
        rows = assignment.rows(self.values[:used], self.vectors[:, :used])
        labels = assignment.labels(rows, self.adjacency, n_clusters, seed, self.mass)
        return MemberClusters(labels, rows.astype(np.float32), self.values[1:used], self.adjacency)


def count_side_by_side(n_nodes: int, n_vectors: int, n_threads: int) -> int:
    """How many members are clustered at a time. One, where the vectors are so long that its own threads save time.

    The eigensolver holds six vectors for each of its pairs, which are a quarter more than are wanted. The count does
    not change the result.
    """
    if n_nodes >= MIN_THREADED_LENGTH:
        return 1
    size = 6 * 8 * n_nodes * (5 * min(n_vectors, MAX_VECTORS) // 4 + 3)
    return max(1, min(n_threads, SIDE_BY_SIDE_MEMORY // size))
