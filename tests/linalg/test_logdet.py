"""Log-determinant: exact for small graphs, within its standard error for large ones, however small the shift."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graspel.graph import Graph
from graspel.linalg import logdet
from graspel.linalg.factor.dense_factor import DenseFactor
from linalg.zoo import SMALL, equal_cliques, expander, isolated, reweighted, small, union
from toy_graphs import complete, cycle, grid, knn_like, path, random_tree, star


def exact(graph: Graph, shift: float) -> float:
    """Twin: by elimination without subtraction, which is right to the last digits (see test_dense)."""
    return DenseFactor(graph.adjacency.toarray(), np.full(graph.n_nodes, shift)).logdet()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("shift", [1e-3, 1.0, 1e6])
def test_small_graphs_agree_with_numpy(name, shift):
    graph = small(name)
    value, error = logdet(graph, shift)
    assert value == pytest.approx(
        np.linalg.slogdet(graph.laplacian.toarray() + shift * np.eye(graph.n_nodes))[1], rel=1e-9
    )
    assert error == 0


def test_toy_graphs_agree_with_their_eigenvalues(toy_graph):
    values = np.maximum(np.linalg.eigvalsh(toy_graph.laplacian.toarray()), 0)
    assert logdet(toy_graph, 1e-2)[0] == pytest.approx(np.log(values + 1e-2).sum(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("shift", [1e-9, 1e-40, 1e-300])
def test_a_tiny_shift_counts_the_trees(shift, seed):
    """As s falls, det(L + sI) -> s^c * product over components of n times the weighted number of spanning trees."""
    tree = random_tree(60, seed)
    expected = np.log(shift) + np.log(60) + np.log(tree.weights).sum()
    assert logdet(tree, shift)[0] == pytest.approx(expected, abs=1e-4)
    both = union(tree, complete(9), isolated(2))
    expected += 3 * np.log(shift) + np.log(9) + 7 * np.log(9)  # Cayley: 9^7 trees
    assert logdet(both, shift)[0] == pytest.approx(expected, abs=1e-4)


@given(st.integers(2, 10), st.floats(-12, 12), st.integers(0, 1000))
def test_one_more_edge_raises_it_by_the_log_of_one_plus_its_leverage(n, exponent, seed):
    """det(M + w e e') = det(M) (1 + w e'M^-1 e)."""
    rng = np.random.default_rng(seed)
    tree, w, shift = random_tree(n, seed), 10.0**exponent, 0.3
    p, q = rng.choice(n, 2, replace=False)
    if tree.adjacency[p, q] != 0:
        return
    e = np.zeros(n)
    e[p], e[q] = 1, -1
    leverage = w * e @ np.linalg.solve(tree.laplacian.toarray() + shift * np.eye(n), e)
    gain = logdet(tree.with_edges([p], [q], w), shift)[0] - logdet(tree, shift)[0]
    assert gain == pytest.approx(np.log1p(leverage), rel=1e-8, abs=1e-10)


LARGE = {
    "grid": lambda: grid(24, 25),
    "expander": lambda: expander(600),
    "neighbors": lambda: knn_like(600, n_neighbors=3),
    "components": lambda: union(grid(18, 20), path(150), cycle(100), isolated(5)),
    "cliques": lambda: equal_cliques(30, 20, 1e-3),
    "wide": lambda: reweighted(knn_like(600, n_neighbors=3), 6),
}


@pytest.fixture
def _small_limit(monkeypatch):
    """Let graphs of more than 300 nodes count as large, so that the exact twin takes little time."""
    monkeypatch.setattr(sys.modules["graspel.linalg.logdet"], "DENSE_LIMIT", 300)


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_are_within_five_standard_errors(name):
    """The error is estimated from few samples, so a little is allowed beside it."""
    graph = LARGE[name]()
    assert graph.n_nodes > 300
    for shift in (1e4,) if name == "expander" else (1e-6, 1e-20):
        value = exact(graph, shift)
        for seed in range(3):
            estimate, error = logdet(graph, shift, random_state=seed)
            assert error < 0.01 * graph.n_nodes
            assert abs(estimate - value) <= 5 * error + 1e-3 * graph.n_nodes


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("graph", [path(600), random_tree(600), star(600), union(random_tree(400), cycle(300))])
@pytest.mark.parametrize("shift", [1e3, 1e-6, 1e-15])
def test_large_trees_and_cycles_are_exact(graph, shift):
    """There the factors are, and the correction is the logarithm of the identity."""
    value = exact(graph, shift)
    for seed in range(3):
        estimate, error = logdet(graph, shift, random_state=seed)
        assert estimate == pytest.approx(value, abs=1e-3, rel=1e-9)
        assert error < 1e-4


def test_past_the_limit_the_value_is_an_estimate():
    assert logdet(grid(38, 40), 1e-3)[1] > 0


@pytest.mark.usefixtures("_small_limit")
def test_the_same_seed_gives_the_same_bits(seed):
    graph = grid(20, 20)
    assert logdet(graph, 1e-3, random_state=seed) == logdet(graph, 1e-3, random_state=np.random.default_rng(seed))
    assert logdet(graph, 1e-3, random_state=seed) != logdet(graph, 1e-3, random_state=seed + 1)


def test_scaling_everything_adds_n_log_c():
    graph = grid(8, 9)
    assert logdet(graph.scaled(7.0), 0.7)[0] == pytest.approx(logdet(graph, 0.1)[0] + 72 * np.log(7))
    assert_allclose(logdet(isolated(5), 2.0)[0], 5 * np.log(2))


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e180, 1e240])
@pytest.mark.parametrize("shift", [1e-30, 1e-3])
def test_a_shift_that_is_lost_beside_the_weights(scale, shift, seed):
    """Zero eigenvalues, one for each of two components and an isolated node, become the shift; the others stay."""
    graph = union(reweighted(grid(18, 18), 4, seed), reweighted(cycle(40), 4, seed), isolated(1)).scaled(scale)
    value, error = logdet(graph, shift, random_state=seed)
    exact_value = DenseFactor(graph.adjacency.toarray(), np.full(365, shift)).logdet()
    assert error < 0.01 * 365
    assert abs(value - exact_value) <= 5 * error + 1e-3 * 365
