"""Colorings: partitions of the points, into clusters or known classes, by which the points are colored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.plot.palette import shorten

__all__ = ["LONGEST_LABEL", "MAX_CLASSES", "Coloring", "make_coloring"]

LONGEST_LABEL = 60  # characters of a class name on the page; longer ones are cut
MAX_CLASSES = 60  # classes with a color and a name of their own: ten colors and six symbols


@dataclass(frozen=True)
class Coloring:
    """One way to color the points.

    Attributes
    ----------
    kind : str
        "class" or "cluster".
    names : list of str
    sizes : list of int
        Number of points in each class.
    classes : array of N
        The class of each point.
    has_others : bool
        Whether the last class holds all those that are too many to be shown.
    """

    kind: str
    names: list[str]
    sizes: list[int]
    classes: NDArray[np.int64]
    has_others: bool = False

    @property
    def n_described(self) -> int:
        """Number of classes that are one class."""
        return len(self.names) - self.has_others


def make_coloring(kind: str, labels: Any, n_points: int) -> Coloring:
    """Names, sizes and classes from labels; if there are more than 60 classes, the smallest become one."""
    values = np.asarray(labels)
    if values.shape != (n_points,):
        raise ValueError(
            f"{kind} labels of shape {values.shape}: the graph has {n_points} nodes, so it must be ({n_points},)."
        )
    if values.dtype.kind == "O":
        values = values.astype(str)
    distinct, classes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    names = [shorten(value, LONGEST_LABEL) or "(empty)" for value in distinct]
    if len(names) <= MAX_CLASSES:
        return Coloring(kind, names, sizes.tolist(), classes.astype(np.int64))
    largest = np.sort(np.argsort(-sizes, kind="stable")[: MAX_CLASSES - 1])
    place = np.full(len(names), MAX_CLASSES - 1)
    place[largest] = np.arange(MAX_CLASSES - 1)
    others = f"{len(names) - len(largest):,} others"
    classes = place[classes]
    sizes = np.bincount(classes, minlength=MAX_CLASSES)
    return Coloring(kind, [*(names[k] for k in largest), others], sizes.tolist(), classes, has_others=True)
