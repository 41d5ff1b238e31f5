"""Resistance: how well effective resistance on the graph estimates squared distance in the data, pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.findings import Table, compare_resistance, near_points
from graspel.findings.resistance import NEAR, ON_EDGES, RANDOM, describe_pairs
from graspel.plot.canvas import name_axes, new_axes
from graspel.plot.fitted import get_graph, get_learner
from graspel.plot.palette import BLUE, GREEN, ORANGE, TEXT

LOOKS = {RANDOM: (BLUE, "o"), NEAR: (GREEN, "s"), ON_EDGES: (ORANGE, "^")}  # color and marker


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
        _draw(ax, pairs, kind)
    ax.set_xscale("log")
    ax.set_yscale("log")
    low, high = ax.get_xlim()
    ax.plot([low, high], [low, high], color=TEXT, linewidth=1.2, linestyle="--", label="equal", zorder=1)
    ax.set_xlim(low, high)
    name_axes(ax, "squared distance in the data, $z$", "effective resistance, $R$", title)
    # The legend is below the axes: inside, it would cover points on some data sets.
    ax.legend(frameon=False, fontsize=11, loc="upper center", bbox_to_anchor=(0.5, -0.14), labelcolor=TEXT)
    return ax


def _draw(ax: Any, pairs: Table, kind: str) -> None:
    color, marker = LOOKS[kind]
    # Identical points have z = 0, which a logarithmic axis cannot show.
    shown = pairs.take((pairs["kind"] == kind) & (pairs["z"] > 0) & (pairs["R"] > 0))
    look = {"s": 16, "alpha": 0.55, "linewidths": 0, "rasterized": True, "zorder": 2}
    ax.scatter(shown["z"], shown["R"], color=color, marker=marker, label=describe_pairs(pairs, kind), **look)
