"""Generators of graphs: every family has the distribution that it promises, and is connected."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.graph import grid_graph
from reproduction.random_graphs import (
    _pairs_within,
    erdos_renyi_graph,
    gaussian_graph,
    preferential_attachment_graph,
    stochastic_block_graph,
)
from toy_graphs import grid, path
from twins import pairs_of

RANDOM = {
    "gaussian": lambda seed: gaussian_graph(20, random_state=seed),
    "erdos-renyi": lambda seed: erdos_renyi_graph(20, 0.2, seed),
    "preferential": lambda seed: preferential_attachment_graph(20, 2, seed),
    "blocks": lambda seed: stochastic_block_graph([8, 12], 0.5, 0.1, seed),
}


@pytest.mark.parametrize("make", RANDOM.values(), ids=RANDOM)
def test_the_seed_makes_the_graph(make, seed):
    assert make(seed) == make(seed)
    assert make(seed) != make(seed + 1)
    assert make(seed) == make(np.random.default_rng(seed))
    assert make(seed).is_connected
    assert make(seed).n_nodes == 20


def test_weights_of_a_gaussian_graph_lie_above_the_threshold(seed):
    graph = gaussian_graph(50, sigma=0.5, threshold=0.8, random_state=seed)
    assert graph.weights.min() >= 0.8
    assert graph.weights.max() < 1


def test_a_gaussian_graph_is_that_of_points_in_the_square():
    """The same draw, by a full matrix."""
    graph = gaussian_graph(40, random_state=3)
    points = np.random.default_rng(3).uniform(size=(40, 2))  # connected at the first draw
    W = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / (2 * 0.5**2))
    W[(W < 0.75) | np.eye(40, dtype=bool)] = 0.0
    assert graph.adjacency.toarray() == pytest.approx(W)


def test_every_pair_is_as_likely():
    """Each of the 45 pairs in a share p of 4,000 graphs, to within five standard errors."""
    p, n_draws, rng = 0.6, 4000, np.random.default_rng(0)
    drawn = sum(
        np.bincount(np.ravel_multi_index(_pairs_within(10, p, rng), (10, 10)), minlength=100) for _ in range(n_draws)
    )
    i, j = np.triu_indices(10, 1)
    shares = drawn.reshape(10, 10)[i, j] / n_draws
    assert drawn.sum() == drawn.reshape(10, 10)[i, j].sum()
    assert np.abs(shares - p).max() < 5 * np.sqrt(p * (1 - p) / n_draws)


def test_the_number_of_edges_is_that_expected():
    graph = erdos_renyi_graph(20_000, 0.001, 0)  # no array of all pairs
    expected = 0.001 * 20_000 * 19_999 / 2
    assert abs(graph.n_edges - expected) < 5 * np.sqrt(expected)
    assert pairs_of(erdos_renyi_graph(6, 1.0, 0)) == {(i, j) for j in range(6) for i in range(j)}


def test_blocks_are_dense_within_and_sparse_between():
    sizes = [200, 100, 50]
    graph = stochastic_block_graph(sizes, 0.3, 0.02, 0)
    block = np.repeat(range(3), sizes)
    same = block[graph.heads] == block[graph.tails]
    n_within = sum(n * (n - 1) / 2 for n in sizes)
    n_between = 350 * 349 / 2 - n_within
    assert same.sum() / n_within == pytest.approx(0.3, abs=0.02)
    assert (~same).sum() / n_between == pytest.approx(0.02, abs=0.004)


def test_preferential_attachment_makes_hubs(seed):
    tree = preferential_attachment_graph(2000, 1, seed)
    assert tree.n_edges == 1999
    assert tree.is_connected
    graph = preferential_attachment_graph(2000, 3, seed)
    assert graph.n_edges == 3 * 1997
    assert graph.degrees.min() >= 1
    assert graph.degrees.max() > 8 * graph.degrees.mean()


def test_the_grid():
    assert grid_graph(4, 5) == grid(4, 5)
    assert grid_graph(1, 7) == path(7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_graph(1), r"n=1: must be a whole number of at least 2"),
        (lambda: gaussian_graph(20, sigma=0), r"sigma=0: must be a number above 0"),
        (lambda: gaussian_graph(20, threshold=1.5), r"threshold=1\.5: must be a number in \(0, 1\]"),
        (lambda: erdos_renyi_graph(20, 1.2), r"p=1\.2: must be a number in \[0, 1\]"),
        (lambda: erdos_renyi_graph(50, 0.001, 0), r"p=0\.001: none of 1000 graphs of 50 nodes was connected"),
        (lambda: preferential_attachment_graph(5, 5), r"n_links=5: must be a whole number from 1 to n - 1 = 4"),
        (lambda: grid_graph(0, 3), "rows=0: must be a whole number of at least 1"),
        (lambda: stochastic_block_graph([5, 0]), "sizes=0: must be a whole number"),
        (lambda: erdos_renyi_graph(random_state="seed"), "random_state='seed'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
