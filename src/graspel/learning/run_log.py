"""The log of a run: records, progress and callback, which Algorithm 1 itself does not need.

It measures the time of each round, writes its record, reports progress, and asks the callback whether to stop.
"""

from __future__ import annotations

import time
from typing import Any

from graspel.graph import Graph
from graspel.learning.connect import record_joins
from graspel.learning.criticality import Critical
from graspel.learning.embed import Embedding
from graspel.learning.history import Callback, Round
from graspel.learning.initial import InitialGraph
from graspel.learning.objective import truncated_objective
from graspel.learning.settings import Settings
from graspel.learning.weights import Weights
from graspel.runtime.memory import return_free_memory
from graspel.runtime.progress import announce

PHASE = "adding critical edges"  # what the progress bar calls the rounds


class RunLog:
    """The records of the rounds so far, and why the rounds end.

    Attributes
    ----------
    history : list of Round
    settled : bool, whether the stability rule was met
    stopped : bool, whether the callback ended the run
    """

    def __init__(
        self, settings: Settings, callback: Callback | None = None, history: list[Round] | None = None
    ) -> None:
        self.history: list[Round] = [] if history is None else history
        self.settled = self.stopped = False
        self._settings, self.callback = settings, callback
        self._clock = time.perf_counter()
        self._share_done: float | None = 0.0

    @property
    def is_running(self) -> bool:
        """Whether there is another round."""
        return not (self.settled or self.stopped) and len(self.history) < self._settings.max_iter

    @property
    def out_of_rounds(self) -> bool:
        """Whether `max_iter` ended the rounds before the rule or the callback did."""
        return not (self.settled or self.stopped or self._settings.max_iter == 0)

    @property
    def next_round(self) -> int:
        """The number of the next round, counted from 1."""
        return len(self.history) + 1

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps beside the history."""
        return {"settled": self.settled, "share_done": self._share_done}

    def restore(self, history: list[Round], state: dict[str, Any]) -> None:
        """Take up the records of a run that was interrupted."""
        self.history, self.settled, self._share_done = history, state["settled"], state["share_done"]

    def record_start(self, start: InitialGraph, joined: Graph) -> None:
        """Write down Step 1: joining components is the first round."""
        self.history = record_joins(start.graph, joined, seconds=time.perf_counter() - self._clock)
        self._ask_callback(joined)

    def begin_round(self) -> None:
        """Start the clock of a round, and give back what the last round no longer needs."""
        return_free_memory()
        self._clock = time.perf_counter()
        announce(PHASE, self._share_done, "embedding")

    def end_round(
        self, before: Graph, after: Graph, weigh: Weights, embedding: Embedding, critical: Critical, is_stable: bool
    ) -> None:
        """Write down a round that turned the graph `before` into `after`."""
        settings, values = self._settings, embedding.values
        z = weigh.distances(before)
        record = Round(
            round=self.next_round,
            max_eta=critical.max_eta,
            mean_eta=critical.mean_eta,
            n_added=0 if is_stable else critical.n_edges,
            density=before.density,
            eigenvalues=values,
            objective=truncated_objective(values, before, z, sigma=settings.sigma, beta=settings.beta),
            seconds=time.perf_counter() - self._clock,
        )
        self.history.append(record)
        self.settled = is_stable
        self._share_done = settings.stability_rule.share_done(self.history, settings.tolerance(before, weigh))
        announce(PHASE, self._share_done, record.summary)
        self._ask_callback(after)

    def _ask_callback(self, graph: Graph) -> None:
        """Show the last round to the callback, which may ask to stop."""
        callback = self.callback
        self.stopped = bool(callback is not None and self.history and callback(self.history[-1], graph))
