"""The stored matrix: what graspel needs to know of a matrix that is larger than memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 26  # size of a block of rows that is read at once: 64 MB


class StoredMatrix(ABC):
    """A matrix of numbers in files.

    Attributes
    ----------
    name : str, its name in messages
    shape : tuple, the numbers of rows and columns
    dtype : numpy type of its values
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    ndim = 2

    @abstractmethod
    def blocks(self) -> Iterator[NDArray[Any]]:
        """The rows in order, in blocks of about BLOCK_BYTES."""

    @property
    def rows_at_once(self) -> int:
        """The rows of a block."""
        return max(1, BLOCK_BYTES // max(1, self.shape[1] * self.dtype.itemsize))

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"{self.name} is not loaded whole, because it may be larger than memory.")
