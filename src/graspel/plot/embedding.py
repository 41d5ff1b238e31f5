"""An embedding: points at given coordinates (of t-SNE, UMAP or eigenvectors), colored by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.plot.canvas import new_figure, write_title
from graspel.plot.palette import check_labels
from graspel.plot.scatter import MAX_LEGEND, draw_legend, draw_points, write_names

__all__ = ["embedding"]


def embedding(
    coordinates: Any, labels: Any = None, ax: Any = None, *, title: str = "", subtitle: str = "", key: bool = True
) -> Any:
    """Draw points at their coordinates.

    Parameters
    ----------
    coordinates : array-like (N x 2)
        If there are more columns, the first two are drawn; a single column is drawn along a line.
    labels : array-like of N, optional
        The class of each point, shown by color (and marker, above ten classes), and by its name at its center.
    ax : matplotlib axes, optional
        A new figure is made when not given.
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
    places = places[:, :2] if places.shape[1] > 1 else np.hstack([places, np.zeros_like(places)])
    names, classes = check_labels(len(places), labels, "there are {n} points")
    ax = new_figure(7.2, 6.4).add_subplot() if ax is None else ax
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    draw_points(ax, places, classes)
    if len(names) <= MAX_LEGEND:
        write_names(ax, places, names, classes)
    if key:
        draw_legend(ax, names, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if title:
        write_title(ax, title, pad=22.0 if subtitle else 12.0)
    if subtitle:
        ax.annotate(
            subtitle,
            (0.5, 1.0),
            xycoords="axes fraction",
            xytext=(0, 6),
            textcoords="offset points",
            color="#555555",
            fontsize=10.5,
            ha="center",
        )
    return ax
