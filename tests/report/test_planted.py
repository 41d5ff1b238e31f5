"""Planted truth: the report names the features, outliers, wrong labels, copies and bridges that were planted."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from graspel import GRASPEL, GraspelClustering
from graspel.findings.bridges import find_bridges
from graspel.findings.effects import measure_effects
from graspel.findings.mislabeled import suspect_labels
from graspel.findings.nearest import find_near_points, near_points_of_graph
from graspel.report.classes import compare_with_classes
from graspel.report.groups import describe_groups
from graspel.report.odd import find_odd_ones
from report.conftest import make_material

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
def test_the_feature_that_sets_a_group_apart_is_named_first(seed, heavy):
    X, in_units, y, chosen = planted_table(seed, heavy=heavy)
    model = GRASPEL(random_state=0, max_iter=0).fit(X)
    names = [f"feature {chr(97 + j)}" for j in range(X.shape[1])]
    clusters = GraspelClustering(len(chosen), random_state=0).fit(X)
    groups = describe_groups(make_material(model, X, clusters=clusters, features=names))
    truth = {int(k): int(chosen[np.bincount(y[clusters.labels_ == k]).argmax()]) for k in np.unique(clusters.labels_)}
    assert [group.features[0].name for group in groups] == [names[truth[k]] for k in range(len(groups))]
    assert all(names[truth[k]] in group.name for k, group in enumerate(groups))
    # The unit of a feature does not matter.
    effects = measure_effects(in_units, y, len(chosen))
    assert [int(effects.strongest(k, 1)[0]) for k in range(len(chosen))] == chosen.tolist()


def test_effects_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 7)) * 10.0 ** rng.integers(-3, 4, 7) + 1e4
    groups = rng.integers(0, 3, 90)
    dense, sparse = measure_effects(X, groups, 3), measure_effects(sp.csr_array(X - 1e4), groups, 3)
    for k in range(3):
        inside, outside = X[groups == k], X[groups != k]
        scatter = sum(((side - side.mean(axis=0)) ** 2).sum(axis=0) for side in (inside, outside))
        d = (inside.mean(axis=0) - outside.mean(axis=0)) / np.sqrt(scatter / 88)
        assert np.allclose(dense.d[k], d, rtol=1e-6)
        assert np.allclose(sparse.d[k], d, rtol=1e-6)
        assert np.allclose(dense.inside[k], inside.mean(axis=0))


def test_constant_features_have_no_effect_and_perfect_ones_the_largest():
    X = np.column_stack([np.full(20, 0.1), np.repeat([0.0, 1.0], 10), np.tile([0.0, 1.0], 10)])
    effects = measure_effects(X, np.repeat([0, 1], 10), 2)
    assert effects.strongest(0, 3).tolist() == [1]
    assert np.isfinite(effects.d).all()


def test_terms_are_named_by_their_presence(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 80)
    X = (rng.random((240, 50)) < 0.05).astype(float)
    for k in range(3):
        X[y == k, 10 * k : 10 * k + 6] = rng.random((80, 6)) < 0.6
    terms = [f"term{j}" for j in range(50)]
    model = GRASPEL(metric="cosine", random_state=0, max_iter=0).fit(sp.csr_array(X + 1e-3))
    groups = describe_groups(make_material(model, sp.csr_array(X), clusters=y, features=terms))
    for k, group in enumerate(groups):
        assert {feature.name for feature in group.features} <= set(terms[10 * k : 10 * k + 6])
        assert all(feature.effect > 0 for feature in group.features)
        assert "high" not in group.name


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    model = GRASPEL(random_state=0).fit(X)
    return X, y, model, find_near_points(X, model)


@pytest.mark.parametrize("with_data", [True, False])
def test_flipped_labels_come_first(digits, seed, with_data):
    _, y, model, near = digits
    rng = np.random.default_rng(seed)
    flipped = rng.choice(len(y), round(0.02 * len(y)), replace=False)
    given = y.copy()
    given[flipped] = (given[flipped] + rng.integers(1, 10, len(flipped))) % 10
    found = suspect_labels(near if with_data else near_points_of_graph(model.graph_), model.graph_, given)
    first = found.order()[: int(0.03 * len(y))]
    assert np.isin(flipped, first).mean() >= 0.9  # 0.8 is wanted
    assert (found.instead[flipped] == y[flipped]).mean() >= 0.9
    assert found.score.min() >= -1 - 1e-9
    assert found.score.max() <= 1 + 1e-9


def test_the_votes_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 4, 60)
    model = GRASPEL(max_iter=0, random_state=0).fit(X)
    near = find_near_points(X, model)
    m, D, pattern = near.mean_distances(), near.D.toarray(), near.pattern.toarray() > 0
    W = np.where(pattern, np.exp(-(D**2) / np.outer(m, m)), 0.0)
    W = np.maximum(np.maximum(W, W.T), np.where(model.graph_.adjacency.toarray() > 0, np.exp(-1), 0.0))
    credit = np.array([W[i][y == y[i]].sum() / W[i].sum() for i in range(60)]) + 1e-6
    expected = []
    for i in range(60):
        votes = np.array([(W[i] * credit)[y == k].sum() for k in range(4)])
        votes /= votes.sum()
        expected.append(np.delete(votes, y[i]).max() - votes[y[i]])
    assert np.allclose(suspect_labels(near, model.graph_, y).score, expected, atol=1e-9)


def test_the_comparison_says_how_far_clusters_and_classes_agree(digits):
    X, y, model, _ = digits
    clusters = np.where(np.isin(y, [3, 5]), 3, y)  # two classes in one cluster
    material = make_material(model, X, labels=y, clusters=clusters)
    found = compare_with_classes(material, describe_groups(material))
    assert found.table.sum() == len(y)
    matched = found.table[np.ix_(found.rows, found.columns)]
    assert np.trace(matched) / len(y) == pytest.approx(1 - min((y == 3).sum(), (y == 5).sum()) / len(y))
    assert "(ACC 0.8" in found.sentences[0] or "(ACC 0.9" in found.sentences[0]
    assert any("holds several classes" in sentence and "3" in sentence and "5" in sentence for sentence in found.mixed)


def test_one_class_leaves_nothing_to_check(digits):
    _, y, model, near = digits
    found = suspect_labels(near, model.graph_, np.zeros(len(y), dtype=np.int64))
    assert (found.score <= 0).all()


# --- odd ones --------------------------------------------------------------------------------------------------------


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
def test_planted_outliers_come_first(name, seed):
    X = add_outliers(name, np.random.default_rng(seed))
    model = GRASPEL(max_iter=0, random_state=0).fit(X)
    found = find_odd_ones(make_material(model, X))
    assert set(found.outliers[:10].tolist()) == set(range(len(X) - 10, len(X)))
    assert (np.diff(found.scores) <= 0).all()


def test_copies_are_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X[[7, 9, 30]] = X[3]
    X[40] = X[41]
    found = find_odd_ones(make_material(GRASPEL(random_state=0).fit(X), X))
    assert [points.tolist() for points in found.copies] == [[3, 7, 9, 30], [40, 41]]
    assert found.n_copies == 4


def test_bridges_are_those_of_networkx(toy_graph):
    found, other = find_bridges(toy_graph), toy_graph.to_networkx()
    edges = {(int(toy_graph.heads[e]), int(toy_graph.tails[e])) for e in found.edges}
    assert edges == {tuple(sorted(edge)) for edge in nx.bridges(other)}
    assert set(found.nodes.tolist()) == set(nx.articulation_points(other))
    check_parts(toy_graph, found)


def test_bridges_of_random_graphs(seed):
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 60, (70, 2)).tolist() if pair[0] != pair[1]}
    from graspel import Graph

    graph = Graph(60, *np.array(sorted(pairs)).T, 1.0)
    found, other = find_bridges(graph), graph.to_networkx()
    assert {(int(graph.heads[e]), int(graph.tails[e])) for e in found.edges} == {
        tuple(sorted(edge)) for edge in nx.bridges(other)
    }
    assert set(found.nodes.tolist()) == set(nx.articulation_points(other))
    check_parts(graph, found)


def check_parts(graph, found):
    """The number of points that each bridge parts from the largest component left, by taking it out."""
    for e, parted in zip(found.edges, found.edge_parts, strict=True):
        p, q = int(graph.heads[e]), int(graph.tails[e])
        other = graph.to_networkx()
        other.remove_edge(p, q)
        assert parted == min(len(nx.node_connected_component(other, p)), len(nx.node_connected_component(other, q)))
    for v, parted in zip(found.nodes.tolist(), found.node_parts, strict=True):
        other = graph.to_networkx()
        rest = nx.node_connected_component(other, v) - {v}
        other.remove_node(v)
        sizes = [len(component) for component in nx.connected_components(other) if component <= rest]
        assert parted == sum(sizes) - max(sizes)


def test_a_bridge_between_two_groups_comes_first(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.standard_normal((80, 2)), rng.standard_normal((80, 2)) + np.array([60.0, 0.0])])
    model = GRASPEL(4, max_iter=0, random_state=0).fit(X)
    found = find_odd_ones(make_material(model, X))
    edge = found.edges[0]
    assert (model.graph_.heads[edge] < 80) != (model.graph_.tails[edge] < 80)
    assert found.edge_parts[0] == 80
