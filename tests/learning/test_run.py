"""Algorithm 1 as a function: the same graph as the estimator's, and the reason why the rounds ended."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import fields

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graspel import GRASPEL, GraspelClustering, GraspelEmbedding
from graspel.learning.fit import Fit
from graspel.learning.history import Round
from graspel.learning.run import run
from graspel.learning.settings import Settings
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.parallel import one_thread_per_call

NEVER = {"tol": 1e-6, "max_iter": 2}  # a tolerance that is not reached in two rounds


def blobs(seed: int, n: int = 350, m: int = 6) -> np.ndarray:
    """Enough points that eigenvectors are computed from a random start."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) + 4 * rng.standard_normal((5, m))[rng.integers(5, size=n)]


def learn_blobs(seed: int = 0, n: int = 60, callback=None, **parameters) -> Fit:
    rng = np.random.default_rng(0)
    return run(NeighborIndex(blobs(seed, n), random_state=rng), Settings(**parameters), rng, callback=callback)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"candidates": "clusters", "edge_ratio": 0.02, "tol": 5.0},
        {"candidates": "multilevel", "max_iter": 3},
        {"initial": "mst", "stability": "eigenvalues"},
        {"initial": "unn", "n_neighbors": 5},
        {"weights": "refined", "beta": 1e-4},
        {"max_iter": 0},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_function_learns_the_graph_of_the_estimator_to_the_bit(parameters):
    X, rng = blobs(1), np.random.default_rng(7)
    with one_thread_per_call():
        learned = run(NeighborIndex(X, random_state=rng), Settings(**parameters), rng)
    model = GRASPEL(random_state=7, **parameters).fit(X)
    assert learned.graph == model.graph_
    assert len(learned.history) == model.n_iter_
    assert learned.settled == model.certificate_.settled
    assert learned.support_gap == model.certificate_.support_gap
    for record, other in zip(learned.history, model.history_, strict=True):
        assert record.eigenvalues.tolist() == other.eigenvalues.tolist()
        assert (record.max_eta, record.mean_eta, record.n_added) == (other.max_eta, other.mean_eta, other.n_added)


def test_the_settings_are_those_of_the_estimator():
    defaults = {name: parameter.default for name, parameter in inspect.signature(GRASPEL).parameters.items()}
    for field in fields(Settings):
        if field.name != "n_listed":  # the length of the lists is for estimators that own a learner
            assert field.default == defaults[field.name], field.name


def test_it_says_when_max_iter_ended_the_rounds():
    learned = learn_blobs(**NEVER)
    assert learned.out_of_rounds
    assert not learned.settled
    assert len(learned.history) == 2
    assert learned.tolerance == 1e-6


@pytest.mark.parametrize(
    "parameters",
    [{}, {"max_iter": 0}, {**NEVER, "callback": lambda *_: True}],
    ids=["settled", "no rounds", "callback"],
)
def test_it_is_not_out_of_rounds_if_something_else_ended_them(parameters):
    """The rule was met, no round was asked for, or the callback stopped the run."""
    learned = learn_blobs(**parameters)
    assert not learned.out_of_rounds
    assert learned.settled == (parameters == {})
    assert learned.graph.is_connected


def test_the_distances_are_those_of_the_edges_of_the_graph(seed):
    for weights in ("calibrated", "refined"):
        learned = learn_blobs(seed, weights=weights)
        z = learned.points.squared_distances(learned.graph.heads, learned.graph.tails)
        assert learned.z == pytest.approx(z)


def test_the_callback_gets_the_record_and_the_graph_of_every_round():
    calls: list[tuple[Round, int]] = []
    learned = learn_blobs(callback=lambda record, graph: calls.append((record, graph.n_edges)))
    assert [record for record, _ in calls] == learned.history
    assert calls[-1][1] == learned.graph.n_edges
    assert [record.round for record, _ in calls] == list(range(1, len(calls) + 1))


def fit(model, X):
    return model.fit(X)  # the user's line


LINE = inspect.getsourcelines(fit)[1] + 1


@pytest.mark.parametrize(
    "model",
    [
        GRASPEL(**NEVER),
        GraspelClustering(2, learner=GRASPEL(**NEVER)),
        GraspelEmbedding(1, learner=GRASPEL(**NEVER)),
        make_pipeline(StandardScaler(), GRASPEL(**NEVER)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_warning_points_at_the_line_of_the_user(model):
    with pytest.warns(ConvergenceWarning, match="did not settle in max_iter=2 rounds") as caught:
        fit(model, blobs(0, 60))
    (warning,) = [w for w in caught if w.category is ConvergenceWarning]
    assert (warning.filename, warning.lineno) == (__file__, LINE)


def test_a_run_that_settles_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GRASPEL().fit(blobs(0, 60))
