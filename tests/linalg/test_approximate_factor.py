"""Approximate factor: exact at low degrees, correct on average where it samples, and always a good preconditioner."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components

from graspel.graph import Graph
from graspel.linalg import LaplacianSolver
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.factor.elimination import (
    CAREFUL,
    DENSE_LIMIT,
    DENSE_SIZE,
    QUICK,
    eliminate,
    independent_low_degree_nodes,
    sample_cliques,
)
from linalg.zoo import LARGE, SMALL, expander, isolated, large, pseudo_inverse, small, spectrum, union
from toy_graphs import complete, cycle, grid, path, random_tree, star


@pytest.fixture(params=[np.inf, 0], ids=["levels", "compiled"], autouse=True)
def compiled_size(request, monkeypatch):
    """Every property holds for both eliminations: in rounds, by numpy, and node by node, compiled."""
    monkeypatch.setattr("graspel.linalg.factor.approximate_factor.COMPILED_SIZE", request.param)
    return request.param


def inverse_of(graph: Graph, seed: int = 0, excess: np.ndarray | None = None) -> ApproximateFactor:
    return ApproximateFactor(graph.adjacency, np.random.default_rng(seed), excess)


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs_are_solved_exactly(name):
    graph = small(name)
    assert graph.n_nodes <= DENSE_SIZE
    centered = inverse_of(graph).components.center
    X = inverse_of(graph)(centered(np.eye(graph.n_nodes)))
    assert_allclose(X, pseudo_inverse(graph), atol=1e-9 * np.abs(X).max())


@pytest.mark.parametrize(
    "graph", [path(700), random_tree(900), star(600), union(random_tree(500), path(300), star(90))]
)
def test_trees_are_solved_exactly(graph, seed):
    inverse = inverse_of(graph, seed)
    assert inverse.n_eliminated > 0
    b = inverse.components.center(np.random.default_rng(seed).standard_normal((graph.n_nodes, 2)))
    x = inverse(b)
    assert_allclose(graph.laplacian @ x, b, atol=1e-9)
    assert_allclose(inverse.components.means(x), 0, atol=1e-9)


@pytest.mark.parametrize("graph", [path(700), random_tree(500), cycle(600), star(400)])
def test_trees_with_excess_are_solved_exactly(graph, rng):
    """No node of a tree or cycle meets more than three others when it goes, with or without the ground."""
    excess = 10 ** rng.uniform(-3, 3, graph.n_nodes)
    b = rng.standard_normal((graph.n_nodes, 2))
    x = inverse_of(graph, excess=excess)(b)
    assert_allclose(graph.laplacian @ x + excess[:, None] * x, b, atol=1e-9)


def test_a_vector_and_a_block_give_the_same(rng):
    graph = large("expander")
    inverse = inverse_of(graph)
    B = rng.standard_normal((graph.n_nodes, 3))
    before = B.copy()
    assert_allclose(inverse(B[:, 1]), inverse(B)[:, 1], atol=1e-12)
    assert inverse(B[:, 1]).shape == (graph.n_nodes,)
    assert_array_equal(B, before)


@pytest.mark.parametrize("name", ["square grid", "expander", "neighbors", "isolated nodes", "dense expander"])
def test_it_is_symmetric_positive_and_close_to_the_inverse(name, seed):
    """The eigenvalues of L^1/2 M^-1 L^1/2 on the complement of the null space: a moderate condition number."""
    graph = large(name)
    inverse = inverse_of(graph, seed)
    M = inverse(inverse.components.center(np.eye(graph.n_nodes)))
    assert_allclose(M, M.T, atol=1e-10 * np.abs(M).max())
    eigenvalues, V = spectrum(large, name)
    root = (V * np.sqrt(np.maximum(eigenvalues, 0))) @ V.T
    values = np.linalg.eigvalsh(root @ M @ root)[inverse.components.number :]
    assert values[0] > 0
    assert values[-1] / values[0] < 60


@pytest.mark.parametrize("name", LARGE)
def test_the_factors_stay_as_sparse_as_the_graph(name, seed):
    graph = large(name)
    inverse = inverse_of(graph, seed)
    assert inverse.n_factor_entries <= 2 * 2 * graph.n_edges
    assert len(inverse.coarse_nodes) <= max(DENSE_SIZE, np.sqrt(2 * 2 * graph.n_edges / 0.15))
    assert inverse.n_eliminated + len(inverse.coarse_nodes) == graph.n_nodes
    assert_array_equal(np.sort(inverse.order), np.arange(graph.n_nodes))


def test_many_components_and_isolated_nodes(seed, compiled_size):
    """More than DENSE_SIZE components: rounds leave nothing for the dense rest, the compiled loop stops before."""
    graph = union(*[star(4)] * 150, *[path(2)] * 100, isolated(50))
    inverse = inverse_of(graph, seed)
    assert len(inverse.coarse_nodes) == (0 if compiled_size else DENSE_SIZE)
    assert inverse.coarse_modes(5).shape == (0 if compiled_size else 5, graph.n_nodes)
    b = inverse.components.center(np.random.default_rng(seed).standard_normal(graph.n_nodes))
    assert_allclose(graph.laplacian @ inverse(b), b, atol=1e-12)
    assert_allclose(inverse(b)[-50:], 0)


def test_no_edges_at_all():
    inverse = inverse_of(isolated(DENSE_SIZE + 5))
    assert_array_equal(inverse(np.ones((DENSE_SIZE + 5, 2))), 0)
    assert inverse.logdet() == 0


def test_a_dense_graph_is_factored_densely_at_once():
    inverse = inverse_of(complete(DENSE_SIZE + 100))
    assert inverse.n_eliminated == 0
    assert DENSE_LIMIT > DENSE_SIZE + 100


def test_heavy_weights_do_not_drown_the_solution(rng):
    """Potentials of order 1e-30, although the right side sums to rounding only."""
    graph = grid(20, 20).scaled(1e30)
    inverse = inverse_of(graph)
    b = inverse.components.center(rng.standard_normal(400))
    assert_allclose(inverse(b) * 1e30, inverse_of(grid(20, 20))(b), rtol=1e-6, atol=1e-12)


def test_the_two_half_inverses_multiply_to_the_inverse(rng):
    graph = large("neighbors")
    excess = rng.random(graph.n_nodes)
    inverse = inverse_of(graph, excess=excess)
    b = rng.standard_normal(graph.n_nodes)
    x = inverse.half_inverse_transposed(inverse.half_inverse(b[inverse.order]))
    assert_allclose(x, inverse(b)[inverse.order], rtol=1e-10, atol=1e-12)


def test_logdet_is_that_of_the_factors(seed):
    """Exact on a tree, with excess (the determinant) and without (by the matrix-tree theorem)."""
    tree = random_tree(500, seed)
    excess = np.random.default_rng(seed).random(500)
    exact = np.linalg.slogdet(tree.laplacian.toarray() + np.diag(excess))[1]
    assert inverse_of(tree, seed, excess).logdet() == pytest.approx(exact, rel=1e-12)
    assert inverse_of(tree, seed).logdet() == pytest.approx(np.log(tree.weights).sum(), rel=1e-12)


def test_the_same_seed_gives_the_same_factors(seed):
    graph = large("expander")
    first, second, other = inverse_of(graph, seed), inverse_of(graph, seed), inverse_of(graph, seed + 1)
    b = np.random.default_rng(seed).standard_normal((graph.n_nodes, 2))
    assert_array_equal(first(b), second(b))
    assert not np.array_equal(first(b), other(b))


def test_coarse_modes_are_smooth(seed):
    """Rayleigh quotients near the first eigenvalues, far below those of random vectors."""
    graph = grid(40, 40)
    inverse = inverse_of(graph, seed)
    X = inverse.to_node_order(inverse.coarse_modes(4)[1:])
    quotients = np.einsum("ij,ij->j", X, graph.laplacian @ X) / np.einsum("ij,ij->j", X, X)
    assert (quotients < 10 * (2 - 2 * np.cos(np.pi / 40))).all()


@pytest.mark.parametrize("name", LARGE)
def test_independent_nodes_are_independent_and_of_low_degree(name, seed):
    A = large(name).adjacency
    out = independent_low_degree_nodes(A, np.random.default_rng(seed))
    degree = np.diff(A.indptr)
    assert out.any()
    assert A[out][:, out].nnz == 0
    assert out[degree == 0].all()
    assert degree[out].max() <= max(QUICK.exact_degree, np.median(degree))


@pytest.mark.parametrize("graph", [cycle(30), random_tree(30), grid(2, 15)])
def test_eliminating_nodes_of_low_degree_is_the_schur_complement(graph, rng):
    ground = rng.random(graph.n_nodes) * rng.integers(0, 2, graph.n_nodes)
    out = independent_low_degree_nodes(graph.adjacency, rng)
    pivots, P, A, rest_ground = eliminate(graph.adjacency, ground, out, rng)
    M = graph.laplacian.toarray() + np.diag(ground)
    schur = M[~out][:, ~out] - M[~out][:, out] @ np.linalg.solve(M[out][:, out], M[out][:, ~out])
    assert_allclose(np.diag(A.sum(axis=1) + rest_ground) - A.toarray(), schur, atol=1e-12)
    assert_allclose(pivots, np.diag(M)[out])
    assert_allclose(P.toarray(), -M[out][:, ~out] / pivots[:, None])


def stars(weights: list[float], ground: float, copies: int) -> tuple:
    """Many equal stars, in the form that `sample_cliques` takes, and their pivots."""
    d, pivot = len(weights), sum(weights) + ground
    indptr, row = d * np.arange(copies + 1), np.repeat(np.arange(copies), d)
    column, share = np.tile(np.arange(d), copies), np.tile(np.array(weights) / pivot, copies)
    return indptr, row, column, share, np.full(copies, pivot)


def clique(weights: list[float], ground: float) -> np.ndarray:
    """The clique that takes the place of a star: w_i w_j / W."""
    w = np.array(weights)
    A = np.outer(w, w) / (w.sum() + ground)
    np.fill_diagonal(A, 0)
    return A


def summed(heads, tails, weights, d: int) -> np.ndarray:
    A = sp.coo_array((weights, (heads, tails)), shape=(d, d)).toarray()
    return A + A.T


WEIGHTS = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)


@given(st.lists(WEIGHTS, min_size=1, max_size=CAREFUL.exact_degree), st.just(0.0) | WEIGHTS)
def test_small_cliques_are_exact(weights, ground):
    edges = sample_cliques(*stars(weights, ground, 1), CAREFUL, np.random.default_rng(0))
    assert_allclose(summed(*edges, len(weights)), clique(weights, ground), rtol=1e-12)


@given(st.lists(WEIGHTS, min_size=QUICK.exact_degree + 1, max_size=12), st.just(0.0) | WEIGHTS, st.integers(0, 99))
def test_a_sampled_clique_is_a_tree_of_the_same_total_weight(weights, ground, seed):
    """Leaf i brings w_i S_i / W, whichever partner it draws: sum_i w_i S_i / W = sum_{i<j} w_i w_j / W."""
    d = len(weights)
    heads, tails, sampled = sample_cliques(*stars(weights, ground, 1), QUICK, np.random.default_rng(seed))
    assert len(heads) == d - 1
    assert connected_components(sp.coo_array((sampled, (heads, tails)), shape=(d, d)), directed=False)[0] == 1
    assert sampled.sum() == pytest.approx(clique(weights, ground).sum() / 2, rel=1e-9)


@pytest.mark.parametrize("sampling", [QUICK, CAREFUL])
@pytest.mark.parametrize(
    ("weights", "ground"),
    [
        ([1.0] * 6, 0.0),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0),
        ([0.01, 0.02, 0.1, 0.5, 1.0, 10.0], 3.0),
        ([1.0, 5.0, 2.0, 9.0, 4.0, 7.0, 3.0], 1e12),
    ],
)
def test_sampled_cliques_are_right_on_average(weights, ground, sampling, seed):
    """Pair (i, j), w_i the smaller, is drawn with probability w_j / S_i: within five standard errors of the clique."""
    copies, w = 40_000, np.sort(weights)
    edges = sample_cliques(*stars(w.tolist(), ground, copies), sampling, np.random.default_rng(seed))
    mean, expected = summed(*edges, len(w)) / copies, clique(w.tolist(), ground)
    for i in range(len(w) - 1):
        later = w[i + 1 :]
        probability = later / later.sum()
        error = (
            w[i]
            * later.sum()
            / (w.sum() + ground)
            * np.sqrt(probability * (1 - probability) / (sampling.n_trees * copies))
        )
        assert (np.abs(mean - expected)[i, i + 1 :] <= 5 * error + 1e-6 * expected[i, i + 1 :]).all()
    assert_allclose(mean.sum(), expected.sum(), rtol=1e-9)


def test_stars_of_all_sizes_at_once(rng):
    """Degrees from 0 to 9 side by side: every star keeps to its own leaves."""
    degrees = rng.integers(0, 10, 200)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    row = np.repeat(np.arange(200), degrees)
    column, weights = np.arange(len(row)), 10 ** rng.uniform(-3, 3, len(row))
    pivots = np.maximum(np.bincount(row, weights, 200), 1e-9)
    heads, tails, sampled = sample_cliques(indptr, row, column, weights / pivots[row], pivots, QUICK, rng)
    assert_array_equal(row[heads], row[tails])
    assert (heads != tails).all()
    assert (sampled > 0).all()
    expected = np.where(degrees <= QUICK.exact_degree, degrees * (degrees - 1) // 2, degrees - 1)
    assert_array_equal(np.bincount(row[heads], minlength=200), expected)


def test_expanders_of_all_degrees_are_preconditioned_alike(seed):
    b = np.random.default_rng(seed).standard_normal(700)
    for n_cycles in (1, 2, 3, 5):
        solver = LaplacianSolver(expander(700, n_cycles, seed), random_state=seed)
        solver.solve(b)
        assert solver.n_iterations_ < 40
