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

# Ten colours that stay apart for colour-blind readers (Tol's "muted" scheme, a bright blue for its grey); each further
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
    "#4477FF",
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
EDGE_COLOUR = "#333333"
HAZE = 0.35  # how far the farthest point fades to white
MAX_EDGES = 200_000
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
    graph: Graph,
    labels: Any = None,
    path: str | os.PathLike[str] | None = None,
    ax: Any = None,
    *,
    title: str = "Spectral drawing",
) -> Figure:
    """Draw a graph by its first three Laplacian eigenvectors, seen from where the classes lie farthest apart.

    Parameters
    ----------
    graph : Graph
        A connected graph of at least two nodes.
    labels : array-like of shape (n_nodes,), optional
        The class of each node, shown by colour (and marker, above ten classes).
    path : path-like, optional
        Where to write the picture; the suffix tells the format (.png, .pdf, .svg). Not written when not given.
    ax : matplotlib axes, optional
        Where to draw. A new figure is made when not given; no global figure is touched.
    title : str, optional
        What is shown. The numbers of points and edges are put under it.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn on.
    """
    names, classes = _classes(graph.n_nodes, labels)
    places = spectral_layout(graph)
    view = _best_view(places, classes)
    seen = places @ view  # right, up, and towards the reader
    nearness = (seen[:, 2] - seen[:, 2].min()) / max(float(np.ptp(seen[:, 2])), 1e-12)

    figure, ax = _axes(ax)
    _draw_edges(ax, graph, seen, nearness)
    _draw_nodes(ax, seen, nearness, classes)
    if 0 < len(names) <= MAX_LEGEND:
        _name_classes(ax, seen, names, classes)
        _legend(ax, names)
    _draw_directions(ax, view)
    _title(ax, graph, title)
    if path is not None:
        _save(figure, Path(path))
    return figure


def _classes(n_nodes: int, labels: Any) -> tuple[list[str], np.ndarray]:
    """Return the names of the classes (none without labels) and the class of each node."""
    if labels is None:
        return [], np.zeros(n_nodes, dtype=np.int64)
    labels = np.asarray(labels)
    if labels.shape != (n_nodes,):
        raise ValueError(f"labels has shape {labels.shape}; the graph has {n_nodes} nodes, so it must be ({n_nodes},).")
    values, classes = np.unique(labels, return_inverse=True)
    return [str(value) for value in values], classes


