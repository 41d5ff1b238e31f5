"""What must hold, 2: the theory of the paper, and what the method must not depend on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import toy_graphs
from graspel import GRASPEL, Graph, Origin
from graspel.data.prepare import prepare_rows
from graspel.learning import embed
from graspel.learning.candidates import CANDIDATES
from graspel.learning.embed import spectral_embedding
from graspel.learning.objective import calibrate, objective
from graspel.linalg import smallest_eigenpairs
from twins import laplacian, pairs_of, resistances, z_data

pytestmark = pytest.mark.filterwarnings("ignore:GRASPEL did not settle:sklearn.exceptions.ConvergenceWarning")

STEADY = {"tol": 2.0, "max_iter": 10, "random_state": 0}
BOTH_CANDIDATES = pytest.mark.parametrize("candidates", ["fiedler", "clusters"])


def points(seed: int, n: int = 120, m: int = 5) -> np.ndarray:
    """Generic points, no two distances equal: a few clusters of unequal size along a curve."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.random(n)) * 3
    curve = np.column_stack([np.cos(t), np.sin(t), t**2, *rng.standard_normal((m - 3, n))])
    return 4 * curve + rng.standard_normal((n, m)) + 6 * rng.standard_normal((4, m))[rng.integers(4, size=n)]


@cache
def learned_graph(seed: int, candidates: str) -> Graph:
    """The graph that changed data are compared with."""
    graph = GRASPEL(candidates=candidates, **STEADY).fit(points(seed)).graph_
    assert (graph.origin == Origin.CRITICAL).any()
    return graph


