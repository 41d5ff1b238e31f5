"""The cells of the user's table on the page: as many columns as it can hold, those that set groups apart most."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.io.columns import Column
from graspel.report.inputs import Inputs
from graspel.report.packing import pack
from graspel.runtime.types import Ints

BUDGET = 4_000_000  # bytes of all values as text; with it the page stays below 15 MB
MAX_COLUMNS = 60  # columns on the page; more are pixels, genes or coordinates, which are not read one by one
LARGEST = 3e38  # single precision holds no larger number


def choose_columns(inputs: Inputs, n_drawn: int) -> list[Column]:
    """The columns whose values the page shows."""
    if inputs.values is None or not inputs.is_read:
        return []
    cells = inputs.values.cells
    most = min(MAX_COLUMNS, BUDGET * 3 // (16 * max(n_drawn, 1)))
    if len(cells) <= most:
        return list(cells)
    best: dict[str, float] = {}
    strength = np.abs(inputs.means.effect).max(axis=0, initial=0.0)
    for source, value in zip(inputs.values.columns.sources, strength.tolist(), strict=False):
        best[source] = max(best.get(source, 0.0), value)
    order = np.argsort([-best.get(column.name, 0.0) for column in cells], kind="stable")[:most]
    return [cells[j] for j in np.sort(order).tolist()]


def pack_column(column: Column, points: Ints) -> dict[str, Any]:
    """The values of some points in types that JSON knows; the code of a missing word is larger than all others."""
    values = np.asarray(column.values[points], dtype=np.float64)
    if column.words:
        codes = np.nan_to_num(values, nan=len(column.words))
        return {"name": column.name, "words": list(column.words), "codes": pack(codes, "<u2")}
    return {"name": column.name, "kind": column.kind, "values": pack(np.clip(values, -LARGEST, LARGEST), "<f4")}
