"""The spectral drawing: each point placed by the first three nontrivial eigenvectors of the graph's Laplacian.

These eigenvectors are the smoothest coordinates the graph has: of all drawings with unit spread along three
uncorrelated axes, this one has the shortest edges (Hall, 1970). Points of one cluster fall together, and what lies
between clusters shows as the thin arms joining them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graspel.linalg import smallest_eigenpairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from graspel.graph import Graph

__all__ = ["spectral_drawing", "spectral_layout"]

# Ten colours that stay apart for colour-blind readers (Tol's "muted" scheme, with its grey made darker); each further
# ten classes take the next marker.
COLOURS = (
    "#332288",
    "#88CCEE",
    "#44AA99",
    "#117733",
    "#999933",
    "#DDCC77",
    "#CC6677",
    "#882255",
    "#AA4499",
    "#777777",
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
NO_LABEL_COLOUR = "#332288"
MAX_EDGES = 50_000
MAX_LEGEND = 40


def spectral_layout(graph: Graph, *, random_state: int = 0) -> np.ndarray:
    """Place each node in space.

    Parameters
    ----------
    graph : Graph
        A connected graph of at least two nodes.
    random_state : int
        Seed of the eigensolver's start.

    Returns
    -------
    ndarray of shape (n_nodes, 3)
        The first three nontrivial eigenvectors of the Laplacian, each scaled to unit spread. A graph of fewer than
        four nodes has fewer; the rest is zero.
    """
    n_axes = min(3, graph.n_nodes - 1)
    if n_axes < 1:
        raise ValueError(f"a graph of {graph.n_nodes} node(s) can not be drawn; it needs at least two.")
    pairs = smallest_eigenpairs(graph.laplacian, n_axes + 1, random_state=random_state)
    places = np.zeros((graph.n_nodes, 3))
    places[:, :n_axes] = pairs.vectors[:, 1:]
    # An eigenvector is fixed up to its sign: let the longer tail point to the positive side.
    places *= np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)
    return places * np.sqrt(graph.n_nodes)


def spectral_drawing(
    graph: Graph, labels: Any = None, path: str | os.PathLike[str] | None = None, ax: Any = None
) -> Figure:
    """Draw a graph in three dimensions by its Laplacian eigenvectors.

    Parameters
    ----------
    graph : Graph
        The graph to draw.
    labels : array-like of shape (n_nodes,), optional
        The class of each node, shown by colour (and marker, above ten classes).
    path : path-like, optional
        Where to write the picture; the suffix tells the format (.png, .pdf, .svg). Not written when not given.
    ax : matplotlib 3-D axes, optional
        Where to draw. A new figure is made when not given; no global figure is touched.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn on.
    """
    classes, members = _classes(graph.n_nodes, labels)
    places = spectral_layout(graph)
    figure, ax = _axes(ax)
    _draw_edges(ax, graph, places)
    _draw_nodes(ax, places, classes, members)
    if 0 < len(classes) <= MAX_LEGEND:
        _name_classes(ax, places, classes, members)
    _finish(ax, places, graph)
    _view(ax, places, members)
    _legend(ax, len(classes))
    if path is not None:
        _save(figure, Path(path))
    return figure


def _classes(n_nodes: int, labels: Any) -> tuple[list[str], list[np.ndarray]]:
    """Return the name of each class, and the nodes in it."""
    if labels is None:
        return [], [np.arange(n_nodes)]
    labels = np.asarray(labels)
    if labels.shape != (n_nodes,):
        raise ValueError(f"labels has shape {labels.shape}; the graph has {n_nodes} nodes, so it must be ({n_nodes},).")
    values, index = np.unique(labels, return_inverse=True)
    return [str(value) for value in values], [np.flatnonzero(index == k) for k in range(len(values))]


def _axes(ax: Any) -> tuple[Figure, Any]:
    if ax is not None:
        return ax.figure, ax
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 7.0), dpi=160, facecolor="white")
    FigureCanvasAgg(figure)
    return figure, figure.add_axes((0.0, 0.0, 0.9, 0.95), projection="3d", computed_zorder=False)


def _draw_edges(ax: Any, graph: Graph, places: np.ndarray) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    ends = np.stack([places[graph.heads], places[graph.tails]], axis=1)
    if len(ends) > MAX_EDGES:  # the strongest carry the shape
        ends = ends[np.argsort(-np.asarray(graph.weights), kind="stable")[:MAX_EDGES]]
    ax.add_collection3d(Line3DCollection(ends, colors="#555555", linewidths=0.5, alpha=0.5, zorder=1))


def _draw_nodes(ax: Any, places: np.ndarray, classes: list[str], members: list[np.ndarray]) -> None:
    size = float(np.clip(45_000 / len(places), 2.0, 40.0))
    for k, nodes in enumerate(members):
        ax.scatter(
            *places[nodes].T,
            s=size,
            color=COLOURS[k % len(COLOURS)] if classes else NO_LABEL_COLOUR,
            marker=MARKERS[k // len(COLOURS) % len(MARKERS)],
            label=classes[k] if classes else None,
            linewidths=0,
            alpha=0.85,
            depthshade=False,
            zorder=2,
        )


def _name_classes(ax: Any, places: np.ndarray, classes: list[str], members: list[np.ndarray]) -> None:
    """Write the name of each class at its middle node, so that colour is not the only way to tell."""
    from matplotlib.patheffects import withStroke

    for name, nodes in zip(classes, members, strict=True):
        middle = np.median(places[nodes], axis=0)
        nearest = nodes[np.argmin(((places[nodes] - middle) ** 2).sum(axis=1))]
        text = ax.text(
            *places[nearest],
            f" {name}",
            color="#222222",
            fontsize=13,
            fontweight="bold",
            verticalalignment="bottom",
            zorder=3,
        )
        text.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _finish(ax: Any, places: np.ndarray, graph: Graph) -> None:
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), ("$u_2$", "$u_3$", "$u_4$"), strict=True):
        axis.set_pane_color((0.965, 0.967, 0.975, 1.0))
        axis.set_tick_params(length=0, width=0, labelcolor="none", color="none")
        axis.line.set_color("#999999")
        axis._axinfo["grid"].update(color="white", linewidth=1.0)
        axis._axinfo["tick"].update(inward_factor=0.0, outward_factor=0.0)
        axis.set_label_text(name, fontsize=14)
        axis.labelpad = -12
    span = np.maximum(np.ptp(places, axis=0), 1e-12)
    ax.set_box_aspect(np.maximum(span / span.max(), 0.6), zoom=1.2)
    ax.set_title(f"{graph.n_nodes:,} points, {graph.n_edges:,} edges", fontsize=14, y=1.0)


def _view(ax: Any, places: np.ndarray, members: list[np.ndarray]) -> None:
    """Look from where the classes (or, without labels, the points) lie farthest apart."""
    middles = np.array([np.median(places[nodes], axis=0) for nodes in members]) if len(members) > 1 else places
    if len(middles) > 500:
        middles = middles[:: len(middles) // 500]
    middles = middles / np.maximum(np.ptp(places, axis=0), 1e-12)

    def clearance(view: tuple[float, float]) -> float:
        elevation, azimuth = np.radians(view)
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        up = np.array([-np.cos(azimuth) * np.sin(elevation), -np.sin(azimuth) * np.sin(elevation), np.cos(elevation)])
        flat = middles @ np.stack([right, up], axis=1)
        gaps = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=2)) + 1e-3
        return float(np.log(gaps).mean())

    views = [(elevation, azimuth) for elevation in (15.0, 25.0, 35.0) for azimuth in range(-180, 180, 10)]
    elevation, azimuth = max(views, key=clearance)
    ax.view_init(elev=elevation, azim=azimuth)


def _legend(ax: Any, n_classes: int) -> None:
    if 0 < n_classes <= MAX_LEGEND:
        ax.legend(
            title="class",
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            markerscale=1.6,
            handletextpad=0.1,
            ncols=1 + (n_classes - 1) // 20,
        )


def _save(figure: Figure, path: Path) -> None:
    from graspel.files import written_whole

    with written_whole(path) as temporary:
        figure.savefig(temporary, bbox_inches="tight", pad_inches=0.15)
