"""The palette: colors that color-blind readers can tell apart, also on a projector and in print.

The eight colors of Okabe and Ito, blue first and pale yellow last, then violet and brown, which differ most from these
for every kind of color vision (a test measures it). Every further ten classes take the next marker.

References
----------
M. Okabe, K. Ito. Color Universal Design: how to make figures and presentations that are friendly to colorblind people.
2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLORS", "MARKERS", "check_labels", "clip_name"]

COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#F0E442",
    "#7711DD",
    "#663311",
)
BLUE, ORANGE, GREEN, VERMILLION = COLORS[:4]
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
TEXT = "#222222"
QUIET = "#555555"  # explanations, ticks
FAINT = "#999999"  # guide lines
EDGE = "#333333"  # edges of a graph

MAX_NAME = 40  # characters of a class name in a picture; longer names are cut
# Characters that change the direction of the text after them are removed; control characters become spaces.
TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
REPLACED: dict[int, str] = dict.fromkeys(TURNING, "") | dict.fromkeys((*range(0x00, 0x20), *range(0x7F, 0xA0)), " ")


def clip_name(name: object, length: int = MAX_NAME) -> str:
    r"""A name on one line, cut if it is too long for a picture.

    Examples
    --------
    >>> clip_name("one\ntwo"), clip_name("x" * 100, 5)
    ('one two', 'xxxx…')
    """
    text = " ".join(str(name)[: 4 * length].translate(REPLACED).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def check_labels(
    n_points: int, labels: Any, what: str = "the graph has {n} nodes"
) -> tuple[list[str], NDArray[np.intp]]:
    """The shortened names of the classes (none without labels), and the class of each point."""
    if labels is None:
        return [], np.zeros(n_points, dtype=np.intp)
    labels = np.asarray(labels)
    if labels.shape != (n_points,):
        expected = what.format(n=n_points)
        raise ValueError(f"labels has shape {labels.shape}; {expected}, so it must be ({n_points},).")
    if labels.dtype.kind == "O":  # a mix of numbers and text cannot be sorted
        labels = labels.astype(str)
    values, classes = np.unique(labels, return_inverse=True)
    return [clip_name(value) for value in values], classes
