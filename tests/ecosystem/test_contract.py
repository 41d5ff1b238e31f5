"""The contract of scikit-learn: all of its checks, of every public estimator, with the exceptions declared here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import graspel
from graspel import (
    GRASPEL,
    GraspelClassifier,
    GraspelClustering,
    GraspelEmbedding,
    GraspelField,
    GraspelImputer,
    GraspelNeighbors,
    GraspelRecovery,
    GraspelRegressor,
    GraspelTSNE,
    TableEncoder,
)

# Sizes that suit the few points of the checks.
ESTIMATORS = [
    GRASPEL(),
    GraspelClassifier(),
    GraspelClustering(3, random_state=0),
    GraspelEmbedding(1, random_state=0),
    GraspelField(),
    GraspelImputer(),
    GraspelNeighbors(3),
    GraspelRecovery(),
    GraspelRegressor(),
    GraspelTSNE(max_iter=10, random_state=0, n_jobs=1),
    TableEncoder(),
]

ONE_DIMENSION = "the check sets n_components to 1, and t-SNE embeds in two or three dimensions"

# Every check that fails, and why it should.
EXCEPTIONS: dict[type, dict[str, str]] = {
    GraspelClassifier: {
        "check_classifiers_classes": "it takes -1 for a class, and here -1 stands for no label, as in scikit-learn's "
        "semi-supervised estimators",
    },
    GraspelTSNE: {
        "check_dont_overwrite_parameters": ONE_DIMENSION,
        "check_fit2d_1feature": ONE_DIMENSION,
        "check_fit2d_1sample": ONE_DIMENSION,
        "check_fit2d_predict1d": ONE_DIMENSION,
        "check_methods_sample_order_invariance": ONE_DIMENSION,
        "check_methods_subset_invariance": ONE_DIMENSION,
    },
}


def checks() -> list[Any]:
    """Pairs (estimator, check) to parametrize a test with; those declared above must fail."""
    found: list[Any] = []
    for estimator in ESTIMATORS:
        declared = EXCEPTIONS.get(type(estimator), {})
        if not get_tags(estimator).input_tags.two_d_array:
            continue  # it takes tables of mixed columns, which scikit-learn's checks do not make
        for case in estimator_checks_generator(estimator):
            name = getattr(case[1], "func", case[1]).__name__
            marks = [pytest.mark.xfail(reason=declared[name], strict=True)] if name in declared else []
            found.append(pytest.param(*case, marks=marks, id=f"{type(estimator).__name__}-{name}"))
    return found


@pytest.mark.parametrize(("estimator", "check"), checks())
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {getattr(graspel, name) for name in graspel.__all__}
    estimators = {value for value in public if isinstance(value, type) and issubclass(value, BaseEstimator)}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}
    assert set(EXCEPTIONS) <= estimators


@pytest.mark.parametrize(
    "model",
    [model for model in ESTIMATORS if "learner" in model.get_params()],
    ids=lambda model: type(model).__name__,
)
def test_a_parameter_of_the_learner_is_set_where_none_was_given(model):
    changed = clone(model).set_params(learner__n_neighbors=4)
    assert changed.learner.n_neighbors == 4
    assert model.learner is None
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        clone(model).set_params(learner__nonsense=1)


def test_a_grid_search_over_a_parameter_of_the_learner():
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 3)) + shift for shift in (0, 9)])
    y = np.repeat([0, 1], 40)
    search = GridSearchCV(GraspelClassifier(metric="cosine"), {"learner__n_neighbors": [2, 3]}, cv=2).fit(X, y)
    assert search.best_params_["learner__n_neighbors"] in (2, 3)
    assert search.best_estimator_.learner_.metric == "cosine"
    assert search.best_estimator_.learner_.n_neighbors in (2, 3)


def test_dir_lists_every_name_once():
    names = dir(graspel)
    assert len(names) == len(set(names))
    assert set(graspel.__all__) <= set(names)
