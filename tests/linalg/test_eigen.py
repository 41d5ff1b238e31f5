"""Eigenpairs: those of LAPACK on every test graph, by the dense and by the multilevel method."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from graspel import GRASPEL
from graspel.graph import Graph
from graspel.linalg import eigensolver, smallest_eigenpairs
from graspel.linalg.components import Components
from graspel.linalg.dense_pairs import accurate_pairs
from graspel.linalg.eigen import smallest_nonzero_eigenvalues
from graspel.linalg.eigensolver import DENSE_LIMIT, Eigenpairs
from graspel.linalg.laplacian import laplacian_of
from linalg.zoo import LARGE, SMALL, equal_cliques, expander, isolated, large, reweighted, small, spectrum, union
from toy_graphs import barbell, complete, cycle, grid, knn_like, path, random_tree, star

EXTRA = 6  # nonzero eigenvalues asked for


def assert_agrees(pairs: Eigenpairs, values: np.ndarray, vectors: np.ndarray, c: int) -> None:
    """Eigenvalues within 1e-4, subspaces within 1e-3 of the true ones; c is the number of zeros.

    Where the k-th eigenvalue belongs to a cluster, any of the cluster's vectors will do. So the span of the computed
    ones must hold all true vectors below the cluster, and lie in the span of all true vectors up to its end.
    """
    k = len(pairs.values)
    values = np.where(np.arange(len(values)) < c, 0.0, values)
    U = pairs.vectors
    assert_array_equal(pairs.values[:c], 0)
    assert_allclose(pairs.values[c:], values[c:k], rtol=1e-4)
    assert_allclose(U.T @ U, np.eye(k), atol=1e-10)
    below, up_to = vectors[:, values < 0.98 * values[k - 1]], vectors[:, values <= 1.02 * values[k - 1]]
    if below.size:
        assert np.linalg.norm(below - U @ (U.T @ below), 2) < 1e-3
    assert np.linalg.norm(U - up_to @ (up_to.T @ U), 2) < 1e-3


def assert_honest(pairs: Eigenpairs, graph: Graph, tol: float) -> None:
    """The residuals are what they are said to be, and within the tolerance."""
    U, values = pairs.vectors, pairs.values
    size = np.linalg.norm(graph.laplacian @ U - U * values, axis=0)
    nonzero = values > 0
    assert_allclose(pairs.residuals[nonzero], size[nonzero] / values[nonzero], rtol=1e-3, atol=1e-11)
    assert_array_equal(pairs.residuals[~nonzero], 0)
    assert pairs.converged
    assert pairs.residuals.max() <= 1.01 * tol


@cache
def large_pairs(name: str, k: int) -> Eigenpairs:
    return smallest_eigenpairs(large(name).laplacian, k)


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs_agree_with_lapack(name):
    graph = small(name)
    c = graph.components[0]
    for k in {1, c, c + 1, (graph.n_nodes + c) // 3, graph.n_nodes // 2, graph.n_nodes}:
        pairs = smallest_eigenpairs(graph.laplacian, k)
        assert_agrees(pairs, *spectrum(small, name), c)
        assert_honest(pairs, graph, 1e-5)


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_agree_with_lapack(name, seed):
    graph = large(name)
    c = graph.components[0]
    assert graph.n_nodes > DENSE_LIMIT
    pairs = smallest_eigenpairs(graph.laplacian, c + EXTRA, random_state=seed)
    assert_agrees(pairs, *spectrum(large, name), c)
    assert_honest(pairs, graph, 1e-5)


@pytest.mark.parametrize("name", ["square grid", "several components", "neighbors"])
@pytest.mark.parametrize("extra", [1, 2, 25])
def test_any_number_of_pairs(name, extra):
    graph = large(name)
    c = graph.components[0]
    assert_agrees(smallest_eigenpairs(graph.laplacian, c + extra), *spectrum(large, name), c)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7, 1e-10])
def test_every_tolerance_is_met(tol, seed):
    graph = large("neighbors")
    pairs = smallest_eigenpairs(graph.laplacian, 8, tol=tol, random_state=seed)
    assert_honest(pairs, graph, tol)
    # The error of an eigenvalue is quadratic in the residual, with the gaps in the denominator.
    assert_allclose(pairs.values, np.maximum(spectrum(large, "neighbors")[0][:8], 0), rtol=10 * tol + 1e-9, atol=1e-12)


def test_known_spectra_of_thousands_of_nodes(seed):
    """A path, 2 - 2 cos(pi j / n); a cycle; a grid, sums of two paths, in many equal pairs; and a tree of two stars."""

    def of_path(n: int) -> np.ndarray:
        return 2 - 2 * np.cos(np.pi * np.arange(n) / n)

    k = 9
    grid_values = np.sort((of_path(50)[:, None] + of_path(50)).ravel())[:k]
    cycle_values = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(2501) / 2501))[:k]
    for graph, values in [(path(3000), of_path(3000)[:k]), (grid(50, 50), grid_values), (cycle(2501), cycle_values)]:
        pairs = smallest_eigenpairs(graph.laplacian, k, random_state=seed)
        assert_allclose(pairs.values[1:], values[1:], rtol=1e-6)
        assert_honest(pairs, graph, 1e-5)


def test_null_space_is_that_of_the_components_exactly():
    graph = union(grid(15, 20), path(100), isolated(3))
    pairs = smallest_eigenpairs(graph.laplacian, 9)
    assert_array_equal(pairs.values[:5], 0)
    assert_array_equal(pairs.vectors[:, :5], Components.of(graph.adjacency).indicators(5))
    assert (pairs.values[5:] > 0).all()
    assert_allclose(pairs.vectors[:, :5].T @ pairs.vectors[:, 5:], 0, atol=1e-12)


def test_small_components_are_not_overlooked(seed):
    """Their modes live on them alone: whatever is iterated on the large component never meets them."""
    rng = np.random.default_rng(seed)
    components = [grid(17, 18)] + [path(int(n)) for n in rng.integers(2, 45, 7)]
    name = rng.permutation(sum(component.n_nodes for component in components))
    sorted_union = union(*components)
    graph = Graph(len(name), name[sorted_union.heads], name[sorted_union.tails], sorted_union.weights)
    exact = np.linalg.eigh(graph.laplacian.toarray())
    for k in (9, 12, 20, 30):
        pairs = smallest_eigenpairs(graph.laplacian, k, random_state=seed)
        assert_agrees(pairs, *exact, 8)


@pytest.fixture
def _small_limits(monkeypatch):
    """Let the multilevel method begin at 150 nodes, where exact twins take little time; nothing replaces its result."""
    monkeypatch.setattr(eigensolver, "DENSE_LIMIT", 150)
    monkeypatch.setattr(eigensolver, "ACCURATE_LIMIT", 0)
    monkeypatch.setattr("graspel.linalg.factor.elimination.DENSE_SIZE", 60)


@pytest.mark.parametrize("tie", [1e-2, 1e-6, 1e-10])
@pytest.mark.usefixtures("_small_limits")
def test_weakly_joined_clusters_are_not_overlooked(tie, seed):
    rng = np.random.default_rng(seed)
    clusters = [grid(12, 13)] + [path(int(n)) for n in rng.integers(8, 30, 4)]
    first = np.cumsum([cluster.n_nodes for cluster in clusters])[:-1]
    graph = union(*clusters).with_edges(rng.integers(0, 12 * 13, 4), first, tie)
    values, _ = accurate_pairs(graph.adjacency, graph.n_nodes - 1)
    for k in (6, 11, 16):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if tie < 1e-6 else "error", ConvergenceWarning)
            pairs = smallest_eigenpairs(graph.laplacian, k, random_state=seed)
        assert_allclose(pairs.values[1:], values[: k - 1], rtol=1e-4)


def test_components_far_apart_in_scale():
    """The bound that lets light components go first, and the others go unsolved, must not cut any off."""
    graph = union(grid(5, 5), path(6).scaled(1e-6), path(7).scaled(1e6), complete(5).scaled(1e-3), path(2).scaled(1e-9))
    values = np.sort(np.concatenate([np.linalg.eigvalsh(g.laplacian.toarray())[1:] * scale for g, scale in [
        (grid(5, 5), 1), (path(6), 1e-6), (path(7), 1e6), (complete(5), 1e-3), (path(2), 1e-9)]]))  # fmt: skip
    for k in [*range(6, 20), 30, 45]:
        assert_allclose(smallest_eigenpairs(graph.laplacian, k).values[5:], values[: k - 5], rtol=1e-8)


@pytest.mark.parametrize("graph", [isolated(1), isolated(7), union(path(2), path(3), star(4), isolated(400))])
def test_as_many_pairs_as_components_or_fewer(graph):
    for k in {1, min(2, graph.n_nodes), graph.components[0]}:
        pairs = smallest_eigenpairs(graph.laplacian, k)
        assert_array_equal(pairs.values, 0)
        assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-14)
        assert_allclose(graph.laplacian @ pairs.vectors, 0, atol=1e-14)
        assert pairs.converged


@pytest.mark.parametrize("name", ["square grid", "equal cliques", "neighbors"])
def test_the_same_seed_gives_the_same_bits_and_signs(name, seed):
    graph = large(name)
    c = graph.components[0]
    first, again, other = (
        smallest_eigenpairs(graph.laplacian, c + 5, random_state=s)
        for s in (seed, np.random.default_rng(seed), seed + 1)
    )
    assert_array_equal(first.vectors, again.vectors)
    assert_array_equal(first.values, again.values)
    assert_allclose(first.values, other.values, rtol=1e-6)
    sizes = np.abs(first.vectors)
    peaks = (sizes >= (1 - 1e-6) * sizes.max(axis=0)).argmax(axis=0)  # the first of the largest entries
    assert (first.vectors[peaks, np.arange(c + 5)] > 0).all()


@pytest.mark.parametrize("name", ["square grid", "expander", "neighbors", "equal cliques"])
def test_a_guess_from_a_similar_graph_costs_no_iterations(name, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    graph = large(name)
    c = graph.components[0]
    before = large_pairs(name, c + 5)
    changed = graph.with_weights(graph.weights * rng.uniform(0.99, 1.01, graph.n_edges))
    applied = []
    inverse = eigensolver.ApproximateFactor.solve_in_order
    monkeypatch.setattr(
        eigensolver.ApproximateFactor,
        "solve_in_order",
        lambda self, B, **k: (applied.append(None), inverse(self, B, **k))[1],
    )
    cold = smallest_eigenpairs(changed.laplacian, c + 5, random_state=seed)
    n_cold = len(applied)
    warm = smallest_eigenpairs(changed.laplacian, c + 5, random_state=seed, guess=before.vectors)
    assert len(applied) - n_cold <= n_cold + 2
    assert_allclose(warm.values, cold.values, rtol=1e-5, atol=1e-12)
    assert_honest(warm, changed, 1e-5)


@pytest.mark.parametrize(
    "guess",
    [
        lambda U, rng: np.zeros_like(U),
        lambda U, rng: np.ones_like(U),
        lambda U, rng: np.repeat(U[:, 2:3], 5, axis=1),
        lambda U, rng: U[:, 0],
        lambda U, rng: 1e-200 * U,
        lambda U, rng: 1e200 * U,
        lambda U, rng: np.hstack([U] * 20),
        lambda U, rng: rng.standard_normal(U.shape),
        lambda U, rng: U[:, :0],
    ],
)
def test_a_bad_guess_does_no_harm(guess):
    graph = large("square grid")
    good = large_pairs("square grid", 6)
    pairs = smallest_eigenpairs(graph.laplacian, 6, guess=guess(good.vectors, np.random.default_rng(0)))
    assert_agrees(pairs, *spectrum(large, "square grid"), 1)
    assert_honest(pairs, graph, 1e-5)


def test_too_few_iterations_are_reported(monkeypatch):
    monkeypatch.setattr(eigensolver, "MAX_ITERATIONS", 2)
    monkeypatch.setattr(eigensolver, "ACCURATE_LIMIT", 0)
    graph = large("expander")
    with pytest.warns(ConvergenceWarning, match=r"relative residual of \S+, not the 1.0e-06 asked for"):
        pairs = smallest_eigenpairs(graph.laplacian, 8, tol=1e-6)
    assert not pairs.converged
    size = np.linalg.norm(graph.laplacian @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert_allclose(pairs.residuals[1:], size[1:] / pairs.values[1:], rtol=1e-6)
    assert pairs.residuals.max() > 1e-6
    # Ritz values are upper bounds, and the vectors are orthonormal all the same.
    assert (pairs.values >= spectrum(large, "expander")[0][:8] - 1e-12).all()
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(8), atol=1e-10)


def test_an_impossible_tolerance_is_reported_and_the_answer_still_right():
    graph = large("equal cliques")
    with pytest.warns(ConvergenceWarning):
        pairs = smallest_eigenpairs(graph.laplacian, 6, tol=1e-17)
    assert not pairs.converged
    assert_agrees(pairs, *spectrum(large, "equal cliques"), 1)


# Weights that span many digits. The number of eigenvalues below s is the number of negative pivots of L - s I
# (Sylvester's law of inertia), counted with a hundred digits: every eigenvalue must be where the count goes up.


def n_below(graph: Graph, shift: float) -> int:
    """Twin: negative pivots of L - shift I, leaves first on a tree, in decimal arithmetic."""
    n = graph.n_nodes
    with localcontext() as context:
        context.prec = 100
        rows: list[dict[int, Decimal]] = [{} for _ in range(n)]
        for p, q, w in zip(graph.heads.tolist(), graph.tails.tolist(), graph.weights.tolist(), strict=True):
            rows[p][q] = rows[q][p] = -Decimal(w)
        diagonal = [-sum(row.values(), Decimal(0)) - Decimal(shift) for row in rows]
        negative, left = 0, set(range(n))
        while left:
            k = min(left, key=lambda p: len(rows[p]))
            left.remove(k)
            negative += diagonal[k] < 0
            ties = list(rows[k].items())
            for p, a in ties:
                del rows[p][k]
                diagonal[p] -= a * a / diagonal[k]
                for q, b in ties:
                    if q != p:
                        rows[p][q] = rows[p].get(q, Decimal(0)) - a * b / diagonal[k]
    return negative


def assert_counted(graph: Graph, values: np.ndarray, rel: float) -> None:
    """Eigenvalue number j lies within `rel` of values[j]: at most j below the one end, more than j below the other."""
    for j in np.flatnonzero(values > 0):
        assert n_below(graph, values[j] * (1 - rel)) <= j < n_below(graph, values[j] * (1 + rel))


@pytest.mark.parametrize("graph", [path(16), random_tree(16), cycle(14), expander(12), complete(7), star(12)])
@pytest.mark.parametrize("decades", [6, 12, 15])
def test_dense_eigenvalues_of_wide_weights_to_ten_digits(graph, decades, seed):
    """Beyond some range no vector of doubles has a small residual, which is said; the eigenvalues are still right."""
    wide = reweighted(graph, decades, seed)
    for k in {2, wide.n_nodes // 2, wide.n_nodes}:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if decades > 6 else "error", ConvergenceWarning)
            pairs = smallest_eigenpairs(wide.laplacian, k)
        assert_counted(wide, pairs.values, 1e-10)
        assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-12)


@pytest.mark.parametrize("graph", [path(400), random_tree(400)])
def test_multilevel_eigenvalues_of_wide_weights(graph, seed):
    wide = reweighted(graph, 12, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said, and right all the same
        pairs = smallest_eigenpairs(wide.laplacian, 5, random_state=seed)
    assert_counted(wide, pairs.values, 1e-4)


@pytest.mark.parametrize("decades", [3, 6, 9, 12])
@pytest.mark.parametrize("graph", [grid(13, 13), expander(170), knn_like(180), equal_cliques(12, 14, 1e-3)])
@pytest.mark.usefixtures("_small_limits")
def test_multilevel_agrees_with_dense_on_wide_weights(graph, decades, seed):
    """The dense twin is right to ten digits, as shown above."""
    graph = reweighted(graph, decades, seed)
    c = graph.components[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pairs = smallest_eigenpairs(graph.laplacian, c + 5, random_state=seed)
    values, _ = accurate_pairs(graph.adjacency, graph.n_nodes - c)
    if pairs.converged or decades < 12:  # up to nine digits either way always right, beyond right or said not to be
        assert_allclose(pairs.values[c:], values[:5], rtol=1e-4)
    assert pairs.converged or decades > 6
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(c + 5), atol=1e-9)


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_weights_that_defeat_the_iteration_are_left_to_jacobi(draw, monkeypatch):
    """Over 49 decades rounding errors hide the small eigenvalues: LOBPCG soon gives up, and the values are right."""
    graph = expander(320, 3, draw)
    steps = np.array([1e-25, 1e-18, 1e-12, 1.0, 1e7, 1e15, 1e24])
    weights = steps[np.random.default_rng(draw).integers(len(steps), size=graph.n_edges)]
    graph = Graph(graph.n_nodes, graph.heads, graph.tails, weights)
    iterations = []
    residual = eigensolver.energy_norm
    monkeypatch.setattr("graspel.linalg.lobpcg.energy_norm", lambda *a: iterations.append(1) or residual(*a))
    values = smallest_nonzero_eigenvalues(graph.adjacency, 24, tol=1e-2, rng=np.random.default_rng(0))
    assert 0 < len(iterations) < 60
    exact, _ = accurate_pairs(graph.adjacency, 24)
    assert_allclose(values, exact, rtol=1e-6)
    monkeypatch.setattr(eigensolver, "ACCURATE_LIMIT", 0)
    with pytest.warns(ConvergenceWarning, match="use them with care"):  # where the graph is too large for Jacobi
        smallest_eigenpairs(graph.laplacian, 25, tol=1e-2, norm="energy", random_state=0)


def test_a_weak_tie_between_strong_cliques(seed):
    """lambda_2 = 2 * tie / clique to first order, twenty digits below the other eigenvalues."""
    n = 180
    cliques = union(complete(n), complete(n)).scaled(1e4).with_edges(0, n, 1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pairs = smallest_eigenpairs(cliques.laplacian, 3, random_state=seed)
    assert_allclose(pairs.values[1:], [2e-10 / n, 1e4 * n], rtol=1e-4)


@st.composite
def graphs(draw, max_nodes=12):
    n = draw(st.integers(1, max_nodes))
    weight = st.floats(-2, 2).map(lambda exponent: 10.0**exponent)
    pairs = [(p, q) for q in range(n) for p in range(q)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    heads, tails = zip(*edges, strict=True) if edges else ((), ())
    return Graph(n, heads, tails, [draw(weight) for _ in edges])


@given(graphs(), st.data())
def test_properties_of_the_spectrum(graph, data):
    """Trace, scale, names of the nodes; and one more edge lifts every eigenvalue, interlacing the old ones (Weyl)."""
    n = graph.n_nodes
    values = smallest_eigenpairs(graph.laplacian, n).values
    scale = max(values[-1], 1)
    assert_allclose(values.sum(), 2 * graph.weights.sum(), rtol=1e-9, atol=1e-12)
    assert_allclose(values, np.linalg.eigvalsh(graph.laplacian.toarray()), atol=1e-11 * scale)
    if graph.n_edges:
        assert_allclose(smallest_eigenpairs(graph.scaled(1e3).laplacian, n).values, 1e3 * values, rtol=1e-7, atol=1e-9)
    name = np.array(data.draw(st.permutations(range(n))))
    renamed = Graph(n, name[graph.heads], name[graph.tails], graph.weights)
    assert_allclose(smallest_eigenpairs(renamed.laplacian, n).values, values, atol=1e-10 * scale)
    missing = [(p, q) for p in range(n) for q in range(p + 1, n) if graph.adjacency[p, q] == 0]
    if missing:
        p, q = data.draw(st.sampled_from(missing))
        more = smallest_eigenpairs(graph.with_edges([p], [q], 0.5).laplacian, n).values
        assert (more >= values - 1e-10 * scale).all()
        assert (more[:-1] <= values[1:] + 1e-10 * scale).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
@pytest.mark.parametrize("name", ["square grid", "sparse neighbors"])
def test_the_scale_of_the_weights_does_not_matter(name, scale):
    graph = large(name)
    k = graph.components[0] + 3
    plain, scaled = smallest_eigenpairs(graph.laplacian, k), smallest_eigenpairs(graph.scaled(scale).laplacian, k)
    assert_allclose(scaled.values / scale, plain.values, rtol=1e-6)
    assert scaled.converged
    by_power_of_two = smallest_eigenpairs(graph.scaled(2.0**20).laplacian, k)
    assert_array_equal(by_power_of_two.vectors, plain.vectors)


def test_a_graph_stands_for_its_laplacian(connected_graph):
    k = min(3, connected_graph.n_nodes)
    by_graph, by_matrix = smallest_eigenpairs(connected_graph, k), smallest_eigenpairs(connected_graph.laplacian, k)
    assert_array_equal(by_graph.vectors, by_matrix.vectors)
    csgraph = sp.csgraph.laplacian(connected_graph.adjacency)
    assert_allclose(smallest_eigenpairs(csgraph, k).values, by_graph.values, rtol=1e-9, atol=1e-12)


def test_equal_cliques_and_barbells_have_their_small_eigenvalues_to_many_digits():
    """Dense path: lambda_2 far below the others must not drown in their rounding."""
    for graph in (barbell(100), equal_cliques(10, 25, 1e-7)):
        pairs = smallest_eigenpairs(graph.laplacian, 3)
        exact = accurate_pairs(graph.adjacency, graph.n_nodes - 1)[0][:2]
        assert_allclose(pairs.values[1:], exact, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_energy_norm_keeps_eigenvalues_and_distances_in_the_embedding(seed):
    """Eigenvalues within tol squared; z_emb as the graph sees it, within a few times tol."""
    X = np.random.default_rng(seed).standard_normal((1500, 3))
    graph = GRASPEL(max_iter=0, random_state=seed).fit(X).graph_
    loose = smallest_eigenpairs(graph.laplacian, 6, tol=1e-2, norm="energy", random_state=seed)
    tight = smallest_eigenpairs(graph.laplacian, 6, tol=1e-8, random_state=seed)
    assert loose.converged
    assert loose.residuals.max() <= 1.01e-2
    assert_allclose(loose.values[1:], tight.values[1:], rtol=3e-4)
    U = loose.vectors[:, 1:] / np.sqrt(loose.values[1:])
    V = tight.vectors[:, 1:] / np.sqrt(tight.values[1:])
    p, q = np.random.default_rng(seed).integers(1500, size=(2, 500))
    exact = ((V[p] - V[q]) ** 2).sum(axis=1)
    assert np.abs(((U[p] - U[q]) ** 2).sum(axis=1) - exact).max() < 0.05 * exact.max()


def test_an_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="norm='max': must be one of 'euclidean', 'energy'"):
        smallest_eigenpairs(laplacian_of(sp.csr_array(np.ones((3, 3)) - np.eye(3))), 2, norm="max")


def test_nonzero_eigenvalues_of_very_many_components_need_no_null_space():
    """100,000 pairs of nodes: the null space alone would fill 160 GB, and only the first pairs need to be solved."""
    n, w = 200_000, np.linspace(1, 2, 100_000)
    pairs = sp.coo_array((w, (np.arange(0, n, 2), np.arange(1, n, 2))), shape=(n, n)).tocsr()
    values = smallest_nonzero_eigenvalues(sp.csr_array(pairs + pairs.T), 3, tol=1e-3, rng=np.random.default_rng(0))
    assert_allclose(values, 2 * w[:3], rtol=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_nonzero_eigenvalues_of_very_many_equal_components(size, monkeypatch):
    """Of 20,000 equal components only the first few are solved: any of them will do."""
    n_solved = []
    solve = eigensolver.solve_connected
    monkeypatch.setattr(eigensolver, "solve_connected", lambda *a: n_solved.append(1) or solve(*a))
    cliques = sp.kron(sp.eye_array(20_000), np.ones((size, size)) - np.eye(size), format="csr")
    values = smallest_nonzero_eigenvalues(sp.csr_array(cliques), 3, tol=1e-3, rng=np.random.default_rng(0))
    assert_allclose(values, size)
    assert len(n_solved) <= 3


def test_vectors_of_many_components(seed):
    graph = union(*[reweighted(complete(4), 2, s) for s in range(40)], reweighted(path(20), 1, seed), path(1))
    pairs = smallest_eigenpairs(graph.laplacian, 42 + 30, random_state=seed)
    exact = np.linalg.eigvalsh(graph.laplacian.toarray())
    assert_allclose(pairs.values[42:], exact[42:72], rtol=1e-9)
    assert_allclose(graph.laplacian @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-10)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(72), atol=1e-12)
