"""What a user knows of the points beside their values: one entry for each, checked and numbered."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.runtime.shown import quote
from graspel.runtime.types import Ints

MISSING = ("None", "nan", "NaT", "<NA>")  # what a label that is not known is written as


def check_each(what: str, given: Any, n: int) -> list[str] | None:
    """One text for each point; None stays None."""
    if given is None:
        return None
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(f"{what}={quote(given)}: must be a list with one entry for each point.")
    check_length(what, len(given), n)
    return [str(one) for one in (given.tolist() if hasattr(given, "tolist") else given)]


def check_classes(y: Any, n: int) -> list[str] | None:
    """The classes as texts, an empty one for a point without a label."""
    if check_each("y", y, n) is None:
        return None
    numbers = np.asarray(y)
    if numbers.dtype.kind == "f" and (numbers % 1)[np.isfinite(numbers)].any():
        fraction = numbers[np.isfinite(numbers) & (numbers % 1 != 0)][0]
        raise ValueError(f"y holds {fraction:g}: must be classes, texts or whole numbers. Values have no wrong labels.")
    ones = np.asarray(y, dtype=object).tolist()
    return ["" if not isinstance(one, str) and str(one) in MISSING else str(one) for one in ones]


def number_classes(classes: list[str]) -> tuple[Any, Ints]:
    """The classes, and the number of that of each point, -1 for one without a label."""
    known = np.unique([one for one in classes if one] or [""])
    numbers = np.searchsorted(known, classes)
    return known, np.where(np.asarray(classes) == "", -1, numbers).astype(np.int64)


def check_length(what: str, length: int, n: int) -> None:
    """Raise unless there are as many entries as points."""
    if length != n:
        raise ValueError(f"{what} has {length:,} entries, but X has {n:,} rows; give one for each.")
