r"""Algorithm 1 of the paper: learn a graph from data points, as a plain function.

The function starts from a small neighbor graph (Step 1) and embeds it (Step 2). It finds the pairs whose distance in
the embedding is far too large for their distance in the data, and makes edges of them (Step 3), until no such pair is
left (Step 4). Each step is a file of this folder; what is not part of the algorithm stands in
:mod:`graspel.learning.run_log`.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Sections 3.3 and 4, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.learning.candidates import EmbeddedGraph
from graspel.learning.connect import connect_components
from graspel.learning.criticality import Critical, add_critical_edges, find_most_critical
from graspel.learning.embed import Embedding, spectral_embedding
from graspel.learning.history import Round
from graspel.learning.initial import InitialGraph, initial_graph
from graspel.learning.objective import calibrate
from graspel.learning.refine import refine_weights
from graspel.learning.run_log import RunLog
from graspel.learning.settings import Settings
from graspel.learning.weights import Weights
from graspel.points.prepared import Points
from graspel.runtime.progress import announce

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Learned:
    """What Algorithm 1 found.

    Attributes
    ----------
    graph : Graph, calibrated
    z : array, distances in the data between the ends of its edges
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
    z: Floats
    history: list[Round]
    settled: bool
    out_of_rounds: bool
    tolerance: float
    support_gap: float | None
    points: Points
    start: InitialGraph
    embedding: Embedding | None


def learn(points: Points, settings: Settings, rng: np.random.Generator) -> Learned:
    """Learn a graph of the points by Algorithm 1.

    Examples
    --------
    >>> points = Points(np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [13.0]]))
    >>> learned = learn(points, Settings(n_neighbors=1), np.random.default_rng(0))
    >>> learned.graph.is_connected, learned.settled
    (True, True)
    """
    log = RunLog(settings)
    start = initial_graph(  # Step 1
        points,
        settings.initial,
        settings.n_neighbors,
        rng,
        neighbor_rule=settings.neighbor_rule,
        n_listed=settings.n_listed,
    )
    graph, weigh = connect_components(start, sigma=settings.sigma, beta=settings.beta, rng=rng), start.weigh
    log.record_start(start, graph)

    embedding = None
    while log.is_running:
        log.begin_round()
        embedding = _embed(graph, embedding, settings, rng)  # Step 2
        critical = _find_critical(graph, embedding, points, weigh, settings, rng)  # Step 3
        is_stable = _check_stability(graph, embedding, critical, weigh, settings, log.history)  # Step 4
        denser = graph if is_stable else add_critical_edges(graph, critical, weigh, round=log.next_round)
        log.end_round(graph, denser, weigh, embedding, critical, is_stable)
        graph = denser

    tol = settings.tolerance(graph, weigh)
    graph, z, gap = _finish_weights(graph, weigh, settings, rng)
    return Learned(graph, z, log.history, log.settled, log.out_of_rounds, tol, gap, points, start, embedding)


def _embed(graph: Graph, previous: Embedding | None, settings: Settings, rng: np.random.Generator) -> Embedding:
    """Step 2; the eigensolver starts from the vectors of the previous round."""
    n_components = settings.n_components or settings.candidate_strategy.n_components
    return spectral_embedding(
        graph,
        n_components,
        settings.sigma,
        rng,
        n_eigenvalues=max(n_components, settings.stability_rule.n_eigenvalues),
        previous=previous,
        n_jobs=settings.n_jobs,
    )


def _find_critical(
    graph: Graph, embedding: Embedding, points: Points, weigh: Weights, settings: Settings, rng: np.random.Generator
) -> Critical:
    """Step 3: the candidate pairs of largest distortion."""
    blocks = settings.candidate_strategy.blocks(embedding, settings.window, rng, EmbeddedGraph(graph, points))
    n_edges = settings.edges_per_round(graph.n_nodes)
    return find_most_critical(blocks, embedding, points, graph, n_edges=n_edges, beta=settings.beta, weigh=weigh)


def _check_stability(
    graph: Graph,
    embedding: Embedding,
    critical: Critical,
    weigh: Weights,
    settings: Settings,
    history: list[Round],
) -> bool:
    """Step 4: whether the rule is met, or no critical pair is left."""
    tol = settings.tolerance(graph, weigh)
    return settings.stability_rule.is_stable(critical.max_eta, embedding.values, history, tol) or not critical.n_edges


def _finish_weights(
    graph: Graph, weigh: Weights, settings: Settings, rng: np.random.Generator
) -> tuple[Graph, Floats, float | None]:
    """Calibrate the weights and, if asked for, refine them: the graph, z_data of its edges, and the gap left."""
    z = weigh.distances(graph)
    graph = calibrate(graph, z, settings.beta)
    if not settings.refine:
        return graph, z, None
    announce("refining weights")
    graph, refinement = refine_weights(graph, z + 4 * settings.beta, rng, n_jobs=settings.n_jobs)
    return graph, refinement.state.distance - 4 * settings.beta, refinement.gap
