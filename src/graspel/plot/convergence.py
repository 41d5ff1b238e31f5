"""Convergence: the largest distortion eta of each round, or the gap to the optimum, falls, and F rises."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.learning.history import Round
from graspel.optimum.solver import TOL
from graspel.plot.canvas import name_axes, new_axes
from graspel.plot.fitted import get_learner
from graspel.plot.palette import BLUE, FAINT, QUIET, TEXT, VERMILLION

__all__ = ["convergence"]


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
    lines += draw_objective(ax, number, F)
    return _finish(ax, lines)


def _draw_gap(ax: Any, rounds: list[Round], tol: float | None) -> Any:
    """Draw the bound of the gap and F of rounds that searched the optimum."""
    number, gap = np.array([record.round for record in rounds]), np.array([record.gap for record in rounds])
    ax.set_yscale("log")
    ax.set_ylabel("upper bound of the gap $(F^* - F) / (N - 1)$", fontsize=12)
    smallest = np.finfo(float).eps  # a tree has no gap, which a logarithmic axis cannot show
    lines = ax.plot(number, np.maximum(gap, smallest), "o-", color=BLUE, linewidth=2, markersize=6, label="bound")
    level = TOL if tol is None else tol
    lines.append(ax.axhline(level, color=FAINT, linestyle=":", linewidth=2, label=f"tol = {level:g}"))
    lines += draw_objective(ax, number, np.array([record.objective for record in rounds]), "objective F")
    return _finish(ax, lines)


def _finish(ax: Any, lines: list[Any]) -> Any:
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


def draw_objective(
    ax: Any, number: np.ndarray, F: np.ndarray, name: str = "objective F, first eigenvalues"
) -> list[Any]:
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
