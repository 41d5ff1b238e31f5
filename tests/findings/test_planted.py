"""Planted truth: findings name the features, outliers, wrong labels, copies and bridges that were planted."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from graspel import GRASPEL, Graph, NeighborIndex
from graspel.findings import (
    find_bridges,
    find_copies,
    find_cut_points,
    find_doubtful_labels,
    find_effects,
    find_outliers,
    near_points,
    near_points_of_graph,
)
from graspel.findings.doubtful_labels import PENALTY, _predict_left_out
from graspel.findings.effects import measure_means

# --- features --------------------------------------------------------------------------------------------------------


def planted_table(seed, n_groups=6, n_features=20, heavy=False):
    """Points in groups; group k differs in feature f_k alone, and every feature has a unit of its own."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups), 60)
    noise = rng.standard_t(4, (len(y), n_features)) if heavy else rng.standard_normal((len(y), n_features))
    chosen = rng.permutation(n_features)[:n_groups]
    noise[np.arange(len(y)), chosen[y]] += rng.choice([-1, 1], n_groups)[y] * 12.0
    units = 10.0 ** rng.uniform(-3, 3, n_features)
    return noise, noise * units + 5 * units, y, chosen


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.long_seeds
def test_the_feature_that_sets_a_group_apart_comes_first_in_any_unit(seed, heavy):
    X, in_units, y, chosen = planted_table(seed, heavy=heavy)
    for values in (X, in_units):
        effects = find_effects(measure_means(values, y, len(chosen)), 1)
        assert effects["group"].tolist() == list(range(len(chosen)))
        assert effects["feature"].tolist() == chosen.tolist()


def test_effects_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 7)) * 10.0 ** rng.integers(-3, 4, 7) + 1e4
    groups = rng.integers(0, 3, 90)
    dense, sparse = measure_means(X, groups, 3), measure_means(sp.csr_array(X - 1e4), groups, 3)
    for k in range(3):
        inside, outside = X[groups == k], X[groups != k]
        scatter = sum(((side - side.mean(axis=0)) ** 2).sum(axis=0) for side in (inside, outside))
        d = (inside.mean(axis=0) - outside.mean(axis=0)) / np.sqrt(scatter / 88)
        assert np.allclose(dense.effect[k], d, rtol=1e-6)
        assert np.allclose(sparse.effect[k], d, rtol=1e-6)
        assert np.allclose(dense.inside[k], inside.mean(axis=0))


def test_constant_features_have_no_effect_and_perfect_ones_the_largest():
    X = np.column_stack([np.full(20, 0.1), np.repeat([0.0, 1.0], 10), np.tile([0.0, 1.0], 10)])
    effects = measure_means(X, np.repeat([0, 1], 10), 2)
    assert find_effects(effects, 3)["feature"].tolist() == [1, 1]
    assert np.isfinite(effects.effect).all()


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    index = NeighborIndex(X, random_state=0)
    return X, y, GRASPEL(random_state=0).fit(index), near_points(index)


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.long_seeds
def test_flipped_labels_come_first(digits, seed, with_data):
    _, y, model, near = digits
    rng = np.random.default_rng(seed)
    flipped = rng.choice(len(y), round(0.02 * len(y)), replace=False)
    given = y.copy()
    given[flipped] = (given[flipped] + rng.integers(1, 10, len(flipped))) % 10
    found = find_doubtful_labels(near if with_data else near_points_of_graph(model.graph_), model.graph_, given)
    assert np.isin(flipped, found["point"][: int(0.03 * len(y))]).mean() >= 0.9  # 0.8 is wanted
    is_flipped = np.isin(found["point"], flipped)
    assert (found["suggested"] == y[found["point"]])[is_flipped].mean() >= 0.9
    assert (np.diff(found["score"]) <= 0).all()
    assert -1 - 1e-9 <= found["score"].min() <= found["score"].max() <= 1 + 1e-9


def test_a_doubtful_label_has_a_witness(digits):
    _, y, model, near = digits
    found = find_doubtful_labels(near, model.graph_, y)
    doubtful = found.take(found["score"] > 0)
    assert len(doubtful)
    assert (given := y[doubtful["witness"]]).tolist() == doubtful["suggested"].tolist()
    assert (given != doubtful["label"]).all()
    assert np.allclose(doubtful["suggested_share"] - doubtful["own_share"], doubtful["score"])
    linked = (near.pattern + near.pattern.T + model.graph_.adjacency).astype(bool)
    assert all(linked[p, q] for p, q in zip(doubtful["point"], doubtful["witness"], strict=True))


