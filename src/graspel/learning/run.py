r"""Algorithm 1 of the paper: learn a graph from data points, as a plain function.

The function starts from a small neighbor graph (Step 1) and embeds it (Step 2). It finds the pairs whose distance in
the embedding is far too large for their distance in the data, and makes edges of them (Step 3), until no such pair is
left (Step 4). Each step is a file of this folder: Step 1 is `start`, `initial` and `connect`, Step 2 `embed`, Step 3
`candidates` and `criticality`, Step 4 `stability`; at the end `objective` calibrates the weights. What is not part of
the algorithm stands in `run_log` and `fit`, and the search for the optimum, which replaces the rounds, in
`optimal_run`.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Sections 3.3 and 4, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.learning.candidates import EmbeddedGraph
from graspel.learning.coarse import COARSE_FROM, Groups
from graspel.learning.criticality import Critical, add_critical_edges, find_most_critical
from graspel.learning.embed import Embedding, spectral_embedding
from graspel.learning.fit import Fit, RunState
from graspel.learning.history import Callback, Round
from graspel.learning.objective import calibrate
from graspel.learning.optimal_run import run_optimum
from graspel.learning.run_log import RunLog
from graspel.learning.settings import Settings
from graspel.learning.start import begin_run
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.optimum.solver import refine_weights
from graspel.runtime.parameters import get_state
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats
from graspel.scale.checkpoint import Checkpoint


def run(
    index: NeighborIndex,
    settings: Settings,
    rng: np.random.Generator,
    *,
    release: bool = False,
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn a graph of the points by Algorithm 1, or the optimum over all graphs with weights="optimal".

    Neighbor lists and the sketch of the points take more memory than the rounds: with `release` the index gives them up
    when the components are joined. With a `checkpoint`, a run that was interrupted goes on where it was. The `callback`
    is called after each round with its record and the graph so far, and ends the run if it returns True.

    Examples
    --------
    >>> index = NeighborIndex(np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [13.0]]))
    >>> fit = run(index, Settings(n_neighbors=1), np.random.default_rng(0))
    >>> fit.graph.is_connected, fit.settled
    (True, True)
    >>> best = run(index, Settings(n_neighbors=1, weights="optimal"), np.random.default_rng(0))
    >>> best.settled, best.optimality.gap < 1e-3
    (True, True)
    """
    log = RunLog(settings, callback)
    if settings.weights == "optimal":
        return run_optimum(index, settings, rng, log, checkpoint)
    state = checkpoint.load_round(index, log, rng, with_lists=not release) if checkpoint else None
    state = state or begin_run(index, settings, rng, log, checkpoint)  # Step 1
    if release:
        index.release()
    save = partial(checkpoint.save_round, index=index, log=log, rng=rng) if checkpoint else None
    run_rounds(state, index.points, settings, log, rng, save)
    tol = settings.tolerance(state.graph, state.weigh)
    graph, z, gap = finish_weights(state.graph, state.weigh, settings, rng)
    return Fit(
        graph=graph,
        z=z,
        history=log.history,
        settled=log.settled,
        out_of_rounds=log.out_of_rounds,
        tolerance=tol,
        support_gap=gap,
        index=index,
        settings=settings,
        weigh=state.weigh,
        random_state=get_state(rng),
        embedding=state.embedding,
    )


def run_rounds(
    state: RunState,
    points: Data,
    settings: Settings,
    log: RunLog,
    rng: np.random.Generator,
    save: Callable[[RunState], None] | None = None,
) -> None:
    """Steps 2 to 4, until the graph is stable or there is no other round; `save` is called after each.

    The state alone holds the graph and the embedding: the old ones are freed as soon as the new ones exist.
    """
    groups = None
    if state.graph.n_nodes >= COARSE_FROM and settings.stability == "distortion":  # eigenvalues are compared exactly
        groups = Groups.of(state.graph)
    while log.is_running:
        _run_round(state, points, settings, log, rng, groups)
        if save:
            save(state)


def _run_round(
    state: RunState, points: Data, settings: Settings, log: RunLog, rng: np.random.Generator, groups: Groups | None
) -> None:
    """Steps 2 to 4 once; again on the graph itself if that of groups is stable, which is not yet the last word."""
    log.begin_round()
    for coarse in (False,) if groups is None else (True, False):
        state.embedding = _embed(state, settings, rng, groups, coarse=coarse)  # Step 2
        critical = _find_critical(state, points, settings, rng)  # Step 3
        is_stable = _check_stability(state, critical, settings, log.history)  # Step 4
        if not is_stable:
            break
    graph = state.graph
    if not is_stable:
        state.graph = add_critical_edges(graph, critical, state.weigh, round=log.next_round)
    assert state.embedding is not None
    log.end_round(graph, state.graph, state.weigh, state.embedding, critical, is_stable)


def _embed(
    state: RunState, settings: Settings, rng: np.random.Generator, groups: Groups | None, *, coarse: bool
) -> Embedding:
    """Step 2; the eigensolver starts from the vectors of the previous round."""
    n_components, previous, state.embedding = settings.candidate_strategy.n_components, state.embedding, None
    if groups is not None and coarse:
        return groups.embed(state.graph, settings, rng, previous)
    if groups is not None and previous is not None:
        previous = groups.move(previous, state.graph.n_nodes)
    return spectral_embedding(
        state.graph,
        n_components,
        settings.sigma,
        rng,
        n_eigenvalues=max(n_components, settings.stability_rule.n_eigenvalues),
        previous=previous,
        n_jobs=settings.n_jobs,
    )


def _find_critical(state: RunState, points: Data, settings: Settings, rng: np.random.Generator) -> Critical:
    """Step 3: the candidate pairs of largest distortion."""
    graph, embedding = state.graph, state.embedding
    assert embedding is not None
    blocks = settings.candidate_strategy.blocks(embedding, settings.window, rng, EmbeddedGraph(graph, points))
    n_edges = settings.edges_per_round(graph.n_nodes)
    return find_most_critical(blocks, embedding, points, graph, n_edges=n_edges, beta=settings.beta, weigh=state.weigh)


def _check_stability(state: RunState, critical: Critical, settings: Settings, history: list[Round]) -> bool:
    """Step 4: whether the rule is met, or no critical pair is left."""
    assert state.embedding is not None
    tol, values = settings.tolerance(state.graph, state.weigh), state.embedding.values
    return settings.stability_rule.is_stable(critical.max_eta, values, history, tol) or not critical.n_edges


def finish_weights(
    graph: Graph, weigh: Weights, settings: Settings, rng: np.random.Generator
) -> tuple[Graph, Floats, float | None]:
    """Calibrate the weights and, if asked for, refine them: the graph, z_data of its edges, and the gap left."""
    z = weigh.distances(graph)
    graph = calibrate(graph, z, settings.beta)
    if settings.weights == "calibrated":
        return graph, z, None
    announce("refining weights")
    found = refine_weights(graph, z + 4 * settings.beta, rng, n_jobs=settings.n_jobs)
    return found.graph, found.k - 4 * settings.beta, found.support_gap
