"""The optimum over all graphs: optimality conditions, the bound, and the same answer as on all pairs at once."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform

from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from graspel.graph import grid_graph
from graspel.learning import optimal_run, run
from graspel.learning.settings import Settings
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.factor.exact_factor import EdgeResistances
from graspel.linalg.resistance import all_resistances
from graspel.neighbors.index import NeighborIndex
from graspel.optimum import columns, pricing
from graspel.optimum.columns import choose_new_edges
from graspel.optimum.gap import heaviest_forest, optimality_gap, sampled_gap
from graspel.optimum.oracles import ExactOracle
from graspel.optimum.pricing import PairDistances, Priced, price_all_pairs, price_random_nodes
from graspel.optimum.problem import WeightProblem


def blobs(seed, n=120, features=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, features)) + 4 * rng.integers(0, 3, size=(n, 1))


def all_distances(X):
    """z_data of all pairs, as a full matrix."""
    return squareform(pdist(X, "sqeuclidean")) / prepare_rows(X).spectral_norm ** 2


def all_ratios(graph, Z, sigma=np.inf, beta=0.0):
    """R / (z + 4 beta) of all pairs by the full inverse."""
    n = graph.n_nodes
    K = np.linalg.inv(graph.laplacian.toarray() + (1 / n if np.isinf(sigma) else np.eye(n) / sigma**2))
    i, j = np.triu_indices(n, 1)
    d = np.diag(K)
    return (d[i] + d[j] - 2 * K[i, j]) / (Z[i, j] + 4 * beta)


@pytest.mark.parametrize(("sigma", "beta"), [(1e3, 0.0), (1.0, 0.0), (1e3, 1e-3)])
def test_no_pair_is_farther_apart_on_the_graph_than_in_the_data(seed, sigma, beta):
    X = blobs(seed)
    model = GRASPEL(weights="optimal", sigma=sigma, beta=beta, random_state=0).fit(X)
    ratio = all_ratios(model.graph_, all_distances(X), sigma, beta)
    found = model.certificate_
    assert found.settled
    assert model.graph_.is_connected
    assert ratio.max() <= 1.001 + 1e-6
    assert_allclose(1 + found.largest_excess, max(ratio.max(), 1.0), rtol=1e-6)
    assert found.optimality_pairs == "all pairs"
    assert found.optimality_gap <= 1e-3
    assert_allclose(found.objective, model.history_[-1].objective, rtol=1e-8)


def solve_on_all_pairs(Z):
    """The optimum by one run on all pairs, to a gap that is certified below 1e-7."""
    n = len(Z)
    i, j = (ends.astype(np.int64) for ends in np.triu_indices(n, 1))
    unit = np.median(Z[i, j])
    k = Z[i, j] / unit
    problem = WeightProblem(i, j, n, k)
    found = ExactOracle(problem).maximize(np.ones(len(k)), lambda now: problem.gap(now.u, now.R) <= 1e-7, 2000)
    assert problem.gap(found.u, found.R) < 1e-6
    return found.objective - (n - 1) * np.log(unit)


def test_the_optimum_and_the_bound_are_those_of_all_pairs_at_once(seed):
    X = blobs(seed, n=60)
    best = solve_on_all_pairs(all_distances(X))
    for tol in (0.2, 1e-2, 1e-3):
        model = GRASPEL(weights="optimal", tol=tol, sigma=1e12, random_state=0).fit(X)
        for record in model.history_:
            if record.gap is not None:
                F = record.objective + 2 * np.log(1e12)  # the constant vector adds log(1/sigma^2)
                assert best >= F - 1e-6
                assert best <= F + 59 * record.gap + 1e-6
    assert_allclose(F, best, rtol=1e-4)


def test_the_rounds_raise_the_objective_and_lower_the_bound(seed):
    rounds = [
        r for r in GRASPEL(weights="optimal", random_state=seed).fit(blobs(seed, 300)).history_ if r.gap is not None
    ]
    assert all(later.objective >= earlier.objective - 1e-6 for earlier, later in pairwise(rounds))
    assert rounds[-1].gap <= 1e-3 < rounds[0].gap
    assert all(r.was_connected for r in rounds)


def test_sparse_elimination_and_threads_do_not_change_the_result():
    X = blobs(0, 500)
    graphs = [GRASPEL(weights="optimal", random_state=0, n_jobs=n).fit(X).graph_ for n in (1, 2)]
    assert graphs[0] == graphs[1]


def test_a_table_of_distances_gives_the_same_graph():
    X = blobs(0)
    graph = GRASPEL(weights="optimal", random_state=0).fit(X).graph_
    table = GRASPEL(weights="optimal", metric="precomputed", random_state=0).fit(squareform(pdist(X))).graph_
    assert_allclose(table.adjacency.toarray(), graph.adjacency.toarray(), rtol=1e-2, atol=1e-2 * graph.weights.max())


def test_every_edge_knows_its_round():
    graph = GRASPEL(weights="optimal", random_state=0).fit(blobs(1)).graph_
    added = graph.round > 1
    assert added.any()
    assert (graph.eta[added] > 1).all()
    assert (graph.gradient[added] > 0).all()


def test_a_tree_has_no_gap_and_a_scaled_tree_that_of_the_scale():
    heads, tails = np.arange(4), np.arange(1, 5)
    assert optimality_gap(5, heads, tails, np.zeros(4), slack=0.0) == 0
    # All weights halved: R = 2 k, sum w (k - R) = -2; F* - F = 4 log 2 - 2, which the scaling bound gives exactly.
    gap = optimality_gap(5, heads, tails, np.ones(4), slack=-2.0)
    assert_allclose(4 * gap, 4 * np.log(2) - 2)


def test_the_heaviest_forest_is_that_of_a_search(seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(6, 1)
    values = rng.normal(size=15)
    best, component = 0.0, list(range(6))
    for e in np.argsort(-values):
        a, b = component[i[e]], component[j[e]]
        if values[e] > 0 and a != b:
            best += values[e]
            component = [a if c == b else c for c in component]
    assert_allclose(heaviest_forest(6, i, j, values), best)


def test_edges_are_not_chosen_again():
    pairs = Priced(np.array([0, 1]), np.array([1, 2]), np.array([0.5, 0.4]), 0.0, 3)
    assert choose_new_edges(pairs, np.array([True, False]), 0.1, 3).heads.tolist() == [1]


def test_rounds_that_run_out_are_told():
    with pytest.warns(UserWarning, match="did not reach the optimum in max_iter=2"):
        GRASPEL(weights="optimal", max_iter=2, random_state=0).fit(blobs(0, 300))


def test_a_smaller_tolerance_continues_from_the_graph_found(monkeypatch, seed):
    X = blobs(seed, 400)
    counted, evaluate = [], ExactOracle.evaluate
    monkeypatch.setattr(ExactOracle, "evaluate", lambda *args: counted.append(1) or evaluate(*args))

    def fit(tol, initial="knn"):
        counted.clear()
        model = GRASPEL(weights="optimal", tol=tol, initial=initial, random_state=0).fit(X)
        assert model.certificate_.settled
        return model, len(counted)

    soon, _ = fit(0.05)
    late, n_late = fit(1e-3, soon.graph_)
    whole, n_whole = fit(1e-3)
    equal = soon.graph_.with_weights(np.ones(soon.graph_.n_edges))  # no weights of an optimum: edges only
    edges_only, n_edges_only = fit(1e-3, equal)
    assert n_late < min(n_whole, n_edges_only)
    best = max(m.certificate_.objective for m in (late, whole, edges_only))
    for model in (late, whole, edges_only):
        assert best - model.certificate_.objective <= 399 * model.certificate_.optimality_gap + 1e-6
    again, n_again = fit(1e-3, late.graph_)
    assert n_again <= 3
    assert again.history_[0].gap <= 1.1e-3


@pytest.mark.parametrize(("tol", "work"), [(1e-3, 1e13), (0.02, 1e13), (0.02, 0), (1e-3, 0)])
def test_many_points_are_searched_in_lists_first(monkeypatch, seed, tol, work):
    X = blobs(seed, 400)
    best = GRASPEL(weights="optimal", random_state=0).fit(X).certificate_.objective
    monkeypatch.setattr(columns, "ALL_PAIRS_NODES", 10)
    monkeypatch.setattr(columns, "ALL_PAIRS_WORK", work)
    for module in (columns, optimal_run):
        monkeypatch.setattr(module, "STRICT_NODES", 10)
    monkeypatch.setattr(pricing, "COLUMNS", 64)
    monkeypatch.setattr(pricing, "SAMPLED_NODES", 150)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GRASPEL(weights="optimal", tol=tol, random_state=0).fit(X)
    found = model.certificate_
    all_pairs = tol < columns.SAMPLED_TOL and work > 0
    assert found.optimality_pairs == (
        "all pairs" if all_pairs else "all pairs, estimated from those of 150 random nodes"
    )
    assert -1e-3 <= (best - found.objective) / 399 <= found.optimality_gap  # of the whole, whichever was searched
    if found.settled:
        assert found.optimality_gap <= tol
    else:
        assert work == 0
        assert any("a search of all pairs would take too long" in str(w.message) for w in caught)


@pytest.mark.parametrize(("sigma", "beta"), [(1e3, 0.0), (1.0, 1e-2)])
def test_pairs_of_random_nodes_are_those_of_all_pairs(monkeypatch, seed, sigma, beta):
    X = blobs(seed, 300)
    model = GRASPEL(weights="optimal", max_iter=1, sigma=sigma, beta=beta, random_state=0)
    with pytest.warns(UserWarning, match="max_iter=1"):
        graph = model.fit(X).graph_
    points = model.index_.points
    data = PairDistances(points, 0.0, beta, 1.0)
    factor = EdgeResistances(graph.heads, graph.tails, 300, 1 / sigma**2).factor(graph.weights)
    whole = price_all_pairs(data, factor)
    whole = whole.at(whole.excess > 1e-6)  # rounding decides on which side of zero the edges are
    for size in (40, 1024):  # blocks of nodes, and all nodes
        monkeypatch.setattr(pricing, "COLUMNS", size)
        for n_nodes in (100, 300):
            monkeypatch.setattr(pricing, "SAMPLED_NODES", n_nodes)
            part, largest = price_random_nodes(data, factor, np.random.default_rng(seed))
            nodes = np.random.default_rng(seed).permutation(300)[:n_nodes]
            part = part.at(part.excess > 1e-6)
            expected = whole.at(np.isin(whole.heads, nodes) | np.isin(whole.tails, nodes))
            order = np.lexsort((expected.tails, expected.heads))
            assert_array_equal(part.heads, expected.heads[order])
            assert_array_equal(part.tails, expected.tails[order])
            assert_allclose(part.excess, expected.excess[order], rtol=1e-6, atol=1e-9)
            of_node = [expected.excess[(expected.heads == p) | (expected.tails == p)].max(initial=0.0) for p in nodes]
            assert_allclose(largest, of_node, rtol=1e-6, atol=1e-6)


def test_the_estimated_bound_is_no_less_than_that_of_trees(seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(30, 1)
    excess = rng.normal(size=len(i)) - 1
    largest = np.zeros(30)
    np.maximum.at(largest, i, excess)
    np.maximum.at(largest, j, excess)
    tree = optimality_gap(30, i, j, excess, 0.0, ground=1.0)
    assert tree <= sampled_gap(30, largest, 0.0)
    drawn = [sampled_gap(30, rng.permutation(largest)[:20], 0.0) for _ in range(200)]
    assert np.mean(np.array(drawn) >= sampled_gap(30, largest, 0.0)) > 0.9  # two standard errors above the mean


def estimated(monkeypatch, X, finish_work=0, **parameters):
    """Fit by estimates, as very large data are."""
    monkeypatch.setattr(columns, "OPTIMUM_WORK", 0)
    monkeypatch.setattr(columns, "BOUND_BATCHES", 16)
    monkeypatch.setattr(columns, "FINISH_WORK", finish_work)
    for module in (columns, optimal_run):
        monkeypatch.setattr(module, "STRICT_NODES", 10)
    return GRASPEL(weights="optimal", random_state=0, **parameters).fit(X)


def test_estimates_come_near_the_optimum_and_their_bound_holds(monkeypatch, seed):
    X = blobs(seed, 150)
    best = GRASPEL(weights="optimal", random_state=0).fit(X).certificate_.objective
    model = estimated(monkeypatch, X)
    found = model.certificate_
    lost = (best - found.objective) / 149  # both objectives are exact for so few points
    assert 0 <= lost <= 3e-3
    assert lost <= found.optimality_gap <= 0.1
    assert "R estimated to" in found.optimality_pairs
    assert model.graph_.is_connected
    assert found.settled


def test_exact_finish_of_estimates_reaches_the_optimum(monkeypatch, seed):
    X = blobs(seed, 150)
    best = GRASPEL(weights="optimal", random_state=0).fit(X).certificate_.objective
    model = estimated(monkeypatch, X, finish_work=1e9)
    found = model.certificate_
    lost = (best - found.objective) / 149
    assert -1e-5 <= lost <= found.optimality_gap <= 1e-3
    assert "estimated" not in found.optimality_pairs
    assert found.objective_error == 0
    assert found.settled
    assert model.graph_.weights.min() > 0


@pytest.mark.parametrize("n", [2, 3, 40, 400])
@pytest.mark.long_seeds
def test_measures_of_the_elimination_are_those_of_the_full_inverse(seed, n):
    """lambda_2, R between nodes and F, from one factor; 400 nodes are eliminated, fewer are all core."""
    X = blobs(seed, n)
    learned = run.run(
        NeighborIndex(X, random_state=0), Settings(n_neighbors=1, weights="optimal"), np.random.default_rng(0)
    )
    exact, graph = learned.exact, learned.graph
    L = graph.laplacian.toarray()
    nodes = np.random.default_rng(seed).permutation(n)[:20]
    K = np.linalg.pinv(L)
    d = np.diag(K)
    assert_allclose(
        exact.resistance_between(nodes), (d[:, None] + d - 2 * K)[np.ix_(nodes, nodes)], rtol=1e-6, atol=1e-9
    )
    assert_allclose(exact.smallest_eigenvalue(np.random.default_rng(0)), np.linalg.eigvalsh(L)[1], rtol=1e-5)
    F = np.linalg.slogdet(L + np.eye(n) * 1e-6)[1] - graph.weights @ all_distances(X)[graph.heads, graph.tails]
    assert_allclose(exact.objective, F, rtol=1e-6)


@pytest.mark.parametrize("sigma", [1e-4, 1e-2, 1.0])
def test_lambda_2_is_that_of_the_graph_where_the_ground_is_far_larger(seed, sigma):
    model = GRASPEL(weights="optimal", sigma=sigma, random_state=0).fit(blobs(seed))
    values = smallest_eigenpairs(model.graph_, 2).values  # weights span more digits than eigvalsh keeps
    assert_allclose(model.certificate_.lambda_2, values[1], rtol=1e-4)


@pytest.mark.parametrize("n", [20, 150])
def test_points_equally_far_from_each_other_get_all_edges(n):
    """The optimum is the complete graph with equal weights, w = 2 / (n k)."""
    model = GRASPEL(weights="optimal", sigma=1e9, random_state=0).fit(np.eye(n))
    assert model.certificate_.settled
    assert model.n_iter_ <= 15
    assert model.graph_.n_edges == n * (n - 1) / 2
    k = all_distances(np.eye(n))[0, 1]
    assert_allclose(model.graph_.weights, 2 / (n * k), rtol=0.2)


def test_an_optimum_with_too_many_edges_is_given_up_early_and_why(monkeypatch):
    monkeypatch.setattr(columns, "MOST_DENSITY", 8)
    with pytest.warns(UserWarning, match="many points are equally far from each other"):
        model = GRASPEL(weights="optimal", random_state=0).fit(np.eye(80))
    assert model.graph_.is_connected
    assert model.graph_.density <= 8
    assert not model.certificate_.settled


@pytest.mark.parametrize("ratio", [1e5, 1e7])
def test_clusters_much_narrower_than_their_distance_settle(ratio):
    """R inside of a cluster is 1e-14 of that between clusters: differences of the inverse lose all its digits."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(15, 4)), 4, axis=0) + rng.normal(size=(60, 4)) / ratio
    model = GRASPEL(weights="optimal", sigma=1e9, random_state=0).fit(X)
    assert model.certificate_.settled
    R = all_resistances(model.graph_.adjacency)[np.triu_indices(60, 1)]
    ratios = R / squareform(all_distances(X))
    assert ratios.max() <= 1.002


