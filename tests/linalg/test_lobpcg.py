"""LOBPCG: converges with any preconditioner, the better the faster, and keeps to the range it is given."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graspel.graph import Graph
from graspel.linalg.components import Components
from graspel.linalg.lobpcg import ITERATIONS_TO_HALVE, BestAtRounding, final_pairs, lobpcg, rayleigh_ritz
from linalg.zoo import equal_cliques, expander, pseudo_inverse, union
from toy_graphs import barbell, grid, path


def run(graph: Graph, inverse, start: np.ndarray, wanted: int = 3, tol: float = 1e-6, max_iterations: int = 300):
    values, vectors, _ = lobpcg(
        graph.laplacian,
        start.T,
        into(lambda V: inverse(V.T).T),
        projection(graph),
        wanted=wanted,
        block=start.shape[1],
        tol=tol,
        max_iterations=max_iterations,
    )
    return values, vectors.T


def into(apply):
    """A map that can write its result to an array."""

    def write(V, *, out=None):
        if out is None:
            return apply(V)
        out[:] = apply(V)
        return out

    return write


def projection(graph: Graph):
    """Of the rows of an array, on the complement of the null space."""
    centered = Components.of(graph.adjacency).center
    return lambda V: centered(V.T).T


GRAPHS = [grid(9, 12), expander(90), barbell(15), union(grid(6, 7), path(30)), equal_cliques(5, 8, 1e-2)]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("preconditioner", ["none", "diagonal", "exact"])
def test_any_preconditioner_leads_to_the_same_pairs(graph, preconditioner, rng):
    degrees, L_plus = graph.degrees[:, None], pseudo_inverse(graph)
    inverse = {"none": lambda R: R, "diagonal": lambda R: R / degrees, "exact": lambda R: L_plus @ R}[preconditioner]
    values, vectors = run(graph, inverse, rng.standard_normal((graph.n_nodes, 6)))
    c = graph.components[0]
    assert_allclose(values, np.linalg.eigvalsh(graph.laplacian.toarray())[c : c + 3], rtol=1e-6)
    R = graph.laplacian @ vectors - vectors * values
    assert (np.linalg.norm(R, axis=0) <= 1.01e-6 * values).all()
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    indicators = Components.of(graph.adjacency).indicators(c)
    assert_allclose(indicators.T @ vectors, 0, atol=1e-12)


def test_a_better_preconditioner_needs_fewer_iterations(rng):
    graph = grid(15, 15)
    start, L_plus, counts = rng.standard_normal((225, 5)), pseudo_inverse(graph), []
    for inverse in (lambda R: R, lambda R: L_plus @ R):
        applied = []
        run(graph, lambda R, f=inverse, log=applied: (log.append(None), f(R))[1], start)
        counts.append(len(applied))
    assert counts[1] < counts[0] / 2


def test_eigenvectors_to_start_from_need_no_iteration():
    graph = grid(8, 9)
    values, vectors = np.linalg.eigh(graph.laplacian.toarray())

    def never(R: np.ndarray) -> np.ndarray:
        raise AssertionError("there is nothing left to do")

    found, U = run(graph, never, vectors[:, 1:6].copy())
    assert_allclose(found, values[1:4], rtol=1e-10)
    assert_allclose(np.abs(U.T @ vectors[:, 1:4]), np.eye(3), atol=1e-6)


def test_the_best_of_a_larger_span_is_the_start(rng):
    """More columns than the block, dependent ones and null vectors among them."""
    graph = grid(8, 9)
    vectors = np.linalg.eigh(graph.laplacian.toarray())[1]
    start = np.hstack([rng.standard_normal((72, 3)), np.ones((72, 2)), vectors[:, 1:6], vectors[:, 1:6]])
    before = start.copy()
    found, _, _ = lobpcg(
        graph.laplacian, start.T, into(lambda V: V), projection(graph), wanted=3, block=5, tol=1e-6, max_iterations=0
    )
    assert_allclose(found, np.linalg.eigvalsh(graph.laplacian.toarray())[1:4], rtol=1e-9)
    assert_array_equal(start, before)


@pytest.mark.parametrize("max_iterations", [0, 1, 5, 20])
def test_ritz_values_bound_the_eigenvalues_from_above_and_only_fall(max_iterations, rng):
    graph, start = expander(120), rng.standard_normal((120, 5))
    exact = np.linalg.eigvalsh(graph.laplacian.toarray())[1:4]
    values, _ = run(graph, lambda R: R, start, max_iterations=max_iterations)
    more, _ = run(graph, lambda R: R, start, max_iterations=max_iterations + 3)
    assert (values >= exact - 1e-12).all()
    assert (more <= values + 1e-12).all()


def test_iterating_far_below_rounding_does_no_harm(rng):
    """An impossible tolerance: the best that was seen comes back, as good as rounding allows."""
    graph = equal_cliques(6, 20, 1e-6)
    L_plus = pseudo_inverse(graph)
    values, vectors = run(graph, lambda R: L_plus @ R, rng.standard_normal((120, 6)), tol=1e-18, max_iterations=200)
    rough, _ = run(graph, lambda R: L_plus @ R, rng.standard_normal((120, 6)), tol=1e-5)
    assert_allclose(values, rough, rtol=1e-6)
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)


def test_best_at_rounding_keeps_the_best_and_stops_without_progress():
    best = BestAtRounding()
    assert best.X is None
    vectors = [np.full((2, 2), float(i)) for i in range(20)]
    assert not best.is_final(1.0, vectors[0])
    assert not best.is_final(0.4, vectors[1])
    verdicts = [best.is_final(worst, X) for worst, X in zip([0.3] + [9.0] * 15, vectors[2:], strict=False)]
    assert verdicts.index(True) == ITERATIONS_TO_HALVE - 1
    assert best.X is not None
    assert_array_equal(best.X, vectors[2])  # the smallest, though it was no gain of two


def test_rayleigh_ritz_of_a_basis_is_the_whole_spectrum(rng):
    S = rng.standard_normal((6, 6)) @ np.diag([1e-6, 1, 1, 1, 1, 1e6])  # columns of all sizes
    H = rng.standard_normal((6, 6))
    H = H @ H.T
    theta, C = rayleigh_ritz(S.T @ S, S.T @ H @ S, 6)
    assert_allclose(theta, np.linalg.eigvalsh(H), rtol=1e-6)
    assert_allclose(C.T @ S.T @ S @ C, np.eye(6), atol=1e-6)


def test_rayleigh_ritz_drops_what_the_basis_already_holds(rng):
    V = rng.standard_normal((20, 3))
    S = np.hstack([V, V @ rng.standard_normal((3, 4)), np.zeros((20, 1))])
    H = np.diag(np.arange(1.0, 21))
    theta, C = rayleigh_ritz(S.T @ S, S.T @ H @ S, 8)
    Q = np.linalg.qr(V)[0]
    assert_allclose(theta, np.linalg.eigvalsh(Q.T @ H @ Q), rtol=1e-8)
    assert C.shape == (8, 3)


def test_final_pairs_are_orthonormal_and_sorted(rng):
    graph = grid(5, 6)
    X = np.linalg.eigh(graph.laplacian.toarray())[1][:, [3, 1, 2]] + 1e-9 * rng.standard_normal((30, 3))
    values, U = final_pairs(lambda V: (graph.laplacian @ V.T).T, X.T)
    U = U.T
    assert_allclose(U.T @ U, np.eye(3), atol=1e-14)
    assert (np.diff(values) >= 0).all()
    assert_allclose(np.abs(U.T @ X[:, [1, 2, 0]]).diagonal(), 1, atol=1e-6)
