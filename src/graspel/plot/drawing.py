"""Graphs drawn by their first three nontrivial eigenvectors, in two or three dimensions.

The flat drawing is projected along the direction that sets the classes farthest apart; far points are paler, smaller.
`recovery` draws the true graph and the learned one side by side, with what was missed and what is extra.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.plot.canvas import BLUE, EDGE, FAINT, MANY, QUIET, TEXT, VERMILLION, check_labels, new_figure, write_title
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


SHARED: dict[str, Any] = {"colors": EDGE, "linestyles": "solid", "linewidths": 1.8}
MISSED: dict[str, Any] = {"colors": VERMILLION, "linestyles": "dashed", "linewidths": 2.2}
EXTRA: dict[str, Any] = {"colors": BLUE, "linestyles": "dotted", "linewidths": 2.4}


def recovery(truth: Any, learned: Any, ax: Any = None, *, places: Any = None, title: str = "") -> Any:
    """Draw the true graph and the learned one, with different lines for shared, missed and extra edges.

    Parameters
    ----------
    truth, learned : Graph, or a fitted model
        On the same nodes.
    ax : two matplotlib axes, optional
        One for each graph. A new figure is made when not given.
    places : array-like (n_nodes x 2), optional
        Positions of the nodes; default: the spectral layout of the true graph.
    title : str
        Begins the titles of both drawings.

    Returns
    -------
    axes : array of two matplotlib axes
    """
    truth, learned = get_graph(truth), get_graph(learned)
    if truth.n_nodes != learned.n_nodes:
        raise ValueError(
            f"the true graph has {truth.n_nodes} nodes, the learned one {learned.n_nodes}; "
            "give two graphs on the same nodes."
        )
    xy = _flat_layout(truth) if places is None else np.asarray(places, dtype=float)
    if xy.shape != (truth.n_nodes, 2):
        raise ValueError(f"places has shape {xy.shape}; must be ({truth.n_nodes}, 2), a position for each node.")
    axes = new_figure(10.5, 5.4).subplots(1, 2) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != 2:
        raise ValueError(f"ax holds {len(axes)} axes; give two, one for each graph.")

    in_truth, in_learned = _number_edges(truth), _number_edges(learned)
    found = np.isin(in_truth, in_learned)
    correct = np.isin(in_learned, in_truth)
    _draw(axes[0], xy, truth, found, f"shared ({found.sum():,})", MISSED, f"missed ({(~found).sum():,})")
    _draw(axes[1], xy, learned, correct, f"shared ({correct.sum():,})", EXTRA, f"extra ({(~correct).sum():,})")
    F = 2 * found.sum() / max(truth.n_edges + learned.n_edges, 1)
    before = f"{title}: " if title else ""
    write_title(axes[0], f"{before}true graph, {truth.n_edges:,} edges")
    write_title(axes[1], f"{before}learned, {learned.n_edges:,} edges, F-measure {F:.2f}")
    return axes


def _draw(
    ax: Any, xy: np.ndarray, graph: Graph, shared: np.ndarray, name: str, look: dict[str, Any], other: str
) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    ends = np.stack([xy[graph.heads], xy[graph.tails]], axis=1)
    handles = []
    fine = float(np.clip(np.sqrt(200 / max(graph.n_edges, 1)), 0.25, 1.0))  # finer lines for more edges
    for kind, chosen, label in ((SHARED, shared, name), (look, ~shared, other)):
        scaled = {**kind, "linewidths": kind["linewidths"] * fine}
        ax.add_collection(LineCollection(list(ends[chosen]), **scaled, zorder=1))
        line = {"color": kind["colors"], "linestyle": kind["linestyles"], "linewidth": kind["linewidths"]}
        handles.append(Line2D([], [], label=label, **line))
    size = float(np.clip(4_000 / max(graph.n_nodes, 1), 4.0, 60.0))
    ax.scatter(*xy.T, s=size, color="white", edgecolors=TEXT, linewidths=1.2 * fine, zorder=2)
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        frameon=False,
        fontsize=12,
        handlelength=3,
        labelcolor=QUIET,
    )


def _number_edges(graph: Graph) -> np.ndarray:
    """One number for each edge, the same for the same pair of nodes in two graphs."""
    keys: np.ndarray = graph.heads * graph.n_nodes + graph.tails
    return keys


def _flat_layout(graph: Graph) -> np.ndarray:
    """Two spectral coordinates; several components are first connected by weak edges."""
    n_components, component = graph.components
    if n_components > 1:
        first = np.unique(component, return_index=True)[1]
        weak = 0.05 * float(np.median(graph.weights)) if graph.n_edges else 1.0
        graph = graph.with_edges(first[:-1], first[1:], weak)
    places = spectral_layout(graph)[:, :2]
    # The mean with ranks: spectral coordinates alone put most nodes of a small graph on top of each other.
    ranks = np.argsort(np.argsort(places, axis=0), axis=0) / max(len(places) - 1, 1)
    spread = np.maximum(np.ptp(places, axis=0), 1e-12)
    mixed: np.ndarray = 0.5 * ranks + 0.5 * (places - places.min(axis=0)) / spread
    return mixed
