r"""Growth: a learned graph to which points are added, and from which points are removed, without learning it again.

New points are searched among all points, and enter the neighbor lists of those near to them
(:mod:`graspel.neighbors.grown`). The edges of the graph of nearest neighbors follow from the lists; edges to points
that are no longer among the nearest disappear. Edges that join components stay as long as they are needed, by
increasing length (Kruskal), and components that are left are joined by their closest pairs, as at the start. Critical
edges stay.
Rounds of Steps 2 to 4 need the first eigenvectors of the whole graph. So a few of them are run whenever the number of
points has changed by a tenth since the last ones: their cost, spread over the points that came, stays constant.

The rounds of a run are counted on: an edge of batch b carries the number of that batch's round as its `round`.

References
----------
J. B. Kruskal. On the shortest spanning subtree of a graph and the traveling salesman problem. Proceedings of the
American Mathematical Society 7, 1956.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graspel.data.growing import ChangingPoints, growing
from graspel.data.prepare import METRICS, is_of_rows
from graspel.graph import Graph, Origin
from graspel.graph.edges import edge_keys
from graspel.learning.connect import join_components
from graspel.learning.fit import Fit, RunState
from graspel.learning.history import Round
from graspel.learning.run import finish_weights, run_rounds
from graspel.learning.run_log import RunLog
from graspel.learning.settings import Settings
from graspel.learning.weights import Weights
from graspel.linalg.components import spanning_forest
from graspel.neighbors.grown import add_to_lists, remove_from_lists
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors
from graspel.runtime.parameters import get_state
from graspel.runtime.progress import announce
from graspel.runtime.shown import quote
from graspel.runtime.types import Floats, Ints

FEW_ROUNDS = 3  # rounds of Steps 2 to 4 after a change
FLOOR_DRIFT = 2.0  # factor between the floor of distances and that of a fit from which it is taken again
CHANGED_SHARE = 0.1  # change of the number of points, as a share of it, after which these rounds are run


class Edges(NamedTuple):
    """Edges with z_data and provenance, in columns."""

    heads: Ints
    tails: Ints
    z: Floats
    origin: Ints
    round: Ints
    eta: Floats
    gradient: Floats

    def at(self, index: Any) -> Edges:
        """Some of the edges."""
        return Edges(*(column[index] for column in self))

    def __add__(self, other: Edges) -> Edges:  # type: ignore[override]
        return Edges(*(np.concatenate(columns) for columns in zip(self, other, strict=True)))


@dataclass
class GrowingGraph:
    """A graph that can grow and shrink: its points, neighbor lists and edges, and the state of its run.

    Attributes
    ----------
    points : ChangingPoints
    neighbors : Neighbors
    edges : Edges, z_data in the unit of the points
    weigh : Weights
    history : list of Round
    n_at_rounds : number of points when rounds were run last
    """

    points: ChangingPoints
    neighbors: Neighbors
    edges: Edges
    weigh: Weights
    settings: Settings
    history: list[Round]
    n_at_rounds: int

    @classmethod
    def of(cls, fit: Fit) -> GrowingGraph:
        """The state after a fit; neighbor lists are searched again if there are none."""
        _check_growth(fit)
        graph, neighbors = fit.graph, fit.index.lists(fit.settings.n_neighbors)
        columns = (graph.origin.astype(np.int64), graph.round.astype(np.int64), graph.eta, graph.gradient)
        edges = Edges(graph.heads, graph.tails, fit.z, *columns)
        return cls(growing(fit.points), neighbors, edges, fit.weigh, fit.settings, list(fit.history), graph.n_nodes)

    def takes(self, X: Any) -> bool:
        """Whether rows can be added; else all points are to be learned again: some differ by another scale."""
        return self.neighbors.indices.shape[1] > 0 and self.points.takes(X)

    def leaves(self, gone: Ints) -> bool:
        """Whether points can be removed; else the others are to be learned again: they are on another scale."""
        return self.points.leaves(gone)

    def add(self, X: Any, rng: np.random.Generator) -> Fit:
        """Add the rows of X as points, and return the graph of all points."""
        began, n_before = time.perf_counter(), self.points.points.n_points
        announce("adding points")
        self._rescale(self.points.append(X))
        self.neighbors = add_to_lists(self.neighbors, self.points.points, n_before, rng)
        return self._finish(began, rng)

    def forget(self, gone: Ints, rng: np.random.Generator) -> Fit:
        """Remove points, and return the graph of the others, which are numbered in the same order."""
        began, n = time.perf_counter(), self.points.points.n_points
        kept = np.setdiff1d(np.arange(n), gone)
        announce("removing points")
        self._rescale(self.points.remove(kept, gone))
        self.neighbors = remove_from_lists(self.neighbors, self.points.points, kept, self.settings.n_neighbors)
        number = np.full(n, -1)
        number[kept] = np.arange(len(kept))
        heads, tails = number[self.edges.heads], number[self.edges.tails]
        self.edges = self.edges._replace(heads=heads, tails=tails).at((heads >= 0) & (tails >= 0))
        return self._finish(began, rng)

    def _rescale(self, factor: float) -> None:
        """Bring all distances to the new unit of z_data."""
        self.edges = self.edges._replace(z=self.edges.z * factor)
        self.weigh = replace(self.weigh, floor=self.weigh.floor * factor)
        self.neighbors = replace(self.neighbors, z=self.neighbors.z * factor)

    def _finish(self, began: float, rng: np.random.Generator) -> Fit:
        """Rebuild the edges from the lists, join what is not connected, run a few rounds if it is time, and weigh."""
        points, settings, n_before = self.points.points, self.settings, len(self.edges.heads)
        current = len(self.history) + 1
        self._renew_floor()
        edges = self._neighbor_edges(current)
        extra = self.edges.at(~np.isin(self._keys(self.edges), self._keys(edges)))
        edges = edges + extra.at(np.isin(extra.origin, (Origin.CRITICAL, Origin.GIVEN)))
        edges = edges + self._needed_joins(edges, extra.at(extra.origin == Origin.JOIN))
        edges = edges + self._new_joins(edges, current, rng)
        density = n_before / points.n_points
        graph = Graph(points.n_points, edges.heads, edges.tails, self.weigh(edges.z), **self._provenance(edges))
        self.history.append(_batch_record(current, graph, density, time.perf_counter() - began))
        log = RunLog(replace(settings, max_iter=current), history=self.history)
        state = RunState(graph, self.weigh)
        if settings.max_iter and abs(points.n_points - self.n_at_rounds) > CHANGED_SHARE * self.n_at_rounds:
            last = current + min(FEW_ROUNDS, settings.max_iter)
            log = RunLog(replace(settings, max_iter=last), history=self.history)
            run_rounds(state, points, settings, log, rng)
            self.n_at_rounds = points.n_points
        tol = settings.tolerance(state.graph, self.weigh)
        final, z, gap = finish_weights(state.graph, self.weigh, settings, rng)
        columns = (final.origin.astype(np.int64), final.round.astype(np.int64), final.eta, final.gradient)
        self.edges = Edges(final.heads, final.tails, z, *columns)
        return Fit(
            graph=final,
            z=z,
            history=list(log.history),
            settled=log.settled,
            out_of_rounds=False,
            tolerance=tol,
            support_gap=gap,
            index=NeighborIndex.of_points(points, neighbors=self.neighbors),
            settings=settings,
            weigh=self.weigh,
            random_state=get_state(rng),
            embedding=state.embedding,
        )

    def _renew_floor(self) -> None:
        """Take the floor of distances that a fit of these points would have, if the old one is far from it."""
        fresh = Weights.from_distances(self.neighbors.z[:, :1].astype(np.float64), self.weigh.n_features)
        if not 1 / FLOOR_DRIFT <= self.weigh.floor / fresh.floor <= FLOOR_DRIFT:
            z = self.points.points.squared_distances(self.edges.heads, self.edges.tails)
            self.weigh, self.edges = fresh, self.edges._replace(z=fresh.raise_to_floor(z))

    def _keys(self, edges: Edges) -> Ints:
        return edge_keys(edges.heads, edges.tails, self.points.points.n_points)

    @staticmethod
    def _provenance(edges: Edges) -> dict[str, Any]:
        return {"origin": edges.origin, "round": edges.round, "eta": edges.eta, "gradient": edges.gradient}

    def _neighbor_edges(self, current: int) -> Edges:
        """The edges of the graph of nearest neighbors; those that are new carry the number of this round."""
        neighbors, k = self.neighbors, self.settings.n_neighbors
        found = np.isfinite(neighbors.z[:, :k])
        p = neighbors.distinct[np.repeat(np.arange(len(found)), found.sum(axis=1))]
        q = neighbors.distinct[neighbors.indices[:, :k][found]]
        n = self.points.points.n_points
        keys, first = np.unique(edge_keys(p, q, n), return_index=True)
        heads, tails = np.divmod(keys, n)
        z = self.weigh.raise_to_floor(neighbors.z[:, :k][found][first])
        unknown = np.full(len(keys), np.nan)
        edges = Edges(
            heads, tails, z, np.full(len(keys), int(Origin.NEIGHBOR)), np.full(len(keys), current), unknown, unknown
        )
        known = self.edges.at(np.argsort(self._keys(self.edges)))
        known_keys = self._keys(known)
        at = np.searchsorted(known_keys, keys).clip(max=max(0, len(known_keys) - 1))
        same = known_keys[at] == keys if len(known_keys) else np.zeros(len(keys), dtype=bool)
        for name in ("origin", "round", "eta", "gradient"):
            column = getattr(edges, name).copy()
            column[same] = getattr(known, name)[at[same]]
            edges = edges._replace(**{name: column})
        return edges

    def _needed_joins(self, edges: Edges, joins: Edges) -> Edges:
        """The joins of before that still join two components, the shortest first."""
        if not len(joins.heads):
            return joins
        labels = self._components(edges)
        ends = labels[joins.heads], labels[joins.tails]
        size = int(labels.max()) + 1
        keys = edge_keys(*ends, size)
        inner = ends[0] == ends[1]
        chosen = np.flatnonzero(~inner)
        chosen = chosen[np.argsort(joins.z[chosen], kind="stable")]
        chosen = chosen[np.sort(np.unique(keys[chosen], return_index=True)[1])]  # of parallel joins the shortest
        low, high = np.divmod(keys[chosen], size)
        return joins.at(np.sort(chosen[spanning_forest(low, high, joins.z[chosen], size)]))

    def _new_joins(self, edges: Edges, current: int, rng: np.random.Generator) -> Edges:
        """The closest pairs between the components that are left."""
        labels = self._components(edges)
        if labels.max(initial=0) == 0:
            return edges.at(slice(0, 0))
        joins = join_components(self.neighbors, labels, rng)
        z = self.weigh.raise_to_floor(joins.z)
        origin, rounds = np.full(len(z), int(Origin.JOIN)), np.full(len(z), current)
        return Edges(
            joins.heads, joins.tails, z, origin, rounds, *joins.measure(z, self.settings.sigma, self.settings.beta)
        )

    def _components(self, edges: Edges) -> Ints:
        n = self.points.points.n_points
        links = sp.coo_array((np.ones(len(edges.heads)), (edges.heads, edges.tails)), shape=(n, n))
        labels: Ints = connected_components(links, directed=False)[1].astype(np.int64)
        return labels


def _check_growth(fit: Fit) -> None:
    """Raise where a graph cannot grow."""
    index, settings = fit.index, fit.settings
    can_grow = isinstance(settings.initial, str) and settings.initial == "knn" and settings.weights != "optimal"
    if not is_of_rows(index.metric) or not can_grow:
        raise ValueError(
            f"metric={index.metric!r}, initial={quote(settings.initial)}, weights={settings.weights!r}: graphs grow "
            "and shrink with initial='knn', weights other than 'optimal', and the metrics "
            f"{', '.join(map(repr, METRICS))} only. Fit all points at once."
        )


def _batch_record(current: int, graph: Graph, density: float, seconds: float) -> Round:
    """The record of a batch: no candidates were compared, so their distortion is unknown."""
    unknown = float("nan")
    added = int((graph.round == current).sum())
    return Round(current, unknown, unknown, added, density, np.array([unknown]), unknown, seconds)
