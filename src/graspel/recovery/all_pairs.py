r"""Recovery of small graphs: every pair of nodes is a candidate.

1. *Rank.* Weights of all pairs, by likelihood less a ridge (:mod:`graspel.learning.refine`): with few signals the
   likelihood alone gives some pairs large weights by chance, and the ridge evens them out. It is a prior: if weights
   are N(0, t^2), M signals have their largest posterior with rho = 2 / (M t^2). The variance t^2 is estimated from the
   weights of the *strong* pairs, those above the threshold that best parts the weights into two groups (Otsu 1979);
   what is due to chance is taken off, so that the ridge is larger where edges are many and each is known less well.
2. *Choose.* Along the ranking the graph grows, from the first that is connected and holds all strong pairs. Each of
   these graphs is refitted without the ridge, and the one that is best by an information criterion is taken: -M F +
   price x edges, where M F is twice the log-likelihood but for a constant, and the price of an edge is log M (BIC) or 2
   (AIC). No knowledge of the true graph enters.
3. *Refine.* The weights of that graph, with the ridge: R = k + rho w on every edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import squareform

from graspel.graph import Graph, Origin
from graspel.learning.refine import NEGLIGIBLE, Likelihood, Refined, best_weights
from graspel.recovery.noise import MOST_TAKEN, noisy_likelihood

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SPREAD = 2.5  # variance of a weight among many, over that of a single unknown one (docs/recovery.md: how it was chosen)
LEAST, MOST = 5.0, 120.0  # ridges that are tried weigh as much as so many signals,
SETTLED = 1.1  # ... and grow by more than this from one to the next
DENSEST = 8.0  # edges per node that are looked at, at the most
FINER = 1.1  # each graph on the way has so many times the edges of the one before
SECOND_LOOK = 8  # graphs compared between the neighbors of the best one
REVIVED = 1e-3  # of its weight in the ranking, that an edge has at the least where the next refit starts
SMALLEST = 1e-6  # of the median distance: nearer counts as that far apart

CRITERIA: dict[str, Callable[[int], float]] = {
    "bic": np.log,
    "aic": lambda n_signals: 2.0,
}  # the price of an edge, in units of twice the log-likelihood


class Choice(NamedTuple):
    """The graph chosen, its gaps on the edges and elsewhere, and the graphs compared: their edges and criterion."""

    graph: Graph
    gap: float
    outside: float
    path: list[tuple[int, float]]


def recovered_from_all_pairs(X: Floats, variance: float, criterion: str, tol: float) -> Choice:
    """Recover the graph of signals (nodes x signals, each row of mean zero) with noise of this variance."""
    problem, ranked = with_prior(Problem.of(X, variance), tol)
    order = np.argsort(-ranked, kind="stable")
    first = max(problem.first_connected(ranked), number_of_strong(ranked))
    last = max(first, min(problem.n_pairs, int(DENSEST * problem.n_nodes)))
    search = Search(problem, ranked, order, CRITERIA[criterion](problem.n_signals))
    for size in _growing(first, last):
        search.look_at(size)
    for size in _between(sorted(search.seen), search.best):
        search.look_at(size)
    chosen = order[: search.best]
    while True:
        fit = problem.fitted(chosen, ranked[chosen], tol, ridge=True)
        kept = fit.weights * fit.state.resistance > NEGLIGIBLE
        if kept.all():
            break
        chosen = chosen[kept]
    return Choice(problem.graph(chosen, fit.weights), fit.gap, problem.outside(chosen, fit.weights), search.path)


def with_prior(problem: Problem, tol: float) -> tuple[Problem, Floats]:
    """The problem with the ridge that its own strong pairs ask for, and the weights of all pairs under it.

    From a small ridge on, until it grows no more.
    """
    weights = np.full(problem.n_pairs, 2.0 / problem.n_nodes)
    problem, most = replace(problem, ridge=problem.ridge * LEAST), problem.ridge * MOST
    while True:
        fit = problem.fitted(problem.every_pair, weights, tol, ridge=True)
        strong = np.argsort(-fit.weights, kind="stable")[: number_of_strong(fit.weights)]
        prior = prior_variance(fit.weights[strong], fit.state.resistance[strong], problem.n_signals)
        ridge = min(2 / (problem.n_signals * prior), most) if prior > 0 else most
        if ridge <= SETTLED * problem.ridge:
            return problem, fit.weights
        problem = replace(problem, ridge=ridge)
        weights = np.maximum(fit.weights, REVIVED * fit.weights.max())


def prior_variance(weights: Floats, resistance: Floats, n_signals: int) -> float:
    """Mean square of true weights: that of their estimates, less the variance of these (not positive: they are noise).

    M signals tell a single weight to a variance of 2 / (M R^2); SPREAD times this where all are unknown.

    >>> round(prior_variance(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 100), 3)
    0.95
    """
    return float(np.mean(weights**2) - SPREAD * np.mean(2 / (n_signals * resistance**2)))


@dataclass(frozen=True)
class Problem:
    """Pairs of nodes, second moments, noise and ridge, in units of the median squared distance.

    The ridge weighs as much as one signal: k^2 / M, with the usual distance k of nearest nodes.
    """

    heads: Ints
    tails: Ints
    S: Floats
    variance: float
    ridge: float
    unit: float
    n_signals: int

    @classmethod
    def of(cls, X: Floats, variance: float) -> Problem:
        """The problem of signals (nodes x signals) with noise of this variance."""
        n, m = X.shape
        heads, tails = (ends.astype(np.int64) for ends in np.triu_indices(n, 1))
        S = X @ X.T / m
        d = np.diag(S)
        z = np.maximum(d[heads] + d[tails] - 2 * S[heads, tails], 0.0)
        unit = float(np.median(z)) or float(z.max())
        nearest = nearest_distance(squareform(z) / unit, variance / unit)
        return cls(heads, tails, S / unit, variance / unit, nearest**2 / m, unit, m)

    @property
    def n_nodes(self) -> int:
        """How many nodes."""
        return len(self.S)

    @property
    def n_pairs(self) -> int:
        """How many pairs of nodes."""
        return len(self.heads)

    @property
    def every_pair(self) -> Ints:
        """The numbers of all pairs."""
        return np.arange(self.n_pairs)

    def likelihood(self, pairs: Ints) -> Likelihood:
        """The likelihood as a function of the weights of these pairs."""
        return noisy_likelihood(self.heads[pairs], self.tails[pairs], self.S, self.variance, SMALLEST)

    def fitted(self, pairs: Ints, start: Floats, tol: float, *, ridge: bool) -> Refined:
        """The best weights of these pairs."""
        return best_weights(self.likelihood(pairs), start, ridge=self.ridge if ridge else 0.0, tol=tol)

    def first_connected(self, weights: Floats) -> int:
        """How many of the heaviest pairs it takes to connect all nodes: those no lighter than the spanning tree."""
        cost = sp.coo_array((1.0 / weights, (self.heads, self.tails)), shape=self.S.shape).tocsr()
        return int((1.0 / weights <= minimum_spanning_tree(cost).data.max()).sum())

    def outside(self, pairs: Ints, weights: Floats) -> float:
        """The largest R / k - 1 of all other pairs (-1 where there are none)."""
        everywhere = np.zeros(self.n_pairs)
        everywhere[pairs] = weights
        state = self.likelihood(self.every_pair)(everywhere)
        others = everywhere == 0
        return float((state.resistance / state.distance - 1)[others].max(initial=-1.0))

    def graph(self, pairs: Ints, weights: Floats) -> Graph:
        """The graph of these pairs, in the units of the signals."""
        return Graph(self.n_nodes, self.heads[pairs], self.tails[pairs], weights / self.unit, origin=Origin.LIKELY)


@dataclass
class Search:
    """Compares the graphs of the heaviest pairs by -M F + price x edges."""

    problem: Problem
    ranked: Floats
    order: Ints
    price: float
    seen: dict[int, float] = field(default_factory=dict)
    last: Floats = field(default_factory=lambda: np.empty(0))

    def look_at(self, size: int) -> None:
        """Fit the graph of the `size` heaviest pairs, starting where the fit before it ended."""
        pairs, m = self.order[:size], self.problem.n_signals
        known = min(size, len(self.last))
        start = np.concatenate([self.last[:known], self.ranked[pairs[known:]]])
        start = np.maximum(start, REVIVED * self.ranked[pairs])
        # F is off by the square of the tolerance for every node, and M F must be right to about 1.
        fit = self.problem.fitted(pairs, start, min(1e-2, (m * self.problem.n_nodes) ** -0.5), ridge=False)
        self.last = fit.weights
        self.seen[size] = -m * fit.state.objective + self.price * size

    @property
    def best(self) -> int:
        """Number of edges of the best graph so far."""
        return min(self.seen, key=lambda size: (self.seen[size], size))

    @property
    def path(self) -> list[tuple[int, float]]:
        """Number of edges and criterion of every graph, by number of edges."""
        return [(size, float(value)) for size, value in sorted(self.seen.items())]


def nearest_distance(Z: Floats, variance: float) -> float:
    """The median over the nodes of the squared distance to the nearest other, the noise taken off."""
    nearest = np.where(np.eye(len(Z), dtype=bool), np.inf, Z).min(axis=1)
    return float(np.median(np.maximum(nearest - 2 * variance, (1 - MOST_TAKEN) * nearest)))


def number_of_strong(weights: Floats) -> int:
    """How many weights are in the upper of the two groups that leave the least variance within (Otsu's threshold).

    >>> number_of_strong(np.array([0.1, 0.9, 0.2, 1.1, 0.0]))
    2
    """
    falling = np.sort(weights)[::-1]
    upper = np.arange(1, len(falling))
    lower = len(falling) - upper
    if not len(upper):
        return len(falling)
    sums = np.cumsum(falling)
    means = sums[:-1] / upper, (sums[-1] - sums[:-1]) / lower
    return int(upper[np.argmax(upper * lower * (means[0] - means[1]) ** 2)])


def _growing(first: int, last: int) -> list[int]:
    """Numbers of edges, each a little larger than the one before.

    >>> _growing(10, 14), _growing(10, 10)
    ([10, 11, 12, 13, 14], [10])
    """
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(last, max(sizes[-1] + 1, int(FINER * sizes[-1]))))
    return sizes


def _between(sizes: list[int], best: int) -> list[int]:
    """A few more numbers between the neighbors of the best one.

    >>> _between([10, 14, 18], 14)
    [11, 12, 13, 15, 16, 17]
    """
    at = sizes.index(best)
    low, high = sizes[max(at - 1, 0)], sizes[min(at + 1, len(sizes) - 1)]
    more = np.unique(np.linspace(low, high, SECOND_LOOK + 2).round().astype(int)).tolist()
    if high - low <= SECOND_LOOK + 1:
        more = list(range(low, high + 1))
    return [size for size in more if size not in sizes]
