r"""The members of a consensus: several cheap graphs from the same neighbor lists, each of them clustered.

Which clusters come out of one graph depends on its details: near the top of Ward's tree, two or three partitions cost
the same. Members that err in different ways are of three kinds. All lists come from one search, and threads cluster
several members side by side.

**Graphs of near points.** They differ in the number of neighbors and in the rule by which these are chosen
(:mod:`graspel.learning.initial`). Their weights are 1/z. Two neighbors are right where the data lie on curves;
ten are right where neighbors are noisy.

**Graphs of shared neighbors.** Weights 1/z make dense regions too expensive to cut: where clusters differ in density,
sparse ones are split and dense ones stay together, in all graphs of the first kind. So an edge of the second kind
weighs as many points as its two ends have in common among their k nearest, both themselves included, and it is left out
where these are fewer than `LEAST_SHARED` of k (Jarvis and Patrick 1973). These weights are the same at every density.

**The points without a graph** (:func:`cluster_without_graph`): Ward's method, k-means from its centers, and k-means
from those of a graph of shared neighbors. Points that have no coordinates, because only their distances are known, are
clustered by the graphs alone.

**Nodes.** The members are graphs of the distinct points. Components are joined by their closest pairs, as in the
learner. Eigenvectors of the graphs of very many points take several times as long as the neighbor search, and a few
points that are each other's nearest almost always share a cluster. So points beyond `MAX_NODES` are first merged into
groups, by the first rounds of Ward's method along the graph of two nearest neighbors. The members' graphs are
contracted: the weight between two groups is the sum of the weights between their points. A group has the mass of its
points, in the eigenvectors (:mod:`graspel.linalg.eigensolver`), in Ward's method and in the vote: without it small
groups count as much as large ones, and ACC on MNIST falls from .96 to .84. All points of a group get its cluster.

References
----------
R. A. Jarvis and E. A. Patrick. Clustering using a similarity measure based on shared near neighbors. IEEE Transactions
on Computers 22, 1973.

I. S. Dhillon, Y. Guan and B. Kulis. Weighted graph cuts without eigenvectors: a multilevel approach. IEEE Transactions
on Pattern Analysis and Machine Intelligence 29, 2007. Clustering of a coarsened graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.cluster.clustering import Assignment, count_vectors, refine_by_kmeans
from graspel.cluster.ward import ward_of_rows, ward_tree
from graspel.data.protocol import local_points
from graspel.graph.edges import edge_keys
from graspel.learning.connect import join_components
from graspel.learning.initial import choose_neighbors
from graspel.learning.weights import Weights
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.coarsen import group_means
from graspel.linalg.components import Components
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.sparsify import thin_graph
from graspel.linalg.vectors import MIN_THREADED_LENGTH
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Bools, Floats, Ints, Singles

TOL = 1e-3  # relative residual of the eigenpairs in the energy norm; at 1e-2 two processors differ in 41 points of USPS
SIDE_BY_SIDE_MEMORY = 1 << 31  # bytes that members clustered side by side may take together
THIN_DENSITY = 1.15  # edges per node of a member of the start "unn"; the paper's uNN graphs have 1.10 to 1.19
MAX_NODES = 10_000  # nodes of a member's graph; on MNIST 9,726 groups give the ACC of 17,117 to .004 in half the time
COUNTED_TOGETHER = 2048  # points whose shared neighbors are counted in one step


SHARED = "shared"  # the rule of a graph of shared neighbors
LEAST_SHARED = 0.3  # of k; an edge between points with fewer neighbors in common is left out
MAX_WARD = 4_000  # rows that Ward's method merges without a graph; their costs take 128 MB
WARD = "Ward"  # the name of the member by Ward's method
MEANS = ", k-means"  # end of the names of the members by k-means, which begin with those of the members of their start


class Member(NamedTuple):
    """How the graph of a member is made: the rule of its neighbors, their number, and whether it is thinned."""

    rule: str
    k: int
    is_thin: bool = False

    @property
    def name(self) -> str:
        """The rule and the number of neighbors, for example "mutual 3"."""
        return f"{self.rule} {self.k}"


# Every kind at least twice. A consensus of fewer graphs takes the first ones.
MEMBERS = (
    Member("mutual", 3),
    Member(SHARED, 10),
    Member("nearest", 2),
    Member("local-scale", 5),
    Member(SHARED, 7),
    Member("mutual", 10),
    Member(SHARED, 15),
    Member("local-scale", 2),
)

MEANS_START = Member(SHARED, 15).name

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
    heads, tails, weights = _weighted_pairs(member, nodes)
    code, first = np.unique(edge_keys(heads, tails, n), return_index=True)
    heads, tails, weights = code // n, code % n, weights[first]
    adjacency = _adjacency(node[heads], node[tails], weights, nodes.number)
    labels = Components.of(adjacency).labels.astype(np.int64)
    if labels.max() > 0:
        none = np.empty(0, dtype=np.int64)
        alone = replace(neighbors, distinct=np.arange(n), copies=none, copy_of=none)
        joins = join_components(alone, labels[node], rng)
        heads, tails = np.concatenate([heads, joins.heads]), np.concatenate([tails, joins.tails])
        # A join of shared neighbors counts as the lightest of its edges.
        added = np.full(len(joins.z), LEAST_SHARED * member.k) if member.rule == SHARED else nodes.weigh(joins.z)
        weights = np.concatenate([weights, added])
        adjacency = _adjacency(node[heads], node[tails], weights, nodes.number)
    return thin_graph(adjacency, THIN_DENSITY, rng) if member.is_thin else adjacency


def _weighted_pairs(member: Member, nodes: Nodes) -> tuple[Ints, Ints, Floats]:
    """The pairs of points that a member joins, some in both directions, and their weights."""
    if member.rule != SHARED:
        heads, tails, z = choose_neighbors(nodes.neighbors, member.rule, member.k)
        return heads, tails, nodes.weigh(z)
    is_listed = np.isfinite(nodes.neighbors.z[:, : member.k])
    indices = nodes.neighbors.indices[:, : member.k].astype(np.int64)
    shared = count_shared(indices, is_listed)
    heads, ranks = np.nonzero(is_listed & (shared >= LEAST_SHARED * member.k))
    return heads, indices[heads, ranks], shared[heads, ranks].astype(np.float64)


def count_shared(indices: Ints, is_listed: Bools) -> NDArray[np.int32]:
    """How many points each point and each of its listed neighbors have in common in their lists and themselves.

    Examples
    --------
    >>> count_shared(np.array([[1, 2], [0, 2], [1, 3], [2, 1]]), np.ones((4, 2), dtype=bool))
    array([[3, 2],
           [3, 2],
           [2, 3],
           [3, 2]], dtype=int32)
    """
    n, k = indices.shape
    own = np.concatenate([np.arange(n)[:, None], np.where(is_listed, indices, -1)], axis=1).astype(np.int32)
    counts = np.zeros((n, k), dtype=np.int32)
    for block in row_blocks(n, COUNTED_TOGETHER):
        for rank in range(k):
            other = own[indices[block, rank]]
            same = (own[block, :, None] == other[:, None, :]) & (other >= 0)[:, None, :]
            counts[block, rank] = same.sum(axis=(1, 2))
    return counts


def cluster_without_graph(
    nodes: Nodes, n_clusters: int, clustered: dict[str, MemberClusters], rng: np.random.Generator
) -> dict[str, MemberClusters]:
    """The members without a graph, after those with one; none where the points have no coordinates.

    Ward's method has an exact tree up to `MAX_WARD` nodes. More are first merged along the graph of two neighbors.
    """
    rows, mass = node_rows(nodes), np.bincount(nodes.of_point).astype(np.float64)
    if rows is None:
        return {}
    if len(rows) <= MAX_WARD:
        ward = ward_of_rows(rows, mass).cut(n_clusters)
    else:
        tree = ward_tree(rows, build_member(Member("nearest", 2), nodes, rng), mass=mass, stop_at=MAX_WARD)
        ward = tree.cut(max(n_clusters, len(tree.roots)))
        if len(tree.roots) > n_clusters:
            heavy = np.bincount(ward, mass).astype(np.float64)
            ward = ward_of_rows(group_means(rows * mass[:, None], ward, heavy), heavy).cut(n_clusters)[ward]
    found = {WARD: ward, WARD + MEANS: refine_by_kmeans(rows, ward, nodes.mass)}
    if MEANS_START in clustered:
        found[MEANS_START + MEANS] = refine_by_kmeans(rows, clustered[MEANS_START].labels, nodes.mass)
    singles = rows.astype(np.float32)
    return {name: MemberClusters(labels, singles, np.empty(0)) for name, labels in found.items()}


def node_rows(nodes: Nodes) -> Floats | None:
    """The mean point of every node; None where the points have no coordinates."""
    coordinates = local_points(nodes.neighbors.points).ready().principal_rows()
    return None if coordinates is None else group_means(coordinates, nodes.of_point, np.bincount(nodes.of_point))


def _adjacency(heads: Ints, tails: Ints, weights: Floats, n: int) -> sp.csr_array:
    """The adjacency of the edges; parallel edges are summed, and edges from a node to itself are left out."""
    apart = heads != tails
    heads, tails, weights = heads[apart], tails[apart], weights[apart]
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    return sp.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))


class MemberClusters(NamedTuple):
    """One member's clusters.

    Attributes
    ----------
    labels : array, the cluster of every node
    rows : array, the rows that were clustered, in single precision
    eigenvalues : array, the nonzero eigenvalues used; empty without a graph
    """

    labels: Ints
    rows: Singles
    eigenvalues: Floats


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
        """Compute the first eigenpairs; `n_vectors` of them are not constant."""
        wanted = min(adjacency.shape[0], 1 + n_vectors)
        pairs = smallest_eigenpairs(
            laplacian_of(adjacency), wanted, tol=TOL, norm="energy", mass=mass, random_state=rng, n_jobs=n_jobs
        )
        return cls(adjacency, mass, pairs.values, pairs.vectors)

    def cut(self, n_clusters: int, assignment: Assignment, seed: int) -> MemberClusters:
        """The clusters, from at most as many eigenvectors as the assignment stage wants."""
        used = 1 + count_vectors(assignment, n_clusters)
        rows = assignment.rows(self.values[:used], self.vectors[:, :used])
        labels = assignment.labels(rows, self.adjacency, n_clusters, seed, self.mass)
        return MemberClusters(labels, rows.astype(np.float32), self.values[1:used])


def count_side_by_side(n_nodes: int, n_vectors: int, n_threads: int) -> int:
    """How many members are clustered at a time. One, where the vectors are so long that its own threads save time.

    The eigensolver holds six vectors for each of its pairs, which are a quarter more than are wanted. The count does
    not change the result.
    """
    if n_nodes >= MIN_THREADED_LENGTH:
        return 1
    size = 6 * 8 * n_nodes * (5 * n_vectors // 4 + 3)
    return max(1, min(n_threads, SIDE_BY_SIDE_MEMORY // size))
