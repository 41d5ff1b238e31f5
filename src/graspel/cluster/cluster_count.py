r"""How many clusters: the number that the eigenvalues separate and on which the members agree.

For every number k of clusters there are two measures.

The *gap* says whether the graphs fall into k parts: gap_k of :mod:`graspel.learning.eigengap`, the mean over the
members with five neighbors or more. Graphs of two or three neighbors have small eigenvalues by accident, where a few
points hang on one edge.

The *stability* says whether all graphs fall into the same k parts: s_k is the mean adjusted Rand index of two members'
partitions into k clusters (Ben-Hur, Elisseeff and Guyon compare samples of the points in the same way).

The number is that of the largest s_k gap_k where this is at least `CLEAR`. Where no number is clear, as on images of
digits, it is the one of largest stability. The numbers found on the data that we looked at are nearly the same for any
`CLEAR` from .4 to .7. What this finds, beside other ways: docs/clustering.md.

Graphs of more than `COUNT_NODES` points are made on groups of near points (:mod:`graspel.cluster.members`): to
count clusters, groups are enough.

References
----------
A. Ben-Hur, A. Elisseeff and I. Guyon. A stability based method for discovering structure in clustered data. Pacific
Symposium on Biocomputing 7, 2002.

U. von Luxburg. Clustering stability: an overview. Foundations and Trends in Machine Learning 2, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from graspel.cluster.clustering import Assignment
from graspel.cluster.consensus import adjusted_agreement
from graspel.cluster.members import Member, MemberSpectrum, build_member, find_nodes
from graspel.learning.eigengap import eigengap
from graspel.learning.weights import Weights
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import count_threads, map_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

CLEAR = 0.5  # smallest clear s_k gap_k: the next eigenvalue is 1.65 times as large as expected, and all members agree
COUNT_NODES = 1_000  # nodes of the graphs; seven members and 24 numbers take five seconds of processor time
MOST_STABLE = 25  # largest number that stability alone can give ...
MOST = 60  # ... and largest number that a gap can give
WIDE = 5  # neighbors from which a member's eigenvalues count
NODES_PER_CLUSTER = 4  # fewest nodes for each cluster
COMPARED = 20_000  # points by which partitions are compared


@dataclass(frozen=True)
class ClusterCount:
    """The number of clusters that was found, and how clear it is.

    Attributes
    ----------
    n_clusters : int, the number
    numbers : array, the numbers k that were tried: all up to 25, but only those of large gaps where one is clear
    stability : array, how far the members agree on k clusters (1: all find the same)
    gaps : array, the mean gap of the eigenvalues after k
    """

    n_clusters: int
    numbers: Ints
    stability: Floats
    gaps: Floats

    @property
    def evidence(self) -> Floats:
        """Stability times gap of every number; not positive where there is no gap."""
        return self.stability * self.gaps

    @property
    def is_clear(self) -> bool:
        """Whether a gap decided. Otherwise other numbers are nearly as good."""
        return bool(self.evidence.max() >= CLEAR)

    def sentence(self, n_best: int = 3) -> str:
        """The best numbers in words.

        >>> stability, gaps = np.array([0.9, 1.0, 0.8]), np.array([0.1, 1.2, 0.2])
        >>> choose_count(np.array([2, 3, 4]), stability, gaps).sentence()
        '3 clusters: largest gap (1.20), on which the graphs agree (1.00); next 4 (0.16), 2 (0.09): clear'
        >>> choose_count(np.array([2, 3, 4]), stability, gaps / 4).sentence(2)
        '3 clusters: the graphs agree most on them (1.00); next 2 (0.90): not clear, no gap stands out'
        """
        by = self.evidence if self.is_clear else self.stability
        chosen = int(np.flatnonzero(self.numbers == self.n_clusters)[0])
        others = [at for at in np.argsort(-by, kind="stable").tolist() if at != chosen][: n_best - 1]
        listed = ", ".join(f"{self.numbers[at]} ({by[at]:.2f})" for at in others)
        following = f"; next {listed}" if others else ""
        agree = f"({self.stability[chosen]:.2f})"
        if self.is_clear:
            why = f"largest gap ({self.gaps[chosen]:.2f}), on which the graphs agree {agree}"
        else:
            why = f"the graphs agree most on them {agree}"
        verdict = "clear" if self.is_clear else "not clear, no gap stands out"
        return f"{self.n_clusters} clusters: {why}{following}: {verdict}"


def choose_count(numbers: Ints, stability: Floats, gaps: Floats) -> ClusterCount:
    """The number of largest evidence if that is clear, else the most stable one (the smallest of equals)."""
    evidence = stability * gaps
    by = evidence if evidence.max() >= CLEAR else stability
    best = int(np.argmax(np.round(by, 9)))  # the first of equals, also where rounding errors differ
    return ClusterCount(int(numbers[best]), numbers, stability, gaps)


def count_clusters(
    neighbors: Neighbors,
    weigh: Weights,
    members: Sequence[Member],
    assignment: Assignment,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
) -> ClusterCount | None:
    """Find the number of clusters of the points by the members' graphs.

    None where it cannot be found in this way: fewer than 12 points, or very many points that cannot be merged into
    groups, as they have no coordinates.
    """
    announce("clustering", 0.0, "the number of clusters")
    nodes = find_nodes(neighbors, weigh, rng, max_nodes=COUNT_NODES)
    if nodes.number < 3 * NODES_PER_CLUSTER or nodes.number > 3 * COUNT_NODES:
        return None
    seeds = rng.integers(2**63, size=len(members))
    n_threads = min(len(members), count_threads(n_jobs))

    def embed(at: int) -> MemberSpectrum:
        own = np.random.default_rng(seeds[at])
        return MemberSpectrum.of(build_member(members[at], nodes, own), nodes.mass, MOST + 1, own, n_jobs=1)

    everyone = range(len(members))
    spectra = list(map_blocks(embed, everyone, n_threads))
    wide = [at for at in everyone if members[at].k >= WIDE] or list(everyone)
    gaps = mean_gaps([spectra[at].values[1:] for at in wide])
    node = nodes.of_point if len(nodes.of_point) <= COMPARED else rng.choice(nodes.of_point, COMPARED, replace=False)

    stability: dict[int, float] = {}  # of the numbers of clusters that were tried

    def measure(numbers: list[int]) -> ClusterCount:
        new = [k for k in numbers if k not in stability]

        def cut(at: int) -> list[Ints]:
            return [spectra[at].cut(k, assignment, int(seeds[at] % 2**31)).labels[node] for k in new]

        partitions = list(map_blocks(cut, everyone, n_threads))
        stability.update((k, mean_agreement([found[at] for found in partitions], k)) for at, k in enumerate(new))
        return choose_count(np.array(numbers), np.array([stability[k] for k in numbers]), gaps[np.array(numbers) - 2])

    few, all_of_them = _numbers_to_try(gaps, nodes.number)
    first = measure(few)
    return first if first.is_clear else measure(all_of_them)


def mean_gaps(spectra: Sequence[Floats]) -> Floats:
    """The mean of gap_2, gap_3, ... over the nontrivial eigenvalues of several graphs.

    Examples
    --------
    >>> mean_gaps([np.array([0.01, 0.03, 1.0]), np.array([0.01, 0.03, 4.0])]).round(2)
    array([0.41, 3.79])
    """
    return np.mean([eigengap(values).gaps for values in spectra], axis=0)


def mean_agreement(partitions: Sequence[Ints], k: int) -> float:
    """The mean adjusted Rand index of two of the partitions; 1 if there is one only.

    Examples
    --------
    >>> mean_agreement([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])], 2)
    1.0
    """
    pairs = [adjusted_agreement(one, other, k) for one, other in combinations(partitions, 2)]
    return float(np.mean(pairs)) if pairs else 1.0


def _numbers_to_try(gaps: Floats, n_nodes: int) -> tuple[list[int], list[int]]:
    """The numbers that can be clear, as their gap is, with the three largest gaps; and all numbers, should none be."""
    most = min(len(gaps) + 1, n_nodes // NODES_PER_CLUSTER)
    numbers = np.arange(2, most + 1)
    gaps = gaps[: len(numbers)]
    largest = gaps >= min(CLEAR, np.sort(gaps)[-min(3, len(gaps))])
    return numbers[largest].tolist(), numbers[largest | (numbers <= MOST_STABLE)].tolist()
