"""Shrinking: the smallest input that still fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fuzzing.cases import Case, find_fault

MAX_TRIES = 300  # calls made to shrink one failure
MAX_SECONDS = 60.0  # after which it is shrunk no more


def shrink(case: Case, fault: str) -> Case:
    """Drop rows, columns and settings, and simplify numbers, as long as the same kind of fault remains."""
    kind = _kind(fault)
    tries, end = 0, time.monotonic() + MAX_SECONDS
    progress = True
    while progress and tries < MAX_TRIES and time.monotonic() < end:
        progress = False
        for smaller in _smaller(case):
            tries += 1
            found = find_fault(smaller)
            if found is not None and _kind(found) == kind:
                case, progress = smaller, True
                break
            if tries >= MAX_TRIES or time.monotonic() > end:
                break
    return case


def _kind(fault: str) -> str:
    """What makes two faults the same: all but the numbers."""
    return "".join(c for c in fault if not c.isdigit())[:60]


def _smaller(case: Case) -> Iterator[Case]:
    for key in case.settings:
        if key != "random_state":
            yield replace(case, settings={k: v for k, v in case.settings.items() if k != key})
    if isinstance(case.data, bytes):
        yield from (replace(case, data=data) for data in _smaller_bytes(case.data))
    else:
        yield from (replace(case, data=data) for data in _smaller_matrices(case.data, "linalg" in case.target))


def _smaller_bytes(data: bytes) -> Iterator[bytes]:
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 4


def _smaller_matrices(X: Any, square: bool) -> Iterator[Any]:
    rows, columns = X.shape
    dense = X.toarray() if sp.issparse(X) else X
    wrap = type(X) if sp.issparse(X) else np.asarray
    for axis, length in ((0, rows), (1, columns)):
        if square and axis == 1:
            continue
        size = length // 2
        while size:
            for start in range(0, length, size):
                keep = np.r_[0:start, start + size : length]
                if len(keep):
                    yield wrap(dense[np.ix_(keep, keep)] if square else np.take(dense, keep, axis=axis))
            size //= 2
    if not square and dense.dtype == np.float64:
        with np.errstate(all="ignore"):
            for simple in (np.round(dense), np.sign(dense) * 10.0 ** np.round(np.log10(np.abs(dense) + 1e-323))):
                if not np.array_equal(simple, dense, equal_nan=True):
                    yield wrap(simple)


def write_code(case: Case) -> str:
    """The case as a few lines of Python."""
    if isinstance(case.data, bytes):
        return f"data = {case.data!r}\n{case.code('data', case.settings)}"
    if sp.issparse(case.data):
        text = f"scipy.sparse.{type(case.data).__name__}(np.array({case.data.toarray().tolist()!r}))"
    else:
        text = f"np.array({case.data.tolist()!r}, dtype={str(case.data.dtype)!r})"
    text = text.replace("nan", "np.nan").replace("inf", "np.inf")
    return f"X = {text}\n{case.code('X', case.settings)}"
