"""Charts of a fitted model: convergence, spectrum, and resistance against distance.

- Convergence: the largest distortion eta of each round, or the gap to the optimum, falls, and F rises.
- Spectrum: the first eigenvalues of the Laplacian, and the gap from which the number of clusters is read.
- Resistance: how well effective resistance on the graph estimates squared distance in the data, pair by pair.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graspel.cluster import find_eigengap
from graspel.findings import Table, compare_resistance, near_points
from graspel.findings.resistance import NEAR, ON_EDGES, RANDOM, describe_pairs
from graspel.graph import Graph
from graspel.learning.eigengap import Eigengap
from graspel.learning.history import Round
from graspel.linalg import smallest_eigenpairs
from graspel.optimum.solver import TOL
from graspel.plot.canvas import BLUE, FAINT, GREEN, ORANGE, QUIET, TEXT, VERMILLION, name_axes, new_axes
from graspel.plot.fitted import get_graph, get_learner
from graspel.runtime.types import Floats

SHOWN = 20  # eigenvalues drawn, as in the paper's figures
LOOKS = {RANDOM: (BLUE, "o"), NEAR: (GREEN, "s"), ON_EDGES: (ORANGE, "^")}  # color and marker


def convergence(fitted: Any, ax: Any = None, *, title: str = "Convergence") -> Any:
    """Draw eta_max (left axis, logarithmic) and F (right axis) for each round.

    With ``weights="optimal"`` the left axis shows the upper bound of the gap to the optimum instead, in units of N - 1.

    Parameters
    ----------
    fitted : GRASPEL or GraspelClustering
    ax : matplotlib axes, optional
        A new figure is made when not given.
    title : str

    Returns
    -------
    ax : matplotlib axes
        Those of eta; the axes of F lie on top of them.
    """
    learner = get_learner(fitted)
    ax = new_axes(ax)
    name_axes(ax, "round", "largest distortion $\\eta_{max}$", title, pad=30)
    rounds = learner.history_
    if not rounds:
        ax.text(0.5, 0.5, "no rounds: the start graph was kept", transform=ax.transAxes, ha="center", color=QUIET)
        return ax
    if rounds[-1].gap is not None:
        return _draw_gap(ax, [record for record in rounds if record.gap is not None], learner.tol)
    number = np.array([record.round for record in rounds])
    eta = np.array([record.max_eta for record in rounds])
    F = np.array([record.objective for record in rounds])
    ax.set_yscale("log")
    lines = ax.plot(number, eta, "o-", color=BLUE, linewidth=2, markersize=6, label="$\\eta_{max}$")
    if not rounds[0].was_connected:
        lines += ax.plot(
            number[:1], eta[:1], "o", color="white", markeredgecolor=BLUE, markersize=9, label="joins components"
        )
    if learner.tol is not None and learner.stability == "distortion":
        lines.append(ax.axhline(learner.tol, color=FAINT, linestyle=":", linewidth=2, label=f"tol = {learner.tol:g}"))
    lines += _draw_objective(ax, number, F)
    return _finish_convergence(ax, lines)


def _draw_gap(ax: Any, rounds: list[Round], tol: float | None) -> Any:
    """Draw the bound of the gap and F of rounds that searched the optimum."""
    number, gap = np.array([record.round for record in rounds]), np.array([record.gap for record in rounds])
    ax.set_yscale("log")
    ax.set_ylabel("upper bound of the gap $(F^* - F) / (N - 1)$", fontsize=12)
    smallest = np.finfo(float).eps  # a tree has no gap, which a logarithmic axis cannot show
    lines = ax.plot(number, np.maximum(gap, smallest), "o-", color=BLUE, linewidth=2, markersize=6, label="bound")
    level = TOL if tol is None else tol
    lines.append(ax.axhline(level, color=FAINT, linestyle=":", linewidth=2, label=f"tol = {level:g}"))
    lines += _draw_objective(ax, number, np.array([record.objective for record in rounds]), "objective F")
    return _finish_convergence(ax, lines)


def _finish_convergence(ax: Any, lines: list[Any]) -> Any:
    """Number the rounds, color the left axis, and add the legend."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.tick_params(axis="y", colors=BLUE)
    ax.yaxis.label.set_color(BLUE)
    # The legend is above the axes, where no curve can cross it.
    ax.legend(
        handles=lines,
        frameon=False,
        fontsize=11,
        ncols=4,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.99),
        labelcolor=TEXT,
    )
    return ax


