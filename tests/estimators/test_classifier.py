"""Classification from a few labels: scikit-learn's contract, the harmonic function, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score

from graspel import GRASPEL, Graph, GraspelClassifier
from graspel.linalg.harmonic import harmonic_function, normalize_class_mass


def few_labels(y, per_class, seed):
    rng = np.random.default_rng(seed)
    few = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.choice(np.flatnonzero(y == c), per_class, replace=False)
        few[chosen] = y[chosen]
    return few


def test_it_solves_the_dirichlet_problem(connected_graph, rng):
    n = connected_graph.n_nodes
    known = np.sort(rng.choice(n, max(1, n // 3), replace=False))
    values = rng.random((len(known), 2))
    f = harmonic_function(connected_graph, known, values)
    np.testing.assert_array_equal(f[known], values)
    L = connected_graph.laplacian.toarray()
    free = np.setdiff1d(np.arange(n), known)
    if len(free):
        exact = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, known)] @ values)
        np.testing.assert_allclose(f[free], exact, atol=1e-4)
    assert f.min() >= values.min() - 1e-4  # the maximum principle
    assert f.max() <= values.max() + 1e-4


def test_components_without_labels_are_zero():
    graph = Graph(5, [0, 1, 3], [1, 2, 4], 1.0)
    np.testing.assert_allclose(harmonic_function(graph, [0], [2.0]), [2, 2, 2, 0, 0], atol=1e-6)


def test_class_mass(rng):
    f = rng.random((50, 3))
    shares = normalize_class_mass(f, np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(normalize_class_mass(np.zeros((1, 2)), np.array([0.25, 0.75])), [[0.25, 0.75]])


def test_moons_from_one_label_each(seed):
    X, y = make_moons(300, noise=0.05, random_state=seed)
    model = GraspelClassifier(random_state=0).fit(X, few_labels(y, 1, seed))
    assert (model.transduction_ == y).mean() > 0.97
    assert model.predict([[0.0, 1.0]]) == [0]


def test_digits_with_fifty_labels(seed):
    X, y = load_digits(return_X_y=True)
    few = few_labels(y, 5, seed)
    model = GraspelClassifier(random_state=0).fit(X, few)
    assert (model.transduction_ == y)[few < 0].mean() > 0.9
    labeled = few >= 0
    np.testing.assert_array_equal(model.transduction_[labeled], y[labeled])
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), model.label_distributions_, atol=1e-9)


def test_new_points():
    X, y = load_digits(return_X_y=True)
    model = GraspelClassifier(random_state=0).fit(X[:1200], few_labels(y[:1200], 10, 0))
    assert model.score(X[1200:], y[1200:]) > 0.85


def test_labels_of_text_and_sparse_rows():
    X, y = make_moons(200, noise=0.05, random_state=0)
    names = np.array(["upper", "lower"])[y].astype(object)
    names[20:] = "-1"
    model = GraspelClassifier(random_state=0).fit(sp.csr_array(X), names)
    assert model.classes_.tolist() == ["lower", "upper"]
    assert (model.transduction_ == np.array(["upper", "lower"])[y]).mean() > 0.95


def test_copies_share_their_class():
    X, y = make_moons(100, noise=0.05, random_state=0)
    X = np.concatenate([X, X[:40]])
    few = np.concatenate([few_labels(y, 2, 0), np.full(40, -1)])
    model = GraspelClassifier(random_state=0).fit(X, few)
    unlabeled = few[:40] < 0
    np.testing.assert_array_equal(model.transduction_[:40][unlabeled], model.transduction_[100:][unlabeled])


def test_the_seed_and_the_threads_do_not_change_the_classes(seed):
    X, y = load_digits(return_X_y=True)
    few = few_labels(y, 3, seed)
    one, two = (GraspelClassifier(random_state=0, n_jobs=n).fit(X, few) for n in (1, 2))
    np.testing.assert_array_equal(one.label_distributions_, two.label_distributions_)


def test_other_graphs_and_bad_labels():
    X, y = make_moons(100, noise=0.05, random_state=0)
    assert GraspelClassifier(learner=GRASPEL(2), normalize_mass=False).fit(X, few_labels(y, 3, 0)).graph_.is_connected
    with pytest.raises(ValueError, match="y has no label"):
        GraspelClassifier().fit(X, np.full(100, -1))
    with pytest.raises(ValueError, match="normalize_mass='no'"):
        GraspelClassifier(normalize_mass="no").fit(X, y)


def test_minus_one_stands_for_no_label_in_every_form():
    X, y = make_moons(100, noise=0.05, random_state=0)
    few = few_labels(y, 3, 0)
    names = np.array(["lower", "upper"])[y].astype(object)
    mixed = np.where(few < 0, -1, names)  # text with the number -1, as SelfTrainingClassifier takes it
    model = GraspelClassifier(random_state=0).fit(X, mixed)
    assert model.classes_.tolist() == ["lower", "upper"]
    text = GraspelClassifier(random_state=0).fit(X, np.where(few < 0, "-1", names))
    np.testing.assert_array_equal(model.transduction_, text.transduction_)
    numbers = GraspelClassifier(random_state=0).fit(X, few.astype(object))
    np.testing.assert_array_equal(numbers.transduction_, GraspelClassifier(random_state=0).fit(X, few).transduction_)


def test_points_without_a_label_do_not_count_in_scores():
    X, y = make_moons(100, noise=0.05, random_state=0)
    few = few_labels(y, 5, 0)
    model = GraspelClassifier(random_state=0).fit(X, few)
    assert model.score(X, few) == 1.0
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert cross_val_score(GraspelClassifier(random_state=0), X, np.where(np.arange(100) % 4, y, -1), cv=3).mean() > 0.9
    with pytest.raises(ValueError, match="nothing can be scored"):
        model.score(X, np.full(100, -1))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.arange(40) < 20, -1, 1), "one class only, 1, beside -1.*another name, such as 0"),
        (np.array([None, *["a", "b"] * 20][:40], dtype=object), "None at point 0: use -1"),
        (np.array(["a", "", *["a", "b"] * 19], dtype=object), "'' at point 1: use -1"),
        (np.array([0.0, np.nan, *[1.0, 0.0] * 19]), "NaN at point 1: use -1"),
    ],
    ids=["one class", "None", "empty", "NaN"],
)
def test_labels_that_say_nothing(y, words):
    with pytest.raises(ValueError, match=words):
        GraspelClassifier().fit(np.random.default_rng(0).random((40, 3)), y)


def test_parameters_of_the_default_learner_can_be_searched():
    X, y = make_moons(100, noise=0.05, random_state=0)
    search = GridSearchCV(GraspelClassifier(metric="cosine"), {"learner__n_neighbors": [2, 4]}, cv=2).fit(X, y)
    assert search.best_params_["learner__n_neighbors"] in (2, 4)
    learner = search.best_estimator_.learner
    assert (learner.n_neighbors, learner.metric, learner.max_iter) == (
        search.best_params_["learner__n_neighbors"],
        "cosine",
        0,
    )
