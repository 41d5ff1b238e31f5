r"""Columns: which pairs a solution may use as edges, and how accurate it must be.

Two kinds share one loop (:mod:`graspel.optimum.solver`):

- `FixedEdges`: those that are there, ``weights="refined"``. Done when the largest |R / k - 1| over the edges is at most
  `tol`;
- `NewColumns`: all pairs, ``weights="optimal"``. Done when the largest R / k - 1 over all pairs is at most `tol`, and
  so the gap; above STRICT_NODES nodes, when the bound of the gap is, which a single pair hardly changes.

New columns are the pairs with R > k (:mod:`graspel.optimum.pricing`), a few at each node in a round. Above
ALL_PAIRS_NODES nodes the first rounds look at neighbor lists only, by estimates of R with a standard error of 3 %, and
the bound over all pairs is estimated from all pairs of 1,024 random nodes (:func:`graspel.optimum.gap.sampled_gap`).
Once the lists hold little, all pairs are searched, exactly, unless that would take too long, or `tol` is SAMPLED_TOL or
more and the estimate is below it: the search takes as long as all else on the way to such a bound.

Where R itself is estimated, the bound of the gap comes from estimates that are independent of the weights. It is a
maximum over trees of sums that are convex in R, so errors with mean zero can only raise it on average: it stays an
upper bound, over the edges and the pairs of the lists, but a coarse one. It is of the order of the standard error of R,
which falls with the root of the number of flows; the gap itself is of the order of the square of that error.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graspel.graph import Graph, Origin
from graspel.graph.edges import edge_keys
from graspel.linalg.factor.exact_factor import ExactFactor
from graspel.optimum.gap import optimality_gap, sampled_gap
from graspel.optimum.oracles import EstimatingOracle, Evaluation
from graspel.optimum.pricing import (
    PairDistances,
    Priced,
    merge_priced,
    price_all_pairs,
    price_listed_pairs,
    price_random_nodes,
    without_edges,
)
from graspel.optimum.problem import NEGLIGIBLE, Optimality, State, WeightProblem, calibrated_weights
from graspel.optimum.steps import FINAL, FIRST, LATER, Steps
from graspel.runtime.progress import announce
from graspel.runtime.types import Bools, Pairs

FIRST_TOL = 0.1  # accuracy of round 1: edges that are still missing change all weights
TOL_SHARE = 0.1  # accuracy of a round, relative to the largest R / k - 1 of the pairs that it could not use yet
LARGE_TOL_SHARE = 0.05  # the same above ALL_PAIRS_NODES nodes, where another search of all pairs takes longer
LISTED_TOL_SHARE = 0.15  # the same while only lists are searched, which takes less than two evaluations
NEW_EDGES = 5  # edges that a round adds at one node; more make the graph dense for a while, fewer take more rounds
SLOW = 2 / 3  # share of the last error above which it falls slowly; on five data sets it falls to 0.04 to 0.6 of it
MOST_DENSITY = 200  # edges per node at which the search ends; data sets have 2.5 to 10, equidistant points (N - 1) / 2
FIRST_SHARE = 0.3  # weight of a new edge, relative to the best one if it were the only one
STRICT_NODES = 5000  # nodes up to which every single pair must have R / k - 1 below the tolerance, not only the gap
ALL_PAIRS_NODES = 25_000  # nodes up to which all pairs are searched in every round
ALL_PAIRS_WORK = 2e13  # multiplications up to which all pairs of more nodes are searched at the end: about ten minutes
NEARLY = 0.03  # bound of the gap over the listed pairs below which all pairs are searched; their estimates reach it
SAMPLED_TOL = 0.01  # tolerance from which on an estimate of the bound over all pairs ends the search
VANISHED = 1e-5  # leverage below which an edge of the optimum is dropped; (N - 1) / |E| is the mean
N_ESTIMATED = 4  # rounds with estimates: the first has the edges of the start, few pairs are found after the third
LEVEL = 0.03  # smallest estimate of R / k - 1 of a pair that becomes an edge: its standard error
LISTED_BATCHES = 16  # batches from which R is estimated after a round: 128 flows, a standard error of 3 %
BOUND_BATCHES = 64  # the same in the last round: 512 flows
REFINE_WORK = 1.5e11  # multiplications of one exact evaluation above which refinement estimates R: ten seconds
OPTIMUM_WORK = 1e12  # the same for the optimum: half a minute
FINISH_WORK = 3e12  # the same in the last rounds of the optimum, which start near it: a minute


class Columns(Protocol):
    """What the loop asks.

    Attributes
    ----------
    tol : float
    ground : float, 1/sigma^2 in the unit of the state
    n_threads : int
    works : multiplications of one exact evaluation up to which R is exact in the first rounds, and in the last one
    n_estimated : int, rounds with estimates of R; the last of them is exact where `works` allows it
    """

    tol: float
    ground: float
    n_threads: int
    works: tuple[float, float]
    n_estimated: int

    def oracle(self, problem: WeightProblem, round: int) -> EstimatingOracle:
        """Estimates for this round."""

    def listed(self, state: State) -> Pairs | None:
        """Pairs of which R is estimated along with that of the edges."""

    def negligible(self, state: State) -> float:
        """The leverage below which an edge is dropped."""

    def evaluates_again(self, state: State) -> bool:
        """Whether another evaluation pays after edges were dropped: pricing takes longer."""

    def is_accurate(self, problem: WeightProblem, now: Evaluation, tol: float) -> bool:
        """Whether weights are accurate enough to end their round."""

    def price(self, state: State, now: Evaluation) -> tuple[Priced, Optimality]:
        """The pairs with R > k, and how near the solution is to the optimum."""

    def error(self, found: Optimality) -> float:
        """What must be at most `tol` at the end."""

    def next_tol(self, state: State, error: float) -> float:
        """The accuracy of the weights of the next round."""

    def add_edges(self, state: State, priced: Priced, error: float) -> int:
        """Make edges of the best pairs, and return their number."""

    def obstacle(self, state: State) -> str:
        """A sentence that says why another round would take too long; empty if it would not."""


class FixedEdges:
    """No new columns; edges of negligible leverage are dropped."""

    ground = 0.0
    n_estimated = 2

    def __init__(self, tol: float, rng: np.random.Generator, n_threads: int) -> None:
        self.works = REFINE_WORK, REFINE_WORK
        self.tol, self._rng, self.n_threads = tol, rng, n_threads

    def oracle(self, problem: WeightProblem, round: int) -> EstimatingOracle:
        """Estimates for this round."""
        schedule = FIRST if round == 1 else FINAL
        return EstimatingOracle(problem, self._rng, self.n_threads, schedule, LISTED_BATCHES)

    def listed(self, state: State) -> None:
        """No other pairs."""

    def negligible(self, state: State) -> float:
        """The leverage below which an edge is dropped."""
        return NEGLIGIBLE

    def evaluates_again(self, state: State) -> bool:
        """Only at the end."""
        return False

    def is_accurate(self, problem: WeightProblem, now: Evaluation, tol: float) -> bool:
        """Whether the optimality condition holds on all edges."""
        return problem.deviation(now.u, now.R) <= tol

    def price(self, state: State, now: Evaluation) -> tuple[Priced, Optimality]:
        """The edges themselves."""
        graph, problem = state.graph, WeightProblem.of(state.graph, state.k)
        excess, error = problem.excess(now.R), problem.deviation(now.u, now.R)
        own = Priced(graph.heads, graph.tails, excess, 0.0, graph.n_edges)
        return own, Optimality(problem.gap(now.u, now.R), error, graph.n_edges, False, now.error)

    def error(self, found: Optimality) -> float:
        """The largest |R / k - 1|."""
        return found.excess

    def next_tol(self, state: State, error: float) -> float:
        """The same in every round."""
        return self.tol

    def add_edges(self, state: State, priced: Priced, error: float) -> int:
        """None are added."""
        return 0

    def obstacle(self, state: State) -> str:
        """There is none."""
        return ""


class NewColumns:
    """All pairs of points may become edges; `listed` are pairs of near nodes, looked at first where there are many."""

    def __init__(self, data: PairDistances, listed: Pairs, sigma: float, tol: float, rng: np.random.Generator) -> None:
        self._data, self._listed, self._rng = data, listed, rng
        self.tol, self.ground, self.n_threads = tol, data.unit / sigma**2, data.points.n_threads
        self._n_nodes, self.works = data.points.n_points, (OPTIMUM_WORK, FINISH_WORK)
        self.n_estimated = N_ESTIMATED
        self._is_blocked = False  # whether only a search of all pairs, which is too long, could find more

    def oracle(self, problem: WeightProblem, round: int) -> EstimatingOracle:
        """Estimates for this round."""
        is_last = round >= self.n_estimated
        schedule: tuple[Steps, ...] = FIRST if round == 1 else FINAL if is_last else LATER
        n_batches = BOUND_BATCHES if is_last else LISTED_BATCHES
        return EstimatingOracle(problem, self._rng, self.n_threads, schedule, n_batches)

    def listed(self, state: State) -> Pairs:
        """The listed pairs that are no edges."""
        return without_edges(self._listed, state.graph)

    def negligible(self, state: State) -> float:
        """The leverage below which an edge is dropped."""
        return VANISHED if state.is_exact else NEGLIGIBLE

    def evaluates_again(self, state: State) -> bool:
        """A search of all pairs of many nodes takes longer."""
        return state.is_near and self._n_nodes > ALL_PAIRS_NODES

    @property
    def is_strict(self) -> bool:
        """Whether R / k - 1 of every single pair must be below the tolerance."""
        return self._n_nodes <= STRICT_NODES

    def is_accurate(self, problem: WeightProblem, now: Evaluation, tol: float) -> bool:
        """Whether the bound of the gap over the edges is at most `tol`, and up to STRICT_NODES nodes every R / k - 1.

        The bound alone takes half of the evaluations.
        """
        is_below = not self.is_strict or float(problem.excess(now.R).max()) <= tol
        return is_below and problem.has_gap_below(tol, now.u, now.R)

    def error(self, found: Optimality) -> float:
        """The bound of the gap, and up to STRICT_NODES nodes the largest R / k - 1 of any pair."""
        return max(found.gap, found.excess) if self.is_strict else found.gap

    def next_tol(self, state: State, error: float) -> float:
        """The more accurate, the less is missing."""
        share = TOL_SHARE if self._n_nodes <= ALL_PAIRS_NODES else LARGE_TOL_SHARE
        return min(FIRST_TOL, max(self.tol / 2, (share if state.is_near else LISTED_TOL_SHARE) * error))

    def start(self, graph: Graph, given: Graph | None = None) -> State:
        """The state before the first round: with equal leverages, or with those of the same graph as it was given.

        Leverages are at most 1, up to what the tolerance of an earlier fit has left; other weights are not used.
        """
        k, n = self._data.k_of(graph.heads, graph.tails), graph.n_nodes
        weights = calibrated_weights(k, n)
        if given is not None and given.n_edges == graph.n_edges:
            leverage = WeightProblem.of(graph, k).normalized(given.weights * k)
            weights = leverage / k if leverage.max() <= 1 + FIRST_TOL else weights
        is_small = n <= ALL_PAIRS_NODES
        return State(graph.with_weights(weights), k, self._data.unit, FIRST_TOL, is_near=is_small)

    def price(self, state: State, now: Evaluation) -> tuple[Priced, Optimality]:
        """The pairs with R > k, and how near the solution is to the optimum over the pairs that were searched."""
        graph, n, slack = state.graph, self._n_nodes, now.slack
        own = Priced(graph.heads, graph.tails, now.R / state.k - 1, 0.0, graph.n_edges)
        if now.factor is None:
            heads, tails = self.listed(state)
            others = heads, tails, now.other_R / self._data.k_of(heads, tails) - 1
            both = [np.concatenate(columns) for columns in zip(own[:3], others, strict=True)]
            known = Priced(both[0], both[1], both[2], 0.0, len(both[0]))
            return known, self._judge(known, 0.0, error=now.error)
        affordable = n <= ALL_PAIRS_NODES or self._all_pairs_work(now.factor) <= ALL_PAIRS_WORK
        if state.is_near and affordable and (n <= ALL_PAIRS_NODES or self.tol < SAMPLED_TOL):
            return self._search_all_pairs(now)
        announce("searching pairs", detail="near ones")
        listed, certain = price_listed_pairs(self._data, now.factor, graph, self._listed, self._rng)
        near = self._judge(merge_priced(n, own, listed), slack)
        state.is_near |= near.gap <= NEARLY or len(certain.heads) == 0
        sampled, largest = price_random_nodes(self._data, now.factor, self._rng)
        gap = sampled_gap(n, largest, slack)
        found = Optimality(gap, sampled.largest, n * len(largest), False, n_sampled=len(largest))
        if state.is_near and affordable and (gap > self.tol or self.tol < SAMPLED_TOL):
            return self._search_all_pairs(now)
        self._is_blocked = state.is_near and not affordable
        return merge_priced(n, sampled, own, certain), found

    def _search_all_pairs(self, now: Evaluation) -> tuple[Priced, Optimality]:
        assert now.factor is not None
        known = price_all_pairs(self._data, now.factor)
        return known, self._judge(known, now.slack, all_pairs=True)

    def _judge(self, known: Priced, slack: float, *, all_pairs: bool = False, error: float = 0.0) -> Optimality:
        """How near the graph is to the optimum, over the pairs whose R is known."""
        ground = 1.0 if error else self.ground  # the scaling bound needs exact resistances
        gap = optimality_gap(self._n_nodes, *known[:3], slack, known.below, ground)
        return Optimality(gap, known.largest, known.n_pairs, all_pairs, error)

    def _all_pairs_work(self, factor: ExactFactor) -> float:
        """Multiplications that a search of all pairs takes."""
        n = float(self._n_nodes)
        return n * factor.pattern.n_entries + n**2 / 2 * self._data.points.n_features

    def add_edges(self, state: State, priced: Priced, error: float) -> int:
        """Make edges of the best pairs, with weights from guesses of their leverages.

        Where many points are equally far from each other, the optimum has many edges, and which come first hardly
        matters. The error falls slowly then. Each such round doubles the number of edges that are added at a node, and
        from then on pairs are drawn at random too.
        """
        state.n_new = (2 * state.n_new if error > SLOW * state.error else state.n_new) or NEW_EDGES
        state.error = error
        rng = self._rng if state.n_new > NEW_EDGES else None
        graph, data = state.graph, self._data
        keys = edge_keys(graph.heads, graph.tails, graph.n_nodes)
        is_edge = np.isin(edge_keys(priced.heads, priced.tails, graph.n_nodes), keys)
        new = choose_new_edges(priced, is_edge, state.tol / 2 if state.is_exact else LEVEL, state.n_new, rng)
        k = data.k_of(new.heads, new.tails)
        state.graph = graph.with_edges(
            new.heads,
            new.tails,
            FIRST_SHARE * new.excess / (1 + new.excess) / k,
            origin=Origin.CRITICAL,
            round=state.n_rounds,
            eta=(1 + new.excess) * k * data.unit / (k * data.unit - 4 * data.beta),
            gradient=new.excess * k * data.unit,
        )
        state.k = data.k_of(state.graph.heads, state.graph.tails)
        return len(new.heads)

    def obstacle(self, state: State) -> str:
        """Whether the graph becomes too dense, or the neighbor lists hold no more edges and all pairs are too many."""
        if self._is_blocked and state.n_new > NEW_EDGES:
            return "edges beyond the neighbor lists are missing, and a search of all pairs would take too long"
        if state.graph.density <= MOST_DENSITY:
            return ""
        return (
            f"the optimum has more than {MOST_DENSITY} edges per node, because many points are equally far from each "
            "other"
        )


def choose_new_edges(
    priced: Priced, is_edge: Bools, level: float, per_node: int, rng: np.random.Generator | None = None
) -> Priced:
    """Of the pairs above the level that are no edges, those among the `per_node` largest at both of their ends.

    Where many pairs of two groups of nodes have a large excess, the first few edges between the groups lower all of
    them. So few edges are chosen at once. Where very many pairs are equally large, hardly any is among the largest at
    both ends; with `rng`, about as many are drawn at random.

    >>> star = Priced(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([0.3, 0.2, 0.1]), 0.0, 6)
    >>> choose_new_edges(star, np.zeros(3, dtype=bool), 0.05, 2).tails
    array([1, 2])
    """
    new = priced.at(~is_edge & (priced.excess > level))
    m = len(new.heads)
    ends, excess = np.concatenate([new.heads, new.tails]), np.tile(new.excess, 2)
    order = np.lexsort((-excess, ends))
    rank = np.empty(2 * m, dtype=np.int64)
    rank[order] = np.arange(2 * m) - np.searchsorted(ends[order], ends[order])
    chosen = np.maximum(rank[:m], rank[m:]) < per_node
    if rng is not None and m:
        n_pairs = np.bincount(ends)
        chosen |= rng.random(m) * np.maximum(n_pairs[new.heads], n_pairs[new.tails]) < per_node
    return new.at(chosen)
