r"""The optimum: the graph that maximizes the objective over all graphs, by column generation.

The problem max F(w), F = logdet(L + I/sigma^2) - sum w (z + 4 beta) over the weights w >= 0 of all pairs, is convex,
and its optimum is sparse: 2.5 to 5 edges per node on the data sets that were tried, without any penalty. So it is
solved on few edges, to which pairs are added as long as any would raise F:

1. start from nearest neighbors, joined to one component;
2. optimize the weights (:mod:`graspel.optimum.weights`), and drop the edges that vanish;
3. find the pairs with R > z + 4 beta (:mod:`graspel.optimum.columns`); a few at each node become edges;
4. repeat from 2, each time more accurately, until no pair has R above (1 + tol) (z + 4 beta). Above 5,000 nodes it is
   enough that the bound of the gap is below tol: single pairs do not matter for the objective there.

Above 25,000 nodes the first rounds look at neighbor lists only, by estimates of R from flows on the graph, with a
standard error of 3 %. Once these find little, all pairs are searched as above, exactly; if that would take too long,
only all pairs of 1,024 random nodes, and the bound is then one over these and the edges.

Every round gives an upper bound of the optimum over all graphs (:mod:`graspel.optimum.gap`).

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, the problem.

H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing, 11(6), 2017. The same problem, on all pairs, for hundreds of nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.graph import Graph, Origin
from graspel.graph.edges import edge_keys
from graspel.learning.history import Callback, Round
from graspel.linalg.edge_resistances import EdgeResistances, Factor
from graspel.optimum.columns import (
    Priced,
    Problem,
    choose_new_edges,
    price_all_pairs,
    price_listed_pairs,
    price_random_nodes,
)
from graspel.optimum.exact_measures import ExactMeasures
from graspel.optimum.gap import optimality_gap
from graspel.optimum.refine import calibrated_weights, find_needed
from graspel.optimum.weights import largest_deviation, optimize_weights
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

TOL = 1e-3  # largest R / k - 1 of any pair at the optimum, unless the user says otherwise
FIRST_TOL = 0.1  # of the first round: edges that are still missing change all weights
TOL_SHARE = 0.1  # tolerance of a round, relative to the largest R / k - 1 of the pairs that it could not use yet
LARGE_TOL_SHARE = 0.05  # the same above ALL_PAIRS_NODES nodes, where another search of all pairs takes longer
NEW_EDGES = 5  # edges that a round adds at one node; more make the graph dense for a while, fewer take more rounds
FIRST_SHARE = 0.3  # weight of a new edge, relative to the best one if it were the only one
STRICT_NODES = 5000  # nodes up to which every single pair must have R / k - 1 below the tolerance, not only the gap
ALL_PAIRS_NODES = 25_000  # nodes up to which all pairs are searched in every round
ALL_PAIRS_WORK = 2e13  # multiplications up to which all pairs of more nodes are searched at the end: about ten minutes
NEARLY = 0.03  # bound of the gap over the listed pairs below which all pairs are searched; their estimates reach it
KEPT = ("round_tol", "best_F", "n_added", "_is_near")  # what the next round depends on, beside graph and k
VANISHED = 1e-5  # leverage below which an edge is dropped; (N - 1) / |E| is the mean


@dataclass(frozen=True)
class Optimality:
    """How near a graph is to the optimum.

    Attributes
    ----------
    gap : float, upper bound of F* - F, in units of N - 1
    excess : float, largest R / k - 1 over the pairs that were searched
    n_pairs : int, number of these pairs
    all_pairs : bool, whether these are all
    error : float, relative standard error of the resistances of the edges (root mean square); 0 if they are exact
    """

    gap: float
    excess: float
    n_pairs: int
    all_pairs: bool
    error: float = 0.0


@dataclass(frozen=True)
class Optimum:
    """The optimal graph, z_data of its edges, the records of the rounds, and how near the optimum it is.

    `support_gap` is the largest |R / k - 1| over the edges whose leverage is not negligible. `exact` is None if
    resistances were estimated, or if the callback ended the search.
    """

    graph: Graph
    z: Floats
    support_gap: float
    history: list[Round]
    optimality: Optimality
    settled: bool
    out_of_rounds: bool
    exact: ExactMeasures | None


class OptimumSearch:
    """Column generation from a connected graph.

    Parameters
    ----------
    problem : Problem
    graph : Graph, to start from; its weights are not used
    sigma : float
    tol : float
    listed : pair of arrays, further pairs of near nodes, which are looked at if there are too many nodes for all pairs
    rng : numpy Generator
    resistances : EdgeResistances or None, those of the graph to start from, if their order of elimination is known

    Attributes
    ----------
    graph, k : the graph, and k of its edges
    R : array, resistances of its edges
    F, slack : float, the objective, and the sum of w (k - R), before edges were dropped
    best_F : float, the largest objective of any round
    n_dropped, n_added : int, edges that the last round dropped and added (n_added is -1 before the first round)
    """

    R: Floats
    F: float
    slack: float
    n_dropped: int

    def __init__(
        self,
        problem: Problem,
        graph: Graph,
        sigma: float,
        tol: float,
        listed: tuple[Ints, Ints],
        rng: np.random.Generator,
        resistances: EdgeResistances | None = None,
    ) -> None:
        self._resistances = resistances
        self.problem, self.tol, self._listed, self._rng = problem, tol, listed, rng
        self.k = problem.k_of(graph.heads, graph.tails)
        self.graph = graph.with_weights(calibrated_weights(self.k, graph.n_nodes))
        self.ground = problem.unit / sigma**2
        self.round_tol, self.best_F, self.n_added = FIRST_TOL, -np.inf, -1
        self._is_near = graph.n_nodes <= ALL_PAIRS_NODES  # whether listed pairs have been searched to their end

    @property
    def state(self) -> dict[str, Any]:
        """What the next round depends on beside the graph; a checkpoint keeps it."""
        return {"k": self.k, **{name: np.asarray(getattr(self, name)).item() for name in KEPT}}

    def restore(self, graph: Graph, state: dict[str, Any]) -> None:
        """Go on after the round of an earlier run that left this graph and this state."""
        self.graph, self.k, self._resistances = graph, state["k"], None
        for name in KEPT:
            setattr(self, name, state[name])

    def optimize(self) -> None:
        """Step 2: optimize the weights and drop edges; the factor is that of the graph as it was before the drop."""
        graph, n_threads = self.graph, self.problem.points.n_threads
        edges = graph.heads, graph.tails, graph.n_nodes
        announce("optimizing weights", detail=f"{graph.n_edges:,} edges")
        exact, self._resistances = self._resistances or EdgeResistances(*edges, self.ground, n_threads), None
        found = optimize_weights(
            *edges,
            self.k,
            graph.weights,
            ground=self.ground,
            tol=self.round_tol,
            strict=self.is_strict,
            resistances=exact,
        )
        self._measure(found.weights, found.factor)
        kept = find_needed(*edges, found.weights * self.k, negligible=VANISHED)
        self.n_dropped = graph.n_edges - int(kept.sum())
        self.graph = graph.with_only(kept).with_weights(found.weights[kept])
        self.k, self.R = self.k[kept], self.R[kept]
        if self.n_dropped and self._is_near and graph.n_nodes > ALL_PAIRS_NODES:
            self.factorize()  # takes less time than to search all pairs again

    def factorize(self) -> None:
        """Eliminate the graph as it is now, without the edges that were dropped."""
        graph = self.graph
        edges = EdgeResistances(graph.heads, graph.tails, graph.n_nodes, self.ground, self.problem.points.n_threads)
        self._measure(graph.weights, edges.factor(graph.weights))
        self.n_dropped = 0

    def _measure(self, weights: Floats, factor: Factor) -> None:
        """Keep the factor, R of the edges, the objective F in the units of the data, and the sum of w (k - R)."""
        self._factor = factor
        n = self.graph.n_nodes - (self.ground == 0)
        self.R, self.slack = factor.resistances, float(weights @ (self.k - factor.resistances))
        self.F = factor.logdet - float(weights @ self.k) - n * float(np.log(self.problem.unit))

    def exact_measures(self) -> ExactMeasures | None:
        """What the elimination tells about the graph."""
        return ExactMeasures(self._factor, self.problem.unit, self.F)

    def price(self) -> tuple[Priced, Optimality]:
        """Step 3: the pairs with R > k, and how near the graph is to the optimum."""
        graph, n = self.graph, self.graph.n_nodes
        own = Priced(graph.heads, graph.tails, self.R / self.k - 1, 0.0, graph.n_edges)
        if not self._is_near:
            announce("searching pairs", detail="near ones")
            listed, certain = price_listed_pairs(self.problem, self._factor, graph, self._listed, self._rng)
            known = merge_priced(n, own, listed)
            found = self._judge(known, all_pairs=False)
            self._is_near = found.gap <= max(NEARLY, 10 * self.tol) or len(certain.heads) == 0
            if not self._is_near:
                return certain, found
        if n <= ALL_PAIRS_NODES or self._all_pairs_work() <= ALL_PAIRS_WORK:
            known = price_all_pairs(self.problem, self._factor)
            return known, self._judge(known, all_pairs=True)
        _, certain = price_listed_pairs(self.problem, self._factor, graph, self._listed, self._rng)
        known = merge_priced(n, price_random_nodes(self.problem, self._factor, self._rng), own)
        return merge_priced(n, known, certain), self._judge(known, all_pairs=False)

    def _judge(self, known: Priced, all_pairs: bool) -> Optimality:
        """How near the graph is to the optimum, over the pairs whose R is known."""
        edges = known.heads, known.tails, known.excess
        gap = optimality_gap(self.graph.n_nodes, *edges, self.slack, known.below, self.ground)
        return Optimality(gap, known.largest, known.n_pairs, all_pairs)

    def _all_pairs_work(self) -> float:
        """Multiplications that a search of all pairs takes."""
        n, points = float(self.graph.n_nodes), self.problem.points
        return n * self._factor.pattern.n_entries + n**2 / 2 * points.n_features

    def error(self, found: Optimality) -> float:
        """What must be below `tol`: the gap, and up to STRICT_NODES nodes also R / k - 1 of every pair."""
        return max(found.gap, found.excess) if self.is_strict else found.gap

    @property
    def is_strict(self) -> bool:
        """Whether R / k - 1 of every single pair must be below the tolerance."""
        return self.graph.n_nodes <= STRICT_NODES

    @property
    def tol_share(self) -> float:
        """The tolerance of a round, relative to the error of the last one."""
        return TOL_SHARE if self.graph.n_nodes <= ALL_PAIRS_NODES else LARGE_TOL_SHARE

    @property
    def level(self) -> float:
        """The smallest R / k - 1 of a pair that becomes an edge."""
        return self.round_tol / 2

    def add_edges(self, priced: Priced, round: int) -> int:
        """Make edges of the best new pairs, and return their number."""
        graph = self.graph
        keys = edge_keys(graph.heads, graph.tails, graph.n_nodes)
        is_edge = np.isin(edge_keys(priced.heads, priced.tails, graph.n_nodes), keys)
        new = choose_new_edges(priced, is_edge, self.level, NEW_EDGES)
        self._join_pairs(new, FIRST_SHARE * new.excess / (1 + new.excess), round)
        return len(new.heads)

    def _join_pairs(self, new: Priced, leverages: Floats, round: int) -> None:
        """Make edges of pairs, with weights from guesses of their leverages."""
        k, unit, beta = self.problem.k_of(new.heads, new.tails), self.problem.unit, self.problem.beta
        self.graph = self.graph.with_edges(
            new.heads,
            new.tails,
            leverages / k,
            origin=Origin.CRITICAL,
            round=round,
            eta=(1 + new.excess) * k * unit / (k * unit - 4 * beta),
            gradient=new.excess * k * unit,
        )
        self.k = self.problem.k_of(self.graph.heads, self.graph.tails)


def merge_priced(n_nodes: int, *parts: Priced) -> Priced:
    """The pairs of all parts, each once, with its excess in the first part that has it."""
    heads, tails, excess = (np.concatenate([part[i] for part in parts]) for i in range(3))
    _, first = np.unique(edge_keys(heads, tails, n_nodes), return_index=True)
    below, n_pairs = max(part.below for part in parts), sum(part.n_pairs for part in parts)
    return Priced(heads[first], tails[first], excess[first], below, n_pairs)


def find_optimum(
    search: OptimumSearch,
    history: list[Round],
    max_iter: int,
    callback: Callback | None,
    save: Callable[[], None] = lambda: None,
) -> Optimum:
    """Run the rounds; `history` holds those before. `save` is called after each but the last."""
    stopped = settled = False
    while True:
        clock = time.perf_counter()
        search.optimize()
        priced, optimality = search.price()
        # If neither edges nor weights changed, only rounding errors are left.
        is_stuck = search.n_added == 0 and search.best_F >= search.F
        is_last = search.error(optimality) <= search.tol or is_stuck or len(history) >= max_iter
        if is_last and search.n_dropped:  # the graph that is returned is priced without the edges that it lost
            search.factorize()
            priced, optimality = search.price()
        graph, k, R, F = search.graph, search.k, search.R, search.F
        settled, density = search.error(optimality) <= search.tol, graph.density
        is_last = settled or is_stuck or len(history) >= max_iter
        search.n_added = 0 if is_last else search.add_edges(priced, len(history) + 1)
        search.best_F = max(F, search.best_F)
        search.round_tol = min(FIRST_TOL, max(search.tol / 2, search.tol_share * search.error(optimality)))
        mean = float(priced.excess.mean()) if len(priced.excess) else priced.below
        history.append(
            Round(
                round=len(history) + 1,
                max_eta=1 + optimality.excess,
                mean_eta=1 + mean,
                n_added=search.n_added,
                density=density,
                eigenvalues=np.empty(0),
                objective=F,
                seconds=time.perf_counter() - clock,
                gap=optimality.gap,
            )
        )
        announce("optimum", None, f"gap {optimality.gap:.1e}")
        stopped = bool(callback is not None and callback(history[-1], search.graph))
        if is_last or stopped:
            break
        save()
    unit = search.problem.unit
    z = k * unit - 4 * search.problem.beta
    support_gap = largest_deviation(graph.weights * k, R / k - 1)
    out_of_rounds = not (settled or stopped or max_iter == 0)
    exact = search.exact_measures() if is_last else None
    return Optimum(graph.scaled(1 / unit), z, support_gap, history, optimality, settled, out_of_rounds, exact)
