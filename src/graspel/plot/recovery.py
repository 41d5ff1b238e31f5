"""Recovery: the true graph and the learned one side by side on one layout, with what was missed and what is extra."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.plot.canvas import BLUE, EDGE, QUIET, TEXT, VERMILLION, new_figure, write_title
from graspel.plot.drawing import spectral_layout
from graspel.plot.fitted import get_graph

__all__ = ["recovery"]

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
