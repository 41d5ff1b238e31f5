r"""Effects: by how much the features of a group differ from those of all other points.

The effect of feature j on a group is the standardized difference of means (Cohen's d),

    d_j = (mean inside - mean outside) / s_j,        s_j^2 = pooled variance of the two sides,

so it does not depend on the unit of the feature. By Cohen's rule of thumb 0.2 is small, 0.5 medium and 0.8 large.

References
----------
J. Cohen. Statistical Power Analysis for the Behavioral Sciences. 1988. Section 2.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.findings.table import Table
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

SMALLEST_UNIT = 1e-100  # values from here to its inverse have squares, and sums of many squares
BLOCK_VALUES = 1 << 21  # values of a block of dense rows in double precision: 16 MB
LARGEST = 99.0  # effects are cut here; a feature that is constant on both sides has an infinite one


class Means(NamedTuple):
    """Means of all features inside and outside each group, and their effects (groups x features)."""

    inside: Floats
    outside: Floats
    effect: Floats


def find_effects(means: Means, n_most: int, *, only_high: bool = False) -> Table:
    """The features that set each group apart, those of largest effect first; features without effect are left out.

    Parameters
    ----------
    means : Means, from `measure_means`
    n_most : int
        Features of each group.
    only_high : bool
        Whether only features count that are larger inside: terms that most points lack say nothing by their absence.

    Returns
    -------
    effects : Table
        With the `group`, the number of the `feature`, its `effect` d, and its mean `inside` the group and `outside`.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 9.0], [1.0, 9.1]])
    >>> effects = find_effects(measure_means(X, np.array([0, 0, 1, 1]), 2), 2)
    >>> effects["group"], effects["feature"]  # feature 0 has no effect
    (array([0, 1]), array([1, 1]))
    """
    strength = means.effect if only_high else np.abs(means.effect)
    n_groups, n_features = strength.shape
    n_most = min(n_most, n_features)
    groups, features = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for group in range(n_groups if n_most else 0):
        most = np.argsort(-strength[group], kind="stable")[:n_most]
        most = most[strength[group, most] > 0]
        groups.append(np.full(len(most), group))
        features.append(most)
    at = np.concatenate(groups), np.concatenate(features)
    columns = {"group": at[0], "feature": at[1], "effect": means.effect[at]}
    return Table({**columns, "inside": means.inside[at], "outside": means.outside[at]})


def holds_terms(X: Any) -> bool:
    """Whether the columns count something, such as words, that most points do not have.

    >>> holds_terms(sp.csr_array(np.eye(3))), holds_terms(np.eye(3))
    (True, False)
    """
    return bool(sp.issparse(X) and (X.nnz == 0 or X.data.min() >= 0))


def measure_means(X: Any, groups: Ints, n_groups: int) -> Means:
    """Measure the means and the effect of every feature of X for every group.

    Parameters
    ----------
    X : array or CSR array (N x M)
    groups : array of N, numbers from 0; points numbered `n_groups` or above belong to no group that is described
    n_groups : int
    """
    unit = _unit(X)
    if unit != 1.0:
        scaled = measure_means(X / unit, groups, n_groups)
        return Means(scaled.inside * unit, scaled.outside * unit, scaled.effect)
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
    effect = np.clip(np.nan_to_num(d, posinf=LARGEST, neginf=-LARGEST), -LARGEST, LARGEST)
    return Means(inside + shift, outside + shift, effect)


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
