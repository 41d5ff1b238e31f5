"""Groups against known classes: how many points each group has of each class, and where classes are mixed."""

from __future__ import annotations

import numpy as np

from graspel.findings.table import Table
from graspel.runtime.types import Ints

MIXED = 0.8  # a class is mixed if a smaller share of it lies in one group; so is a group, if the rest is one class
SMALLEST_SHARE = 0.05  # of the shares that are listed
LISTED = 3  # groups of a class, or classes of a group, that are listed


def count_classes(groups: Ints, classes: Ints, shape: tuple[int, int]) -> Ints:
    """The number of points of each group (rows) in each class (columns).

    >>> count_classes(np.array([0, 0, 1]), np.array([1, 1, 0]), (2, 2))
    array([[0, 2],
           [1, 0]])
    """
    return np.bincount(groups * shape[1] + classes, minlength=shape[0] * shape[1]).reshape(shape)


def find_mixtures(counts: Ints) -> tuple[Table, Table]:
    """Classes that are spread over several groups, the worst first, and groups that hold several classes.

    Parameters
    ----------
    counts : array (groups x classes), from `count_classes`

    Returns
    -------
    spread, mixed : Tables
        Both with `group`, `class` and the `share`: of the class that lies in the group, and of the group that is in the
        class. The largest three shares of a class or group stand in consecutive rows.

    Examples
    --------
    >>> spread, mixed = find_mixtures(np.array([[50, 1], [50, 99]]))
    >>> [(row["class"], row["group"], row["share"]) for row in spread.rows()]
    [(0, 0, 0.5), (0, 1, 0.5)]
    """
    of_class = counts / np.maximum(counts.sum(axis=0), 1)
    of_group = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    spread = []
    for k in np.argsort(of_class.max(axis=0), kind="stable").tolist():
        order = np.argsort(-of_class[:, k], kind="stable")[:LISTED].tolist()
        if of_class[order[0], k] >= MIXED:
            break
        spread += [(g, k, of_class[g, k]) for g in order if of_class[g, k] >= SMALLEST_SHARE]
    mixed = []
    for g in range(len(counts)):
        order = np.argsort(-of_group[g], kind="stable")[:LISTED].tolist()
        if len(order) > 1 and of_group[g, order[1]] >= 1 - MIXED:
            mixed += [(g, k, of_group[g, k]) for k in order if of_group[g, k] >= SMALLEST_SHARE]
    return _table(spread), _table(mixed)


def _table(rows: list[tuple[int, int, float]]) -> Table:
    group, of, share = zip(*rows, strict=True) if rows else ((), (), ())
    ints = {"group": np.array(group, dtype=np.int64), "class": np.array(of, dtype=np.int64)}
    return Table({**ints, "share": np.array(share, dtype=np.float64)})
