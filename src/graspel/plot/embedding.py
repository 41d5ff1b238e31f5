"""An embedding: points at given coordinates (of t-SNE, UMAP or eigenvectors), colored by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.plot.canvas import new_figure, write_title
from graspel.plot.palette import FAINT, QUIET, check_labels
from graspel.plot.scatter import MAX_LEGEND, draw_legend, draw_points, turn_to_reader, write_names

__all__ = ["embedding"]


def embedding(
    coordinates: Any, labels: Any = None, ax: Any = None, *, title: str = "", subtitle: str = "", key: bool = True
) -> Any:
    """Draw points at their coordinates.

    Parameters
    ----------
    coordinates : array-like (N x 2)
        Three columns are drawn in space; of more the first two are drawn, and a single one along a line.
    labels : array-like of N, optional
        The class of each point, shown by color (and marker, above ten classes), and by its name at its center.
    ax : matplotlib axes, optional
        A new figure is made when not given. On flat axes the first two of three columns are drawn.
    title, subtitle : str
    key : bool
        Whether a legend lists the classes.

    Returns
    -------
    ax : matplotlib axes
    """
    places = np.asarray(coordinates, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] < 1:
        raise ValueError(f"coordinates has shape {places.shape}; must be (N, 2), the coordinates of each point.")
    in_space = places.shape[1] == 3 and (ax is None or ax.name == "3d")
    if not in_space:
        places = places[:, :2] if places.shape[1] > 1 else np.hstack([places, np.zeros_like(places)])
    names, classes = check_labels(len(places), labels, "there are {n} points")
    draw = _draw_in_space if in_space else _draw_flat
    ax = draw(ax, places, names, classes)
    if key:
        draw_legend(ax, names, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if title:
        write_title(ax, title, pad=22.0 if subtitle else 12.0)
    if subtitle and in_space:
        ax.text2D(0.5, 1.0, subtitle, transform=ax.transAxes, color=QUIET, fontsize=10.5, ha="center")
    elif subtitle:
        place: dict[str, Any] = {"xycoords": "axes fraction", "xytext": (0, 6), "textcoords": "offset points"}
        ax.annotate(subtitle, (0.5, 1.0), color=QUIET, fontsize=10.5, ha="center", **place)
    return ax


def _draw_flat(ax: Any, places: np.ndarray, names: list[str], classes: np.ndarray) -> Any:
    ax = new_figure(7.2, 6.4).add_subplot() if ax is None else ax
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    draw_points(ax, places, classes)
    if len(names) <= MAX_LEGEND:
        write_names(ax, places, names, classes)
    return ax


def _draw_in_space(ax: Any, places: np.ndarray, names: list[str], classes: np.ndarray) -> Any:
    """Draw the points in space, seen from the direction that sets the classes farthest apart, between faint axes."""
    ax = new_figure(7.8, 7.0).add_axes((0.0, 0.0, 0.88, 0.88), projection="3d") if ax is None else ax
    draw_points(ax, places, classes)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_ticks([])  # coordinates of t-SNE have no meaning
        axis.line.set_color(FAINT)
    ax.set_box_aspect(np.maximum(np.ptp(places, axis=0), 1e-12), zoom=0.9)  # equal units on all axes
    turn_to_reader(ax, places, classes)
    if len(names) <= MAX_LEGEND:
        write_names(ax, places, names, classes)
    return ax
