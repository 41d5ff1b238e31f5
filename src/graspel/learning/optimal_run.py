"""The run with weights="optimal": Step 1, and then the search for the best graph of all instead of the rounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.learning.fit import Fit, RunState
from graspel.learning.initial import listed_pairs
from graspel.learning.run_log import RunLog
from graspel.learning.settings import Settings
from graspel.learning.start import begin_run
from graspel.neighbors.index import NeighborIndex
from graspel.optimum.columns import STRICT_NODES, NewColumns
from graspel.optimum.pricing import PairDistances
from graspel.optimum.problem import State
from graspel.optimum.solver import TOL, solve
from graspel.runtime.parameters import get_state
from graspel.runtime.types import Pairs
from graspel.scale.checkpoint import Checkpoint

OPTIMUM_NEIGHBORS = 6  # neighbors of each point where the search for the optimum starts: it keeps 2.5 to 5 edges a node
OPTIMUM_LISTED = 20  # neighbors of each point that are searched for edges where resistances may be estimates


def run_optimum(
    index: NeighborIndex, settings: Settings, rng: np.random.Generator, log: RunLog, checkpoint: Checkpoint | None
) -> Fit:
    """Learn the graph that maximizes the objective over all graphs (:mod:`graspel.optimum.solver`)."""
    k = min(max(settings.n_neighbors, OPTIMUM_NEIGHBORS), index.n_points - 1)
    n_listed = min(OPTIMUM_LISTED, index.n_points - 1) if index.n_points > STRICT_NODES else 0
    state = checkpoint.load_round(index, log, rng, with_lists=True) if checkpoint else None
    state = state or begin_run(
        index, replace(settings, n_neighbors=k, n_listed=n_listed), rng, log, checkpoint
    )  # Step 1
    tol = TOL if settings.tol is None else settings.tol
    listed = listed_pairs(index.lists(max(k, n_listed)), index.n_points)
    columns, found = _begin_columns(state, index.points, listed, settings, tol, rng)

    def save(found: State) -> None:
        if checkpoint:
            checkpoint.save_round(replace(state, graph=found.graph, search=found.as_dict()), index, log, rng)

    max_iter = 0 if log.stopped else settings.max_iter
    best = solve(columns, found, log.history, max_iter=max_iter, callback=log.callback, save=save)  # Steps 2 to 4
    return Fit(
        graph=best.graph,
        z=best.k - 4 * settings.beta,
        history=best.history,
        settled=best.settled,
        out_of_rounds=best.out_of_rounds,
        tolerance=1 + tol,
        support_gap=best.support_gap,
        index=index,
        settings=settings,
        weigh=state.weigh,
        random_state=get_state(rng),
        optimality=best.optimality,
        exact=best.exact,
    )


def _begin_columns(
    state: RunState, points: Data, listed: Pairs, settings: Settings, tol: float, rng: np.random.Generator
) -> tuple[NewColumns, State]:
    """All pairs of points, and the state at the start or where an earlier run was interrupted."""
    graph, beta, kept = state.graph, settings.beta, state.search or {}
    unit = kept["unit"] if kept else float(np.median(state.weigh.distances(graph))) + 4 * beta
    columns = NewColumns(PairDistances(points, state.weigh.floor, beta, unit), listed, settings.sigma, tol, rng)
    given = settings.initial if isinstance(settings.initial, Graph) else None  # its edges, unless more had to join them
    return columns, State(graph, **kept) if kept else columns.start(graph, given)
