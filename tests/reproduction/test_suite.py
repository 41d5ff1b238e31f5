"""The suite: the best labeling counts, failures are cells too, and losses are drawn worst first."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction import suite
from reproduction.clusterings import SuiteMethod
from reproduction.data import list_sets, load_labeled
from reproduction.request import Request
from reproduction.results import Results

TWO = np.repeat([1, 2], 10)


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    X = np.concatenate([np.arange(10.0), 50 + np.arange(10.0)])[:, None]
    other = np.tile([1, 2], 10)
    noisy = TWO.copy()
    noisy[:3] = 0
    np.savez(tmp_path / "shapes.npz", **{"a.b.X": X, "a.b.y0": other, "a.b.y1": noisy})
    monkeypatch.setenv("GRASPEL_DATA", str(tmp_path))


def methods_of(**runs):
    return {name: SuiteMethod(name, run) for name, run in runs.items()}


def fail(X, k, metric, seed):
    raise RuntimeError("no result")


def test_the_best_labeling_counts_and_noise_does_not(shapes, monkeypatch):
    wrong_on_noise = np.where(np.arange(20) < 3, 2, TWO)
    monkeypatch.setattr(suite, "SUITE_METHODS", methods_of(graspel=lambda X, k, metric, seed: wrong_on_noise))
    assert suite.measure_cell(suite.Cell("a.b", "graspel", 0))["ari"] == 1


def test_sets_at_hand(shapes):
    assert "a.b" in list_sets(large=False)
    assert len(load_labeled("a.b").labelings) == 2
    assert load_labeled("iris").labelings[0].min() == 1


def test_a_page_with_a_failure(shapes, monkeypatch, tmp_path):
    runs = methods_of(graspel=lambda *_: np.tile([0, 1], 10), good=lambda *_: TWO, bad=fail)
    monkeypatch.setattr(suite, "SUITE_METHODS", runs)
    monkeypatch.setattr(suite, "installed_methods", lambda: list(runs))
    monkeypatch.setattr(suite, "list_sets", lambda large: ["a.b"])
    results = Results(tmp_path / "out", "suite")
    page = suite.run(Request(only=("a.b",)), results)
    assert "| a.b " in page
    assert results["a.b/bad/0"] == {"failed": "RuntimeError: no result"}
    assert (tmp_path / "out" / "suite.png").exists()
    monkeypatch.setitem(runs, "good", SuiteMethod("good", fail))  # measured cells are kept
    assert suite.run(Request(only=("a.b",)), results).split("Measured")[0] == page.split("Measured")[0]


def test_a_method_that_needs_all_distances_is_left_out(shapes, monkeypatch):
    monkeypatch.setattr(suite, "SUITE_METHODS", {"slow": SuiteMethod("slow", fail, max_points=5)})
    assert "all distances" in suite.measure_cell(suite.Cell("a.b", "slow", 0))["failed"]


def test_losses():
    scores = {"graspel": {"ari": 0.5}, "graspel-1": {"ari": 0.9}, "genie": {"ari": 0.8}, "evoc": None}
    assert suite._loss(scores) == pytest.approx(0.3)
    assert suite._loss({"graspel": {"ari": 0.5}}) == 0
