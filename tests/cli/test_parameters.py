"""Parameters of the estimators on the command line: ``--set``, ``--parameters``, and the help of options."""

from __future__ import annotations

import ast
import inspect

import pytest

import graspel as package
from graspel.cli.parameters import NOT_HERE, build_estimator, describe_parameters, read_settings

ESTIMATORS = ("GRASPEL", "GraspelClustering", "GraspelEmbedding", "GraspelTSNE", "GraspelRecovery")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_described_with_its_default(estimator):
    defaults = {n: p.default for n, p in inspect.signature(getattr(package, estimator)).parameters.items()}
    described = describe_parameters(estimator)
    assert set(described) == set(defaults) - set(NOT_HERE)
    for name, (_, text) in described.items():
        assert text.endswith((".", ")", ":")), name
        written = described[name].default
        assert written is not None, name
        assert written == defaults[name] or ast.literal_eval(written) == defaults[name], name


def test_the_list_of_parameters_has_all_of_them(graspel):
    outcome = graspel("learn", "--parameters")
    assert (outcome.code, outcome.err) == (0, "")
    for name, (kind, text) in describe_parameters("GRASPEL").items():
        assert f"\n{name} : {kind}" in outcome.out
        assert text in " ".join(outcome.out.split())
    assert "(option --seed)" in outcome.out
    both = graspel("embed", "--parameters").out
    assert "Parameters of GraspelTSNE" in both
    assert "Parameters of GraspelEmbedding" in both
    assert "learner__NAME" in both


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("windw=1", ["no parameter 'windw'", "it has window, "]),
        ("window", ["--set window", "NAME=VALUE", "--parameters"]),
        ("=1", ["NAME=VALUE"]),
        ("verbose=true", ["no parameter 'verbose'"]),
        ("metric=cosine", ["metric", "an option of its own"]),
        ("random_state=3", ["random_state", "an option of its own"]),
        ("learner__window=0.1", ["no parameter 'learner__window'"]),
        ("window=wide", ["window='wide'", "must be a number"]),
        ("max_iter=1.5", ["max_iter=1.5", "whole number"]),
    ],
)
def test_a_wrong_setting_is_one_sentence(graspel, data, tmp_path, setting, words):
    assert graspel("learn", data, "-o", tmp_path / "g.npz", "--set", setting).is_one_sentence(*words)


def test_a_parameter_of_the_learner_says_how_to_set_it(graspel, data):
    outcome = graspel("plan", data, "--task", "embed", "--set", "beta=1")
    assert outcome.is_one_sentence("GraspelTSNE has no parameter 'beta'", "--set learner__beta=1")


def test_a_parameter_that_is_set_twice(graspel, data, tmp_path):
    twice = ("--set", "window=0.1", "--set", "window=0.2")
    assert graspel("learn", data, "-o", tmp_path / "g.npz", *twice).is_one_sentence("window is set twice")


def test_parameters_of_the_learner():
    parameters = read_settings("GraspelTSNE", ["learner__n_neighbors=4", "reduction=2"], {"random_state": 0})
    model = build_estimator("GraspelTSNE", parameters)
    assert (model.learner.n_neighbors, model.learner.max_iter, model.reduction) == (4, 0, 2)
    given = {"metric": "cosine", "learner__max_iter": 1, "n_neighbors": 5}
    model = build_estimator("GraspelClustering", given)
    assert (model.learner.metric, model.learner.max_iter, model.learner.n_neighbors) == ("cosine", 1, 5)
    model._check_left_to_learner()
    with pytest.raises(ValueError, match="GRASPEL has no parameter 'reduction'"):
        read_settings("GraspelTSNE", ["learner__reduction=4"], {})
