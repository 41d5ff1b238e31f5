r"""The optimum of graphs too large for exact resistances: the same search, by estimates whose error goes to nought.

The weights come from damped steps to the estimated leverages, which average over the errors of all steps
(:mod:`graspel.optimum.leverage_steps`).

The pairs with R > k are looked for in the neighbor lists, by estimates as well. The bound of the gap
(:mod:`graspel.optimum.gap`) is computed from estimates that are independent of the weights. It is a maximum
over trees of sums that are convex in R, so errors with mean zero can only raise it on average: it stays an upper bound,
over the edges and the pairs of the lists, but a coarse one. It is of the order of the standard error of R, which goes
with one over the root of the number of flows, where the gap itself goes with its square.

*Exact finish.* Estimates bring the weights within a percent of the optimum, where ten exact evaluations are enough for
a bound of 1e-3. So if one takes less than a minute, the last round has exact resistances of all edges, and of those
pairs of the lists whose R is not below k by three standard errors. These pairs join the edges with a small weight, and
are dropped again if it vanishes. The bound is then one over the edges, the lists (where pairs farther below count as
below) and all pairs of 1,024 random nodes, which are searched exactly; or over all pairs up to 25,000 nodes. There
the pairs that were found become edges, and another exact round follows, until the bound is below `tol`.
"""

from __future__ import annotations

import numpy as np

from graspel.graph import Graph
from graspel.graph.edges import edge_keys
from graspel.linalg.edge_leverages import Leverages, estimate_leverages
from graspel.linalg.edge_resistances import EdgeResistances
from graspel.optimum.columns import Priced, price_all_pairs, price_random_nodes
from graspel.optimum.exact_measures import ExactMeasures
from graspel.optimum.gap import optimality_gap
from graspel.optimum.leverage_steps import FINAL, FIRST, LATER, Steps, follow_leverages
from graspel.optimum.refine import find_needed
from graspel.optimum.search import ALL_PAIRS_NODES, VANISHED, Optimality, OptimumSearch, merge_priced
from graspel.optimum.weights import optimize_weights
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats

MOST_WORK = 1e12  # multiplications of one exact evaluation, above which R is estimated: half a minute on one core
N_ROUNDS = 4  # the first has the edges of the start; few pairs are found after the third
PRICE_BATCHES = 16  # batches from which pairs are priced: 128 flows, 3 % standard error of R
BOUND_BATCHES = 64  # batches for the bound: 512 flows
BOUND_TOL = 1e-4  # relative residual of these flows
LEVEL = 0.03  # smallest R / k - 1 of a pair that becomes an edge: its standard error
NEGLIGIBLE = 1e-3  # leverage up to which an edge is dropped
FINISH_WORK = 3e12  # multiplications of one exact evaluation up to which the last weights are exact: a minute
FINISH_SHARE = 0.7  # bound of the gap over the edges at which exact steps end, relative to `tol`
DOUBT = 3.0  # standard errors by which R must be below k for a pair to be left out of the exact steps
SUSPECT_LEVERAGE = 1e-4  # leverage with which these pairs start
LARGEST_GROUND = 1e-6  # in units of the median k: above it 1/sigma^2 changes resistances


