from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import graspel.learning.candidates as candidates
import toy_graphs
from graspel import GRASPEL, Graph
from graspel.data.prepare import prepare_rows
from graspel.learning.candidates import (
    CANDIDATES,
    EmbeddedGraph,
    cluster_rows,
    distant_clusters,
    fiedler_ends,
)
from graspel.learning.embed import Embedding, spectral_embedding
from graspel.learning.run import run
from graspel.learning.settings import Settings
from graspel.neighbors.index import NeighborIndex


def embedded(graph: Graph, r: int) -> Embedding:
    return spectral_embedding(graph, r, 1e3, np.random.default_rng(0))


@pytest.mark.parametrize(("window", "size"), [(0.05, 1), (0.1, 2), (0.3, 6), (0.5, 10)])
def test_fiedler_takes_the_two_ends(window, size, rng):
    (block,) = fiedler_ends(embedded(toy_graphs.path(20), 1), window, rng)
    ends = {frozenset(block.left.tolist()), frozenset(block.right.tolist())}
    assert ends == {frozenset(range(size)), frozenset(range(20 - size, 20))}


def test_the_two_ends_never_overlap(rng):
    (block,) = fiedler_ends(embedded(toy_graphs.path(3), 1), 0.5, rng)
    assert len(block.left) == len(block.right) == 1
    assert block.left[0] != block.right[0]


def test_large_groups_are_sampled(monkeypatch, rng):
    monkeypatch.setattr(candidates, "LARGEST_GROUP", 10)
    (block,) = fiedler_ends(embedded(toy_graphs.path(100), 1), 0.3, rng)
    assert len(set(block.left)) == len(set(block.right)) == 10
    ends = sorted([sorted(block.left.tolist()), sorted(block.right.tolist())])
    assert max(ends[0]) < 30
    assert min(ends[1]) >= 70


def test_clusters_are_found_whatever_the_order_of_the_rows(rng):
    centers = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0], [9.0, 9.0]])
    truth = np.repeat(np.arange(4), [5, 40, 10, 25])
    U = centers[truth] + rng.standard_normal((80, 2))
    order = rng.permutation(80)
    found, label = cluster_rows(U, 4)
    found_again, label_again = cluster_rows(U[order], 4)
    assert found_again == pytest.approx(found)
    assert (label_again == label[order]).all()
    assert len({(int(a), int(b)) for a, b in zip(truth, label, strict=True)}) == 4


def test_fewer_distinct_rows_than_clusters():
    centers, label = cluster_rows(np.array([[1.0], [1.0], [5.0]]), 3)
    assert len(centers) == 2
    assert label[0] == label[1] != label[2]
    assert len(cluster_rows(np.ones((4, 2)), 3)[0]) == 1


def test_candidates_lie_between_clusters_far_apart(rng):
    n_cliques, size = 6, 12
    graph = toy_graphs.chain_of_cliques(n_cliques, size, rng)
    blocks = distant_clusters(embedded(graph, 15), 0.05, rng)
    met = set()
    for left, right in blocks:
        assert not set(left.tolist()) & set(right.tolist())
        a, b = set((left // size).tolist()), set((right // size).tolist())
        assert len(a) == len(b) == 1  # each group is one clique
        met.add((min(*a, *b), max(*a, *b)))
    assert len(met) == len(blocks)  # no two blocks compare the same two clusters
    assert (0, n_cliques - 1) in met
    # Every clique meets the three farthest from it along the chain, and its neighbor only if that is one of these.
    assert {(0, 3), (0, 4), (0, 5), (1, 5), (2, 5)} <= met
    assert not {(0, 1), (4, 5)} & met


def test_one_cluster_has_no_candidates(rng):
    one_position = Embedding(np.array([1.0, 2.0]), np.zeros((5, 2)), np.zeros((5, 2)))
    assert distant_clusters(one_position, 0.05, rng) == []


@pytest.mark.parametrize("name", list(CANDIDATES))
@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_smallest_graphs(name, n, rng):
    strategy, graph = CANDIDATES[name], toy_graphs.path(n)
    source = EmbeddedGraph(graph, prepare_rows(np.arange(float(n))[:, None]))
    for left, right in strategy.blocks(embedded(graph, strategy.n_components), 0.05, rng, source):
        assert len(left)
        assert len(right)


def test_multilevel_finds_the_two_ends_of_a_bent_chain(rng, monkeypatch):
    """Points on a horseshoe: its two ends are near in the data and far along the graph."""
    monkeypatch.setattr(candidates, "COARSE_NODES", 40)
    angle = np.linspace(0.05, 2 * np.pi - 0.05, 400)
    points, graph = prepare_rows(np.c_[np.cos(angle), np.sin(angle)]), toy_graphs.path(400)
    blocks = CANDIDATES["multilevel"].blocks(embedded(graph, 5), 0.05, rng, EmbeddedGraph(graph, points))
    assert {0, 399} <= {int(node) for block in blocks[:3] for group in block for node in group}
    for left, right in blocks:
        assert not np.isin(left, right).any()


def test_multilevel_settles_and_finds_larger_distortion_than_the_fiedler_ends():
    index = NeighborIndex(load_digits().data[:700], random_state=0)
    fine = run(index, Settings(candidates="multilevel", edge_ratio=0.01), np.random.default_rng(0))
    ends = run(
        index, Settings(candidates=CANDIDATES["fiedler"]._replace(n_components=5), max_iter=2), np.random.default_rng(0)
    )
    assert fine.settled
    assert fine.history[1].max_eta >= ends.history[1].max_eta


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "X",
    [np.zeros((3, 1)), np.ones((6, 2)), [[0.0], [0], [1], [1], [1]], [*[[0.0, 0]] * 20, [1.0, 2]]],
    ids=["zeros", "ones", "two distinct", "one apart"],
)
def test_multilevel_with_few_and_repeated_points(X, seed):
    model = GRASPEL(1, candidates="multilevel", random_state=seed).fit(np.array(X))
    assert model.graph_.is_connected
    assert np.isfinite(model.graph_.weights).all()