@pytest.mark.parametrize("pair", [(0, 9), (2, 7), (0, 5)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_adding_an_edge_moves_every_eigenvalue_as_theorem_1_says(pair, k):
    graph, w = toy_graphs.path(10), 1e-7
    before, after = (np.linalg.eigh(laplacian(g)) for g in (graph, graph.with_edges(*pair, w)))
    u = before.eigenvectors[:, k]
    shift = w * (u[pair[0]] - u[pair[1]]) ** 2
    assert after.eigenvalues[k] - before.eigenvalues[k] == pytest.approx(shift, rel=1e-4, abs=1e-13)


def test_theorem_1_on_learned_graphs(seed):
    """The same for our own eigenpairs, on the edges that a round would add."""
    graph = GRASPEL(max_iter=3, tol=1e-9, random_state=0).fit(points(seed)).graph_
    chosen = graph.origin == Origin.CRITICAL
    pairs = smallest_eigenpairs(graph.laplacian, 4, tol=1e-10)
    for p, q in zip(graph.heads[chosen], graph.tails[chosen], strict=True):
        w = 1e-6 * pairs.values[1]
        at = (graph.heads == p) & (graph.tails == q)
        moved = smallest_eigenpairs(graph.with_weights(graph.weights + w * at).laplacian, 4, tol=1e-10)
        shift = w * (pairs.vectors[p, 1:] - pairs.vectors[q, 1:]) ** 2
        assert moved.values[1:] - pairs.values[1:] == pytest.approx(shift, rel=1e-2, abs=1e-10 * pairs.values[1])


def test_z_emb_with_all_eigenvectors_is_effective_resistance(connected_graph, seed):
    embedding = spectral_embedding(connected_graph, connected_graph.n_nodes, 1e8, np.random.default_rng(seed))
    p, q = np.triu_indices(connected_graph.n_nodes, 1)
    assert embedding.squared_distances(p, q) == pytest.approx(resistances(connected_graph)[p, q], rel=1e-6)


def test_z_emb_grows_to_effective_resistance_from_below(seed, monkeypatch):
    monkeypatch.setattr(embed, "TOL", 1e-12)
    graph = GRASPEL(max_iter=2, random_state=0, tol=1e9).fit(points(seed, 60)).graph_
    p, q = np.triu_indices(60, 1)
    R, last = resistances(graph)[p, q], np.zeros(len(p))
    for r in (1, 3, 10, 30, 59):
        z_emb = spectral_embedding(graph, r, 1e6, np.random.default_rng(0)).squared_distances(p, q)
        assert (z_emb >= last - 1e-9 * R).all()
        assert (z_emb <= R * (1 + 1e-6)).all()
        last = z_emb
    assert last == pytest.approx(R, rel=1e-6)


def test_eta_of_edges_tends_to_the_leverage_score(seed):
    """With w = 1/z and all eigenvectors, eta = z_emb / z = w R, and its sum over the edges is N - 1 (Foster)."""
    X = points(seed, 80)
    graph = GRASPEL(3, max_iter=0, random_state=0).fit(X).graph_
    z = prepare_rows(X).squared_distances(graph.heads, graph.tails)
    graph = graph.with_weights(1 / z)
    embedding = spectral_embedding(graph, 79, 1e9, np.random.default_rng(0))
    eta = embedding.squared_distances(graph.heads, graph.tails) / z
    assert eta == pytest.approx(graph.weights * resistances(graph)[graph.heads, graph.tails], rel=1e-6)
    assert eta.sum() == pytest.approx(79, rel=1e-6)
    assert (eta <= 1 + 1e-6).all()


@pytest.mark.parametrize("beta", [0.0, 0.01, 1.0])
def test_calibration_maximizes_the_objective_over_all_scales(connected_graph, seed, beta):
    z = np.random.default_rng(seed).uniform(0.1, 10, connected_graph.n_edges)
    best = calibrate(connected_graph, z, beta)

    def F(graph: Graph) -> float:
        return objective(graph, z, sigma=1e6, beta=beta)[0]

    assert F(best) >= F(connected_graph) - 1e-9
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert F(best) > F(best.scaled(factor))


@BOTH_CANDIDATES
def test_the_learned_graph_is_calibrated(seed, candidates):
    X = points(seed)
    graph = GRASPEL(candidates=candidates, random_state=0).fit(X).graph_
    z = prepare_rows(X).squared_distances(graph.heads, graph.tails)
    assert graph.weights @ z == pytest.approx(len(X) - 1)
    R = resistances(graph)[graph.heads, graph.tails]
    assert graph.weights @ R == pytest.approx(len(X) - 1)  # Foster: on average resistance is z


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_on_the_calibrated_tree_resistance_is_z_on_every_edge(seed, metric):
    X = points(seed)
    graph = GRASPEL(initial="mst", metric=metric, max_iter=0, random_state=0).fit(X).graph_
    Y = X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X
    z = z_data(Y)[graph.heads, graph.tails]
    assert graph.weights == pytest.approx(1 / z, rel=1e-6)
    assert resistances(graph)[graph.heads, graph.tails] == pytest.approx(z, rel=1e-6)


def test_no_change_of_one_weight_improves_the_calibrated_tree(seed):
    X = points(seed, 40)
    graph = GRASPEL(initial="mst", max_iter=0, random_state=0).fit(X).graph_
    z = z_data(X)[graph.heads, graph.tails]
    F = objective(graph, z, sigma=1e7, beta=0.0)[0]
    for edge in range(graph.n_edges):
        for factor in (0.8, 1.25):
            changed = graph.with_weights(np.where(np.arange(graph.n_edges) == edge, factor, 1.0) * graph.weights)
            assert objective(changed, z, sigma=1e7, beta=0.0)[0] < F


def test_where_the_default_stops_no_candidate_raises_the_objective(seed):
    """At the calibrated scale F's gradient in a new weight, by the Fiedler vector alone, is nowhere positive."""
    X = points(seed)
    model = GRASPEL(random_state=0).fit(X)
    assert model.certificate_.settled
    assert model.n_iter_ > 1
    embedding = spectral_embedding(model.graph_, 1, 1e9, np.random.default_rng(0))
    (block,) = CANDIDATES["fiedler"].blocks(embedding, 0.05, np.random.default_rng(0))
    new = [(p, q) for p in block.left for q in block.right if (min(p, q), max(p, q)) not in pairs_of(model.graph_)]
    p, q = np.array(new).T
    assert (embedding.squared_distances(p, q) <= z_data(X)[p, q] * (1 + 1e-6)).all()


@BOTH_CANDIDATES
def test_the_order_of_the_points_does_not_matter(seed, candidates):
    X = points(seed, 200)
    order = np.random.default_rng(seed + 100).permutation(len(X))
    settings = {"candidates": candidates, "edge_ratio": 0.02, "tol": 5.0, "max_iter": 30, "random_state": 0}
    one, other = GRASPEL(**settings).fit(X), GRASPEL(**settings).fit(X[order])
    assert one.n_iter_ == other.n_iter_ > 2
    mapped = Graph(len(X), order[other.graph_.heads], order[other.graph_.tails], other.graph_.weights,
                   origin=other.graph_.origin, round=other.graph_.round)  # fmt: skip
    assert pairs_of(mapped) == pairs_of(one.graph_)
    assert mapped.weights == pytest.approx(one.graph_.weights, rel=1e-9)
    assert (mapped.origin == one.graph_.origin).all()
    assert (mapped.round == one.graph_.round).all()
    assert one.certificate_.objective == pytest.approx(other.certificate_.objective, rel=1e-9)


@pytest.mark.parametrize("factor", [2.0**-40, 0.5, 2.0**30])
@BOTH_CANDIDATES
def test_a_power_of_two_does_not_change_one_bit(factor, candidates):
    scaled = GRASPEL(candidates=candidates, **STEADY).fit(points(0) * factor)
    assert scaled.graph_ == learned_graph(0, candidates)


@pytest.mark.parametrize("change", [lambda X: 3.7 * X, lambda X: X / 1e9, lambda X: X + 25.0, lambda X: 1e5 - X])
@BOTH_CANDIDATES
def test_scale_and_position_of_the_data_do_not_matter(seed, candidates, change):
    one = learned_graph(seed, candidates)
    other = GRASPEL(candidates=candidates, **STEADY).fit(change(points(seed))).graph_
    assert pairs_of(one) == pairs_of(other)
    assert other.weights == pytest.approx(one.weights, rel=1e-6)
    assert (one.round == other.round).all()


def test_rotating_the_data_does_not_matter(seed):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))[0]
    one, other = learned_graph(seed, "fiedler"), GRASPEL(**STEADY).fit(points(seed) @ Q).graph_
    assert pairs_of(one) == pairs_of(other)
    assert other.weights == pytest.approx(one.weights, rel=1e-6)
