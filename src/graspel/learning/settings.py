"""Settings: the parameters of Algorithm 1, checked once, in one record that its steps share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graspel.graph import Graph
from graspel.learning.candidates import CANDIDATES, Candidates
from graspel.learning.initial import INITIAL, edges_from_user, knn_graph
from graspel.learning.stability import STABILITY, Stability
from graspel.learning.weights import Weights
from graspel.runtime.parameters import check_choice, check_number

WEIGHTS = ("calibrated", "refined", "optimal")


@dataclass(frozen=True)
class Settings:
    """The parameters of Algorithm 1, under the names that :class:`graspel.GRASPEL` documents.

    `n_listed` is no parameter of the learner: estimators that use the neighbor lists further ask for longer ones.
    """

    n_neighbors: int = 2
    initial: Any = "knn"
    candidates: str | Candidates = "fiedler"
    window: float = 0.05
    edge_ratio: float = 0.001
    sigma: float = 1e3
    beta: float = 0.0
    tol: float | None = None
    stability: str | Stability = "distortion"
    max_iter: int = 100
    weights: str = "calibrated"
    n_jobs: int | None = None
    n_listed: int = 0

    def __post_init__(self) -> None:
        """Check every parameter but `n_jobs`, which all estimators share."""
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="The paper uses 2.")
        if isinstance(self.initial, str):
            check_choice("initial", self.initial, INITIAL)
        if not isinstance(self.candidates, Candidates):
            check_choice("candidates", self.candidates, CANDIDATES)
        if not isinstance(self.stability, Stability):
            check_choice("stability", self.stability, STABILITY)
        hint = "It is the share of points taken from each end of the Fiedler order; the paper uses 0.05."
        check_number("window", self.window, "in (0, 0.5]", lambda v: 0 < v <= 0.5, hint=hint)
        check_number("edge_ratio", self.edge_ratio, "in (0, 1]", lambda v: 0 < v <= 1, hint="The paper uses 0.001.")
        hint = "The paper uses 1000."
        check_number("sigma", self.sigma, "from 1e-50 to 1e50", lambda v: 1e-50 <= v <= 1e50, hint=hint)
        check_number("beta", self.beta, "from 0 to 1e50", lambda v: 0 <= v <= 1e50, hint="0 is no penalty.")
        check_number("max_iter", self.max_iter, ">= 0", lambda v: v >= 0, whole=True, hint="0 adds no critical edges.")
        if self.tol is not None:
            check_number("tol", self.tol, "> 0, or None", lambda v: v > 0, hint="The paper uses 10 and 100.")
        check_choice("weights", self.weights, WEIGHTS)

    def check_size(self, n_points: int) -> None:
        """Check what depends on the number of points."""
        if not isinstance(self.initial, str):
            edges_from_user(self.initial, n_points)
        elif INITIAL[self.initial].build is knn_graph and self.n_neighbors >= n_points:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}: must be smaller than the number of points, {n_points}. "
                "Ask for fewer neighbors or bring more points."
            )

    @property
    def candidate_strategy(self) -> Candidates:
        """The strategy of Step 3."""
        return CANDIDATES[self.candidates] if isinstance(self.candidates, str) else self.candidates

    @property
    def stability_rule(self) -> Stability:
        """The rule of Step 4."""
        return STABILITY[self.stability] if isinstance(self.stability, str) else self.stability

    def tolerance(self, graph: Graph, weigh: Weights) -> float:
        """The user's tolerance, or the stability rule's own for this graph."""
        return self.stability_rule.default_tol(graph, weigh, self.beta) if self.tol is None else float(self.tol)

    def edges_per_round(self, n_nodes: int) -> int:
        """The largest number of edges that a round adds: zeta N, and at least one."""
        return max(1, round(self.edge_ratio * n_nodes))
