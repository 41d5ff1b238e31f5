"""The picture of an embedding: each point as a dot at its place, coloured by its class."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graspel.plot.drawing import COLOURS, MARKERS, MAX_LEGEND, _axes, _legend, _name_classes, _save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["embedding_plot"]


def embedding_plot(
    embedding: Any,
    labels: Any = None,
    path: str | os.PathLike[str] | None = None,
    ax: Any = None,
    *,
    title: str = "Embedding",
    subtitle: str | None = None,
    legend: bool = True,
) -> Figure:
    """Draw the first two coordinates of an embedding.

    Parameters
    ----------
    embedding : array-like of shape (n_points, n_components)
        The places, in one dimension or more; the third and further are not shown, a second one that is missing is 0.
    labels : array-like of shape (n_points,), optional
        The class of each point, shown by colour (and marker, above ten classes) and by name at the class's middle.
    path : path-like, optional
        Where to write the picture; the suffix tells the format (.png, .pdf, .svg). Not written when not given.
    ax : matplotlib axes, optional
        Where to draw. A new figure is made when not given; no global figure is touched.
    title, subtitle : str
        What is shown; under it, the number of points unless something else is given.
    legend : bool
        Whether the classes are listed at the side.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn on.
    """
    places = np.asarray(embedding, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] < 1:
        raise ValueError(f"embedding has shape {places.shape}; give one row for each point, one column or more.")
    places = places[:, :2] if places.shape[1] > 1 else np.hstack([places, np.zeros_like(places)])
    names, classes = _classes(len(places), labels)
    figure, ax = _axes(ax)
    _draw_points(ax, places, classes)
    if 0 < len(names) <= MAX_LEGEND:
        _name_classes(ax, places, names, classes)
        if legend:
            _legend(ax, names)
    ax.set_title(title, fontsize=15, fontweight="bold", pad=22)
    ax.annotate(
        f"{len(places):,} points" if subtitle is None else subtitle,
        (0.5, 1.0),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        color="#555555",
        fontsize=10.5,
        ha="center",
    )
    if path is not None:
        _save(figure, Path(path))
    return figure


def _classes(n_points: int, labels: Any) -> tuple[list[str], np.ndarray]:
    """The names of the classes (none without labels) and the class of each point."""
    if labels is None:
        return [], np.zeros(n_points, dtype=np.int64)
    labels = np.asarray(labels)
    if labels.shape != (n_points,):
        raise ValueError(f"labels has shape {labels.shape}; there are {n_points} points, so it must be ({n_points},).")
    values, classes = np.unique(labels, return_inverse=True)
    return [str(value) for value in values], classes


def _draw_points(ax: Any, places: np.ndarray, classes: np.ndarray) -> None:
    """In a mixed order, so that no class covers another."""
    order = np.random.default_rng(0).permutation(len(places))
    size = float(np.clip(25_000 / max(len(places), 1), 0.6, 40.0))
    colours = np.array(COLOURS)[classes % len(COLOURS)]
    markers = classes // len(COLOURS) % len(MARKERS)
    for k in np.unique(markers):
        nodes = order[markers[order] == k]
        x, y = places[nodes].T
        ax.scatter(x, y, s=size, c=colours[nodes], marker=MARKERS[k], linewidths=0, rasterized=len(places) > 5_000)
