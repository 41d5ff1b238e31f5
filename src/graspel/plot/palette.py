"""The palette: colors that stay apart for color-blind readers, on a projector and in print.

The eight colors of Okabe and Ito, the blue first and the faint yellow last, then violet and brown, which lie farthest
from these for every kind of sight (a test measures it). Each further ten classes take the next marker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLOURS", "MARKERS", "check_labels", "shortened"]

COLOURS = (
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
BLUE, ORANGE, GREEN, VERMILLION = COLOURS[:4]
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
TEXT = "#222222"
QUIET = "#555555"  # of what explains
FAINT = "#999999"  # of what only guides the eye
EDGE = "#333333"

MAX_NAME = 40
# Signs that turn the direction of what follows them, in other texts too; and those that are no signs at all.
TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
UNSEEN: dict[int, str] = dict.fromkeys(TURNING, "") | dict.fromkeys((*range(0x00, 0x20), *range(0x7F, 0xA0)), " ")


def shortened(name: object, length: int = MAX_NAME) -> str:
    r"""A name on one line, cut where it is too long for a picture.

    Examples
    --------
    >>> shortened("one\ntwo"), shortened("x" * 100, 5)
    ('one two', 'xxxx…')
    """
    text = " ".join(str(name)[: 4 * length].translate(UNSEEN).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def check_labels(
    n_points: int, labels: Any, what: str = "the graph has {n} nodes"
) -> tuple[list[str], NDArray[np.intp]]:
    """The names of the classes (none without labels), cut to a length, and the class of each point."""
    if labels is None:
        return [], np.zeros(n_points, dtype=np.intp)
    labels = np.asarray(labels)
    if labels.shape != (n_points,):
        expected = what.format(n=n_points)
        raise ValueError(f"labels has shape {labels.shape}; {expected}, so it must be ({n_points},).")
    if labels.dtype.kind == "O":  # numbers and text mixed cannot be sorted
        labels = labels.astype(str)
    values, classes = np.unique(labels, return_inverse=True)
    return [shortened(value) for value in values], classes
