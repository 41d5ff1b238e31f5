"""Moving square blocks between the fronts of a multifrontal elimination (:mod:`graspel.linalg.multifrontal`).

A front has its own nodes and later ones. `own` is the block between own nodes, `beside` that of later rows and own
columns, `later` that between later nodes; lower triangles, columns contiguous. `place` are the places of the nodes of a
smaller block in the front, increasing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.kernels.compile import kernel

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@kernel
def add_block(block: Floats, place: Ints, own: Floats, beside: Floats, later: Floats) -> None:
    """Add the block to the front."""
    n_own = own.shape[0]
    n = len(place)
    first_later = np.searchsorted(place, n_own)
    for j in range(n):
        q = place[j]
        if q < n_own:
            for i in range(j, first_later):
                own[place[i], q] += block[i, j]
            for i in range(first_later, n):
                beside[place[i] - n_own, q] += block[i, j]
        else:
            for i in range(j, n):
                later[place[i] - n_own, q - n_own] += block[i, j]


@kernel
def take_block(block: Floats, place: Ints, own: Floats, beside: Floats, later: Floats) -> None:
    """Copy these nodes of the front to the block."""
    n_own = own.shape[0]
    n = len(place)
    first_later = np.searchsorted(place, n_own)
    for j in range(n):
        q = place[j]
        if q < n_own:
            for i in range(j, first_later):
                block[i, j] = own[place[i], q]
            for i in range(first_later, n):
                block[i, j] = beside[place[i] - n_own, q]
        else:
            for i in range(j, n):
                block[i, j] = later[place[i] - n_own, q - n_own]
