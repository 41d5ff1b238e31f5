"""Effective resistance, against the dense pseudo-inverse: by trees, by solves, by random flows."""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

import toy_graphs
from graspel.graph import Graph
from graspel.linalg import effective_resistance, resistance_between
from graspel.linalg import resistance as resistance_module
from graspel.linalg.projection import estimate_edge_resistances
from graspel.linalg.resistance import all_resistances
from linalg.zoo import reweighted


def dense_resistance(graph: Graph) -> np.ndarray:
    """Twin: R_pq = L^+_pp + L^+_qq - 2 L^+_pq, infinite between components."""
    inverse = np.linalg.pinv(graph.laplacian.toarray(), hermitian=True)
    R = np.diag(inverse)[:, None] + np.diag(inverse) - 2 * inverse
    label = connected_components(graph.adjacency)[1]
    R[label[:, None] != label] = np.inf
    return R


def exact_resistance(graph: Graph, p: int, q: int) -> Fraction:
    """Twin without rounding: L x = e_p - e_q with x_q = 0, by elimination in fractions (connected graphs)."""
    n = graph.n_nodes
    A = [[Fraction(0)] * (n + 1) for _ in range(n)]
    for i, j, w in zip(graph.heads.tolist(), graph.tails.tolist(), map(Fraction, graph.weights.tolist()), strict=True):
        A[i][i] += w
        A[j][j] += w
        A[i][j] -= w
        A[j][i] -= w
    A[p][n] = Fraction(1)
    nodes = [i for i in range(n) if i != q]
    for i in nodes:
        for j in nodes:
            if j != i and A[j][i]:
                factor = A[j][i] / A[i][i]
                A[j] = [a - factor * b for a, b in zip(A[j], A[i], strict=True)]
    return A[p][n] / A[p][p]


@pytest.fixture(scope="module")
def neighbors_graph():
    """More nodes than the 1,000 up to which resistances are solved for."""
    graph = toy_graphs.knn_like(1020, 5)
    return graph, dense_resistance(graph)


@pytest.fixture(scope="module")
def estimate(neighbors_graph):
    """Resistances of all edges by random flows, computed once for each error and seed."""
    return cache(lambda error, seed: effective_resistance(neighbors_graph[0], error=error, random_state=seed))


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def test_edges_against_the_pseudo_inverse(toy_graph):
    result = effective_resistance(toy_graph)
    assert_array_equal([result.heads, result.tails], [toy_graph.heads, toy_graph.tails])
    assert_allclose(result.values, dense_resistance(toy_graph)[toy_graph.heads, toy_graph.tails], rtol=1e-6)
    assert result.error == 0


def test_pairs_against_the_pseudo_inverse(toy_graph, rng):
    p, q = rng.integers(toy_graph.n_nodes, size=(2, 50))
    result = effective_resistance(toy_graph.adjacency, np.column_stack([p, q]))
    assert_array_equal([result.heads, result.tails], [p, q])
    assert_allclose(result.values, dense_resistance(toy_graph)[p, q], rtol=1e-6, atol=1e-12)
    assert_array_equal(result.values[p == q], 0.0)


@pytest.mark.parametrize("graph", [toy_graphs.random_tree(), toy_graphs.isolated_last_node(), toy_graphs.path()])
def test_forests_are_done_as_trees(graph):
    assert effective_resistance(graph).method == "tree"


