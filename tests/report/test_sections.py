"""The sections of the page name what was planted: features, terms, classes in one cluster."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from graspel import GRASPEL, GraspelClustering
from graspel.report.classes import compare_with_classes
from graspel.report.groups import describe_groups
from graspel.report.inputs import check_inputs


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
    X, _, y, chosen = planted_table(seed, heavy=heavy)
    model = GRASPEL(random_state=0, max_iter=0).fit(X)
    names = [f"feature {chr(97 + j)}" for j in range(X.shape[1])]
    clusters = GraspelClustering(len(chosen), random_state=0).fit(X)
    groups = describe_groups(check_inputs(model, clusters=clusters, features=names))
    truth = {int(k): int(chosen[np.bincount(y[clusters.labels_ == k]).argmax()]) for k in np.unique(clusters.labels_)}
    assert [group.differences["column"][0] for group in groups] == [names[truth[k]] for k in range(len(groups))]
    assert all(names[truth[k]] in group.name for k, group in enumerate(groups))


def test_terms_are_named_by_their_presence(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 80)
    X = (rng.random((240, 50)) < 0.05).astype(float)
    for k in range(3):
        X[y == k, 10 * k : 10 * k + 6] = rng.random((80, 6)) < 0.6
    terms = [f"term{j}" for j in range(50)]
    model = GRASPEL(metric="cosine", random_state=0, max_iter=0).fit(sp.csr_array(X + 1e-3))
    groups = describe_groups(check_inputs(model, X=sp.csr_array(X), clusters=y, features=terms))
    for k, group in enumerate(groups):
        assert set(group.differences["column"][:6]) == set(terms[10 * k : 10 * k + 6])
        assert (group.differences["effect"] > 0).all()
        assert "high" not in group.name


def test_the_comparison_says_how_far_clusters_and_classes_agree():
    X, y = load_digits(return_X_y=True)
    model = GRASPEL(max_iter=0, random_state=0).fit(X)
    clusters = np.where(np.isin(y, [3, 5]), 3, y)  # two classes in one cluster
    inputs = check_inputs(model, labels=y, clusters=clusters)
    found = compare_with_classes(inputs, describe_groups(inputs))
    assert found.table.sum() == len(y)
    matched = found.table[np.ix_(found.rows, found.columns)]
    assert np.trace(matched) / len(y) == pytest.approx(1 - min((y == 3).sum(), (y == 5).sum()) / len(y))
    assert "(ACC 0.8" in found.sentences[0] or "(ACC 0.9" in found.sentences[0]
    said = [one["words"] for one in found.mixed]
    assert any("holds several classes" in sentence and "3" in sentence and "5" in sentence for sentence in said)
