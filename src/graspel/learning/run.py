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

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graspel.data.prepared import Data
from graspel.graph import Graph
from graspel.learning.candidates import EmbeddedGraph
from graspel.learning.connect import connect_components, join_components
from graspel.learning.criticality import Critical, add_critical_edges, find_most_critical
from graspel.learning.embed import Embedding, spectral_embedding
from graspel.learning.history import Round
from graspel.learning.initial import initial_graph, listed_pairs
from graspel.learning.objective import calibrate
from graspel.learning.run_log import RunLog
from graspel.learning.settings import Settings
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.optimum.columns import STRICT_NODES, NewColumns
from graspel.optimum.oracles import ExactMeasures
from graspel.optimum.pricing import PairDistances
from graspel.optimum.problem import Optimality, State
from graspel.optimum.solver import TOL, refine_weights, solve
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats
from graspel.scale.checkpoint import Checkpoint, Reached
from graspel.scale.chunked import ChunkedStart

OPTIMUM_NEIGHBORS = 6  # neighbors of each point where the search for the optimum starts: it keeps 2.5 to 5 edges a node
OPTIMUM_LISTED = 20  # neighbors of each point that are searched for edges where resistances may be estimates


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a run leaves behind.

    Attributes
    ----------
    graph : Graph, calibrated
    z : array, distances in the data between the ends of its edges
    history : list of Round
    settled : bool, whether the stability rule was met
    out_of_rounds : bool, whether max_iter ended the rounds before the rule or the callback did
    tolerance : float, of the stability rule on the last graph
    support_gap : float or None, how far refined weights are from their optimum
    index : NeighborIndex, the data and what is left of their neighbor lists
    weigh : Weights, the rule of the weights
    embedding : Embedding or None, of the last round
    optimality : Optimality or None, how near the graph is to the optimum over all graphs, if that was searched
    exact : ExactMeasures or None, the elimination of the graph, if the search for the optimum was exact
    """

    graph: Graph
    z: Floats
    history: list[Round]
    settled: bool
    out_of_rounds: bool
    tolerance: float
    support_gap: float | None
    index: NeighborIndex
    weigh: Weights
    embedding: Embedding | None = None
    optimality: Optimality | None = None
    exact: ExactMeasures | None = None

    @property
    def points(self) -> Data:
        """The prepared data."""
        return self.index.points


def learn(
    index: NeighborIndex,
    settings: Settings,
    rng: np.random.Generator,
    *,
    keep_lists: bool = True,
    checkpoint: Checkpoint | None = None,
) -> Fit:
    """Learn a graph of the points by Algorithm 1.

    Neighbor lists and the sketch of the points take more memory than the rounds. Without `keep_lists` the index
    releases them when the components are joined. With a `checkpoint`, a run that was interrupted goes on where it was.

    Examples
    --------
    >>> index = NeighborIndex(np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [13.0]]))
    >>> fit = learn(index, Settings(n_neighbors=1), np.random.default_rng(0))
    >>> fit.graph.is_connected, fit.settled
    (True, True)
    """
    log = RunLog(settings)
    reached = checkpoint.load_round(index, log, rng, keep_lists=keep_lists) if checkpoint else None
    start, graph, embedding, _ = reached or _begin(index, settings, rng, log, checkpoint)  # Step 1
    weigh = start.weigh
    if not keep_lists:
        start, reached = start.without_lists(), None
        index.release()

    def save(graph: Graph, embedding: Embedding) -> None:
        if checkpoint:
            checkpoint.save_round(start, graph, embedding, log, rng)

    begun = [graph]
    del graph  # a graph is large: while the rounds run, only they hold it
    graph, embedding = run_rounds(begun.pop(), index.points, weigh, settings, log, rng, embedding=embedding, save=save)
    tol = settings.tolerance(graph, weigh)
    graph, z, gap = finish_weights(graph, weigh, settings, rng)
    return Fit(
        graph=graph,
        z=z,
        history=log.history,
        settled=log.settled,
        out_of_rounds=log.out_of_rounds,
        tolerance=tol,
        support_gap=gap,
        index=index,
        weigh=weigh,
        embedding=embedding,
    )


def run_rounds(
    graph: Graph,
    points: Data,
    weigh: Weights,
    settings: Settings,
    log: RunLog,
    rng: np.random.Generator,
    *,
    embedding: Embedding | None = None,
    save: Callable[[Graph, Embedding], None] = lambda graph, embedding: None,
) -> tuple[Graph, Embedding | None]:
    """Steps 2 to 4, until the graph is stable or there is no other round; `save` is called after each."""
    while log.is_running:
        log.begin_round()
        embedding = _embed(graph, embedding, settings, rng)  # Step 2
        critical = _find_critical(graph, embedding, points, weigh, settings, rng)  # Step 3
        is_stable = _check_stability(graph, embedding, critical, weigh, settings, log.history)  # Step 4
        denser = graph if is_stable else add_critical_edges(graph, critical, weigh, round=log.next_round)
        log.end_round(graph, denser, weigh, embedding, critical, is_stable)
        graph = denser
        save(graph, embedding)
    return graph, embedding


def learn_optimum(
    index: NeighborIndex, settings: Settings, rng: np.random.Generator, *, checkpoint: Checkpoint | None = None
) -> Fit:
    """Learn the graph that maximizes the objective over all graphs (:mod:`graspel.optimum.solver`).

    With a `checkpoint`, a run that was interrupted goes on after its last round.

    Examples
    --------
    >>> index = NeighborIndex(np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [13.0]]))
    >>> fit = learn_optimum(index, Settings(n_neighbors=1), np.random.default_rng(0))
    >>> fit.settled, fit.optimality.gap < 1e-3
    (True, True)
    """
    log = RunLog(settings)
    reached = checkpoint.load_round(index, log, rng, keep_lists=True) if checkpoint else None
    k = min(max(settings.n_neighbors, OPTIMUM_NEIGHBORS), index.n_points - 1)
    n_listed = min(OPTIMUM_LISTED, index.n_points - 1) if index.n_points > STRICT_NODES else 0
    reached = reached or _begin(index, replace(settings, n_neighbors=k, n_listed=n_listed), rng, log, checkpoint)
    start, tol = reached.start, TOL if settings.tol is None else settings.tol  # Step 1
    columns, state = _begin_columns(reached, index.points, settings, tol, rng)

    def save(state: State) -> None:
        if checkpoint:
            checkpoint.save_round(start, state.graph, None, log, rng, state.as_dict())

    max_iter = 0 if log.stopped else settings.max_iter
    best = solve(columns, state, log.history, max_iter=max_iter, callback=settings.callback, save=save)  # Steps 2 to 4
    return Fit(
        graph=best.graph,
        z=best.k - 4 * settings.beta,
        history=best.history,
        settled=best.settled,
        out_of_rounds=best.out_of_rounds,
        tolerance=1 + tol,
        support_gap=best.support_gap,
        index=index,
        weigh=start.weigh,
        optimality=best.optimality,
        exact=best.exact,
    )


def _begin_columns(
    reached: Reached, points: Data, settings: Settings, tol: float, rng: np.random.Generator
) -> tuple[NewColumns, State]:
    """All pairs of points, and the state at the start or where an earlier run was interrupted."""
    start, graph, beta = reached.start, reached.graph, settings.beta
    kept = reached.search or {}
    unit = kept["unit"] if kept else float(np.median(start.weigh.distances(graph))) + 4 * beta
    distances = PairDistances(points, start.weigh.floor, beta, unit)
    columns = NewColumns(distances, listed_pairs(start.neighbors, graph.n_nodes), settings.sigma, tol, rng)
    return columns, State(graph, **kept) if kept else columns.start(graph)


def _begin(
    index: NeighborIndex, settings: Settings, rng: np.random.Generator, log: RunLog, checkpoint: Checkpoint | None
) -> Reached:
    """Step 1: the initial graph, its components joined to one."""
    join = join_components
    if checkpoint:
        index.search_with(checkpoint.search)
    if index.is_remote:
        on_workers = ChunkedStart()
        index.search_with(on_workers.search)
        join = on_workers.join
    start = initial_graph(
        index.points,
        settings.initial,
        settings.n_neighbors,
        rng,
        lambda points, k, rng: index.lists(k),
        neighbor_rule=settings.neighbor_rule,
        n_listed=settings.n_listed,
    )
    graph = connect_components(start, sigma=settings.sigma, beta=settings.beta, rng=rng, join=join)
    log.record_start(start, graph)
    if checkpoint:
        checkpoint.save_round(start, graph, None, log, rng)
    return Reached(start, graph, None)


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
    graph: Graph, embedding: Embedding, points: Data, weigh: Weights, settings: Settings, rng: np.random.Generator
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


def finish_weights(
    graph: Graph, weigh: Weights, settings: Settings, rng: np.random.Generator
) -> tuple[Graph, Floats, float | None]:
    """Calibrate the weights and, if asked for, refine them: the graph, z_data of its edges, and the gap left."""
    z = weigh.distances(graph)
    graph = calibrate(graph, z, settings.beta)
    if not settings.refine:
        return graph, z, None
    announce("refining weights")
    found = refine_weights(graph, z + 4 * settings.beta, rng, n_jobs=settings.n_jobs)
    return found.graph, found.k - 4 * settings.beta, found.support_gap
