"""Chances from shares of classes: leave-one-out is the harmonic function without a label, and chances come true."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from graspel import GraspelClassifier
from graspel.field import Field
from graspel.field.sharpness import POWERS, USUAL, find_power, sharpen
from graspel.graph import Graph, grid_graph
from graspel.linalg.harmonic import harmonic_function


def test_labels_left_out_are_predicted_by_the_harmonic_function_of_the_others():
    graph, rng = grid_graph(8, 8), np.random.default_rng(0)
    known = rng.permutation(64)[:12]
    Y = np.eye(3)[rng.integers(0, 3, 12)]
    found = Field(graph, sigma=1e4, scale=1.0).leave_one_out(Y, known, noise=0.0).mean
    for i in range(12):
        others = np.delete(np.arange(12), i)
        expected = harmonic_function(graph, known[others], Y[others])[known[i]]
        np.testing.assert_allclose(found[i], expected, atol=1e-4)


@pytest.mark.parametrize("factor", [1e-30, 1.0, 1e30])
def test_labels_that_agree_sharpen_and_those_that_do_not_blunt(factor):
    graph, known = grid_graph(20, 20).scaled(factor), np.arange(0, 400, 3)
    halves = (known >= 200).astype(np.int64)
    assert (
        find_power(graph, known, halves)
        > USUAL
        > find_power(graph, known, np.random.default_rng(0).permutation(halves))
    )


def test_one_label_a_class_says_nothing_and_so_does_what_is_too_large(monkeypatch):
    graph = grid_graph(5, 5)
    usual = POWERS[np.abs(np.log(POWERS / USUAL)).argmin()]
    assert find_power(graph, np.array([0, 24]), np.array([0, 1])) == usual
    monkeypatch.setattr("graspel.linalg.exact_resistances.MOST_WORK", 1.0)
    assert find_power(graph, np.array([0, 1, 24]), np.array([0, 0, 1])) == USUAL
    assert find_power(Graph(2, [0], [1], 1.0), np.array([0, 1]), np.array([0, 0])) > 0


def test_the_order_of_classes_stays_and_rows_sum_to_one(rng):
    f = rng.random((50, 4)) ** 5
    f[0] = [1, 0, 0, 0]
    for power in (POWERS[0], POWERS[-1]):
        found = sharpen(f, power)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        np.testing.assert_array_equal(found.argsort(axis=1), f.argsort(axis=1))


def test_chances_of_digits_come_true():
    """Without the power the mean chance is .13 below the accuracy."""
    X, y = load_digits(return_X_y=True)
    few = np.full(len(y), -1)
    few[:60] = y[:60]
    shares = GraspelClassifier(random_state=0).fit(X, few).label_distributions_[60:]
    right = (shares.argmax(axis=1) == y[60:]).mean()
    assert abs(shares.max(axis=1).mean() - right) < 0.07
