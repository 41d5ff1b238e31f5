"""Measurements in a process of their own: for a time limit, for the memory of one run alone, for a first import."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from reproduction.results import REPOSITORY
from reproduction.timing import Timed, time_call

__all__ = ["ProcessFailed", "run_python", "time_call_within"]


class ProcessFailed(RuntimeError):
    """A process that ended with an error; the message has its exit code and the last line of its stderr."""


def run_python(*arguments: str, timeout: float | None = None) -> Any:
    """Run Python with these arguments, and return the JSON value that it prints last.

    Raises
    ------
    subprocess.TimeoutExpired
        When it takes longer than `timeout` seconds; the process is killed.
    ProcessFailed
        When it ends with an error.

    Examples
    --------
    >>> run_python("-c", "print('loading'); print([1, 2])")
    [1, 2]
    """
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=timeout, check=False, cwd=REPOSITORY
    )
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ProcessFailed(f"exit code {run.returncode}: {last}")
    return json.loads(run.stdout.strip().splitlines()[-1])


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
