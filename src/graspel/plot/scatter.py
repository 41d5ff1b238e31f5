"""Points colored by class, their names and their legend, for `drawing` and `embedding`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.plot.canvas import MANY
from graspel.plot.palette import COLORS, MARKERS, TEXT

__all__ = ["draw_legend", "draw_points", "write_names"]

HAZE = 0.35  # share of white in the color of the farthest point
MAX_LEGEND = 40  # classes in a legend, two columns of twenty; with more there is none


def draw_points(ax: Any, places: np.ndarray, classes: np.ndarray, nearness: np.ndarray | None = None) -> None:
    """Draw points at their places (two or three columns), by class.

    With `nearness` (0 to 1) far points are drawn first, paler and smaller, so that near points appear in front of them.
    Without it, the order is random, so that no class covers another.
    """
    from matplotlib.colors import to_rgb

    colors = np.array([to_rgb(color) for color in COLORS])[classes % len(COLORS)]
    sizes = np.full(len(places), np.clip(45_000 / max(len(places), 1), 2.0, 40.0))
    if nearness is None:
        order = np.random.default_rng(0).permutation(len(places))
    else:
        haze = HAZE * (1.0 - nearness[:, None])
        colors = colors * (1.0 - haze) + haze
        sizes = sizes * (0.5 + 0.6 * nearness)
        order = np.argsort(nearness, kind="stable")
    markers = classes // len(COLORS) % len(MARKERS)
    # Three-dimensional axes sort and fade points by depth themselves.
    look: dict[str, Any] = {"linewidths": 0, "rasterized": len(places) > MANY}
    if places.shape[1] == 2:
        look["zorder"] = 2
    for k in np.unique(markers):
        nodes = order[markers[order] == k]
        ax.scatter(*places[nodes].T, s=sizes[nodes], c=colors[nodes], marker=MARKERS[k], **look)


def write_names(ax: Any, places: np.ndarray, names: list[str], classes: np.ndarray) -> None:
    """Write the name of each class at its center, so that color is not the only way to tell classes apart."""
    from matplotlib.patheffects import withStroke

    for k, name in enumerate(names):
        nodes = np.flatnonzero(classes == k)
        center = np.median(places[nodes], axis=0)
        nearest = nodes[np.argmin(((places[nodes] - center) ** 2).sum(axis=1))]
        text = ax.annotate(
            name,
            places[nearest, :2],
            xytext=(6, 5),
            textcoords="offset points",
            color=TEXT,
            fontsize=15,
            fontweight="bold",
            zorder=3,
        )
        text.set_parse_math(False)
        text.set_path_effects([withStroke(linewidth=3.5, foreground="white")])


def draw_legend(ax: Any, names: list[str], title: str = "class", **place: Any) -> None:
    """Add a legend of the classes, unless there are none or too many to read."""
    from matplotlib.lines import Line2D

    if not 0 < len(names) <= MAX_LEGEND:
        return
    handles = [
        Line2D([], [], linestyle="", marker=MARKERS[k // len(COLORS) % len(MARKERS)], color=COLORS[k % len(COLORS)])
        for k in range(len(names))
    ]
    place = place or {"loc": "center left", "bbox_to_anchor": (0.99, 0.5)}
    columns = 1 + (len(names) - 1) // 20
    box = ax.legend(handles, names, title=title, frameon=False, handletextpad=0.1, ncols=columns, fontsize=11, **place)
    for text in box.get_texts():
        text.set_parse_math(False)
