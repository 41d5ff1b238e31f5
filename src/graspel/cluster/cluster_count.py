r"""How many clusters: layers from coarse to fine, the one that explains most, or none.

The points are clustered into many numbers k of clusters, from 2 on, each by the consensus of several ways
(:mod:`graspel.cluster.consensus`), on groups of near points where there are more than `COUNT_NODES` of them. Two things
are measured for every k, without labels.

The *separation* says how much of the data the clusters explain. Let c_k be the share of the weight of the graph of
shared neighbors that lies between clusters, and s_i the share of the points in cluster i. Clusters cut less than what a
division of even data into as many parts cuts: e_k is the share of the links to the ten nearest neighbors that Ward's
method cuts, among points spread evenly in a cube of the same dimension (as in the gap statistic, data without groups
are the yardstick):

    E_k = 1 - c_k / e_k - `EVENNESS` sum over i of s_i^2.

The last term keeps one cluster from holding nearly everything, and prefers the finer of two good numbers: where a
cluster is divided along a real gap, c_k hardly grows. Without e_k, large clusters of low dimension are divided for no
reason, as modularity does: their borders are short at any number.

The *stability* is the mean adjusted Rand index of two members (Ben-Hur, Elisseeff and Guyon compare samples of the
points in the same way). The number is that of the largest E_k + `AGREEMENT` times stability, and the finest where
several are within `TIE` of it. The *layers* are the numbers of a stability of `STABLE` or more that no other number
within a factor of `APART` exceeds, and the chosen one.

Whether there are groups at all is another question, and is answered by a test of the density (:mod:`graspel.cluster.
modes`): without a second mode the number is 1.

References
----------
R. Tibshirani, G. Walther and T. Hastie. Estimating the number of clusters in a data set via the gap statistic. Journal
of the Royal Statistical Society B 63, 2001.

A. Ben-Hur, A. Elisseeff and I. Guyon. A stability based method for discovering structure in clustered data. Pacific
Symposium on Biocomputing 7, 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.cluster.clustering import TIES, Assignment, count_vectors
from graspel.cluster.consensus import adjusted_agreement, find_consensus
from graspel.cluster.members import (
    SHARED,
    Member,
    MemberSpectrum,
    Nodes,
    build_member,
    find_nodes,
    node_rows,
)
from graspel.cluster.modes import MAX_POINTS, NEIGHBORS, ModeTest, find_modes, search_even
from graspel.cluster.ward import MergeTree, number_by_first_node, ward_of_rows, ward_tree
from graspel.data.protocol import local_points
from graspel.learning.weights import Weights
from graspel.neighbors.search import Neighbors, nearest_neighbors
from graspel.runtime.parallel import count_threads, map_blocks, one_thread_per_call
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

COUNT_NODES = 1_000  # nodes of the graphs; all numbers together take three seconds of processor time
NODES_PER_CLUSTER = 8  # fewest nodes for each cluster, which limits the numbers that are tried
MIN_NODES = 12  # fewer points are not counted
GROWTH = 1.1  # each number is larger than the last one by this factor, and by one at least
EVENNESS = (
    0.4  # weight of the sum of squared shares; chosen with the next two on data/world, digits and half the shapes
)
AGREEMENT = 0.1  # weight of the stability
APART = 1.5  # factor within which a layer is the most stable number
STABLE = 0.6  # least stability of a layer
CLEAR = 0.8  # stability from which the number of clusters is clear
TIE = 0.01  # of two numbers that are as good as this, the finer one is taken
MEASURED = Member(SHARED, 15)  # the graph whose weight between clusters is measured
EVEN_NEIGHBORS = 10  # links of each point of the even data
EVEN_DRAWS = 2  # even sets, of which e_k is the mean


class Layer(NamedTuple):
    """One way to divide the points: their clusters, how many, and how good they are.

    Attributes
    ----------
    labels : array of N, the cluster of every point
    n_clusters : int
    stability : float, mean adjusted Rand index of the ways to find this number of clusters; 1 where all agree
    separation : float, E_k: how much of the data the clusters explain, at most 1
    """

    labels: Ints
    n_clusters: int
    stability: float
    separation: float


@dataclass(frozen=True)
class ClusterCount:
    """The number of clusters that was found, the alternatives, and whether there are groups at all.

    Attributes
    ----------
    n_clusters : int, the number; 1 where there are no groups
    numbers : array, the numbers k that were tried
    stability : array, how far the ways to cluster agree on k clusters (1: all find the same)
    separation : array, E_k
    layers : tuple of Layer, from coarse to fine
    modes : ModeTest, whether the density has more than one mode
    """

    n_clusters: int
    numbers: Ints
    stability: Floats
    separation: Floats
    layers: tuple[Layer, ...]
    modes: ModeTest

    @property
    def has_groups(self) -> bool:
        """Whether there are groups, at the level of 5 %."""
        return self.modes.finds_groups

    @property
    def is_clear(self) -> bool:
        """Whether there are groups, and the ways to cluster agree on their number."""
        chosen = self.stability[self.numbers == self.n_clusters]
        return self.has_groups and bool((chosen >= CLEAR).all())

    def sentence(self) -> str:
        """What was found, and the alternatives, in words."""
        others = ", ".join(
            f"{layer.n_clusters} ({layer.stability:.2f})"
            for layer in self.layers
            if layer.n_clusters not in (1, self.n_clusters)
        )
        if not self.has_groups:
            stable = f"; the most stable divisions are into {others}" if others else ""
            return (
                f"no groups: the density of the points has one mode (significance {self.modes.significance:.2f}, .05 "
                f"or less would count){stable}"
            )
        agree = f"{self.stability[self.numbers == self.n_clusters][0]:.2f}"
        other = f"; other layers: {others}" if others else ""
        last = "; no larger number was tried" if self.n_clusters == self.numbers[-1] else ""
        verdict = "clear" if self.is_clear else "not clear, other numbers are nearly as good"
        return (
            f"{self.n_clusters} clusters: they explain most, and the ways to cluster agree on them ({agree}){other}"
            f"{last}: {verdict}"
        )


def count_clusters(
    neighbors: Neighbors,
    weigh: Weights,
    members: Sequence[Member],
    assignment: Assignment,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
) -> ClusterCount | None:
    """Find the number of clusters of the points, and the layers.

    None where it cannot be found in this way: fewer than 12 points, or very many points that cannot be merged into
    groups, as they have no coordinates.
    """
    announce("clustering", 0.0, "the number of clusters")
    nodes = find_nodes(neighbors, weigh, rng, max_nodes=COUNT_NODES)
    if nodes.number < MIN_NODES or nodes.number > 3 * COUNT_NODES:
        return None
    modes = seek_modes(neighbors, rng)
    numbers = numbers_to_try(max(2, nodes.number // NODES_PER_CLUSTER))
    measured = sp.coo_array(build_member(MEASURED, nodes, rng))
    mass = np.bincount(nodes.of_point).astype(np.float64)
    cut_even = even_cuts(nodes.number, modes.dimension, rng)
    divide = _division(nodes, members, assignment, numbers[-1], rng, n_jobs)

    def layer(k: int) -> Layer:
        partitions, even = divide(k), cut_even(k)
        kept = np.array([_measure(measured, mass, labels, even).kept for labels in partitions])
        labels = find_consensus(partitions, kept).labels
        return Layer(labels, k, mean_agreement(partitions, k), _measure(measured, mass, labels, even).explained)

    tried = [layer(k) for k in numbers]
    best = _find_best(tried)
    low, high = numbers[max(0, best - 1)], numbers[min(len(numbers) - 1, best + 1)]
    tried += [layer(k) for k in range(low + 1, high) if k not in numbers]
    return choose_layers(sorted(tried, key=lambda one: one.n_clusters), modes, nodes.of_point)


def choose_layers(tried: Sequence[Layer], modes: ModeTest, of_point: Ints) -> ClusterCount:
    """The number, and the layers, among the divisions of the nodes that were tried."""
    numbers = np.array([one.n_clusters for one in tried])
    stability = np.array([one.stability for one in tried])
    separation = np.array([one.separation for one in tried])
    best, layers = _find_best(tried), []
    for at, one in enumerate(tried):
        near = (numbers <= APART * one.n_clusters) & (numbers * APART >= one.n_clusters)
        if at == best or one.stability >= max(STABLE, stability[near].max()):
            layers.append(one._replace(labels=number_by_first_node(one.labels[of_point])[1]))
    n_clusters = int(numbers[best])
    if not modes.finds_groups:
        n_clusters = 1
        layers.insert(0, Layer(np.zeros(len(of_point), dtype=np.int64), 1, 1.0, 0.0))
    return ClusterCount(n_clusters, numbers, stability, separation, tuple(layers), modes)


def _find_best(tried: Sequence[Layer]) -> int:
    """The place of the largest separation plus `AGREEMENT` times stability; of those within `TIE`, the finest."""
    value = np.round([one.separation + AGREEMENT * one.stability for one in tried], 9)
    return int(np.flatnonzero(value >= value.max() - TIE)[-1])


def numbers_to_try(most: int) -> list[int]:
    """The numbers from 2 to `most`, farther apart as they grow.

    >>> numbers_to_try(20)
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]
    """
    numbers = [2]
    while (following := max(numbers[-1] + 1, round(numbers[-1] * GROWTH))) <= most:
        numbers.append(following)
    return numbers


def seek_modes(neighbors: Neighbors, rng: np.random.Generator) -> ModeTest:
    """Whether the density of the points has more than one mode; many points are sampled."""
    points = local_points(neighbors.points)
    z, indices = neighbors.z, neighbors.indices
    if points.n_points > MAX_POINTS:
        chosen = np.sort(rng.choice(points.n_points, MAX_POINTS, replace=False))
        sample = nearest_neighbors(points.subset(chosen).ready(), max(NEIGHBORS), rng)
        z, indices = sample.z, sample.indices
    m = min(max(NEIGHBORS), z.shape[1])
    return find_modes(np.sqrt(z[:, :m]), indices[:, :m].astype(np.int64), rng)


def _division(
    nodes: Nodes,
    members: Sequence[Member],
    assignment: Assignment,
    most: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Callable[[int], list[Ints]]:
    """A function from a number of clusters to the partitions of the nodes by all members.

    Numbers between two powers of two are cuts of one tree for each member, as eigenvectors by the number between them
    would be nearly the same.
    """
    seeds = rng.integers(2**63, size=len(members))
    octaves = range(1, (most - 1).bit_length() + 1)

    def grow(at: int) -> dict[int, MergeTree]:
        own = np.random.default_rng(seeds[at])
        adjacency = build_member(members[at], nodes, own)
        spectrum = MemberSpectrum.of(adjacency, nodes.mass, count_vectors(assignment, most), own, n_jobs=1)
        trees = {}
        for octave in octaves:
            used = 1 + count_vectors(assignment, round(2 ** (octave - 0.5)))
            rows = assignment.rows(spectrum.values[:used], spectrum.vectors[:, :used])
            trees[octave] = ward_tree(rows, spectrum.adjacency, mass=nodes.mass)
        return trees

    grown = list(map_blocks(grow, range(len(members)), min(len(members), count_threads(n_jobs))))
    with one_thread_per_call():
        rows = node_rows(nodes)
        whole = [] if rows is None else [ward_of_rows(rows, nodes.mass)]
    return lambda k: [
        *(trees[(k - 1).bit_length()].cut(k, TIES) for trees in grown),
        *(tree.cut(k) for tree in whole),
    ]


class _Quality(NamedTuple):
    kept: float  # share of the weight inside clusters, less half the sum of the squared shares
    explained: float  # E_k


def _measure(graph: sp.coo_array, mass: Floats, labels: Ints, even: float) -> _Quality:
    between = labels[graph.row] != labels[graph.col]
    cut = float(graph.data[between].sum() / graph.data.sum())
    shares = np.bincount(labels, mass) / mass.sum()
    concentration = float(shares @ shares)
    return _Quality(1 - cut - concentration / 2, 1 - cut / max(even, 1e-9) - EVENNESS * concentration)


def even_cuts(n: int, dimension: float, rng: np.random.Generator) -> Callable[[int], float]:
    """A function from k to e_k: the share of links between the parts of n even points, divided by Ward's method."""
    drawn = []
    for _ in range(EVEN_DRAWS):
        X, _, indices = search_even(n, min(EVEN_NEIGHBORS, n - 1), dimension, rng)
        with one_thread_per_call():
            drawn.append((ward_of_rows(X), indices))

    def cut(k: int) -> float:
        divided = [(tree.cut(k), indices) for tree, indices in drawn]
        return float(np.mean([(labels[indices] != labels[:, None]).mean() for labels, indices in divided]))

    return cut


def mean_agreement(partitions: Sequence[Ints], k: int) -> float:
    """The mean adjusted Rand index of two of the partitions; 1 if there is one only.

    Examples
    --------
    >>> mean_agreement([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])], 2)
    1.0
    """
    pairs = [adjusted_agreement(one, other, k) for one, other in combinations(partitions, 2)]
    return float(np.mean(pairs)) if pairs else 1.0
