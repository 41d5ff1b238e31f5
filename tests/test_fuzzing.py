"""The fuzzer: what it calls slow."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fuzzing.__main__ as fuzzer
from fuzzing.cases import Case


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
    fault, seconds = fuzzer.time_call(case)
    assert fault is None
    return fuzzer.find_slowness(case, seconds)


def test_a_call_is_slow_beside_the_same_call_on_ordinary_data():
    assert "slow: " in (find_slowness(lambda data: spin(0.1 * data[0])) or "")
    assert find_slowness(lambda data: spin(0.1)) is None


def test_imports_of_the_first_call_do_not_count():
    imports = iter([0.1])
    assert find_slowness(lambda data: spin(next(imports, 0.0))) is None