def test_small_graphs_and_few_pairs_are_solved(neighbors_graph):
    graph, R = neighbors_graph
    assert effective_resistance(toy_graphs.grid()).method == "solve"
    result = effective_resistance(graph, [(0, 1), (5, 1000), (3, 3)])
    assert result.method == "solve"
    assert_allclose(result.values, R[[0, 5, 3], [1, 1000, 3]], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("error", [0.1, 0.2])
def test_projected_edges_report_an_honest_error(neighbors_graph, estimate, seed, error):
    graph, R = neighbors_graph
    result = estimate(error, seed)
    exact = R[graph.heads, graph.tails]
    assert result.method == "projection"
    assert result.error <= error
    assert rms(result.values / exact - 1) <= 1.3 * result.error


def test_projected_pairs_report_an_honest_error(neighbors_graph, seed, rng):
    graph, R = neighbors_graph
    pairs = rng.integers(graph.n_nodes, size=(3000, 2))
    result = effective_resistance(graph, pairs, error=0.2, random_state=seed)
    exact = R[pairs[:, 0], pairs[:, 1]]
    joined = np.isfinite(exact) & (exact > 0)
    assert result.method == "projection"
    assert result.error <= 0.2
    assert rms(result.values[joined] / exact[joined] - 1) <= 1.3 * result.error
    assert_array_equal(result.values[~joined], exact[~joined])


def test_bridges_are_exact_by_projection(rng):
    graph = toy_graphs.random_tree(500)
    values, error = estimate_edge_resistances(graph.adjacency, 0.1, rng, 1)
    assert_allclose(values, 1 / graph.weights, rtol=0.02)
    assert error <= 0.1


def test_projection_infers_nothing_between_components_and_zero_within_a_node(neighbors_graph):
    graph, _ = neighbors_graph
    n = graph.n_nodes
    A = sp.block_diag([graph.adjacency, toy_graphs.cycle().adjacency], format="csr")
    pairs = np.column_stack([np.arange(n), np.arange(n)])
    pairs[1::2, 1] = n + 3
    result = effective_resistance(A, pairs, error=0.2)
    assert result.method == "projection"
    assert_array_equal(result.values, np.where(pairs[:, 0] == pairs[:, 1], 0.0, np.inf))


@pytest.mark.parametrize("edges_only", [True, False])
def test_the_number_of_threads_does_not_change_a_bit(neighbors_graph, edges_only):
    graph, _ = neighbors_graph
    pairs = None if edges_only else np.column_stack([np.arange(1019), np.arange(1, 1020)])
    one, two, five = (effective_resistance(graph, pairs, error=0.2, n_jobs=n_jobs) for n_jobs in (1, 2, 5))
    assert one.method == "projection"
    assert_array_equal(one.values, two.values)
    assert_array_equal(one.values, five.values)
    assert one.error == two.error == five.error


def test_it_is_reproducible_and_the_seed_matters(neighbors_graph, estimate):
    again = effective_resistance(neighbors_graph[0], error=0.2, random_state=1).values
    assert_array_equal(estimate(0.2, 1).values, again)
    assert (estimate(0.2, 0).values != again).any()


def test_fosters_theorem(toy_graph):
    result = effective_resistance(toy_graph)
    n_components = connected_components(toy_graph.adjacency)[0]
    assert toy_graph.weights @ result.values == pytest.approx(toy_graph.n_nodes - n_components, rel=1e-7, abs=1e-12)


def test_fosters_theorem_by_projection(neighbors_graph, estimate, seed):
    graph, _ = neighbors_graph
    result = estimate(0.1, seed)
    n_components = connected_components(graph.adjacency)[0]
    assert graph.weights @ result.values == pytest.approx(graph.n_nodes - n_components, rel=result.error)


def test_rayleighs_law_more_edges_less_resistance():
    graph = toy_graphs.grid(6, 6)
    more = graph.with_edges([0, 5], [35, 30], [1.0, 1e-3])
    p, q = np.triu_indices(36, 1)
    pairs = np.column_stack([p, q])
    before, after = effective_resistance(graph, pairs).values, effective_resistance(more, pairs).values
    assert (after <= before * (1 + 1e-7)).all()
    assert (after < before).any()


@given(st.lists(st.floats(-12, 12), min_size=15, max_size=15))
def test_weights_from_1e_minus_12_to_1e12(exponents):
    heads, tails = np.triu_indices(6, 1)
    graph = Graph(6, heads, tails, 10.0 ** np.array(exponents))
    result = effective_resistance(graph)
    exact = [float(exact_resistance(graph, p, q)) for p, q in zip(heads.tolist(), tails.tolist(), strict=True)]
    assert_allclose(result.values, exact, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:the solve reached")
@pytest.mark.parametrize(("n", "digits"), [(220, 4), (60, 12)])
def test_wide_weights_on_a_ring(rng, n, digits):
    graph = Graph(n, np.arange(n), (np.arange(n) + 1) % n, 10.0 ** rng.uniform(-digits, digits, n))
    r = 1 / graph.weights
    exact = [x * np.delete(r, i).sum() / r.sum() for i, x in enumerate(r)]  # the edge, beside the rest of the ring
    assert_allclose(effective_resistance(graph).values, exact, rtol=1e-5)


def test_a_heavy_edge_among_light_ones_and_more_pairs_than_nodes():
    heads, tails = np.triu_indices(12, 1)
    graph = Graph(13, [*heads, 11], [*tails, 12], [1.0] * 66 + [1e9])
    p, q = np.triu_indices(13, 1)
    values = effective_resistance(graph, np.column_stack([p, q])).values
    assert values[-1] == pytest.approx(1e-9, rel=1e-6)
    assert_allclose(values[:-1], np.where(q[:-1] == 12, 1 / 6 + 1e-9, 1 / 6), rtol=1e-6)


def test_integer_weights_zeros_and_loops():
    A = sp.csr_array(np.array([[7, 2, 0], [2, 0, 4], [0, 4, 0]]))
    A = sp.csr_array(A + sp.coo_array(([0, 0], ([0, 2], [2, 0])), shape=(3, 3)))
    assert_allclose(effective_resistance(A, [(0, 2), (2, 1)]).values, [0.75, 0.25])


def test_scaling_weights_scales_resistances(neighbors_graph, estimate):
    A = neighbors_graph[0].adjacency
    assert_allclose(effective_resistance(A * 1024.0, error=0.2).values * 1024, estimate(0.2, 0).values)


@pytest.mark.parametrize("pairs", [[], np.empty((0, 2), dtype=int)])
def test_no_pairs(pairs):
    assert effective_resistance(toy_graphs.grid(), pairs).values.shape == (0,)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([0, 1], r"shape \(2,\): must be m x 2"),
        ([(0, 1, 2)], r"shape \(1, 3\): must be m x 2"),
        ([[[0, 1]]], "must be m x 2"),
        ([(0, 20)], "node 20: nodes are numbered from 0 to 19"),
        ([(0, 1), (-1, 2)], "node -1: nodes are numbered from 0 to 19"),
        ([(0.0, 1.5)], "node numbers"),
    ],
)
def test_bad_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        effective_resistance(toy_graphs.grid(), pairs)


