"""The critical pairs are those of a walk through all pairs of the blocks by falling eta."""

from __future__ import annotations

import numpy as np
import pytest

import graspel.learning.criticality as criticality
import toy_graphs
from graspel import GRASPEL, Graph, Origin
from graspel.data.prepare import prepare_rows
from graspel.learning.candidates import CANDIDATES, CandidateBlock
from graspel.learning.criticality import add_critical_edges, find_most_critical
from graspel.learning.embed import Embedding, spectral_embedding
from graspel.learning.weights import Weights
from twins import greedy_critical, pairs_of, z_data


class Case:
    """Points, a connected graph on them, and its embedding."""

    def __init__(self, rng: np.random.Generator, n: int = 120, m: int = 4, r: int = 1) -> None:
        self.X = rng.standard_normal((n, m)) + 5 * rng.standard_normal((3, m))[rng.integers(3, size=n)]
        self.points = prepare_rows(self.X)
        self.graph = GRASPEL(max_iter=0, random_state=0).fit(self.X).graph_.scaled(1 / m)
        self.embedding = spectral_embedding(self.graph, r, 1e3, rng)
        self.weigh = Weights(m, 1e-12)

    def z_emb(self) -> np.ndarray:
        U = self.embedding.U
        return ((U[:, None] - U) ** 2).sum(axis=2)

    def find_most_critical(self, blocks, n_edges, beta=0.0):
        return find_most_critical(
            blocks, self.embedding, self.points, self.graph, n_edges=n_edges, beta=beta, weigh=self.weigh
        )

    def twin(self, blocks, n_edges, beta=0.0):
        return greedy_critical(blocks, self.z_emb(), z_data(self.X), self.graph, n_edges, beta)


def found_pairs(critical) -> list[tuple[int, int]]:
    return list(zip(critical.heads.tolist(), critical.tails.tolist(), strict=True))


@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("n_edges", [1, 4, 30, 200])
@pytest.mark.parametrize(
    ("candidates", "window", "r"), [("fiedler", 0.1, 1), ("fiedler", 0.5, 3), ("clusters", 0.1, 8)]
)
def test_against_a_walk_through_all_pairs(rng, candidates, window, r, n_edges, beta):
    case = Case(rng, r=r)
    blocks = CANDIDATES[candidates].blocks(case.embedding, window, rng)
    critical = case.find_most_critical(blocks, n_edges, beta)
    assert found_pairs(critical) == case.twin(blocks, n_edges, beta)


@pytest.mark.parametrize(("shortlist", "rows"), [(1, 3), (2, 1024), (64, 5)])
def test_the_choice_does_not_depend_on_blocks_and_shortlists(rng, monkeypatch, shortlist, rows):
    case = Case(rng, r=3)
    blocks = CANDIDATES["fiedler"].blocks(case.embedding, 0.4, rng)
    monkeypatch.setattr(criticality, "SHORTLIST", shortlist)
    monkeypatch.setattr(criticality, "ROW_BLOCK", rows)
    assert found_pairs(case.find_most_critical(blocks, 25)) == case.twin(blocks, 25)


def test_what_is_said_of_the_pairs_is_true(rng):
    case, beta = Case(rng, r=2), 0.01
    blocks = CANDIDATES["fiedler"].blocks(case.embedding, 0.3, rng)
    critical = case.find_most_critical(blocks, 10, beta)
    z, z_emb = z_data(case.X)[critical.heads, critical.tails], case.z_emb()[critical.heads, critical.tails]
    assert critical.z == pytest.approx(z, rel=1e-6)
    assert critical.eta == pytest.approx(z_emb / z, rel=1e-6)
    assert critical.gradient == pytest.approx(z_emb - z - 4 * beta, rel=1e-6)
    assert (np.diff(critical.eta) <= 0).all()
    candidates = {(min(p, q), max(p, q)) for left, right in blocks for p in left for q in right} - pairs_of(case.graph)
    p, q = np.array(sorted(candidates)).T
    eta = case.z_emb()[p, q] / z_data(case.X)[p, q]
    assert critical.max_eta == pytest.approx(eta.max(), rel=1e-6)
    assert critical.mean_eta == pytest.approx(eta.mean(), rel=1e-4)


def test_no_node_twice_and_no_edge_again(rng):
    case = Case(rng, r=3)
    everyone = rng.permutation(120)
    blocks = [CandidateBlock(everyone[:60], everyone[60:])]
    critical = case.find_most_critical(blocks, 60)
    ends = np.concatenate([critical.heads, critical.tails])
    assert len(set(ends.tolist())) == len(ends)
    assert not set(found_pairs(critical)) & pairs_of(case.graph)
    assert (critical.gradient > 0).all()


def test_a_pair_in_two_blocks_is_one_pair(rng):
    case = Case(rng)
    (block,) = CANDIDATES["fiedler"].blocks(case.embedding, 0.2, rng)
    again = [block, CandidateBlock(block.right, block.left), CandidateBlock(block.left[:5], block.right[:5])]
    assert found_pairs(case.find_most_critical(again, 30)) == case.twin([block], 30)


