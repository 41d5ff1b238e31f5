"""Settings: the parameters of Algorithm 1, in one record that its steps share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graspel.graph import Graph
from graspel.learning.candidates import CANDIDATES, Candidates
from graspel.learning.history import Callback
from graspel.learning.stability import STABILITY, Stability
from graspel.learning.weights import Weights


@dataclass(frozen=True)
class Settings:
    """The parameters of Algorithm 1, under the names that :class:`graspel.GRASPEL` documents.

    `n_listed` is no parameter of the learner: estimators that use the neighbor lists further ask for longer ones.
    """

    n_neighbors: int = 2
    neighbor_rule: str = "nearest"
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
    optimal: bool = False
    n_jobs: int | None = None
    callback: Callback | None = None
    n_listed: int = 0

    @property
    def candidate_strategy(self) -> Candidates:
        """The strategy of Step 3."""
        return CANDIDATES[self.candidates]

    @property
    def stability_rule(self) -> Stability:
        """The rule of Step 4."""
        return STABILITY[self.stability]

    def tolerance(self, graph: Graph, weigh: Weights) -> float:
        """The user's tolerance, or the stability rule's own for this graph."""
        return self.stability_rule.default_tol(graph, weigh, self.beta) if self.tol is None else float(self.tol)

    def edges_per_round(self, n_nodes: int) -> int:
        """The largest number of edges that a round adds: zeta N, and at least one."""
        return max(1, round(self.edge_ratio * n_nodes))
