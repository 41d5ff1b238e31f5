"""The one way to measure: wall-clock seconds of calls, here or in a process of their own.

A process of its own gives a time limit, the memory of one run alone, and a first import.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["ProcessFailed", "Timed", "call_apart", "run_python", "time_best", "time_call", "time_call_within"]

ROOT = Path(__file__).parents[1]


class Timed(NamedTuple):
    """Wall-clock seconds of a call, and the value that it returned."""

    seconds: float
    value: Any


class ProcessFailed(RuntimeError):
    """A process that ended with an error; the message has its exit code and the last line of its stderr."""


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


def time_call_within(limit: float, run: Callable[[], Any]) -> Timed:
    """Time a call in a forked process; after `limit` seconds it is killed, and the result is (limit, None)."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=lambda: theirs.send(tuple(time_call(run))))
    process.start()
    answer = Timed(*ours.recv()) if ours.poll(limit) else Timed(float(limit), None)
    process.kill()
    process.join()
    return answer


def call_apart(function: Callable[..., Any], *arguments: Any, timeout: float | None = None) -> Any:
    """The value of a function of a module, called in a new process; arguments and value are what JSON can hold.

    Raises
    ------
    subprocess.TimeoutExpired
        When it takes longer than `timeout` seconds; the process is killed.
    ProcessFailed
        When it ends with an error.

    Examples
    --------
    >>> from statistics import fmean
    >>> call_apart(fmean, [1, 2])
    1.5
    """
    module = function.__module__
    if module == "__main__":  # run by python -m
        module = sys.modules[module].__spec__.name  # type: ignore[union-attr]
    code = f"import json; from {module} import {function.__name__} as call\nprint(json.dumps(call(*{arguments!r})))"
    return run_python(code, timeout=timeout)


def run_python(code: str, *, timeout: float | None = None) -> Any:
    """Run Python code in a new process, and return the JSON value that it prints last; errors as in `call_apart`.

    Examples
    --------
    >>> run_python("print('loading'); print([1, 2])")
    [1, 2]
    """
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, timeout=timeout, check=False, cwd=ROOT,
    )  # fmt: skip
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ProcessFailed(f"exit code {run.returncode}: {last}")
    return json.loads(run.stdout.strip().splitlines()[-1])