def _draw_objective(ax: Any, number: Floats, F: Floats, name: str = "objective F, first eigenvalues") -> list[Any]:
    """Draw F over the rounds against a second axis, on the right."""
    known = np.isfinite(F)
    if not known.any():
        return []
    right = ax.twinx()
    right.spines[["top", "left"]].set_visible(False)
    right.set_ylabel(name, fontsize=12, color=VERMILLION)
    right.tick_params(axis="y", labelsize=11, colors=VERMILLION)
    return list(
        right.plot(number[known], F[known], "s--", color=VERMILLION, linewidth=2, markersize=5, label="objective F")
    )


class Spectrum(NamedTuple):
    """The first eigenvalues, zeros included, and the largest gap.

    Attributes
    ----------
    values : array
    gap_after : int or None
        Number of eigenvalues before the largest gap, which is the number of clusters; None where there is no gap.
    n_components : int
    """

    values: Floats
    gap_after: int | None
    n_components: int


def first_eigenvalues(fitted: Any, n: int = SHOWN, *, random_state: int = 0) -> Spectrum:
    """The n smallest eigenvalues of a graph (fewer, if it has fewer nodes), and its eigengap."""
    graph = get_graph(fitted)
    n = min(n, graph.n_nodes)
    pairs = smallest_eigenpairs(graph.laplacian, n, tol=1e-3, norm="energy", random_state=random_state)
    return Spectrum(pairs.values, _find_gap(fitted, graph), graph.components[0])


def _find_gap(fitted: Any, graph: Graph) -> int | None:
    """How many eigenvalues lie before the gap: the zeros if there are several; None where no gap can be measured.

    The gap is the one that ``n_clusters="auto"`` used, or would use on this graph: there is one answer for one graph.
    """
    n_components = graph.components[0]
    if n_components > 1:
        return n_components if n_components < graph.n_nodes else None
    used: Eigengap | None = getattr(fitted, "eigengap_", None)
    gap = find_eigengap(graph, random_state=0) if used is None else used
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
    from matplotlib.ticker import MaxNLocator

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
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 4))
    return ax


def resistance(
    fitted: Any, ax: Any = None, *, random_state: int = 0, title: str = "Effective resistance and distance"
) -> Any:
    """Draw effective resistance on the graph against squared distance in the data, both axes logarithmic.

    The distances are those of the model's index, in its metric; near points are asked from it.

    Parameters
    ----------
    fitted : GRASPEL or GraspelClustering
    ax : matplotlib axes, optional
        A new figure is made when not given.
    random_state : int
        Seed for the choice of pairs: all pairs of 48 random points, each of them with its 8 nearest points that are no
        neighbors on the graph, and 200 edges.
    title : str

    Returns
    -------
    ax : matplotlib axes
    """
    get_learner(fitted)  # a graph alone has no distances
    index = fitted.index_
    pairs = compare_resistance(get_graph(fitted), index.points, near_points(index), np.random.default_rng(random_state))
    ax = new_axes(ax, 6.0, 5.2)
    for kind in dict.fromkeys(pairs["kind"].tolist()):
        _draw_pairs(ax, pairs, kind)
    ax.set_xscale("log")
    ax.set_yscale("log")
    low, high = ax.get_xlim()
    ax.plot([low, high], [low, high], color=TEXT, linewidth=1.2, linestyle="--", label="equal", zorder=1)
    ax.set_xlim(low, high)
    name_axes(ax, "squared distance in the data, $z$", "effective resistance, $R$", title)
    # The legend is below the axes: inside, it would cover points on some data sets.
    ax.legend(frameon=False, fontsize=11, loc="upper center", bbox_to_anchor=(0.5, -0.14), labelcolor=TEXT)
    return ax


def _draw_pairs(ax: Any, pairs: Table, kind: str) -> None:
    color, marker = LOOKS[kind]
    # Identical points have z = 0, which a logarithmic axis cannot show.
    shown = pairs.take((pairs["kind"] == kind) & (pairs["z"] > 0) & (pairs["R"] > 0))
    look = {"s": 16, "alpha": 0.55, "linewidths": 0, "rasterized": True, "zorder": 2}
    ax.scatter(shown["z"], shown["R"], color=color, marker=marker, label=describe_pairs(pairs, kind), **look)
