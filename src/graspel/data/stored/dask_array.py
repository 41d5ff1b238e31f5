"""A dask array as a stored matrix: its blocks of rows are computed one after the other.

`GRASPEL` itself leaves a dask array on its workers (:mod:`graspel.data.chunked`). Estimators that need more than
edges read it through this class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.data.stored.matrix import StoredMatrix


class DaskBlocks(StoredMatrix):
    """The rows of a dask array."""

    name = "X"

    def __init__(self, array: Any) -> None:
        if array.ndim != 2 or not all(np.isfinite(side) for side in array.shape):
            raise ValueError(
                f"X is a dask array of shape {array.shape}: must be a matrix of known size; X.compute_chunk_sizes() "
                "finds it."
            )
        self.shape, self.dtype = (int(array.shape[0]), int(array.shape[1])), np.dtype(array.dtype)
        self._array = array.rechunk((self.rows_at_once, -1))

    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order."""
        for i in range(self._array.numblocks[0]):
            yield np.asarray(self._array.blocks[i].compute())