@pytest.mark.parametrize("error", [False, -0.1, np.nan, np.inf, True])
def test_bad_error(error):
    with pytest.raises(ValueError, match=r"error=.*must be a positive finite number"):
        effective_resistance(toy_graphs.grid(), error=error)


def test_bad_n_jobs(neighbors_graph):
    with pytest.raises(ValueError, match="n_jobs=0"):
        effective_resistance(neighbors_graph[0], n_jobs=0)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_bad_weights(weight):
    with pytest.raises(ValueError, match="weights must"):
        effective_resistance(sp.csr_array(np.array([[0, weight], [weight, 0]])))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decades", [12, 24])
def test_a_barbell_of_very_wide_weights(decades, seed):
    """Foster's theorem holds, and nothing is warned of."""
    graph = reweighted(toy_graphs.barbell(60), decades, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = effective_resistance(graph)
    assert found.method == "elimination"
    assert found.values @ graph.weights == pytest.approx(graph.n_nodes - 1, rel=1e-9)


@pytest.mark.parametrize("pairs", [None, [(0, 1500), (3, 9), (7, 1000)]])
def test_many_solves_that_fail_cause_one_warning(pairs, monkeypatch):
    monkeypatch.setattr("graspel.linalg.solve.MAX_ITERATIONS", 1)
    graph = toy_graphs.grid(40, 40)
    with pytest.warns(ConvergenceWarning, match="the solve reached") as caught:
        effective_resistance(graph, pairs, error=0.3)
    assert len(caught) == 1


@pytest.mark.parametrize("scale", [1e-240, 1e240])
def test_the_scale_of_the_weights_does_not_matter(scale):
    graph = toy_graphs.grid(6, 7)
    assert_allclose(effective_resistance(graph.scaled(scale)).values * scale, effective_resistance(graph).values)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_resistance_is_below_that_of_the_edges_of_one_end(rng, monkeypatch):
    """Also where weights span 49 decades, and a solve does not converge."""
    monkeypatch.setattr(resistance_module, "ELIMINATION_LIMIT", 0)
    start = toy_graphs.knn_like(120, 3)
    graph = Graph(120, start.heads, start.tails, rng.choice([1e-25, 1e-12, 1.0, 1e15, 1e24], start.n_edges))
    bound = 1 / graph.adjacency.sum(axis=1)
    result = effective_resistance(graph)
    assert result.method == "solve"
    assert (result.values >= np.maximum(bound[graph.heads], bound[graph.tails])).all()
    R = resistance_between(graph, np.arange(120))
    assert (R[~np.eye(120, dtype=bool)] > 0).all()
    assert (np.diag(R) == 0).all()


def test_pairs_across_heavy_edges_need_few_solves(rng, monkeypatch):
    """Where the terms of most pairs cancel, nodes are solved again about a ground near them, not pair by pair."""
    monkeypatch.setattr(resistance_module, "ELIMINATION_LIMIT", 0)
    solved = []
    solve = resistance_module.BlockSolver.solve
    monkeypatch.setattr(
        resistance_module.BlockSolver, "solve", lambda self, B: (solved.append(B.shape[1]), solve(self, B))[1]
    )
    start = toy_graphs.knn_like(80, 4)
    graph = Graph(80, start.heads, start.tails, rng.choice([1e-8, 1.0, 1e8], start.n_edges))
    pairs = np.column_stack(np.triu_indices(80, 1))
    found = effective_resistance(graph, pairs)
    assert found.method == "solve"
    assert sum(solved) < 6 * 80
    assert_allclose(found.values, all_resistances(graph.adjacency)[pairs[:, 0], pairs[:, 1]], rtol=1e-6)
