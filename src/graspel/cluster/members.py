r"""The members of a consensus: several cheap graphs from the same neighbor lists, each of them clustered.

Which clusters come out of one graph hangs on its details: near the top of Ward's tree, two or three partitions cost the
same. Members differ in the two choices that matter, the number of neighbors and the rule by which they are chosen
(:mod:`graspel.learning.neighbor_rules`). Two neighbors are right where the data lie on curves; ten are right where
neighbors are noisy. All lists come from one search. Members do not wait for each other: threads cluster several of them
side by side.

The members are graphs of the distinct points. Components are joined by their closest pairs, as in the learner.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.cluster.assignment import Assignment
from graspel.graph.edges import edge_keys
from graspel.learning.connect import join_components
from graspel.learning.neighbor_rules import choose_neighbors
from graspel.learning.weights import Weights
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.components import Components
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.thin import thin_graph
from graspel.linalg.vectors import MIN_THREADED_LENGTH
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Floats, Ints

TOL = 1e-3  # relative residual of the eigenpairs in the energy norm; at 1e-2 two processors differ in 41 points of USPS
SIDE_BY_SIDE_MEMORY = 1 << 31  # bytes that members clustered side by side may take together
THIN_DENSITY = 1.15  # edges per node of a member of the start "unn"; the paper's uNN graphs have 1.10 to 1.19
MAX_VECTORS = 200  # largest number of eigenvectors; for more clusters Ward's method uses the same rows


class Member(NamedTuple):
    """How the graph of a member is made: the rule of its neighbors, and their number."""

    rule: str
    k: int

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

# Ultra-sparse graphs of ten neighbors lose six edges of seven; on COIL-20 they are wrong together and win the vote.
THIN_MEMBERS = tuple(member for member in MEMBERS if member.k < 10)


class Partition(NamedTuple):
    """One member's clusters.

    Attributes
    ----------
    labels : array, the cluster of every distinct point
    rows : array, the rows that were clustered, in single precision
    eigenvalues : array, the nonzero eigenvalues used
    adjacency : the graph
    """

    labels: Ints
    rows: NDArray[np.float32]
    eigenvalues: Floats
    adjacency: sp.csr_array


def count_side_by_side(n_points: int, n_vectors: int, n_threads: int) -> int:
    """How many members are clustered at a time. One, where the vectors are so long that its own threads save time.

    The eigensolver holds six vectors for each of its pairs, which are a quarter more than are wanted. The count does
    not change the result.
    """
    if n_points >= MIN_THREADED_LENGTH:
        return 1
    size = 6 * 8 * n_points * (5 * min(n_vectors, MAX_VECTORS) // 4 + 3)
    return max(1, min(n_threads, SIDE_BY_SIDE_MEMORY // size))


def build_member(
    member: Member,
    neighbors: Neighbors,
    weigh: Weights,
    rng: np.random.Generator,
    *,
    sparse: bool = False,
    groups: Ints | None = None,
) -> sp.csr_array:
    """The adjacency of a member's graph on the distinct points, or on groups of them, connected.

    With `sparse`, the graph is thinned to `THIN_DENSITY` edges per node (:mod:`graspel.linalg.thin`), for the start
    "unn". With `groups`, the group of every point, the points of each group are merged into one node.
    """
    n = neighbors.points.n_points
    heads, tails, z = choose_neighbors(neighbors, member.rule, member.k)
    code, first = np.unique(edge_keys(heads, tails, n), return_index=True)
    heads, tails, weights = code // n, code % n, weigh(z[first])
    node = np.arange(n) if groups is None else groups
    n_nodes = int(node.max()) + 1
    labels = Components.of(_adjacency(node[heads], node[tails], weights, n_nodes)).labels.astype(np.int64)
    if labels.max() > 0:
        none = np.empty(0, dtype=np.int64)
        alone = replace(neighbors, distinct=np.arange(n), copies=none, copy_of=none)
        joins = join_components(alone, labels[node], rng)
        heads, tails = np.concatenate([heads, joins.heads]), np.concatenate([tails, joins.tails])
        weights = np.concatenate([weights, weigh(joins.z)])
    adjacency = _adjacency(node[heads], node[tails], weights, n_nodes)
    return thin_graph(adjacency, THIN_DENSITY, rng) if sparse else adjacency


def _adjacency(heads: Ints, tails: Ints, weights: Floats, n: int) -> sp.csr_array:
    """The adjacency of the edges; parallel edges are summed, and edges from a node to itself are left out."""
    apart = heads != tails
    heads, tails, weights = heads[apart], tails[apart], weights[apart]
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    return sp.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))


def embed_member(
    adjacency: sp.csr_array,
    n_vectors: int,
    rng: np.random.Generator,
    mass: Floats | None = None,
    *,
    n_jobs: int | None = None,
) -> tuple[Floats, Floats]:
    """The first eigenvalues of a connected graph and their vectors, the constant one included.

    `mass` is the number of points that each node stands for (None: 1), see :mod:`graspel.linalg.node_masses`.
    """
    wanted = min(adjacency.shape[0], 1 + min(n_vectors, MAX_VECTORS))
    pairs = smallest_eigenpairs(
        laplacian_of(adjacency), wanted, tol=TOL, norm="energy", mass=mass, random_state=rng, n_jobs=n_jobs
    )
    return pairs.values, pairs.vectors


def cut_member(
    adjacency: sp.csr_array,
    values: Floats,
    vectors: Floats,
    n_clusters: int,
    assignment: Assignment,
    seed: int,
    mass: Floats | None = None,
) -> Partition:
    """The clusters of a member from its eigenvectors, of which at most those that the assignment stage wants."""
    used = 1 + min(assignment.vectors_per_cluster * n_clusters, MAX_VECTORS)
    rows = assignment.rows(values[:used], vectors[:, :used])
    labels = assignment.labels(rows, adjacency, n_clusters, seed, mass)
    return Partition(labels, rows.astype(np.float32), values[1:used], adjacency)
