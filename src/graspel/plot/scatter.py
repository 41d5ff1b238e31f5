"""Points colored by class, with their names and a legend: `embedding` draws them at given coordinates.

Names that would cover each other are pushed apart: two boxes that overlap are moved in opposite directions along the
axis on which less is to go, each by half of it, until no two overlap. Boxes stay near where they began.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.plot.canvas import COLORS, FAINT, MANY, MARKERS, QUIET, TEXT, check_labels, new_figure, write_title
from graspel.plot.drawing import best_view
from graspel.runtime.types import Floats

HAZE = 0.35  # share of white in the color of the farthest point
NAME_SIZE, LETTER_WIDTH, LINE_HEIGHT = 15, 0.65, 1.15  # of the names, in points, and in units of the size
CROWDED = 0.35, 1.5  # factors of a point's size where points are densest and sparsest
BINS, BINS_IN_SPACE = 64, 24  # of the histogram by which density is measured, on each axis
RIM = 0.005  # share of the points on each side outside of the histogram, so that a far point cannot widen it
PASSES = 500  # passes over all pairs of names at most; forty names at one position need fewer
MAX_LEGEND = 40  # classes in a legend, two columns of twenty; with more there is none


def draw_points(ax: Any, places: np.ndarray, classes: np.ndarray, nearness: np.ndarray | None = None) -> None:
    """Draw points at their places (two or three columns), by class.

    With `nearness` (0 to 1) far points are drawn first, paler and smaller, so that near points appear in front of them.
    Without it, the order is random, so that no class covers another, and points are smaller where they are dense, so
    that crowded regions show their grain and single points can be seen.
    """
    from matplotlib.colors import to_rgb

    colors = np.array([to_rgb(color) for color in COLORS])[classes % len(COLORS)]
    sizes = np.full(len(places), np.clip(25_000 / max(len(places), 1), 2.0, 40.0))
    if nearness is None:
        sizes = sizes * _sizes_by_density(places)
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


def turn_to_reader(ax: Any, places: np.ndarray, classes: np.ndarray) -> None:
    """See the points in space from the direction that sets the classes farthest apart, before clear panes."""
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
    near = best_view(places, classes)[:, 2]
    ax.view_init(elev=float(np.degrees(np.arcsin(near[2]))), azim=float(np.degrees(np.arctan2(near[1], near[0]))))


def _sizes_by_density(places: np.ndarray) -> np.ndarray:
    """A factor for the size of each point: the square root of the median density over its own, within limits."""
    d = places.shape[1]
    if len(places) < BINS:
        return np.ones(len(places))
    low, high = np.quantile(places, (RIM, 1 - RIM), axis=0)
    if not (high > low).all():
        return np.ones(len(places))
    n_bins = BINS if d == 2 else BINS_IN_SPACE
    cells = np.clip((places - low) / (high - low) * n_bins, 0, n_bins - 1).astype(np.int64)
    counts = np.zeros([n_bins + 2] * d)
    np.add.at(counts, tuple(cells.T + 1), 1.0)
    corners = np.ndindex(*[3] * d)
    smooth = sum(counts[tuple(slice(start, start + n_bins) for start in corner)] for corner in corners)
    density = np.asarray(smooth)[tuple(cells.T)]
    factors: np.ndarray = np.clip(np.sqrt(np.median(density) / density), *CROWDED)
    return factors


def write_names(ax: Any, places: np.ndarray, names: list[str], classes: np.ndarray) -> None:
    """Write the name of each class at its center, so that color is not the only way to tell classes apart.

    The center is the point of the class nearest to its median. Names that would cover each other are moved apart.
    """
    from matplotlib.patheffects import withStroke

    if not names:
        return
    anchors = np.array([_central_point(places[classes == k]) for k in range(len(names))])
    anchors = _project(ax, anchors)
    offsets = _separate_names(ax, anchors, names)
    for name, anchor, offset in zip(names, anchors, offsets, strict=True):
        text = ax.annotate(
            name,
            anchor,
            xytext=tuple(offset),
            textcoords="offset points",
            color=TEXT,
            fontsize=NAME_SIZE,
            fontweight="bold",
            ha="center",
            va="center",
            zorder=3,
        )
        text.set_parse_math(False)
        text.set_path_effects([withStroke(linewidth=3.5, foreground="white")])


def _project(ax: Any, anchors: np.ndarray) -> np.ndarray:
    """Where the axes show some points: as they are in the plane, seen from the camera in space."""
    if ax.name != "3d":
        return anchors[:, :2]
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    ax.autoscale_view()
    ax.apply_aspect()
    x, y, _ = proj_transform(*anchors.T, ax.get_proj())
    return np.column_stack([x, y])


def _central_point(places: np.ndarray) -> np.ndarray:
    """The place nearest to the median of all."""
    median = np.median(places, axis=0)
    nearest: np.ndarray = places[np.argmin(((places - median) ** 2).sum(axis=1))]
    return nearest


def _separate_names(ax: Any, anchors: np.ndarray, names: list[str]) -> np.ndarray:
    """Offsets, in points of 1/72 inch, of the centers of the names from their anchors, so that no two names overlap."""
    ax.autoscale_view()
    if anchors.shape[1] == 2 and ax.name != "3d":
        ax.apply_aspect()
    at = ax.transData.transform(anchors) * (72 / ax.figure.dpi)
    sizes = NAME_SIZE * np.array([[LETTER_WIDTH * max(len(name), 1), LINE_HEIGHT] for name in names])
    return push_apart(at, sizes) - at


def push_apart(centers: Floats, sizes: Floats, gap: float = 1.0) -> Floats:
    """Centers of boxes (n x 2) with these widths and heights (n x 2), moved until they are `gap` apart.

    Examples
    --------
    >>> push_apart(np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([[20.0, 10.0], [20.0, 10.0]]), gap=0.0)
    array([[ 0., -4.],
           [ 0.,  6.]])
    """
    moved = np.array(centers, dtype=np.float64)
    heads, tails = np.triu_indices(len(moved), 1)
    reach = (sizes[heads] + sizes[tails]) / 2 + gap
    for _ in range(PASSES):
        apart = moved[tails] - moved[heads]
        overlap = reach - np.abs(apart)
        touching = np.flatnonzero((overlap > 1e-6).all(axis=1))
        if not len(touching):
            break
        for pair in touching:
            p, q = heads[pair], tails[pair]
            between = moved[q] - moved[p]
            left = reach[pair] - np.abs(between)
            if (left <= 0).any():  # an earlier move of this pass was enough
                continue
            axis = int(left[1] <= left[0])
            side = 1.0 if between[axis] >= 0 else -1.0
            moved[q, axis] += side * left[axis] / 2
            moved[p, axis] -= side * left[axis] / 2
    return moved


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
