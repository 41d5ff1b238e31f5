"""Resistance: how well effective resistance on the graph estimates squared distance in the data, pair by pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graspel.data.prepared import Data
from graspel.data.validation import check_data
from graspel.graph import Graph
from graspel.learning.certificate import resistance_against_distance
from graspel.linalg import effective_resistance, resistance_between
from graspel.plot.canvas import name_axes, new_axes
from graspel.plot.fitted import get_graph, get_learner
from graspel.plot.palette import BLUE, GREEN, ORANGE, TEXT

__all__ = ["PairGroup", "resistance", "sample_pairs"]

RANDOM, NEAR, ON_EDGES = "random pairs", "near pairs without an edge", "edges"
LOOKS = {RANDOM: (BLUE, "o"), NEAR: (GREEN, "s"), ON_EDGES: (ORANGE, "^")}  # color and marker
NODES = 48  # random nodes; all 1,128 pairs of them are drawn
NEAREST = 8  # nearest points of each of these nodes that are no neighbors on the graph
EDGES = 200  # random edges drawn
ERROR = 0.066  # relative standard error of estimates; up to 2 / ERROR^2 = 459 nodes in the pairs, R is exact instead


class PairGroup(NamedTuple):
    """Pairs of points of one kind: squared distances z in the data, and effective resistances R on the graph."""

    name: str
    z: np.ndarray
    R: np.ndarray

    @property
    def summary(self) -> str:
        """The name, and how well R agrees with z."""
        correlation, ratio = resistance_against_distance(self.R, self.z)
        return f"{self.name}: r = {correlation:.2f}, median R/z = {ratio:.2f}"


def resistance(
    fitted: Any, X: Any, ax: Any = None, *, random_state: int = 0, title: str = "Effective resistance and distance"
) -> Any:
    """Draw effective resistance on the graph against squared distance in the data, both axes logarithmic.

    Parameters
    ----------
    fitted : GRASPEL or GraspelClustering
    X : array, sparse matrix or DataFrame
        The points that the model was fitted to.
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
    learner, graph = get_learner(fitted), get_graph(fitted)
    values = check_data(learner, X)
    if values.shape[0] != graph.n_nodes:
        raise ValueError(
            f"X has {values.shape[0]} points, but the graph has {graph.n_nodes} nodes; give the points of fit."
        )
    rng = np.random.default_rng(random_state)
    points = Data(values, metric=learner.metric, rng=rng)
    ax = new_axes(ax, 6.0, 5.2)
    for group in sample_pairs(graph, points, rng):
        _draw(ax, group)
    ax.set_xscale("log")
    ax.set_yscale("log")
    low, high = ax.get_xlim()
    ax.plot([low, high], [low, high], color=TEXT, linewidth=1.2, linestyle="--", label="equal", zorder=1)
    ax.set_xlim(low, high)
    name_axes(ax, "squared distance in the data, $z$", "effective resistance, $R$", title)
    # The legend is below the axes: inside, it would cover points on some data sets.
    ax.legend(frameon=False, fontsize=11, loc="upper center", bbox_to_anchor=(0.5, -0.14), labelcolor=TEXT)
    return ax


def sample_pairs(graph: Graph, points: Data, rng: np.random.Generator) -> list[PairGroup]:
    """Random pairs, near pairs without an edge (left out where there are none), and edges."""
    nodes = np.sort(rng.choice(graph.n_nodes, min(NODES, graph.n_nodes), replace=False))
    i, j = np.triu_indices(len(nodes), 1)
    far = resistance_between(graph.adjacency, nodes, tol=1e-3, random_state=rng)[i, j]
    chosen = rng.choice(graph.n_edges, min(EDGES, graph.n_edges), replace=False)
    ends = np.stack([graph.heads[chosen], graph.tails[chosen]], axis=1)
    of_edges = effective_resistance(graph, ends, error=ERROR, random_state=rng).values
    groups = [PairGroup(RANDOM, points.squared_distances(nodes[i], nodes[j]), far)]
    close = _nearest_without_edge(graph, points, nodes)
    if len(close):
        R = effective_resistance(graph, close, error=ERROR, random_state=rng).values
        groups.append(PairGroup(NEAR, points.squared_distances(*close.T), R))
    return [*groups, PairGroup(ON_EDGES, points.squared_distances(*ends.T), of_edges)]


def _nearest_without_edge(graph: Graph, points: Data, nodes: np.ndarray) -> np.ndarray:
    """Pairs of each node with its nearest points that are no neighbors on the graph, as rows."""
    pairs = []
    for p in nodes.tolist():
        z = points.squared_distances(np.full(graph.n_nodes, p), np.arange(graph.n_nodes))
        z[[p, *graph.adjacency[[p]].indices.tolist()]] = np.inf
        order = np.argsort(z, kind="stable")[:NEAREST]
        pairs += [(p, int(q)) for q in order if np.isfinite(z[q])]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _draw(ax: Any, group: PairGroup) -> None:
    color, marker = LOOKS[group.name]
    shown = (group.z > 0) & (group.R > 0)  # identical points have z = 0, which a logarithmic axis cannot show
    look = {"s": 16, "alpha": 0.55, "linewidths": 0, "rasterized": True, "zorder": 2}
    ax.scatter(group.z[shown], group.R[shown], color=color, marker=marker, label=group.summary, **look)
