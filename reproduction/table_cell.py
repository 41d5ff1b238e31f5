"""A cell of a table: one method on one data set with one seed, measured once."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Cell"]


class Cell(NamedTuple):
    """One method on one data set with one seed."""

    dataset: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """The name of the cell among the results."""
        return f"{self.dataset}/{self.method}/{self.seed}"