class EstimatedSearch(OptimumSearch):
    """Column generation with estimates; it needs a sigma so large that 1/sigma^2 does not matter."""

    round = 0
    is_exact = False  # whether the last round had exact resistances

    def optimize(self) -> None:
        """Step 2: optimize the weights and drop edges; then estimate R anew, of the edges and of the lists."""
        self.round += 1
        if self.round >= N_ROUNDS and self._plan_elimination() is not None:
            self._finish()
            return
        schedule = FIRST if self.round == 1 else FINAL if self.is_last else LATER
        self.follow_leverages(schedule)
        kept = find_needed(
            self.graph.heads, self.graph.tails, self.graph.n_nodes, self.graph.weights * self.k, negligible=NEGLIGIBLE
        )
        self.graph, self.k = self.graph.with_only(kept), self.k[kept]
        self.measure_all()

    @property
    def is_last(self) -> bool:
        """Whether this is the last round."""
        return self.round >= N_ROUNDS

    def _plan_elimination(self) -> EdgeResistances | None:
        """An order of elimination for the edges; None if exact resistances would take too long."""
        graph, n_threads = self.graph, self.problem.points.n_threads
        edges = graph.heads, graph.tails, graph.n_nodes
        planned = EdgeResistances(*edges, self.ground, n_threads)
        return planned if planned.work <= FINISH_WORK else None

    def _finish(self) -> None:
        """The last weights by exact resistances, on the edges and all pairs that the estimates leave in doubt."""
        if not self.is_exact:
            self._join_suspects()
        graph, n_threads = self.graph, self.problem.points.n_threads
        edges = graph.heads, graph.tails, graph.n_nodes
        announce("optimizing weights", detail=f"{graph.n_edges:,} edges, exactly")
        exact = EdgeResistances(*edges, self.ground, n_threads)
        tol = FINISH_SHARE * self.tol
        found = optimize_weights(
            *edges, self.k, graph.weights, ground=self.ground, tol=tol, strict=False, resistances=exact
        )
        kept = find_needed(*edges, found.weights * self.k, negligible=VANISHED)
        weights = np.where(kept, found.weights, 0.0)
        self._measure(weights, exact.factor(weights))  # a pair without weight keeps its place, and has its R
        self._known = Priced(graph.heads, graph.tails, self.R / self.k - 1, 0.0, graph.n_edges)
        self.graph, self.k, self.R = graph.with_only(kept).with_weights(weights[kept]), self.k[kept], self.R[kept]
        self.is_exact, self.n_dropped = True, 0

    def _join_suspects(self) -> None:
        """Make light edges of the pairs of the lists that may have R > k: by DOUBT standard errors."""
        graph, (heads, tails) = self.graph, self.others
        k = self.problem.k_of(heads, tails)
        R, error = self._found.resistance, self._found.resistance_error
        keys = edge_keys(graph.heads, graph.tails, graph.n_nodes)
        doubtful = (R + DOUBT * error > k) & ~np.isin(edge_keys(heads, tails, graph.n_nodes), keys)
        suspects = Priced(heads, tails, R / k - 1, 0.0, len(heads)).at(doubtful)
        self._join_pairs(suspects, np.full(len(suspects.heads), SUSPECT_LEVERAGE), self.round)

    def follow_leverages(self, schedule: tuple[Steps, ...]) -> None:
        """The damped steps to u = tau(u), for the edges of the graph."""
        detail, n_threads = f"round {self.round} of {N_ROUNDS}", self.problem.points.n_threads
        weights = follow_leverages(self.graph, self.k, schedule, self._rng, n_threads, detail)
        self.graph = self.graph.with_weights(weights)

    def _estimate(self, weights: Floats, n_batches: int, **options: object) -> Leverages:
        adjacency = self.graph.with_weights(weights).adjacency
        n_threads = self.problem.points.n_threads
        return estimate_leverages(adjacency, n_batches, self._rng, n_threads=n_threads, **options)  # type: ignore[arg-type]

    def measure_all(self) -> None:
        """Fresh estimates of the leverages of the edges, and of R of the pairs of the lists."""
        graph = self.graph
        scale = (graph.n_nodes - 1) / float(graph.weights @ self.k)
        self.graph = graph.with_weights(graph.weights * scale)
        keys = edge_keys(graph.heads, graph.tails, graph.n_nodes)
        new = ~np.isin(edge_keys(*self._listed, graph.n_nodes), keys)
        self.others = self._listed[0][new], self._listed[1][new]
        announce("searching pairs")
        is_before_finish = self.round == N_ROUNDS - 1 and self._plan_elimination() is not None
        n_batches = BOUND_BATCHES if self.is_last or is_before_finish else PRICE_BATCHES
        found = self._estimate(self.graph.weights, n_batches, tol=BOUND_TOL, pairs=self.others)
        self.R, self.slack, self.F, self.n_dropped = found.leverage / self.graph.weights, 0.0, float("nan"), 0
        self._found = found

    def price(self) -> tuple[Priced, Optimality]:
        """Step 3: the pairs with R > k as estimated, and how near the graph is to the optimum."""
        graph, n = self.graph, self.graph.n_nodes
        if self.is_exact:
            all_pairs = n <= ALL_PAIRS_NODES
            found = (
                price_all_pairs(self.problem, self._factor)
                if all_pairs
                else price_random_nodes(self.problem, self._factor, self._rng)
            )
            known = merge_priced(n, self._known, found)
            gap = optimality_gap(n, known.heads, known.tails, known.excess, self.slack, known.below, self.ground)
            n_pairs = found.n_pairs if all_pairs else len(self._listed[0]) + graph.n_edges + found.n_pairs
            return known, Optimality(gap, known.largest, n_pairs, all_pairs)
        k = self.problem.k_of(*self.others)
        heads, tails = (np.concatenate(ends) for ends in zip((graph.heads, graph.tails), self.others, strict=True))
        excess = np.concatenate([self.R / self.k - 1, self._found.resistance / k - 1])
        priced = Priced(heads, tails, excess, 0.0, len(heads))
        gap = optimality_gap(n, heads, tails, excess, self.slack, ground=1.0)
        error = float(np.sqrt(np.mean((self._found.error / (graph.weights * self.k)) ** 2)))
        return priced, Optimality(gap, float(excess.max()), len(heads), False, error)

    def exact_measures(self) -> ExactMeasures | None:
        """What the elimination tells about the graph, if there was one."""
        return super().exact_measures() if self.is_exact else None

    def error(self, found: Optimality) -> float:
        """What must be below `tol`: the gap, if it is exact and over all pairs.

        Else 0 after the last round. What is left cannot be told from the errors of the estimates, or is at pairs
        outside of the lists, of which every exact round sees a sample only: it would take very many rounds.
        """
        if self.is_exact and found.all_pairs:
            return found.gap
        return 0.0 if self.is_last else np.inf

    @property
    def level(self) -> float:
        """The smallest R / k - 1 of a pair that becomes an edge."""
        return LEVEL


def choose_search(
    graph: Graph, ground: float, n_threads: int = 1
) -> tuple[type[OptimumSearch], EdgeResistances | None]:
    """Exact resistances where elimination is cheap, with its order, else estimates."""
    resistances = EdgeResistances(graph.heads, graph.tails, graph.n_nodes, ground, n_threads)
    if resistances.work <= MOST_WORK:
        return OptimumSearch, resistances
    if ground > LARGEST_GROUND:
        raise ValueError(
            f"optimal=True: {graph.n_nodes:,} points need too much work for exact resistances, and their estimates "
            f"take 1/sigma^2 for zero, but it is {ground:.1e} in units of the median z_data. Take a larger sigma, or "
            "fewer points."
        )
    return EstimatedSearch, None
