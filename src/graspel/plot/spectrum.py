"""The spectrum: the first eigenvalues of a graph's Laplacian, and the gap that tells the number of clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graspel.cluster.eigengap import eigengap
from graspel.graph import Graph
from graspel.linalg import smallest_eigenpairs
from graspel.plot.canvas import name_axes, new_axes
from graspel.plot.fitted import graph_of
from graspel.plot.palette import BLUE, ORANGE, TEXT

__all__ = ["Spectrum", "first_eigenvalues", "gap_of", "spectrum"]

SHOWN = 20


class Spectrum(NamedTuple):
    """The first eigenvalues, zeros included, and the number of clusters k: the gap follows the k-th. None: no gap."""

    values: np.ndarray
    gap_after: int | None
    n_components: int


def first_eigenvalues(graph: Graph, n: int = SHOWN, *, random_state: int = 0) -> Spectrum:
    """The n smallest eigenvalues of a graph (fewer, if it has fewer nodes), and their largest gap."""
    n = min(n, graph.n_nodes)
    pairs = smallest_eigenpairs(graph.laplacian, n, tol=1e-3, norm="energy", random_state=random_state)
    n_components = graph.components[0]
    return Spectrum(pairs.values, gap_of(pairs.values, n_components), n_components)


def gap_of(values: np.ndarray, n_components: int) -> int | None:
    """After how many eigenvalues the largest gap is: after the zeros where there are several, else by the eigengap."""
    if n_components > 1:
        return n_components if n_components < len(values) else None
    return eigengap(values[1:]).n_clusters if len(values) > 2 else None


def spectrum(fitted: Any, ax: Any = None, *, n_eigenvalues: int = SHOWN, title: str = "Spectrum") -> Any:
    """Draw the first eigenvalues of the Laplacian, with the largest gap marked.

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
    return draw_spectrum(first_eigenvalues(graph_of(fitted), n_eigenvalues), new_axes(ax), title)


def draw_spectrum(found: Spectrum, ax: Any, title: str) -> Any:
    """Draw eigenvalues that are already there."""
    values, k = found.values, found.gap_after
    number = np.arange(1, len(values) + 1)
    name_axes(ax, "number of the eigenvalue", "eigenvalue $\\lambda_i$", title)
    ax.vlines(number, 0.0, values, color=BLUE, linewidth=2.5, alpha=0.5)
    ax.plot(number, values, "o", color=BLUE, markersize=7)
    if k is not None:
        what = f"{k} components" if found.n_components > 1 else f"largest gap, after {k}"
        ax.axvspan(k, k + 1, color=ORANGE, alpha=0.3, linewidth=0, label=what)
        ax.legend(frameon=False, fontsize=11, loc="upper left", labelcolor=TEXT)
    ax.set_ylim(0.0, max(float(values.max(initial=0.0)), 1e-300) * 1.18)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 4))
    return ax
