"""The spectrum: the first eigenvalues of a graph's Laplacian, and the gap that tells the number of clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graspel.cluster import find_eigengap
from graspel.graph import Graph
from graspel.learning.eigengap import Eigengap
from graspel.linalg import smallest_eigenpairs
from graspel.plot.canvas import name_axes, new_axes
from graspel.plot.fitted import get_graph
from graspel.plot.palette import BLUE, ORANGE, TEXT

__all__ = ["Spectrum", "first_eigenvalues", "gap_position", "get_eigengap", "spectrum"]

SHOWN = 20  # eigenvalues drawn, as in the paper's figures


class Spectrum(NamedTuple):
    """The first eigenvalues, zeros included, and the largest gap.

    Attributes
    ----------
    values : array
    gap_after : int or None
        Number of eigenvalues before the largest gap, which is the number of clusters; None where there is no gap.
    n_components : int
    """

    values: np.ndarray
    gap_after: int | None
    n_components: int


def first_eigenvalues(fitted: Any, n: int = SHOWN, *, random_state: int = 0) -> Spectrum:
    """The n smallest eigenvalues of a graph (fewer, if it has fewer nodes), and its eigengap."""
    graph = get_graph(fitted)
    n = min(n, graph.n_nodes)
    pairs = smallest_eigenpairs(graph.laplacian, n, tol=1e-3, norm="energy", random_state=random_state)
    return Spectrum(pairs.values, gap_position(graph, get_eigengap(fitted)), graph.components[0])


def get_eigengap(fitted: Any) -> Eigengap:
    """The eigengap that ``n_clusters="auto"`` used, or would use on this graph: there is one answer for one graph."""
    used: Eigengap | None = getattr(fitted, "eigengap_", None)
    return find_eigengap(get_graph(fitted), random_state=0) if used is None else used


def gap_position(graph: Graph, gap: Eigengap) -> int | None:
    """How many eigenvalues lie before the gap: the zeros if there are several; None where no gap can be measured."""
    n_components = graph.components[0]
    if n_components > 1:
        return n_components if n_components < graph.n_nodes else None
    return gap.n_clusters if len(gap.gaps) else None


def spectrum(fitted: Any, ax: Any = None, *, n_eigenvalues: int = SHOWN, title: str = "Spectrum") -> Any:
    """Draw the first eigenvalues of the Laplacian, and mark the gap from which ``n_clusters="auto"`` takes its number.

    Parameters
    ----------
    fitted : Graph, GRASPEL or GraspelClustering
    ax : matplotlib axes, optional
        A new figure is made when not given.
    n_eigenvalues : int
    title : str

    Returns
    -------
    ax : matplotlib axes
    """
    if n_eigenvalues < 2:
        raise ValueError(f"n_eigenvalues={n_eigenvalues!r}: must be at least 2; the first one is always zero.")
    return draw_spectrum(first_eigenvalues(fitted, n_eigenvalues), new_axes(ax), title)


def draw_spectrum(found: Spectrum, ax: Any, title: str) -> Any:
    """Draw eigenvalues that are already computed."""
    values, k = found.values, found.gap_after
    number = np.arange(1, len(values) + 1)
    name_axes(ax, "number of the eigenvalue", "eigenvalue $\\lambda_i$", title)
    ax.vlines(number, 0.0, values, color=BLUE, linewidth=2.5, alpha=0.5)
    ax.plot(number, values, "o", color=BLUE, markersize=7)
    if k is not None:
        label = f"{k} components" if found.n_components > 1 else f"largest gap, after {k}"
        if k < len(values):
            ax.axvspan(k, k + 1, color=ORANGE, alpha=0.3, linewidth=0, label=label)
        else:
            ax.plot([], [], linestyle="", label=f"{label} (not shown)")
        ax.legend(frameon=False, fontsize=11, loc="upper left", labelcolor=TEXT)
    ax.set_ylim(0.0, max(float(values.max(initial=0.0)), 1e-300) * 1.18)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 4))
    return ax
