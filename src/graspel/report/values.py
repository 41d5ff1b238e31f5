"""The values of the points in the user's units: a matrix by which groups are described, and columns to show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.report.packing import pack
from graspel.runtime.types import Floats, Ints

BUDGET = 4_000_000  # bytes of all values as text; with it the page stays below 15 MB
MAX_COLUMNS = 60  # columns on the page; more are pixels, genes or coordinates, which are not read one by one
LARGEST = 3e38  # single precision holds no larger number


@dataclass(frozen=True)
class Column:
    """A column that the page shows: numbers, NaN where one is missing, or the codes of words."""

    name: str
    numbers: Any
    words: list[str] | None = None

    def pack(self, points: Ints) -> dict[str, Any]:
        """The values of some points in types that JSON knows."""
        if self.words is not None:
            return {"name": self.name, "words": self.words, "codes": pack(self.numbers[points], "<u2")}
        numbers = np.asarray(self.numbers[points], dtype=np.float64)
        return {"name": self.name, "values": pack(np.clip(numbers, -LARGEST, LARGEST), "<f4")}


@dataclass(frozen=True)
class Values:
    """What is known of the points in the user's units.

    Attributes
    ----------
    X : array or CSR array (N x M), numbers by which groups are described, without missing ones
    names : list of M str, or None if nothing is known about the columns of X
    is_share : array of M, whether a column of X holds a zero or a one for a word
    columns : list of Column, what the page shows; empty where columns are not read one by one
    column_of : array of M, the number of the shown column that each column of X comes from; -1 for none
    is_read : bool, whether columns are read one by one; those of pictures and embeddings are not
    """

    X: Any
    names: list[str] | None
    is_share: Any
    columns: list[Column]
    column_of: Ints
    is_read: bool = True

    def name(self, feature: int) -> str:
        """The name of a column of X."""
        return (self.names[feature] if self.names is not None else "") or f"feature {feature}"

    def keep(self, strength: Floats, n_drawn: int) -> Values:
        """These values with as many columns shown as the page can hold, those that set groups apart most.

        `strength` (groups x M) is the effect of every column of X on every group.
        """
        most = min(MAX_COLUMNS, BUDGET * 3 // (16 * max(n_drawn, 1)))
        if len(self.columns) <= most:
            return self
        best = np.zeros(len(self.columns))
        np.maximum.at(best, self.column_of, np.abs(strength).max(axis=0, initial=0.0))
        kept = np.sort(np.argsort(-best, kind="stable")[:most])
        place = np.full(len(self.columns) + 1, -1)
        place[kept] = np.arange(len(kept))
        return replace(self, columns=[self.columns[c] for c in kept], column_of=place[self.column_of])


def values_of_matrix(X: Any, names: list[str] | None, *, is_read: bool) -> Values:
    """The values of a matrix of numbers."""
    n_features = X.shape[1]
    columns: list[Column] = []
    if is_read and not sp.issparse(X):
        columns = [Column((names[j] if names else "") or f"feature {j}", X[:, j]) for j in range(n_features)]
    column_of = np.arange(n_features) if columns else np.full(n_features, -1)
    return Values(X, names, np.zeros(n_features, dtype=bool), columns, column_of, is_read)