def test_the_votes_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 4, 60)
    model = GRASPEL(max_iter=0, random_state=0).fit(index := NeighborIndex(X))
    near = near_points(index)
    m, D, pattern = near.mean_distances(), near.D.toarray(), near.pattern.toarray() > 0
    W = np.where(pattern, np.exp(-(D**2) / np.outer(m, m)), 0.0)
    W = np.maximum(np.maximum(W, W.T), np.where(model.graph_.adjacency.toarray() > 0, np.exp(-1), 0.0))
    credit = np.array([W[i][y == y[i]].sum() / W[i].sum() for i in range(60)]) + 1e-6
    expected = []
    for i in range(60):
        votes = np.array([(W[i] * credit)[y == k].sum() for k in range(4)])
        votes /= votes.sum()
        expected.append(np.delete(votes, y[i]).max() - votes[y[i]])
    found = find_doubtful_labels(near, model.graph_, y)
    assert np.allclose(found["score"], np.array(expected)[found["point"]], atol=1e-9)


def test_one_class_leaves_nothing_to_check(digits):
    _, y, model, near = digits
    found = find_doubtful_labels(near, model.graph_, np.zeros(len(y), dtype=np.int64))
    assert (found["score"] <= 0).all()


def test_a_linear_model_sees_what_near_points_do_not(seed):
    """Two classes that one column tells apart, among columns of noise in which near points mean nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 40))
    y = (X[:, 0] > 0).astype(np.int64)
    X[:, 0] += 1.5 * np.sign(X[:, 0])
    flipped = rng.choice(400, 12, replace=False)
    given = y.copy()
    given[flipped] = 1 - y[flipped]
    index = NeighborIndex(X, random_state=0)
    graph, near = GRASPEL(random_state=0, max_iter=0).fit(index).graph_, near_points(index)
    alone = np.isin(find_doubtful_labels(near, graph, given)["point"][:12], flipped).mean()
    both = np.isin(find_doubtful_labels(near, graph, given, index.points)["point"][:12], flipped).mean()
    assert both >= max(alone, 0.9)


def test_predictions_are_those_of_fits_without_the_point(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((50, 6)), rng.integers(-1, 3, 50)
    index = NeighborIndex(X)
    rows = np.asarray(index.points.rows(slice(0, 50)), dtype=float)
    ((_, found),) = _predict_left_out(index.points, y, 3)
    labeled = y >= 0
    middle = rows[labeled].mean(axis=0)
    Z = rows - middle
    penalty = PENALTY * np.trace(Z[labeled].T @ Z[labeled]) / 6
    for i in range(0, 50, 7):
        kept = labeled & (np.arange(50) != i)
        A = np.column_stack([np.ones(50), Z])
        P = np.diag([0.0, *[penalty] * 6])
        slow = A[i] @ np.linalg.solve(A[kept].T @ A[kept] + P, A[kept].T @ np.eye(3)[y[kept]])
        assert np.allclose(found[i], slow, atol=1e-4)


# --- anomalies --------------------------------------------------------------------------------------------------------


def add_outliers(name, rng):
    X = load_digits().data[:900]
    if name == "noise among digits":
        return np.vstack([X, rng.uniform(0, 16, (10, 64))])
    if name == "digits with their pixels shuffled":
        return np.vstack([X, [rng.permutation(row) for row in X[rng.choice(len(X), 10)]]])
    centers, spread = rng.normal(0, 30, (4, 6)), np.array([0.2, 1.0, 3.0, 0.5])
    groups = np.vstack([centers[k] + spread[k] * rng.standard_normal((200, 6)) for k in range(4)])
    if name == "far from all groups":
        return np.vstack([groups, 90 + 60 * rng.random((10, 6)) * rng.choice([-1, 1], (10, 6))])
    directions = rng.standard_normal((10, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    near = rng.integers(0, 4, 10)
    return np.vstack([groups, centers[near] + 8 * spread[near, None] * directions])  # "near groups of many densities"


@pytest.mark.parametrize(
    "name",
    [
        "noise among digits",
        "digits with their pixels shuffled",
        "far from all groups",
        "near groups of many densities",
    ],
)
@pytest.mark.long_seeds
def test_planted_outliers_come_first(name, seed, request):
    if (name, seed) == ("near groups of many densities", 2):  # a point of the widest group comes before two of the ten
        behind = "behind LOF: densities differ by 15 times, and a fifth of the score is by the density of all data"
        request.applymarker(pytest.mark.xfail(strict=True, reason=behind))
    X = add_outliers(name, np.random.default_rng(seed))
    index = NeighborIndex(X, random_state=0)
    found = find_outliers(near_points(index))
    assert set(found["point"][:10].tolist()) == set(range(len(X) - 10, len(X)))
    assert (np.diff(found["score"]) <= 0).all()


def test_distances_of_outliers_are_in_the_unit_of_the_data():
    X = np.append(np.arange(30.0), 90.0)[:, None] * 1000
    found = find_outliers(near_points(NeighborIndex(X)))
    row = next(found.rows())
    assert row["point"] == 30
    assert row["distance"] == pytest.approx(np.mean(90_000 - X[10:30, 0]))


def test_outliers_and_labels_heed_the_metric():
    """Of distances that are given, those that are given count, and not the distances between their rows."""
    rng = np.random.default_rng(0)
    places = np.vstack([rng.standard_normal((60, 1)), [[40.0]]])
    for X, metric in ((np.abs(places - places.T), "precomputed"), (places, "manhattan")):
        found = find_outliers(near_points(NeighborIndex(X, metric=metric)))
        assert found["point"][0] == 60
        nearest = np.sort(40 - places[:60, 0])[:20]
        assert found["distance"][0] == pytest.approx(nearest.mean())


def test_copies_are_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X[[7, 9, 30]] = X[3]
    X[40] = X[41]
    found = find_copies(near_points(NeighborIndex(X)).original)
    assert found["point"].tolist() == [7, 9, 30, 41]
    assert found["copy_of"].tolist() == [3, 3, 3, 40]
    assert found["n_equal"].tolist() == [4, 4, 4, 2]


def test_bridges_are_those_of_networkx(toy_graph):
    check_bridges(toy_graph)


def test_bridges_of_random_graphs(seed):
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 60, (70, 2)).tolist() if pair[0] != pair[1]}
    check_bridges(Graph(60, *np.array(sorted(pairs)).T, 1.0))


def check_bridges(graph):
    """Bridges and cut points are those of networkx; what they cut off is found by taking them out."""
    bridges, points, other = find_bridges(graph), find_cut_points(graph), graph.to_networkx()
    assert set(zip(bridges["head"].tolist(), bridges["tail"].tolist(), strict=True)) == {
        tuple(sorted(edge)) for edge in nx.bridges(other)
    }
    assert np.array_equal(graph.heads[bridges["edge"]], bridges["head"])
    assert set(points["point"].tolist()) == set(nx.articulation_points(other))
    for row in bridges.rows():
        other = graph.to_networkx()
        other.remove_edge(row["head"], row["tail"])
        sides = (nx.node_connected_component(other, row[end]) for end in ("head", "tail"))
        assert row["cut_off"] == min(map(len, sides))
    for row in points.rows():
        other = graph.to_networkx()
        rest = nx.node_connected_component(other, row["point"]) - {row["point"]}
        other.remove_node(row["point"])
        sizes = [len(component) for component in nx.connected_components(other) if component <= rest]
        assert row["cut_off"] == sum(sizes) - max(sizes)


def test_a_bridge_between_two_groups_comes_first(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.standard_normal((80, 2)), rng.standard_normal((80, 2)) + np.array([60.0, 0.0])])
    first = next(find_bridges(GRASPEL(4, max_iter=0, random_state=0).fit(X).graph_).rows())
    assert (first["head"] < 80) != (first["tail"] < 80)
    assert first["cut_off"] == 80


def test_values_that_do_not_go_together_are_striking(seed):
    """Rows of strongly related columns, and rows whose values are each ordinary."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 20)) + 0.1 * rng.standard_normal((500, 20))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    odd = rng.choice(500, 8, replace=False)
    X[odd] = X[rng.integers(500, size=(8, 20)), np.arange(20)] * 0.5  # not far from the middle
    index = NeighborIndex(X, random_state=0)
    near = near_points(index)
    with_rows = np.isin(find_outliers(near, index.points)["point"][:8], odd).mean()
    assert with_rows >= np.isin(find_outliers(near)["point"][:8], odd).mean()
    assert with_rows >= 0.8
