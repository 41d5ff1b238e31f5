"""GraspelRecovery: it finds known graphs, and errors are clear."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from graspel import Graph, GraspelRecovery
from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from graspel.linalg import effective_resistance
from graspel.metrics import edge_scores
from graspel.recovery import estimate_noise
from graspel.recovery.all_pairs import count_strong
from graspel.recovery.pruning import removal_loss
from reproduction.random_graphs import (
    erdos_renyi_graph,
    gaussian_graph,
    preferential_attachment_graph,
    stochastic_block_graph,
)

KINDS = {
    "gaussian": lambda seed: gaussian_graph(20, random_state=seed),
    "er": lambda seed: erdos_renyi_graph(20, 0.2, random_state=seed),
    "tree": lambda seed: preferential_attachment_graph(20, random_state=seed),
    "grid": lambda seed: grid_graph(4, 5),
    "blocks": lambda seed: stochastic_block_graph([10, 10], 0.5, 0.1, random_state=seed),
}


@pytest.mark.long
def test_a_million_signals_without_noise_give_the_weights_back():
    truth = erdos_renyi_graph(12, 0.35, random_state=1)
    truth = truth.with_weights(np.random.default_rng(0).uniform(0.3, 2, truth.n_edges))
    truth = truth.scaled(12 / truth.degrees.sum())
    X = smooth_signals(truth, 1_000_000, noise=0.0, random_state=2)
    graph = GraspelRecovery().fit(X).graph_
    assert edge_scores(truth, graph).f_measure == 1.0
    assert_allclose(graph.weights, truth.weights, rtol=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_with_many_noisy_signals_nearly_all_edges_are_right(kind):
    scores = []
    for seed in range(3):
        truth = KINDS[kind](seed)
        X = smooth_signals(truth, 2000, noise=0.5, random_state=seed)
        scores.append(edge_scores(truth, GraspelRecovery().fit(X).graph_).f_measure)
    assert np.mean(scores) > 0.95


@pytest.mark.parametrize(("kind", "wanted_f", "wanted_nmi"), [("gaussian", 0.83, 0.5), ("er", 0.74, 0.4)])
def test_the_protocol_of_the_paper(kind, wanted_f, wanted_nmi):
    scores = []
    for seed in range(5):
        truth = KINDS[kind](seed)
        X = smooth_signals(truth, 100, noise=0.5, random_state=seed + 50)
        model = GraspelRecovery().fit(X)
        assert model.certificate_.support_gap <= 1e-3
        assert model.graph_.is_connected
        scores.append(edge_scores(truth, model.graph_))
    assert np.mean([score.f_measure for score in scores]) > wanted_f - 0.03  # five graphs, not twenty
    assert np.mean([score.nmi for score in scores]) > wanted_nmi - 0.05


def test_resistance_is_the_distance_of_the_signals():
    """There is no noise, and there are so many signals that the ridge is negligible."""
    truth = grid_graph(3, 4)
    X = smooth_signals(truth, 200_000, noise=0.0, random_state=0)
    graph = GraspelRecovery(noise=0).fit(X).graph_
    z = ((X[graph.heads] - X[graph.tails]) ** 2).mean(axis=1)
    assert_allclose(effective_resistance(graph).values, z, rtol=5e-3)


def test_weights_have_the_units_of_the_signals():
    X = smooth_signals(grid_graph(4, 4), 300, noise=0.3, random_state=0)
    small, large = GraspelRecovery().fit(X), GraspelRecovery().fit(1000 * X)
    assert_allclose(large.graph_.weights * 1e6, small.graph_.weights, rtol=1e-6)
    assert_allclose(large.noise_, 1000 * small.noise_)


@pytest.mark.parametrize("all_pairs", [True, False])
def test_same_signals_same_graph(all_pairs):
    X = smooth_signals(grid_graph(5, 6), 200, noise=0.5, random_state=0)
    first, second = (GraspelRecovery(all_pairs=all_pairs, random_state=3).fit(X).graph_ for _ in range(2))
    assert first == second


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.long_seeds
def test_large_graphs_are_recovered_from_the_learners_edges(seed):
    truth = grid_graph(10, 12)
    X = smooth_signals(truth, 500, noise=0.5, random_state=seed)
    model = GraspelRecovery(random_state=0).fit(X)
    assert model.certificate_.exact
    assert model.certificate_.support_gap <= 1e-3
    assert model.graph_.is_connected
    assert edge_scores(truth, model.graph_).f_measure > 0.9


def test_many_signals_leave_no_edges_that_would_vanish():
    truth = grid_graph(15, 15)
    scores = []
    for n_signals in (200, 2000):
        X = smooth_signals(truth, n_signals, noise=0.5, random_state=0)
        scores.append(edge_scores(truth, GraspelRecovery(random_state=0).fit(X).graph_).f_measure)
    assert 0.9 < scores[0] < scores[1]


def test_few_signals_of_a_sparse_graph_bring_fewer_edges_by_chance():
    truth = Graph(50, np.arange(50), (np.arange(50) + 1) % 50, 1.0)
    gains = []
    for seed in range(4):
        X = smooth_signals(truth, 20, noise=0.3, random_state=seed)
        every, learned, default = (GraspelRecovery(all_pairs=way, random_state=0).fit(X) for way in (True, False, None))
        is_learned = learned.graph_.n_edges < 0.7 * every.graph_.n_edges
        assert default.graph_ == (learned if is_learned else every).graph_
        assert default.path_ == (learned if is_learned else every).path_
        gains.append(edge_scores(truth, default.graph_).f_measure - edge_scores(truth, every.graph_).f_measure)
    assert min(gains) >= 0
    assert np.mean(gains) > 0.05
    enough = smooth_signals(truth, 500, noise=0.3, random_state=0)
    every, default = (GraspelRecovery(all_pairs=way, random_state=0).fit(enough) for way in (True, None))
    assert default.graph_ == every.graph_


def test_a_large_graph_stays_connected():
    """Of two edges that connect two components, either may be removed alone, but not both."""
    truth = erdos_renyi_graph(300, 0.03, random_state=0)
    X = smooth_signals(truth, 60, noise=0.5, random_state=1)
    assert GraspelRecovery(n_neighbors=8, random_state=0).fit(X).graph_.is_connected


def test_an_edge_of_leverage_zero_is_removed_without_loss():
    assert removal_loss(np.array([0.0]))[0] == 0
    assert (np.diff(removal_loss(np.linspace(0.0, 0.9, 9))) > 0).all()


def test_strong_weights_are_counted():
    rng = np.random.default_rng(0)
    weights = np.concatenate([rng.uniform(0.8, 1, 30), rng.uniform(0, 0.1, 160)])
    assert count_strong(rng.permutation(weights)) == 30


def test_it_is_an_estimator():
    model = GraspelRecovery(noise=0.3, criterion="aic")
    assert clone(model).get_params() == model.get_params()


def test_aic_keeps_no_fewer_edges_than_bic():
    X = smooth_signals(KINDS["er"](0), 300, noise=0.5, random_state=0)
    assert GraspelRecovery(criterion="aic").fit(X).graph_.n_edges >= GraspelRecovery().fit(X).graph_.n_edges


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0], [2.0], [3.0]], "at least 2 signals"),
        (np.ones((5, 8)), "same value in all signals"),
        (np.outer(np.arange(5.0), np.ones(8)), "same value in all signals"),
        (np.tile(np.arange(8.0), (5, 1)), "all nodes have the same signals"),
    ],
)
def test_signals_without_information_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        GraspelRecovery().fit(X)


@pytest.mark.parametrize("all_pairs", [True, False])
def test_duplicate_nodes_are_joined_by_a_heavy_edge(all_pairs):
    X = smooth_signals(grid_graph(3, 4), 200, noise=0.0, random_state=0)
    X = np.vstack([X, X[0]])
    graph = GraspelRecovery(noise=0, all_pairs=all_pairs, n_neighbors=3, random_state=0).fit(X).graph_
    assert np.isfinite(graph.weights).all()
    assert graph.is_connected
    assert graph.adjacency[0, 12] == graph.weights.max()


def test_two_nodes():
    X = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, -1.0]])
    assert GraspelRecovery().fit(X).graph_.n_edges == 1


def test_signals_of_a_graph_of_two_components_give_a_connected_graph():
    """No connected graph fits such signals, so few edges are right; but the graph is defined, and can be scored."""
    truth = Graph(8, [0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 7], 1.0)
    X = smooth_signals(truth, 500, noise=0.1, random_state=0)
    graph = GraspelRecovery().fit(X).graph_
    assert graph.is_connected
    assert np.isfinite(graph.weights).all()
    assert 0 < edge_scores(truth, graph).f_measure <= 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": -1}, "noise=-1"),
        ({"noise": "loud"}, "noise='loud'"),
        ({"criterion": "cic"}, "criterion"),
        ({"all_pairs": 3}, "all_pairs"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 12, "all_pairs": False}, "n_neighbors=12"),
        ({"tol": 0}, "tol"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        GraspelRecovery(**parameters).fit(smooth_signals(grid_graph(3, 4), 20, random_state=0))


# --- hostile signals


def noisy_grid(seed: int) -> np.ndarray:
    return smooth_signals(grid_graph(4, 4), 300, noise=0.3, random_state=seed)


def check_recovered(model: GraspelRecovery, n_nodes: int) -> None:
    assert model.graph_.n_nodes == n_nodes
    assert model.graph_.is_connected
    assert np.isfinite(model.graph_.weights).all()
    assert (model.graph_.weights > 0).all()
    assert np.isfinite(model.noise_)


@pytest.mark.filterwarnings("ignore:row .* of X lies")
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("all_pairs", [True, False])
@pytest.mark.parametrize("factor", [1e3, 1e5, 1e9, 1e37, 1e300])
@pytest.mark.long_seeds
def test_one_row_far_larger_than_all_others(factor, all_pairs, seed):
    X = noisy_grid(seed)
    X[seed] *= factor
    model = GraspelRecovery(all_pairs=all_pairs, random_state=seed).fit(X)
    check_recovered(model, 16)
    # Edges that the node does not take part in do not depend on how far out it lies.
    X[seed] /= factor / 1e5
    near = GraspelRecovery(all_pairs=all_pairs, random_state=seed).fit(X).graph_
    if factor >= 1e5:
        others = [
            {(p, q) for p, q in zip(g.heads.tolist(), g.tails.tolist(), strict=True) if seed not in (p, q)}
            for g in (model.graph_, near)
        ]
        assert len(others[0] ^ others[1]) <= 0.1 * len(others[1])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("exponent", [-440, -100, -30, 30, 100, 440])
@pytest.mark.long_seeds
def test_the_unit_of_the_signals_only_scales_weights_and_noise(exponent, seed):
    X = noisy_grid(seed)
    plain = GraspelRecovery(random_state=seed).fit(X)
    scaled = GraspelRecovery(random_state=seed).fit(X * 2.0**exponent)
    assert_array_equal(scaled.graph_.heads, plain.graph_.heads)
    assert_array_equal(scaled.graph_.tails, plain.graph_.tails)
    assert_allclose(np.ldexp(scaled.graph_.weights, 2 * exponent), plain.graph_.weights, rtol=1e-6)
    assert np.ldexp(scaled.noise_, -exponent) == pytest.approx(plain.noise_)
    assert np.ldexp(estimate_noise(X * 2.0**exponent), -exponent) == pytest.approx(plain.noise_)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_signals_whose_weights_no_double_can_hold_are_refused(scale):
    with pytest.raises(ValueError, match=r"between 1e-140 and 1e\+140.* Multiply X by"):
        GraspelRecovery().fit(noisy_grid(0) * scale)


def test_noise_above_the_signals_is_refused():
    with pytest.raises(ValueError, match=r"noise=0\.5: must be at most .*, 3 times the standard deviation"):
        GraspelRecovery(noise=0.5).fit(noisy_grid(0) * 1e-6)


@pytest.mark.filterwarnings("ignore:row .* of X lies")
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("all_pairs", [True, False])
@pytest.mark.parametrize("trouble", ["columns", "fill value", "copies", "near copies", "offset", "integers"])
def test_signals_with_the_troubles_of_real_files(trouble, all_pairs, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 2 + seed))
    if trouble == "columns":
        X[:, 0] *= 1e-42
    elif trouble == "fill value":
        X[3, 1] = np.finfo(float).max
    elif trouble == "copies":
        X[2:10] = X[0]
    elif trouble == "near copies":
        X[2:10] = X[0] + 1e-12 * rng.standard_normal((8, X.shape[1]))
    elif trouble == "offset":
        X[:, 0] += 1e8
    else:
        X = rng.integers(0, 3, size=X.shape)
    check_recovered(GraspelRecovery(all_pairs=all_pairs, n_neighbors=3, random_state=seed).fit(X), 12)


def test_signals_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match="X has differences of about"):
        GraspelRecovery().fit(np.array([[0.4, 0.0], [0.0, 0.0], [2.3e-308, 0.0]]))


def test_columns_of_very_different_scale_come_to_an_end():
    with pytest.raises(ValueError, match="X has differences of about"):
        GraspelRecovery().fit(np.random.default_rng(0).standard_normal((12, 2)) * [1e218, 1e260])
