r"""Coordinates: the columns of a sketch, measured in one pass over the rows and scaled to single precision.

The scale of a sketch depends on all rows: it is set by the matrix of products C'C of the coordinates C. Holding C in
double precision would take twice the memory of single-precision data. So C'C is summed block by block. Coordinates in
single precision are kept meanwhile and scaled in place; those in double precision are read again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.parallel import map_blocks, run_blocks
from graspel.runtime.types import Floats


class Coordinates:
    """Rows of coordinates that `read(block)` returns, and sums over them.

    Attributes
    ----------
    gram : array, C'C, the products of all columns with each other
    total : array, the sum of all rows

    Examples
    --------
    >>> C = np.array([[3.0, 0.0], [0.0, 4.0]])
    >>> coordinates = Coordinates(C.__getitem__, C.shape, np.float64, [slice(0, 2)])
    >>> coordinates.gram.tolist(), coordinates.scaled(0.5).tolist()
    ([[9.0, 0.0], [0.0, 16.0]], [[1.5, 0.0], [0.0, 2.0]])
    """

    def __init__(
        self,
        read: Callable[[slice], NDArray[Any]],
        shape: tuple[int, int],
        dtype: type,
        blocks: list[slice],
        n_threads: int = 1,
    ) -> None:
        self._read, self._shape, self._blocks, self._n_threads = read, shape, blocks, n_threads
        self._kept = np.empty(shape, dtype=np.float32) if dtype == np.float32 else None
        self.gram, self.total = np.zeros((shape[1], shape[1])), np.zeros(shape[1])
        # The sums are added in the order of the blocks, so that they do not depend on the number of threads.
        for gram, total in map_blocks(self._sum, blocks, n_threads):
            self.gram += gram
            self.total += total

    def scaled(self, scale: float) -> NDArray[np.float32]:
        """All coordinates times `scale`, in single precision; call it once, memory is reused."""
        result = np.empty(self._shape, dtype=np.float32) if self._kept is None else self._kept

        def work(block: slice) -> None:
            rows = self._read(block) if self._kept is None else self._kept[block]
            result[block] = rows.astype(np.float64) * scale

        run_blocks(work, self._blocks, self._n_threads)
        return result

    def _sum(self, block: slice) -> tuple[Floats, Floats]:
        rows = self._read(block)
        if self._kept is not None:
            self._kept[block] = rows
        rows = rows.astype(np.float64, copy=False)
        return rows.T @ rows, rows.sum(axis=0)
