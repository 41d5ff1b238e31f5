"""The fuzzer: what it calls slow, and which code it reaches."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fuzzing.__main__ as fuzzer
import graspel.neighbors.exact as exact
from fuzzing.cases import Case, find_fault
from fuzzing.limits import are_low, low_limits
from fuzzing.targets import TARGETS
from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from graspel.neighbors.search import nearest_neighbors


def spin(seconds: float) -> None:
    """Keep the processor busy."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.fixture(autouse=True)
def _low_floor(monkeypatch):
    monkeypatch.setattr(fuzzer, "FLOOR", 0.02)


def find_slowness(run) -> str | None:
    """The verdict on a call that `run` makes, with the data 1.0, and 0.0 where they are ordinary."""
    case = Case("call", np.ones(1), {}, lambda data, settings: run(data), lambda *_: "", ordinary=np.zeros_like)
    fault, *cost = fuzzer.time_call(case)
    assert fault is None
    return fuzzer.find_slowness(case, *cost)


def test_a_call_is_slow_beside_the_same_call_on_ordinary_data():
    assert "slow: " in (find_slowness(lambda data: spin(0.1 * data[0])) or "")
    assert find_slowness(lambda data: spin(0.1)) is None


def test_imports_of_the_first_call_do_not_count():
    imports = iter([0.1])
    assert find_slowness(lambda data: spin(next(imports, 0.0))) is None


def test_a_call_may_take_as_many_rounds_as_its_data_need():
    def run(data):
        spin(0.1 * data[0] + 0.005)
        return 20 if data[0] else 1

    assert find_slowness(run) is None


def test_low_limits_reach_the_code_for_large_data_and_are_taken_back():
    X = np.random.default_rng(0).standard_normal((60, 3))
    before = exact.EXACT_WORK
    with low_limits():
        assert are_low()
        found = nearest_neighbors(prepare_rows(X), 2, np.random.default_rng(0))
        assert found.landmarks is not None
    assert before == exact.EXACT_WORK
    assert not are_low()


def test_every_target_is_also_drawn_with_low_limits():
    names = [name for name in TARGETS if not name.endswith("_low")]
    assert {f"{name}_low" for name in names} <= set(TARGETS)
    case = TARGETS["solver_low"](np.random.default_rng(0))
    assert case.settings["low_limits"]
    assert "low_limits()" in case.code("X", case.settings)
    assert find_fault(case) is None


SAMPLE = {"sequences": 8, "sequences_low": 4, "model": 4, "checkpoint": 4, "names": 12, "frames": 12}


@pytest.mark.parametrize("target", SAMPLE)
def test_a_small_sample_of_calls_is_well(target):
    for number in range(SAMPLE[target]):
        assert find_fault(fuzzer.EVERY[target](np.random.default_rng([0, number]))) is None


def test_killed_runs_of_the_optimum_in_two_processes_end_in_the_same_bits():
    case = fuzzer.EVERY["killed"](np.random.default_rng(0))
    settings = {"run": "optimal", "kills": (0.5,), "n_processes": 2}
    assert find_fault(replace(case, data=np.random.default_rng(0).standard_normal((60, 3)), settings=settings)) is None


def test_fits_in_threads_have_the_bits_of_a_fit_alone():
    case = fuzzer.EVERY["threads"](np.random.default_rng(0))
    settings = {"fits": ("GRASPEL", "GraspelClustering"), "n_fits": 8}
    assert find_fault(replace(case, data=np.random.default_rng(0).standard_normal((60, 3)), settings=settings)) is None


def test_a_call_that_ends_its_process_is_a_fault():
    case = Case("call", np.ones(1), {}, end_this_process, lambda *_: "", isolated=True)
    assert find_fault(case) == "the process was ended by a signal"
    assert find_fault(replace(case, run=do_nothing)) is None


def end_this_process(data: np.ndarray, settings: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def do_nothing(data: np.ndarray, settings: dict[str, Any]) -> None:
    pass


def test_a_wrong_edge_of_a_growing_graph_is_found(monkeypatch):
    monkeypatch.setattr(GRASPEL, "transform", lambda model, X: model.graph_.adjacency)
    monkeypatch.setattr(GRASPEL, "partial_fit", lambda model, X: model.fit(np.asarray(X)[::-1]))
    case = fuzzer.EVERY["sequences"](np.random.default_rng(0))
    X = np.random.default_rng(0).standard_normal((40, 3))
    fault = find_fault(replace(case, data=X, settings={"step_0": ("add", 20, 1.0)}))
    assert "join points that are not nearest neighbors" in (fault or "")
