r"""Solver: the one loop that finds weights, with new columns or without.

1. Start from a connected graph.
2. Find the best weights of its edges, by what the oracle allows (:mod:`graspel.optimum.oracles`), and drop the edges
   that vanish.
3. Look at the pairs that may become edges (:mod:`graspel.optimum.columns`): which have R > k = z_data + 4 beta? This
   gives an upper bound of what is missing (:mod:`graspel.optimum.gap`). The best of them become edges.
4. Repeat from 2, each time more accurately, until the error is at most `tol`.

The problem max F(w) over the weights w >= 0 of all pairs is concave, and its optimum is sparse: 2.5 to 5 edges per node
on the data sets that were tried, without any penalty.

If an exact evaluation takes too long, resistances are estimated in the first rounds. They bring the weights within a
percent of the optimum, so that few exact rounds are needed after them; and where not even these are affordable, the
solution is that of the last estimates.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, the problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graspel.graph import Graph
from graspel.learning.history import Callback, Round
from graspel.optimum.columns import Columns, FixedEdges
from graspel.optimum.oracles import EstimatingOracle, Evaluation, ExactMeasures, ExactOracle
from graspel.optimum.pricing import Priced
from graspel.optimum.problem import NEGLIGIBLE, Optimality, State, WeightProblem, find_needed
from graspel.runtime.parallel import count_threads
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats

TOL = 1e-3  # largest R / k - 1 at the end, unless the user says otherwise
MAX_ROUNDS = 100  # of refinement, whose every round but the last drops edges
LARGEST_GROUND = 1e-6  # in units of the median k: above it 1/sigma^2 changes resistances, which estimates leave out


@dataclass(frozen=True)
class Solution:
    """The graph with the best weights, and how good they are.

    Attributes
    ----------
    graph : Graph
    k : array, z_data + 4 beta of its edges
    support_gap : float, largest |R / k - 1| over the edges whose leverage is not negligible; root mean square if R was
        estimated
    optimality : Optimality
    history : list of Round
    settled : bool, whether the error is at most `tol`, or estimates have come as near as they can
    out_of_rounds : bool, whether max_iter ended the loop before that
    exact : ExactMeasures or None, None if R was estimated, or if the callback ended the loop
    n_evaluations : int, exact evaluations in the last round
    """

    graph: Graph
    k: Floats
    support_gap: float
    optimality: Optimality
    history: list[Round]
    settled: bool
    out_of_rounds: bool
    exact: ExactMeasures | None
    n_evaluations: int


class Rounds:
    """The steps of one round, from a state."""

    def __init__(self, columns: Columns, state: State) -> None:
        self.columns, self.state = columns, state
        self._exact: ExactOracle | None = None  # that of the edges of the state, if it is known

    def _problem(self) -> WeightProblem:
        return WeightProblem.of(self.state.graph, self.state.k, self.columns.ground)

    def _exact_oracle(self) -> ExactOracle:
        self._exact = self._exact or ExactOracle(self._problem(), self.columns.n_threads)
        return self._exact

    def _oracle(self) -> ExactOracle | EstimatingOracle:
        """The oracle of this round; once it is exact, it stays so."""
        state, columns = self.state, self.columns
        is_first, is_late = state.is_exact is None, state.n_rounds >= columns.n_estimated
        if is_first or (is_late and not state.is_exact):
            state.is_exact = self._exact_oracle().work <= columns.works[0 if is_first else 1]
        if not state.is_exact and columns.ground > LARGEST_GROUND:
            raise ValueError(
                f"{state.graph.n_nodes:,} points need too much work for exact resistances, and their estimates take "
                f"1/sigma^2 for zero, but it is {columns.ground:.1e} in units of the median z_data. Take a larger "
                "sigma, or fewer points."
            )
        return self._exact_oracle() if state.is_exact else columns.oracle(self._problem(), state.n_rounds)

    @property
    def is_over(self) -> bool:
        """Whether estimates have come as near as they can."""
        return not self.state.is_exact and self.state.n_rounds >= self.columns.n_estimated

    def optimize(self) -> tuple[Evaluation, bool]:
        """Step 2: better weights, and whether any edge was dropped after they were evaluated.

        The evaluation is that of the edges that are left, but the factor is that of the graph before the drop.
        """
        state, columns, problem = self.state, self.columns, self._problem()
        state.n_rounds += 1
        oracle = self._oracle()
        announce("optimizing weights", detail=f"{state.graph.n_edges:,} edges")
        now = oracle.maximize(state.graph.weights * state.k, lambda now: columns.is_accurate(problem, now, state.tol))
        graph = state.graph.with_weights(now.u / state.k)
        kept = find_needed(graph.heads, graph.tails, graph.n_nodes, now.u, columns.negligible(state))
        has_dropped = not kept.all()
        state.graph = graph
        if has_dropped:
            self._exact = None
            state.graph, state.k = graph.with_only(kept), state.k[kept]
            now = replace(now, u=now.u[kept], R=now.R[kept])
        if not state.is_exact or (has_dropped and columns.evaluates_again(state)):
            return self.evaluate(), False
        return now, has_dropped

    def evaluate(self) -> Evaluation:
        """Resistances of the graph as it is now."""
        state, columns = self.state, self.columns
        oracle = self._exact_oracle() if state.is_exact else columns.oracle(self._problem(), state.n_rounds)
        now = oracle.evaluate(state.graph.weights * state.k, columns.listed(state))
        if not state.is_exact:
            state.graph = state.graph.with_weights(now.u / state.k)
        return now

    def add_edges(self, priced: Priced, error: float) -> str:
        """Step 3: make edges of the best pairs; if another round would take too long, none, and say why."""
        state, before = self.state, (self.state.graph, self.state.k)
        state.n_added = self.columns.add_edges(state, priced, error)
        obstacle = self.columns.obstacle(state)
        if obstacle:
            (state.graph, state.k), state.n_added = before, 0
        if state.n_added:
            self._exact = None
        return obstacle


def solve(
    columns: Columns,
    state: State,
    history: list[Round],
    *,
    max_iter: int,
    callback: Callback | None = None,
    save: Callable[[State], None] = lambda state: None,
) -> Solution:
    """Run the rounds; `history` holds those before. `save` is called after each but the last."""
    rounds = Rounds(columns, state)
    while True:
        clock = time.perf_counter()
        now, has_dropped = rounds.optimize()
        priced, optimality = columns.price(state, now)
        # If neither edges nor weights changed, only rounding errors are left.
        is_stuck = state.n_added == 0 and not has_dropped and state.best_F >= now.objective
        if has_dropped and (columns.error(optimality) <= columns.tol or len(history) >= max_iter):
            now = rounds.evaluate()  # the graph that is returned is judged without the edges that it lost
            priced, optimality = columns.price(state, now)
        settled = rounds.is_over or columns.error(optimality) <= columns.tol
        is_last = settled or is_stuck or len(history) >= max_iter
        graph, k = state.graph, state.k
        if is_last:
            state.n_added = 0
        else:
            optimality = replace(optimality, obstacle=rounds.add_edges(priced, columns.error(optimality)))
            is_last = bool(optimality.obstacle)
        F = now.objective - (graph.n_nodes - (columns.ground == 0)) * float(np.log(state.unit))
        state.best_F = max(now.objective, state.best_F)
        state.tol = columns.next_tol(state, columns.error(optimality))
        mean = float(priced.excess.mean()) if len(priced.excess) else priced.below
        history.append(
            Round(
                round=state.n_rounds,
                max_eta=1 + optimality.excess,
                mean_eta=1 + mean,
                n_added=state.n_added,
                density=graph.density,
                eigenvalues=np.empty(0),
                objective=F,
                seconds=time.perf_counter() - clock,
                gap=optimality.gap,
            )
        )
        announce("optimum", None, f"gap {optimality.gap:.1e}")
        stopped = bool(callback is not None and callback(history[-1], state.graph))
        if is_last or stopped:
            break
        save(state)
    out_of_rounds = not (settled or stopped or max_iter == 0)
    exact = None
    if is_last and now.factor is not None:
        exact = ExactMeasures(now.factor, graph.heads, graph.tails, graph.weights, state.unit, F)
    return Solution(
        graph=graph.scaled(1 / state.unit),
        k=k * state.unit,
        support_gap=_support_gap(WeightProblem.of(graph, k), now),
        optimality=optimality,
        history=history,
        settled=settled,
        out_of_rounds=out_of_rounds,
        exact=exact,
        n_evaluations=now.n_evaluations,
    )


def _support_gap(problem: WeightProblem, now: Evaluation) -> float:
    """How far R is from k on the edges; estimates of small leverages are all error."""
    if now.factor is not None:
        return problem.deviation(now.u, now.R)
    return float(np.sqrt(np.mean(problem.excess(now.R)[now.u > NEGLIGIBLE] ** 2)))


def refine_weights(
    graph: Graph, k: Floats, rng: np.random.Generator, *, tol: float = TOL, n_jobs: int | None = None
) -> Solution:
    """The connected graph with the best weights for distances k of its edges, without negligible edges.

    The weights start from those of the graph, and end where the largest |R / k - 1| of any edge is at most `tol`. Where
    exact resistances would take too long, they are estimated, and the error that is left is about that of the
    estimates.

    Examples
    --------
    >>> triangle = Graph(3, [0, 0, 1], [1, 2, 2], [1.0, 2.0, 3.0])
    >>> refine_weights(triangle, np.full(3, 2.0), np.random.default_rng(0)).graph.weights.round(2)
    array([0.33, 0.33, 0.33])
    """
    unit, columns = float(np.median(k)), FixedEdges(tol, rng, count_threads(n_jobs))
    state = State(graph.scaled(unit), k / unit, unit, tol)
    return solve(columns, state, [], max_iter=MAX_ROUNDS)
