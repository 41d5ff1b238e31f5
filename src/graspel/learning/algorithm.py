r"""Algorithm 1 of the paper: learn a graph from data points, as a plain function.

Start from a tiny neighbor graph (Step 1), embed it (Step 2), find the pairs whose distance in the embedding is far
too large for their distance in the data and tie them (Step 3), until no such pair is left (Step 4). Each step is a file
of this folder.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.learning.candidates import CANDIDATES, EmbeddedGraph
from graspel.learning.connect import connect_components, record_joins
from graspel.learning.criticality import Critical, add_critical_edges, find_most_critical
from graspel.learning.embed import Embedding, spectral_embedding
from graspel.learning.history import Callback, Round
from graspel.learning.initial import InitialGraph, initial_graph
from graspel.learning.objective import calibrate, truncated_objective
from graspel.learning.refine import refine_weights
from graspel.learning.stability import STABILITY
from graspel.learning.weights import Weights
from graspel.points.prepared import Points
from graspel.runtime.progress import announce


@dataclass(frozen=True)
class Settings:
    """The parameters of Algorithm 1, under the names that :class:`graspel.GRASPEL` documents."""

    n_neighbors: int = 2
    initial: Any = "knn"
    candidates: str = "fiedler"
    window: float = 0.05
    edge_ratio: float = 0.001
    n_components: int | None = None
    sigma: float = 1e3
    beta: float = 0.0
    tol: float | None = None
    stability: str = "distortion"
    max_iter: int = 100
    refine: bool = False
    n_jobs: int | None = None
    callback: Callback | None = None

    def tolerance(self, graph: Graph, weigh: Weights) -> float:
        """The user's tolerance, or the stability rule's own for this graph."""
        default = STABILITY[self.stability].default_tol
        return default(graph, weigh, self.beta) if self.tol is None else float(self.tol)


@dataclass(frozen=True)
class Learned:
    """What Algorithm 1 found.

    Attributes
    ----------
    graph : Graph, calibrated
    z : array, distances in the data of the ends of its edges
    history : list of Round
    settled : bool, whether the stability rule was met
    out_of_rounds : bool, whether max_iter ended the rounds before the rule or the callback did
    tolerance : float, of the stability rule on the last graph
    support_gap : float or None, how far refined weights are from their optimum
    points : Points, the data
    start : InitialGraph, the graph of Step 1 with its neighbor lists
    embedding : Embedding or None, of the last round
    """

    graph: Graph
    z: NDArray[np.float64]
    history: list[Round]
    settled: bool
    out_of_rounds: bool
    tolerance: float
    support_gap: float | None
    points: Points
    start: InitialGraph
    embedding: Embedding | None


def learn(points: Points, settings: Settings, rng: np.random.Generator) -> Learned:
    """Learn the graph of some points: Algorithm 1."""
    clock = time.perf_counter()
    start = initial_graph(points, settings.initial, settings.n_neighbors, rng)  # Step 1
    graph, weigh = connect_components(start, sigma=settings.sigma, beta=settings.beta, rng=rng), start.weigh
    history = record_joins(start.graph, graph, seconds=time.perf_counter() - clock)
    n_edges = max(1, round(settings.edge_ratio * graph.n_nodes))
    rule, candidates = STABILITY[settings.stability], CANDIDATES[settings.candidates]
    share: float | None = 0.0
    embedding, settled, stopped = None, False, _callback_stops(settings, history, graph)

    while not (settled or stopped) and len(history) < settings.max_iter:
        clock = time.perf_counter()
        announce("adding critical edges", share, "embedding")
        embedding = _embed(graph, embedding, settings, rng)  # Step 2
        blocks = candidates.blocks(embedding, settings.window, rng, EmbeddedGraph(graph, points))  # Step 3
        critical = find_most_critical(
            blocks, embedding, points, graph, n_edges=n_edges, beta=settings.beta, weigh=weigh
        )
        tol = settings.tolerance(graph, weigh)
        settled = rule.is_stable(critical.max_eta, embedding.values, history, tol) or not critical.n_edges  # Step 4
        history.append(_record(len(history) + 1, graph, weigh, embedding, critical, settled, settings, clock))
        graph = graph if settled else add_critical_edges(graph, critical, weigh, round=len(history))
        share = rule.share_done(history, tol)
        announce("adding critical edges", share, history[-1].in_short)
        stopped = _callback_stops(settings, history, graph)

    out_of_rounds = not (settled or stopped or settings.max_iter == 0)
    tol = settings.tolerance(graph, weigh)
    z = weigh.distances(graph)
    graph, gap = calibrate(graph, z, settings.beta), None
    if settings.refine:
        announce("refining weights")
        graph, refinement = refine_weights(graph, z + 4 * settings.beta, rng, n_jobs=settings.n_jobs)
        gap, z = refinement.gap, refinement.state.distance - 4 * settings.beta
    return Learned(graph, z, history, settled, out_of_rounds, tol, gap, points, start, embedding)


def _embed(graph: Graph, last: Embedding | None, settings: Settings, rng: np.random.Generator) -> Embedding:
    """Step 2, starting from the last round's vectors."""
    n_components = settings.n_components or CANDIDATES[settings.candidates].n_components
    return spectral_embedding(
        graph,
        n_components,
        settings.sigma,
        rng,
        n_eigenvalues=max(n_components, STABILITY[settings.stability].n_eigenvalues),
        guess=None if last is None else last.vectors,
        n_jobs=settings.n_jobs,
    )


def _record(
    number: int,
    graph: Graph,
    weigh: Weights,
    embedding: Embedding,
    critical: Critical,
    settled: bool,
    settings: Settings,
    clock: float,
) -> Round:
    z, values = weigh.distances(graph), embedding.values
    return Round(
        round=number,
        max_eta=critical.max_eta,
        mean_eta=critical.mean_eta,
        n_added=0 if settled else critical.n_edges,
        density=graph.density,
        eigenvalues=values,
        objective=truncated_objective(values, graph, z, sigma=settings.sigma, beta=settings.beta),
        seconds=time.perf_counter() - clock,
    )


def _callback_stops(settings: Settings, history: list[Round], graph: Graph) -> bool:
    """Tell the callback of the last round; True where it asks to stop."""
    return bool(settings.callback is not None and history and settings.callback(history[-1], graph))
