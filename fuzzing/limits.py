"""Low limits: code for large data is reached by small data, because the sizes that it starts at are lowered.

With few points all distances are computed, and small graphs are treated by dense matrices. Landmarks, cells, compiled
kernels and iterations are for large ones, on which a fuzzer could make few calls. So each target is also drawn with the
setting ``low_limits``: then the constants below are replaced during the call.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from fuzzing.cases import Case

Draw = Callable[[np.random.Generator], Case]

LOW_LIMITS: dict[str, dict[str, float]] = {
    "graspel.neighbors.exact": {"EXACT_WORK": 0.0},
    "graspel.neighbors.engines": {"MIN_BLURRED": 8, "MANY_PAIRS": 0},
    "graspel.neighbors.approximate": {"MANY_POINTS": 100},
    "graspel.neighbors.landmarks": {"TOP_LANDMARKS": 8, "QUERY_BLOCK": 64, "FOUND_BYTES": 1 << 16},
    "graspel.neighbors.cells": {"CELL_POINTS": 8, "MANY_CENTERS": 16},
    "graspel.data.dense": {"COMPILED_WORK": 0},
    "graspel.data.rows": {"BLOCK_BYTES": 4096},
    "graspel.data.principal": {"MAX_SKETCH_FEATURES": 8, "SKETCH_DIMENSIONS": 8, "SKETCH_SAMPLE": 64},
    "graspel.linalg.factor.approximate_factor": {"COMPILED_SIZE": 0, "MIN_THREADED_LENGTH": 1},
    "graspel.linalg.vectors": {"MIN_THREADED_LENGTH": 1},
    "graspel.linalg.solve": {"MIN_THREADED_LENGTH": 1, "MANY": 100},
    "graspel.linalg.factor.elimination": {"DENSE_SIZE": 10, "DENSE_LIMIT": 20},
    "graspel.linalg.eigensolver": {"DENSE_LIMIT": 30},
    "graspel.linalg.logdet": {"DENSE_LIMIT": 30, "MANY": 100},
    "graspel.linalg.resistance": {"ELIMINATION_LIMIT": 30, "SOLVE_SOURCES": 8, "MANY": 100},
    "graspel.learning.certificate": {"MANY": 100},
    "graspel.learning.candidates": {"COARSE_NODES": 30},
}


@contextmanager
def low_limits() -> Iterator[None]:
    """Replace the constants of `LOW_LIMITS` inside a ``with`` statement."""
    changes = [
        (importlib.import_module(module), name, value)
        for module, limits in LOW_LIMITS.items()
        for name, value in limits.items()
    ]
    before = [getattr(module, name) for module, name, _ in changes]
    for module, name, value in changes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(changes, before, strict=True):
            setattr(module, name, value)


def are_low() -> bool:
    """Whether the limits are low now."""
    return all(
        getattr(importlib.import_module(module), name) == value
        for module, limits in LOW_LIMITS.items()
        for name, value in limits.items()
    )


def with_low_limits(draw: Draw) -> Draw:
    """The same target, with low limits during its calls."""

    def draw_low(rng: np.random.Generator) -> Case:
        case = draw(rng)

        def run(data: Any, settings: dict[str, Any]) -> int | None:
            settings = dict(settings)
            with low_limits() if settings.pop("low_limits", False) else nullcontext():
                return case.run(data, settings)

        def code(data: str, settings: dict[str, Any]) -> str:
            settings = dict(settings)
            within = "with fuzzing.limits.low_limits(): " if settings.pop("low_limits", False) else ""
            return within + case.code(data, settings)

        return replace(case, settings={**case.settings, "low_limits": True}, run=run, code=code)

    return draw_low
