"""The canvas: axes to draw on, their style and colors, and saving a figure to a file.

New figures are made without pyplot, so that no global figure changes and no window opens. The palette is the eight
colors of Okabe and Ito, which color-blind readers can tell apart, also on a projector and in print: blue first and
pale yellow last, then violet and brown, which differ most from these for every kind of color vision (a test measures
it). Every further ten classes take the next marker.

References
----------
M. Okabe, K. Ito. Color Universal Design: how to make figures and presentations that are friendly to colorblind people.
2008.
"""

from __future__ import annotations

import io
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graspel.io.atomic import write_atomically
from graspel.io.checks import check_suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


SUFFIXES = (".png", ".svg", ".pdf")
DPI = 200  # dots per inch of a .png
MANY = 5_000  # points or lines; more are stored as pixels inside a .svg or .pdf, which stays small and opens fast


def save(drawn: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, whole or not at all.

    Parameters
    ----------
    drawn : matplotlib figure, axes, or several axes of one figure
        What a function of `graspel.plot` returns.
    path : path-like
        The suffix tells the format: .png, .svg or .pdf.
    """
    suffix = check_suffix(path, SUFFIXES, "a picture")
    # Without the date, the same picture gives the same bytes.
    undated: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
    figure = get_figure(drawn)
    with write_atomically(path) as temporary:
        figure.savefig(
            temporary, dpi=DPI, bbox_inches="tight", pad_inches=0.15, format=suffix[1:], metadata=undated[suffix]
        )


def get_figure(drawn: Any) -> Figure:
    """The figure that axes belong to, or the figure itself."""
    if hasattr(drawn, "savefig"):
        figure: Figure = drawn
        return figure
    first: Any = drawn if hasattr(drawn, "figure") else next(iter(drawn), None)
    if not hasattr(first, "figure"):
        raise TypeError(
            f"{type(drawn).__name__}: must be a figure or axes of matplotlib; functions of graspel.plot return them."
        )
    return first.figure


def new_figure(width: float, height: float) -> Figure:
    """An empty white figure; width and height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _figure_class()(figsize=(width, height), dpi=150, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


@cache
def _figure_class() -> type[Figure]:
    """A figure that notebooks show as a picture, as do its axes; pyplot, which would do that, is not used."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=100, bbox_inches="tight")
            return picture.getvalue()

        def add_subplot(self, *args: Any, **options: Any) -> Any:
            return self._show(super().add_subplot(*args, **options))

        def add_axes(self, *args: Any, **options: Any) -> Any:
            return self._show(super().add_axes(*args, **options))

        def _show(self, ax: Any) -> Any:
            ax._repr_png_ = self._repr_png_
            return ax

    return ShownFigure


def new_axes(ax: Any, width: float = 6.4, height: float = 4.4) -> Any:
    """The given axes, or those of a new figure, in the style of all our charts."""
    if ax is None:
        ax = new_figure(width, height).add_subplot()
    elif ax.name == "3d":
        raise ValueError("ax has three dimensions: give ordinary axes.")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=11, colors=QUIET)
    ax.grid(True, color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def name_axes(ax: Any, x: str, y: str, title: str, pad: float = 12.0) -> None:
    """Write the title and the labels of the axes."""
    ax.set_xlabel(x, fontsize=12, color=TEXT)
    ax.set_ylabel(y, fontsize=12, color=TEXT)
    write_title(ax, title, pad)


def write_title(ax: Any, title: str, pad: float = 12.0) -> None:
    """Write a title as plain text: a dollar sign does not start a formula."""
    ax.set_title(title, fontsize=14, fontweight="bold", color=TEXT, pad=pad).set_parse_math(False)
