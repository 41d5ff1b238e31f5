"""The spectral drawing: a graph placed by its first three nontrivial eigenvectors, in two or three dimensions.

The flat drawing is projected along the direction that sets the classes farthest apart; far points are paler, smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.plot.canvas import EDGE, FAINT, MANY, QUIET, check_labels, new_figure, write_title
from graspel.plot.fitted import get_graph, get_labels
from graspel.plot.layout import best_view, spectral_layout
from graspel.plot.scatter import MAX_LEGEND, draw_legend, draw_points, turn_to_reader, write_names

MAX_EDGES = 200_000  # edges drawn, the strongest; more would hide each other
MAX_EDGES_IN_SPACE = 20_000  # edges drawn in three dimensions, where matplotlib is much slower
AXES = ("$u_2$", "$u_3$", "$u_4$")


def drawing(
    fitted: Any,
    labels: Any = None,
    ax: Any = None,
    *,
    dimensions: int = 2,
    edges: bool = True,
    title: str = "Spectral drawing",
) -> Any:
    """Draw a graph by its first three Laplacian eigenvectors.

    Parameters
    ----------
    fitted : Graph, GRASPEL or GraspelClustering
        Connected, of at least two nodes.
    labels : array-like of shape (n_nodes,), optional
        The class of each node, shown by color (and marker, above ten classes). Default: the clusters of a clusterer.
    ax : matplotlib axes, optional
        For three dimensions they must be made with ``projection="3d"``. A new figure is made when not given.
    dimensions : {2, 3}
        2: flat, from the direction that sets the classes farthest apart. 3: in space.
    edges : bool
        Whether edges are drawn; only the strongest if there are very many.
    title : str
        The numbers of points and edges are written below it.

    Returns
    -------
    ax : matplotlib axes
    """
    if dimensions not in (2, 3):
        raise ValueError(f"dimensions={dimensions!r}: must be 2 (flat) or 3 (in space).")
    graph, labels = get_graph(fitted), get_labels(fitted, labels)
    names, classes = check_labels(graph.n_nodes, labels)
    draw = _draw_flat if dimensions == 2 else _draw_in_space
    ax = draw(ax, graph, names, classes, edges)
    draw_legend(ax, names)
    _write_titles(ax, graph, title, dimensions)
    return ax


def _draw_flat(ax: Any, graph: Graph, names: list[str], classes: np.ndarray, edges: bool) -> Any:
    places = spectral_layout(graph)
    view = best_view(places, classes)
    projected = places @ view  # columns: right, up, towards the reader
    depth = projected[:, 2]
    nearness = (depth - depth.min()) / max(float(np.ptp(depth)), 1e-12)
    if ax is None:
        ax = new_figure(7.8, 7.0).add_axes((0.0, 0.0, 0.9, 0.88))
    elif ax.name == "3d":
        raise ValueError("ax has three dimensions: give ordinary axes, or ask for dimensions=3.")
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    if edges:
        _draw_edges(ax, graph, projected, nearness)
    draw_points(ax, projected[:, :2], classes, nearness)
    if 0 < len(names) <= MAX_LEGEND:
        write_names(ax, projected, names, classes)
    _draw_directions(ax, view)
    return ax


def _draw_in_space(ax: Any, graph: Graph, names: list[str], classes: np.ndarray, edges: bool) -> Any:
    places = spectral_layout(graph)
    if ax is None:
        ax = new_figure(7.8, 7.0).add_axes((0.0, 0.0, 0.88, 0.88), projection="3d")
    elif ax.name != "3d":
        raise ValueError('ax is flat, but dimensions=3: make it with projection="3d".')
    if edges:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        heads, tails, width = _choose_strongest(graph, MAX_EDGES_IN_SPACE)
        ends = np.stack([places[heads], places[tails]], axis=1)
        ax.add_collection3d(Line3DCollection(list(ends), colors=EDGE, linewidths=width, alpha=0.4, rasterized=True))
    draw_points(ax, places, classes)
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), AXES, strict=True):
        axis.set_label_text(name, fontsize=13, color=QUIET)
        axis.set_ticklabels([])
    ax.set_box_aspect(None, zoom=0.82)  # leaves room for the titles and the legend
    turn_to_reader(ax, places, classes)
    return ax


def _choose_strongest(graph: Graph, n_most: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Heads and tails of the strongest edges, which show the shape, and the line width: finer for more edges."""
    strongest = np.argsort(-np.asarray(graph.weights), kind="stable")[:n_most]
    width = float(np.clip(0.5 * np.sqrt(5_000 / max(len(strongest), 1)), 0.1, 0.5))
    return graph.heads[strongest], graph.tails[strongest], width


def _draw_edges(ax: Any, graph: Graph, projected: np.ndarray, nearness: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    heads, tails, width = _choose_strongest(graph, MAX_EDGES)
    opacity = 0.2 + 0.5 * np.minimum(nearness[heads], nearness[tails])
    ends = np.stack([projected[heads, :2], projected[tails, :2]], axis=1)
    many = len(ends) > MANY
    ax.add_collection(
        LineCollection(list(ends), colors=EDGE, linewidths=width, alpha=opacity, zorder=1, rasterized=many)
    )


def _draw_directions(ax: Any, view: np.ndarray, length: float = 34.0) -> None:
    """Show in a corner the direction of each eigenvector; one that points along the line of sight looks short."""
    for k, name in enumerate(AXES):
        ax.annotate(
            name,
            (0.06, 0.06),
            xycoords="axes fraction",
            xytext=tuple(length * view[k, :2]),
            textcoords="offset points",
            color=QUIET,
            fontsize=12,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": FAINT, "shrinkA": 0, "shrinkB": 0},
        )


def _write_titles(ax: Any, graph: Graph, title: str, dimensions: int) -> None:
    write_title(ax, title, pad=22)
    counts = (
        f"{graph.n_nodes:,} points, {graph.n_edges:,} edges, placed by the Laplacian's eigenvectors $u_2, u_3, u_4$"
    )
    place = {"xycoords": "axes fraction", "xytext": (0, 6), "textcoords": "offset points"}
    if dimensions == 3:
        ax.text2D(0.5, 1.0, counts, transform=ax.transAxes, color=QUIET, fontsize=10.5, ha="center")
    else:
        ax.annotate(counts, (0.5, 1.0), color=QUIET, fontsize=10.5, ha="center", **place)
