"""Solves: the residual is what it is said to be, for many right sides at once, on every test graph."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from graspel.graph import Graph
from graspel.linalg import LaplacianSolver, solve
from graspel.linalg.components import Components
from graspel.linalg.factor.dense_factor import DenseFactor
from linalg.zoo import LARGE, SMALL, expander, isolated, large, pseudo_inverse, reweighted, small, union
from toy_graphs import grid, knn_like, path, random_tree


def true_residual(graph: Graph, x: np.ndarray, b: np.ndarray) -> float:
    """The largest |b - L x| / |b| over the columns, b projected on the range of L."""
    b = Components.of(graph.adjacency).center(b.reshape(graph.n_nodes, -1))
    R = b - graph.laplacian @ x.reshape(b.shape)
    return float((np.linalg.norm(R, axis=0) / np.linalg.norm(b, axis=0)).max())


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs_agree_with_the_pseudo_inverse(name, rng):
    graph = small(name)
    b = rng.standard_normal((graph.n_nodes, 4))
    expected = pseudo_inverse(graph) @ b
    assert_allclose(LaplacianSolver(graph).solve(b), expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", LARGE)
def test_the_residual_is_as_reported_after_a_few_iterations(name, seed):
    graph = large(name)
    solver = LaplacianSolver(graph, random_state=seed)
    b = np.random.default_rng(seed).standard_normal((graph.n_nodes, 3))
    before = b.copy()
    for tol in (1e-3, 1e-8):
        x = solver.solve(b, tol)
        assert solver.converged_
        assert solver.residual_ <= tol
        assert solver.n_iterations_ < 60
        assert_allclose(true_residual(graph, x, b), solver.residual_, rtol=0.05, atol=1e-11)
        assert_allclose(Components.of(graph.adjacency).means(x), 0, atol=1e-10 * np.abs(x).max())
    assert_array_equal(b, before)


def rounding_of_residual(graph: Graph, x: np.ndarray, b: np.ndarray) -> float:
    """The relative size of the rounding errors in b - L x, which differ from one processor to another."""
    terms = abs(graph.laplacian) @ np.abs(x) + np.abs(b)
    return 4 * np.finfo(float).eps * float(np.linalg.norm(terms) / np.linalg.norm(b - b.mean()))


@pytest.mark.parametrize("tol", [1e-1, 1e-5, 1e-12])
def test_every_tolerance_is_met(tol, seed):
    """Also below what the residual of the recurrence can be trusted for."""
    for graph in (large("expander"), large("square grid"), large("neighbors")):
        solver = LaplacianSolver(graph, random_state=seed)
        b = np.random.default_rng(seed).standard_normal(graph.n_nodes)
        x = solver.solve(b, tol)
        assert solver.converged_
        assert solver.residual_ <= max(tol, rounding_of_residual(graph, x, b))
        # what rounding makes of a residual depends on the order of the nodes
        assert_allclose(true_residual(graph, x, b), solver.residual_, rtol=0.05, atol=5e-13)


@pytest.mark.parametrize("name", ["square grid", "several components", "isolated nodes"])
def test_what_does_not_sum_to_zero_is_projected_away(name, rng):
    graph = large(name)
    components = Components.of(graph.adjacency)
    b = rng.standard_normal((graph.n_nodes, 2))
    constants = 1e6 * components.indicators(components.number) @ rng.standard_normal((components.number, 2))
    solver = LaplacianSolver(graph)
    expected = solver.solve(components.center(b), 1e-10)
    assert_allclose(solver.solve(b + constants, 1e-10), expected, atol=1e-7)
    assert solver.converged_


@pytest.mark.parametrize("name", ["square grid", "isolated nodes", "many stars"])
@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, 1e-300, 1e300, -3e7])
def test_a_right_side_of_zero_or_of_constants_has_the_solution_zero(name, constant):
    """What rounding leaves of a constant must not be solved for."""
    graph = large(name)
    solver = LaplacianSolver(graph)
    x = solver.solve(np.full((graph.n_nodes, 2), constant))
    assert_array_equal(x, 0)
    assert solver.residual_ == 0
    assert solver.n_iterations_ == 0
    assert solver.converged_


def test_zero_columns_among_others(rng):
    graph = large("expander")
    b = rng.standard_normal((graph.n_nodes, 4))
    b[:, 1], b[:, 2] = 0, 7
    solver = LaplacianSolver(graph)
    x = solver.solve(b)
    assert_array_equal(x[:, 1:3], 0)
    assert_allclose(true_residual(graph, x[:, [0, 3]], b[:, [0, 3]]), solver.residual_, rtol=0.05)


def test_columns_of_all_sizes_at_once(rng):
    graph = large("neighbors")
    b = rng.standard_normal((graph.n_nodes, 5)) * 10.0 ** np.array([-200, -8, 0, 8, 200])
    solver = LaplacianSolver(graph)
    x = solver.solve(b)
    assert solver.residual_ <= 1e-8
    R = Components.of(graph.adjacency).center(b) - graph.laplacian @ x
    assert (np.abs(R).max(axis=0) <= 1e-7 * np.abs(b).max(axis=0)).all()


@pytest.mark.parametrize("shape", [(420,), (420, 1), (420, 3), (420, 0)])
def test_the_solution_has_the_shape_of_the_right_side(shape, rng):
    x = LaplacianSolver(large("path")).solve(rng.standard_normal(shape))
    assert x.shape == shape


def test_lists_integers_and_float32_will_do():
    solver = LaplacianSolver(path(3))
    for b in ([1, 0, -1], np.array([1, 0, -1], dtype=np.int8), np.array([1, 0, -1], dtype=np.float32)):
        assert_allclose(solver.solve(b), [1, 0, -1], atol=1e-12)


def test_one_solver_serves_many_times_and_the_same_seed_gives_the_same_bits(seed):
    graph = large("expander")
    b = np.random.default_rng(seed).standard_normal((graph.n_nodes, 2))
    solver = LaplacianSolver(graph, random_state=seed)
    first = solver.solve(b)
    solver.solve(np.ones(graph.n_nodes))
    assert_array_equal(solver.solve(b), first)
    assert_array_equal(LaplacianSolver(graph, random_state=np.random.default_rng(seed)).solve(b), first)


def test_the_solution_is_linear_and_symmetric(rng):
    graph = large("several components")
    solver = LaplacianSolver(graph)
    a, b = rng.standard_normal((2, graph.n_nodes))
    x, y, z = (solver.solve(v, 1e-11) for v in (a, b, 2 * a - 3 * b))
    assert_allclose(z, 2 * x - 3 * y, atol=1e-6)
    assert a @ y == pytest.approx(b @ x, rel=1e-6)


def test_too_few_iterations_are_reported(monkeypatch, rng):
    monkeypatch.setattr(solve, "MAX_ITERATIONS", 3)
    graph = large("expander")
    b = rng.standard_normal(graph.n_nodes)
    solver = LaplacianSolver(graph)
    with pytest.warns(ConvergenceWarning, match=r"relative residual of \S+, not the 1.0e-10 asked for"):
        x = solver.solve(b, 1e-10)
    assert not solver.converged_
    assert solver.n_iterations_ == 3
    assert 1e-10 < solver.residual_ < 1
    assert true_residual(graph, x, b) == pytest.approx(solver.residual_, rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.solve(np.zeros(graph.n_nodes))
    assert solver.converged_


def test_an_impossible_tolerance_is_reported(rng):
    for name in ("square grid", "barbell", "equal cliques"):
        graph = large(name)
        b = rng.standard_normal(graph.n_nodes)
        solver = LaplacianSolver(graph)
        with pytest.warns(ConvergenceWarning):
            x = solver.solve(b, 1e-17)
        assert not solver.converged_
        assert true_residual(graph, x, b) < 1e-9


WIDE = [
    path(250),
    random_tree(300),
    grid(16, 16),
    expander(300),
    knn_like(300),
    union(grid(15, 15), isolated(3), path(40)),
]


@pytest.mark.parametrize("graph", WIDE)
@pytest.mark.parametrize("decades", [3, 6, 9, 12])
def test_potentials_of_wide_weights_are_right(graph, decades, seed):
    """Against elimination without subtraction.

    For weights from 1e-6 to 1e6 the solve converges; for wider ones a ConvergenceWarning is allowed.
    """
    wide = reweighted(graph, decades, seed)
    components = Components.of(wide.adjacency)
    b = components.center(np.random.default_rng(seed).standard_normal((wide.n_nodes, 2)))
    solver = LaplacianSolver(wide, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if decades > 6 else "error", ConvergenceWarning)
        x = solver.solve(b)
    y = components.center(DenseFactor(wide.adjacency.toarray(), np.zeros(wide.n_nodes)).solve(b))

    assert_allclose(x, y, atol=1e-7 * np.abs(y).max())


@pytest.mark.parametrize("decades", [1, 2, 3])
@pytest.mark.parametrize("name", ["square grid", "neighbors", "tree"])
def test_wide_weights_within_reach_meet_the_tolerance(name, decades, seed):
    wide = reweighted(large(name), decades, seed)
    solver = LaplacianSolver(wide, random_state=seed)
    b = np.random.default_rng(seed).standard_normal(wide.n_nodes)
    x = solver.solve(b)
    assert solver.residual_ <= 1e-8
    assert true_residual(wide, x, b) <= 1.1e-8
    assert solver.n_iterations_ < 60


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_the_scale_of_the_weights_does_not_matter(scale, rng):
    graph = large("expander")
    b = rng.standard_normal(graph.n_nodes)
    x = LaplacianSolver(graph).solve(b)
    assert_allclose(LaplacianSolver(graph.scaled(scale)).solve(b) * scale, x, rtol=1e-5, atol=1e-7)