def test_estimates_do_not_depend_on_threads(monkeypatch):
    X = blobs(0, 200)
    monkeypatch.setattr(columns, "N_ESTIMATED", 1)
    assert estimated(monkeypatch, X, n_jobs=1).graph_ == estimated(monkeypatch, X, n_jobs=2).graph_


def test_estimates_need_a_large_sigma(monkeypatch):
    with pytest.raises(ValueError, match="Take a larger sigma"):
        estimated(monkeypatch, blobs(0, 200), sigma=1.0)


def test_ground_of_any_size_is_exact(seed):
    """The light edges of the ground beside heavy ones, against the full inverse."""
    grid = grid_graph(6, 6)
    w = np.exp(np.random.default_rng(seed).normal(size=grid.n_edges))
    L = grid.with_weights(w).laplacian.toarray()
    values, vectors = np.linalg.eigh(L)
    values[0] = 0.0
    for ground in (1e-18, 1e-6, 1.0):
        logdet, R = EdgeResistances(grid.heads, grid.tails, 36, ground)(w)
        inverse = 1 / (values + ground)
        b = vectors[grid.heads, 1:] - vectors[grid.tails, 1:]
        assert_allclose(R, (b**2) @ inverse[1:], rtol=1e-9)
        assert_allclose(logdet, np.log(values + ground).sum(), rtol=1e-9)