def _best_view(places: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the directions right, up and towards the reader (columns) that set the classes, or the points, apart."""
    middles = places[:: 1 + len(places) // 500]
    if classes.any():
        middles = np.array([np.median(places[classes == k], axis=0) for k in range(classes.max() + 1)])

    def clearance(view: np.ndarray) -> float:
        flat = middles @ view[:, :2]
        gaps = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=2))
        return float(np.log(gaps + 1e-3).mean())

    angles = [(elevation, azimuth) for elevation in range(-60, 61, 10) for azimuth in range(0, 360, 10)]
    return max((_view(*np.radians(pair)) for pair in angles), key=clearance)


def _view(elevation: float, azimuth: float) -> np.ndarray:
    right = (-np.sin(azimuth), np.cos(azimuth), 0.0)
    up = (-np.cos(azimuth) * np.sin(elevation), -np.sin(azimuth) * np.sin(elevation), np.cos(elevation))
    near = (np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation))
    return np.array([right, up, near]).T


def _axes(ax: Any) -> tuple[Figure, Any]:
    if ax is None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.8, 7.0), dpi=150, facecolor="white")
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.0, 0.0, 0.9, 0.88))
    elif ax.name == "3d":
        raise ValueError("ax has three dimensions: give ordinary axes, the drawing is turned to its best view before.")
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    return ax.figure, ax


def _draw_edges(ax: Any, graph: Graph, seen: np.ndarray, nearness: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    strongest = np.argsort(-np.asarray(graph.weights), kind="stable")[:MAX_EDGES]  # these carry the shape
    heads, tails = graph.heads[strongest], graph.tails[strongest]
    opacity = 0.2 + 0.5 * np.minimum(nearness[heads], nearness[tails])
    ends = np.stack([seen[heads, :2], seen[tails, :2]], axis=1)
    width = float(np.clip(0.5 * np.sqrt(5_000 / max(len(ends), 1)), 0.1, 0.5))  # many edges, fine lines
    ax.add_collection(LineCollection(list(ends), colors=EDGE_COLOUR, linewidths=width, alpha=opacity, zorder=1))


def _draw_nodes(ax: Any, seen: np.ndarray, nearness: np.ndarray, classes: np.ndarray) -> None:
    """Draw the far nodes first, paler and smaller, so that the near ones stand before them."""
    from matplotlib.colors import to_rgb

    haze = HAZE * (1.0 - nearness[:, None])
    colours = np.array([to_rgb(colour) for colour in COLOURS])[classes % len(COLOURS)]
    colours = colours * (1.0 - haze) + haze
    sizes = np.clip(45_000 / len(seen), 2.0, 40.0) * (0.5 + 0.6 * nearness)
    markers = classes // len(COLOURS) % len(MARKERS)
    for k in np.unique(markers):
        nodes = np.flatnonzero(markers == k)
        nodes = nodes[np.argsort(nearness[nodes], kind="stable")]
        x, y, _ = seen[nodes].T
        ax.scatter(x, y, s=sizes[nodes], c=colours[nodes], marker=MARKERS[k], linewidths=0, zorder=2)


def _name_classes(ax: Any, seen: np.ndarray, names: list[str], classes: np.ndarray) -> None:
    """Write the name of each class at its middle node, so that colour is not the only way to tell."""
    from matplotlib.patheffects import withStroke

    for k, name in enumerate(names):
        nodes = np.flatnonzero(classes == k)
        middle = np.median(seen[nodes], axis=0)
        nearest = nodes[np.argmin(((seen[nodes] - middle) ** 2).sum(axis=1))]
        text = ax.annotate(
            name,
            seen[nearest, :2],
            xytext=(6, 5),
            textcoords="offset points",
            color="#222222",
            fontsize=15,
            fontweight="bold",
            zorder=3,
        )
        text.set_path_effects([withStroke(linewidth=3.5, foreground="white")])


def _legend(ax: Any, names: list[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=MARKERS[k // len(COLOURS) % len(MARKERS)], color=COLOURS[k % len(COLOURS)])
        for k in range(len(names))
    ]
    ax.legend(
        handles,
        names,
        title="class",
        loc="center left",
        bbox_to_anchor=(0.99, 0.5),
        frameon=False,
        handletextpad=0.1,
        ncols=1 + (len(names) - 1) // 20,
    )


def _draw_directions(ax: Any, view: np.ndarray, length: float = 34.0) -> None:
    """Show in a corner which way each eigenvector points; one that points at the reader or away is short."""
    for k, name in enumerate(("$u_2$", "$u_3$", "$u_4$")):
        ax.annotate(
            name,
            (0.06, 0.06),
            xycoords="axes fraction",
            xytext=tuple(length * view[k, :2]),
            textcoords="offset points",
            color="#555555",
            fontsize=12,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": "#999999", "shrinkA": 0, "shrinkB": 0},
        )


def _title(ax: Any, graph: Graph, title: str) -> None:
    ax.set_title(title, fontsize=15, fontweight="bold", pad=22)
    ax.annotate(
        f"{graph.n_nodes:,} points, {graph.n_edges:,} edges, placed by the Laplacian's eigenvectors $u_2, u_3, u_4$",
        (0.5, 1.0),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        color="#555555",
        fontsize=10.5,
        ha="center",
    )


def _save(figure: Figure, path: Path) -> None:
    from graspel.files import written_whole

    with written_whole(path) as temporary:
        figure.savefig(temporary, bbox_inches="tight", pad_inches=0.15)
