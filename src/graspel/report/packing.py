"""Packing: numbers as text that a script unpacks quickly, and values that JSON has no number for."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

__all__ = ["finite_or_none", "pack"]


def pack(values: Any, dtype: str) -> str:
    """Numbers as base64 text: half the size of JSON, and a tenth of the time to read."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


def finite_or_none(value: float) -> float | None:
    """None, which is null in JSON, for numbers that are not finite.

    >>> finite_or_none(float("nan")), finite_or_none(2)
    (None, 2.0)
    """
    return float(value) if math.isfinite(value) else None
