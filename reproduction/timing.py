"""The one way to time: wall-clock seconds of a call, of the best of several calls, and of calls that take turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Timed", "time_best", "time_call", "time_in_turns"]


class Timed(NamedTuple):
    """Wall-clock seconds of a call, and the value that it returned."""

    seconds: float
    value: Any


def time_call(run: Callable[[], Any]) -> Timed:
    """Time one call.

    Examples
    --------
    >>> time_call(lambda: 2 * 3).value
    6
    """
    started = time.perf_counter()
    value = run()
    return Timed(time.perf_counter() - started, value)


def time_best(run: Callable[[], Any], repeats: int) -> Timed:
    """Time a few calls; return the seconds of the fastest and the value of the last."""
    calls = [time_call(run) for _ in range(repeats)]
    return Timed(min(call.seconds for call in calls), calls[-1].value)


def time_in_turns(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> tuple[list[float], list[float]]:
    """Seconds of two rivals that run in turns, so that other work on the machine slows both of them alike."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for times, run in zip(seconds, (first, second), strict=True):
            times.append(time_call(run).seconds)
    return seconds
