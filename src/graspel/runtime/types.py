"""Type aliases of arrays, for the whole project."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Indices = NDArray[Any]  # whole numbers of 32 or 64 bits; mypy cannot calculate with NDArray[np.integer]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Pairs = tuple[Ints, Ints]  # pairs of points or nodes
MeasuredPairs = tuple[Ints, Ints, Floats]  # pairs of points with z_data of each