def test_where_all_candidates_are_edges_there_is_nothing_critical(rng):
    graph = toy_graphs.complete(6)
    points = prepare_rows(rng.standard_normal((6, 2)))
    embedding = spectral_embedding(graph, 1, 1e3, rng)
    blocks = [CandidateBlock(np.arange(3), np.arange(3, 6))]
    critical = find_most_critical(blocks, embedding, points, graph, n_edges=2, beta=0.0, weigh=Weights(2, 1e-9))
    assert critical.n_edges == 0
    assert critical.max_eta == 0.0
    assert critical.mean_eta == 0.0


def test_no_blocks_no_pairs(rng):
    critical = Case(rng).find_most_critical([], 3)
    assert critical.n_edges == 0
    assert critical.max_eta == critical.mean_eta == 0.0


def test_edges_do_not_hide_the_pairs_behind_them(rng):
    """The best pairs of all are edges already: the ones after them are found all the same."""
    case = Case(rng)
    (block,) = CANDIDATES["fiedler"].blocks(case.embedding, 0.5, rng)
    p, q = np.repeat(block.left, 60), np.tile(block.right, 60)
    eta = case.embedding.squared_distances(p, q) / z_data(case.X)[p, q]
    best = np.argsort(-eta)[: 2 * 64 + 2000]
    new = [i for i in best if (min(p[i], q[i]), max(p[i], q[i])) not in pairs_of(case.graph)]
    case.graph = case.graph.with_edges(p[new], q[new], 1.0)
    assert found_pairs(case.find_most_critical([block], 2)) == case.twin([block], 2)


def test_copies_are_no_candidates_and_near_copies_have_a_finite_distortion(rng):
    X = np.zeros((6, 2))
    X[3:] = rng.standard_normal((3, 2))
    X[1] = 1e-9
    graph, weigh = toy_graphs.path(6), Weights(2, 0.5)
    embedding = spectral_embedding(graph, 1, 1e3, rng)
    for pair, factor in (((0, 2), 0.0), ((1, 5), 1.0), ((3, 1), 1.0)):
        blocks = [CandidateBlock(*(np.array([node]) for node in pair))]
        critical = find_most_critical(blocks, embedding, prepare_rows(X), graph, n_edges=1, beta=0.0, weigh=weigh)
        z = max(0.5, prepare_rows(X).squared_distances(*blocks[0])[0])
        assert critical.max_eta == pytest.approx(factor * embedding.squared_distances(*blocks[0])[0] / z)
    edge = [CandidateBlock(np.array([0]), np.array([2]))]
    assert find_most_critical(edge, embedding, prepare_rows(X), graph, n_edges=1, beta=0.0, weigh=weigh).n_edges == 0


def test_critical_edges_carry_their_provenance(rng):
    case = Case(rng)
    critical = case.find_most_critical(CANDIDATES["fiedler"].blocks(case.embedding, 0.2, rng), 5)
    graph = add_critical_edges(case.graph, critical, case.weigh, round=4)
    new = graph.origin == Origin.CRITICAL
    assert graph.n_edges == case.graph.n_edges + critical.n_edges
    assert set(zip(graph.heads[new].tolist(), graph.tails[new].tolist(), strict=True)) == set(found_pairs(critical))
    assert set(graph.round[new]) == {4}
    order = np.lexsort((critical.tails, critical.heads))
    assert graph.eta[new].tolist() == critical.eta[order].tolist()
    assert graph.gradient[new].tolist() == critical.gradient[order].tolist()
    assert graph.weights[new] == pytest.approx(1 / (4 * critical.z[order]))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_change_nothing(rng, monkeypatch, n_threads):
    monkeypatch.setattr(criticality, "ROW_BLOCK", 7)
    case = Case(rng)
    blocks = CANDIDATES["fiedler"].blocks(case.embedding, 0.4, rng)
    one = case.find_most_critical(blocks, 20)
    case.points = prepare_rows(case.X, n_threads=n_threads)
    other = case.find_most_critical(blocks, 20)
    assert found_pairs(one) == found_pairs(other)
    assert one.eta.tolist() == other.eta.tolist()
    assert one.mean_eta == other.mean_eta


def test_a_hub_does_not_starve_the_others(rng):
    """One node is far from all others: its pairs fill the shortlist, and only one of them can be chosen."""
    n = 300
    X = rng.standard_normal((n, 3))
    u = rng.uniform(0.5, 1.0, n) * np.where(np.arange(n) < n // 2, 1, -1)
    u[0] = 1e4
    embedding = Embedding(np.array([1.0]), u[:, None], u[:, None])
    graph = Graph(n, np.arange(n - 1), np.arange(1, n), 1.0)
    blocks = [CandidateBlock(np.arange(n // 2), np.arange(n // 2, n))]
    critical = find_most_critical(
        blocks, embedding, prepare_rows(X), graph, n_edges=2, beta=0.0, weigh=Weights(3, 1e-12)
    )
    z_emb = (u[:, None] - u) ** 2
    assert found_pairs(critical) == greedy_critical(blocks, z_emb, z_data(X), graph, 2, 0.0)
    assert critical.n_edges == 2
