"""Copies: points that are equal to an earlier point."""

from __future__ import annotations

import numpy as np

from graspel.findings.table import Table
from graspel.runtime.types import Ints


def find_copies(original: Ints) -> Table:
    """All points that are equal to an earlier one; those of the largest set first.

    Parameters
    ----------
    original : array of N, for every point the first point equal to it (`NearPoints.original`)

    Returns
    -------
    copies : Table
        With the `point`, the first point it is a copy of (`copy_of`), and how many points are equal (`n_equal`).

    Examples
    --------
    >>> list(find_copies(np.array([0, 1, 1, 3, 0, 1])).rows())[0]
    {'point': 2, 'copy_of': 1, 'n_equal': 3}
    """
    sizes = np.bincount(original, minlength=len(original))
    points = np.flatnonzero(original != np.arange(len(original)))
    first = original[points]
    order = np.lexsort([points, first, -sizes[first]])
    return Table({"point": points[order], "copy_of": first[order], "n_equal": sizes[first[order]]})
