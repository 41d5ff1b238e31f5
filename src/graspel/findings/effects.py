r"""Effect sizes: by how much the features of a group differ from those of all other points.

The effect of feature j on a group is the standardized difference of means (Cohen's d),

    d_j = (mean inside - mean outside) / s_j,        s_j^2 = pooled variance of the two sides,

so it does not depend on the unit of the feature. By Cohen's rule of thumb 0.2 is small, 0.5 medium and 0.8 large.

References
----------
J. Cohen. Statistical Power Analysis for the Behavioral Sciences. 1988. Section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

__all__ = ["LARGEST", "Effects", "measure_effects"]


SMALLEST_UNIT = 1e-100  # values from here to its inverse have squares, and sums of many squares
BLOCK_VALUES = 1 << 21  # values of a block of dense rows in double precision: 16 MB
LARGEST = 99.0  # effects are cut here; a feature that is constant on both sides has an infinite one


@dataclass(frozen=True)
class Effects:
    """Means and effects of all features (groups x features)."""

    inside: Floats
    outside: Floats
    d: Floats

    def strongest(self, group: int, n_most: int, *, only_high: bool = False) -> Ints:
        """The features of largest effect on a group, strongest first; those without effect are left out."""
        d = self.d[group] if only_high else np.abs(self.d[group])
        n_most = min(n_most, len(d))
        most = np.argpartition(-d, n_most - 1)[:n_most] if n_most else np.zeros(0, dtype=np.int64)
        most = most[np.lexsort([most, -d[most]])]
        return most[d[most] > 0]


def measure_effects(X: Any, groups: Ints, n_groups: int) -> Effects:
    """Measure the effect of every feature of X on every group.

    Parameters
    ----------
    X : array or CSR array (N x M)
    groups : array of N, numbers from 0; points numbered `n_groups` or above belong to no group that is described
    n_groups : int

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 9.0], [1.0, 9.1]])
    >>> effects = measure_effects(X, np.array([0, 0, 1, 1]), 2)
    >>> effects.strongest(0, 2)  # the first feature has no effect
    array([1])
    """
    unit = _unit(X)
    if unit != 1.0:
        scaled = measure_effects(X / unit, groups, n_groups)
        return Effects(scaled.inside * unit, scaled.outside * unit, scaled.d)
    shift = _typical_row(X)
    sizes = np.bincount(groups, minlength=n_groups).astype(np.float64)
    sums, squares = _sums(X, groups, len(sizes), shift)
    n_in = sizes[:n_groups, None]
    n_out = np.maximum(len(groups) - n_in, 1.0)
    sum_out, square_out = sums.sum(axis=0) - sums[:n_groups], squares.sum(axis=0) - squares[:n_groups]
    inside, outside = sums[:n_groups] / np.maximum(n_in, 1.0), sum_out / n_out
    scatter = np.maximum(squares[:n_groups] - n_in * inside**2, 0.0) + np.maximum(square_out - n_out * outside**2, 0.0)
    spread = np.sqrt(scatter / max(len(groups) - 2, 1))
    difference = inside - outside
    # A difference below the rounding errors of the sums is none.
    noise = 1e-12 * np.sqrt(squares.sum(axis=0) / max(len(groups), 1))
    difference[np.abs(difference) <= noise] = 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        d = np.where(difference == 0, 0.0, difference / np.maximum(spread, noise))
    return Effects(
        inside + shift, outside + shift, np.clip(np.nan_to_num(d, posinf=LARGEST, neginf=-LARGEST), -LARGEST, LARGEST)
    )


def _unit(X: Any) -> float:
    """The largest absolute value, if its square cannot be computed with; else 1."""
    values = X.data if sp.issparse(X) else X
    largest = max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0
    return 1.0 if largest == 0 or SMALLEST_UNIT < largest < 1 / SMALLEST_UNIT else largest


def _typical_row(X: Any) -> Floats:
    """A row to subtract, so that sums of squares lose no digits; zero for sparse rows, which must stay sparse."""
    if sp.issparse(X):
        return np.zeros(X.shape[1])
    sample = X[:: max(1, X.shape[0] // 256)]
    return np.asarray(sample, dtype=np.float64).mean(axis=0)


def _sums(X: Any, groups: Ints, n_groups: int, shift: Floats) -> tuple[Floats, Floats]:
    """Sums of the shifted values, and of their squares, in each group."""
    n, m = X.shape
    if sp.issparse(X):
        members = sp.csr_array((np.ones(n), (groups, np.arange(n))), shape=(n_groups, n))
        values = sp.csr_array(X, dtype=np.float64)
        return (members @ values).toarray(), (members @ values.multiply(values)).toarray()
    sums, squares = np.zeros((n_groups, m)), np.zeros((n_groups, m))
    for block in row_blocks(n, max(1, BLOCK_VALUES // max(m, 1))):
        rows = np.asarray(X[block], dtype=np.float64) - shift
        of_group = groups[block]
        members = sp.csr_array((np.ones(len(rows)), (of_group, np.arange(len(rows)))), shape=(n_groups, len(rows)))
        sums += members @ rows
        squares += members @ rows**2
    return sums, squares
