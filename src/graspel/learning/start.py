"""Step 1: the start of a run, here or on the workers that hold the points, with the lists of a checkpoint if any."""

from __future__ import annotations

import numpy as np

from graspel.learning.connect import connect_components, join_components
from graspel.learning.fit import RunState
from graspel.learning.initial import initial_graph
from graspel.learning.run_log import RunLog
from graspel.learning.settings import Settings
from graspel.neighbors.index import NeighborIndex
from graspel.scale.checkpoint import Checkpoint
from graspel.scale.chunked import ChunkedStart


def begin_run(
    index: NeighborIndex, settings: Settings, rng: np.random.Generator, log: RunLog, checkpoint: Checkpoint | None
) -> RunState:
    """Step 1: the initial graph, its components joined to one."""
    join = join_components
    if checkpoint:
        index.search_with(checkpoint.search)
    if index.is_remote:
        on_workers = ChunkedStart()
        index.search_with(on_workers.search)
        join = on_workers.join
    start = initial_graph(index, settings.initial, settings.n_neighbors, rng, n_listed=settings.n_listed)
    graph = connect_components(start, sigma=settings.sigma, beta=settings.beta, rng=rng, join=join)
    log.record_start(start, graph)
    state = RunState(graph, start.weigh)
    if checkpoint:
        checkpoint.save_round(state, index, log, rng)
    return state
