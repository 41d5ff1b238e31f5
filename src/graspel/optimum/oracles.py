r"""Oracles: where the resistances of the edges come from, and the weights that follow from them.

The *exact* oracle eliminates the graph (:mod:`graspel.linalg.factor.exact_factor`). It also tells F, so that a line
search is possible, and the weights are found by quasi-Newton steps (:mod:`graspel.optimum.steps`). Its last elimination
gives resistances between any nodes, F and lambda_2 for the certificate, at the cost of a few solves.

The *estimating* oracle is for graphs whose elimination would take too long. It estimates leverages from random flows,
with short random walks as a control variate (:mod:`graspel.linalg.edge_leverages`), and states their standard error. It
does not know F; the weights are found by damped steps, which average over the errors of all steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.graph import Graph
from graspel.linalg.edge_leverages import Leverages, estimate_leverages
from graspel.linalg.factor.exact_factor import EdgeResistances, ExactFactor
from graspel.optimum.problem import WeightProblem
from graspel.optimum.steps import LOWEST, Steps, follow_leverages, minimize_above
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints, Pairs

MAX_EVALUATIONS = 200  # exact evaluations of F and all resistances in one round
STEP_BATCHES = 4  # batches of 8 flows in each damped step
STEP_TOL = 1e-3  # relative residual of the flows of a damped step
ESTIMATE_TOL = 1e-4  # relative residual of the flows from which resistances are estimated after the steps
EIGEN_TOL = 1e-6  # relative error of lambda_2
FEW_NODES = 3  # nodes up to which eigenvalues come from the full inverse: Lanczos' method needs more
CANCELS = 1e-3  # lambda_2 as a share of the ground, below which the difference of the two loses too many digits


@dataclass(frozen=True)
class Evaluation:
    """What an oracle says at the weights u / k.

    Attributes
    ----------
    u : array
    R : array, resistances of the edges
    objective : float, F; NaN if R was estimated
    slack : float, the sum of w (k - R); 0 if R was estimated
    factor : elimination of the graph with these weights; None if R was estimated
    error : float, relative standard error of R (root mean square over the edges); 0 if R is exact
    other_R : array, estimated resistances of other pairs, where these were asked for
    n_evaluations : int, exact evaluations of all resistances that led to these weights
    """

    u: Floats
    R: Floats
    objective: float
    slack: float
    factor: ExactFactor | None = None
    error: float = 0.0
    other_R: Floats = field(default_factory=lambda: np.empty(0))
    n_evaluations: int = 1


class Oracle(Protocol):
    """Resistances on the edges of one problem, and the steps that these allow."""

    def maximize(self, start: Floats, is_done: Callable[[Evaluation], bool]) -> Evaluation:
        """Move u from the start until `is_done`, or as far as the oracle can tell."""

    def evaluate(self, u: Floats, pairs: Pairs | None = None) -> Evaluation:
        """The resistances at the weights u / k; estimates are new, and those of other pairs come with them."""


class ExactOracle:
    """Exact resistances; the order of elimination is found once for many weights.

    Examples
    --------
    >>> triangle = WeightProblem(np.array([0, 0, 1]), np.array([1, 2, 2]), 3, np.array([2.0, 2.0, 2.0]))
    >>> found = ExactOracle(triangle).maximize(np.ones(3), lambda now: triangle.deviation(now.u, now.R) < 1e-6)
    >>> found.u.round(4)  # R = 2 / (3 w) on a triangle of equal weights
    array([0.6667, 0.6667, 0.6667])
    """

    def __init__(self, problem: WeightProblem, n_threads: int = 1) -> None:
        edges = problem.heads, problem.tails, problem.n_nodes
        self._problem, self._resistances = problem, EdgeResistances(*edges, problem.ground, n_threads)

    @property
    def work(self) -> float:
        """The cost of one evaluation, in multiplications."""
        return self._resistances.work

    def evaluate(self, u: Floats, pairs: Pairs | None = None) -> Evaluation:
        """F and the resistances of the edges; those of other pairs follow from the factor."""
        problem, factor = self._problem, self._resistances.factor(u / self._problem.k)
        R = factor.resistances
        return Evaluation(u, R, problem.objective(factor.logdet, u), problem.slack(u, R), factor)

    def maximize(
        self, start: Floats, is_done: Callable[[Evaluation], bool], max_evaluations: int = MAX_EVALUATIONS
    ) -> Evaluation:
        """Quasi-Newton steps until the best weights so far are good enough."""
        evaluations: list[Evaluation] = []  # the best one, and how many there were

        def negated(u: Floats) -> tuple[float, Floats]:
            now = self.evaluate(u)
            n = evaluations[0].n_evaluations if evaluations else 0
            best = now if not evaluations or evaluations[0].objective <= now.objective else evaluations[0]
            evaluations[:] = [replace(best, n_evaluations=n + 1)]
            return -now.objective, -self._problem.excess(now.R)

        start = self._problem.normalized(start)
        minimize_above(negated, start, LOWEST, lambda: is_done(evaluations[0]), max_evaluations)
        return evaluations[0]


class EstimatingOracle:
    """Estimates from random flows on the graph of the edges, which are sorted as those of a `Graph`.

    Attributes
    ----------
    schedule : the damped steps
    n_batches : int, batches of 8 flows from which R is estimated after the steps
    """

    def __init__(
        self,
        problem: WeightProblem,
        rng: np.random.Generator,
        n_threads: int,
        schedule: tuple[Steps, ...],
        n_batches: int,
    ) -> None:
        self._problem, self._rng, self._n_threads = problem, rng, n_threads
        self.schedule, self.n_batches = schedule, n_batches

    def _estimate(self, u: Floats, n_batches: int, tol: float, pairs: Pairs | None = None) -> Leverages:
        problem, rng = self._problem, self._rng
        adjacency = Graph(problem.n_nodes, problem.heads, problem.tails, u / problem.k).adjacency
        return estimate_leverages(adjacency, n_batches, rng, tol=tol, pairs=pairs, n_threads=self._n_threads)

    def evaluate(self, u: Floats, pairs: Pairs | None = None) -> Evaluation:
        """New estimates, which are independent of those that led to the weights."""
        u = self._problem.normalized(u)
        found = self._estimate(u, self.n_batches, ESTIMATE_TOL, pairs)
        error = float(np.sqrt(np.mean((found.error / u) ** 2)))
        return Evaluation(u, found.leverage * self._problem.k / u, np.nan, 0.0, None, error, found.resistance)

    def maximize(self, start: Floats, is_done: Callable[[Evaluation], bool]) -> Evaluation:
        """All damped steps of the schedule. Small leverages have large errors; u, an average, takes their place."""
        u = follow_leverages(
            lambda u: self._estimate(u, STEP_BATCHES, STEP_TOL).leverage,
            self._problem.normalized(np.maximum(start, LOWEST)),
            self.schedule,
            lambda share: announce("optimizing weights", share),
        )
        return Evaluation(u, self._problem.k, np.nan, 0.0)


@dataclass(frozen=True)
class ExactMeasures:
    """What the elimination of a graph tells about it; its weights are those of the graph times `unit`.

    Attributes
    ----------
    factor : elimination with the weights w
    heads, tails, w : arrays, the edges
    unit : float
    objective : float, F of the graph itself
    """

    factor: ExactFactor
    heads: Ints
    tails: Ints
    w: Floats
    unit: float
    objective: float

    def resistance_between(self, nodes: Ints) -> Floats:
        """The resistances between all pairs of the given nodes, as a symmetric matrix."""
        columns = np.zeros((self.factor.pattern.n_nodes, len(nodes)))
        columns[nodes, np.arange(len(nodes))] = 1.0
        M = self.factor.prepare_solves().solve(columns)[nodes]
        d = np.diag(M)
        return np.asarray(np.maximum(d[:, None] + d - M - M.T, 0.0)) * self.unit

    def smallest_eigenvalue(self, rng: np.random.Generator) -> float:
        """The smallest nonzero eigenvalue of the Laplacian: one over the largest of L^+, by Lanczos' method.

        Where the ground is far larger, the graph is eliminated again without it.
        """
        pattern = self.factor.pattern
        found = _smallest_eigenvalue(self.factor, rng)
        if found - pattern.ground < CANCELS * pattern.ground:
            edges = EdgeResistances(self.heads, self.tails, pattern.n_nodes, 0.0, pattern.n_threads)
            return _smallest_eigenvalue(edges.factor(self.w), rng) / self.unit
        return (found - pattern.ground) / self.unit


def _smallest_eigenvalue(factor: ExactFactor, rng: np.random.Generator) -> float:
    """The smallest eigenvalue of L + ground I on vectors of mean zero."""
    n, solves = factor.pattern.n_nodes, factor.prepare_solves()

    def apply(x: Floats) -> Floats:
        x = solves.solve((x - x.mean()).reshape(-1, 1))[:, 0]
        return x - x.mean()

    if n <= FEW_NODES:
        return 1 / float(np.linalg.eigvalsh(np.stack([apply(e) for e in np.eye(n)]))[-1])
    inverse = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    found = eigsh(inverse, 1, which="LA", tol=EIGEN_TOL, v0=rng.standard_normal(n), return_eigenvectors=False)
    return 1 / float(found[0])
