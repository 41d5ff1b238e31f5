r"""Recovery of small graphs: every pair of nodes is a candidate.

1. *Rank.* All pairs are ranked by the weights that maximize the likelihood with a ridge penalty,
   F - (rho / 2) sum w^2 (:mod:`graspel.recovery.likelihood`). With few signals the likelihood alone gives some pairs
   large weights by chance, and the ridge reduces these. The ridge is a prior: if weights are N(0, t^2), the posterior
   of M signals is the likelihood with rho = 2 / (M t^2). The variance t^2 is estimated from the weights of the
   *strong* pairs, those above the threshold that best separates the weights into two groups (Otsu 1979). The variance
   due to chance is subtracted, so that the ridge is larger where there are many edges and each is known less
   accurately.
2. *Choose.* The graphs compared consist of the highest-ranked pairs. The smallest of them is the first that is
   connected and contains all strong pairs. Each graph is refitted without the ridge, and the best one by an information
   criterion is chosen: the smallest -M F + price x edges. M F is twice the log-likelihood up to a constant, and the
   price of an edge is log M (BIC, Schwarz 1978) or 2 (AIC, Akaike 1974). No knowledge of the true graph is used.
3. *Refine.* The weights of the chosen graph are fitted with the ridge: R = k + rho w on every edge.

References
----------
N. Otsu. A threshold selection method from gray-level histograms. IEEE Transactions on Systems, Man, and Cybernetics 9,
1979.

G. Schwarz. Estimating the dimension of a model. The Annals of Statistics 6, 1978.

H. Akaike. A new look at the statistical model identification. IEEE Transactions on Automatic Control 19, 1974.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.distance import squareform

from graspel.graph import Graph, Origin
from graspel.linalg.components import spanning_forest
from graspel.optimum.problem import find_needed
from graspel.recovery.likelihood import (
    MAX_NOISE_SHARE,
    SMALLEST,
    BestWeights,
    Likelihood,
    best_weights,
    noisy_likelihood,
    typical_distance,
)
from graspel.recovery.recovered import Recovered
from graspel.runtime.types import Floats, Ints

SPREAD = 2.5  # variance of one weight fitted among many, over that of one fitted alone; tuned in docs/recovery.md
MIN_RIDGE, MAX_RIDGE = 5.0, 120.0  # ridge strengths to try, in units of one signal; tuned in docs/recovery.md
SETTLED = 1.1  # stop when the ridge grows by no more than this factor
MAX_DENSITY = 8.0  # edges per node of the densest graph compared
GROWTH = 1.1  # number of edges of each graph compared, over that of the one before
SECOND_LOOK = 8  # further graphs compared between the two neighbors of the best one
ROUGH = 1e-2  # gap of the fits that only serve to find the ridge
REVIVED = 1e-3  # smallest start weight of an edge in the next refit, as a share of its weight in the ranking
MAX_ROUNDS = 40  # upper limit of the fits of the ridge, which grows from MIN_RIDGE to MAX_RIDGE by SETTLED or more


def recover_from_all_pairs(X: Floats, variance: float, price: float, tol: float) -> Recovered:
    """Recover the graph of signals (nodes x signals, each row of mean zero) with noise of this variance.

    `price` is what an edge must gain, in units of twice the log-likelihood.
    """
    problem, ranked = choose_ridge(AllPairs.of(X, variance), tol)
    order = np.argsort(-ranked, kind="stable")
    first = max(problem.count_until_connected(ranked), count_strong(ranked))
    last = max(first, min(problem.n_pairs, int(MAX_DENSITY * problem.n_nodes)))
    comparison = GraphComparison(problem, ranked, order, price)
    for size in _growing_sizes(first, last):
        comparison.evaluate(size)
    for size in _sizes_between(sorted(comparison.criterion), comparison.best):
        comparison.evaluate(size)
    chosen = order[: comparison.best]
    while True:  # every round but the last drops an edge
        fit = problem.fit(chosen, ranked[chosen], tol, ridge=True)
        ends = problem.heads[chosen], problem.tails[chosen]
        kept = find_needed(*ends, problem.n_nodes, fit.weights * fit.state.resistance)
        if kept.all():
            break
        chosen = chosen[kept]
    outside_gap = problem.outside_gap(chosen, fit.weights)
    return Recovered(problem.graph(chosen, fit.weights), fit.gap, comparison.path, outside_gap)


def choose_ridge(problem: AllPairs, tol: float) -> tuple[AllPairs, Floats]:
    """The problem with the ridge that follows from its strong pairs, and the weights of all pairs under this ridge.

    The ridge starts small. Each fit gives strong pairs and from them a new ridge, until it grows no more.
    """
    weights = np.full(problem.n_pairs, 2.0 / problem.n_nodes)
    problem, most = replace(problem, ridge=problem.ridge * MIN_RIDGE), problem.ridge * MAX_RIDGE
    for _ in range(MAX_ROUNDS):
        fit = problem.fit(problem.every_pair, weights, max(tol, ROUGH), ridge=True)
        strong = np.argsort(-fit.weights, kind="stable")[: count_strong(fit.weights)]
        prior = prior_variance(fit.weights[strong], fit.state.resistance[strong], problem.n_signals)
        ridge = min(2 / (problem.n_signals * prior), most) if prior > 0 else most
        if not ridge > SETTLED * problem.ridge:
            break
        problem = replace(problem, ridge=ridge)
        weights = np.maximum(fit.weights, REVIVED * fit.weights.max())
    return problem, problem.fit(problem.every_pair, fit.weights, tol, ridge=True).weights


def prior_variance(weights: Floats, resistance: Floats, n_signals: int) -> float:
    """Mean square of the true weights: that of the estimates less their variance; not positive if all may be chance.

    M signals determine a weight fitted alone with a variance of 2 / (M R^2); among many, the variance is SPREAD times
    this.

    >>> round(prior_variance(np.array([1.0, 1.0]), np.array([1.0, 1.0]), 100), 3)
    0.95
    """
    return float(np.mean(weights**2) - SPREAD * np.mean(2 / (n_signals * resistance**2)))


@dataclass(frozen=True)
class AllPairs:
    """The recovery problem on all pairs of nodes, in units of the median squared distance.

    Attributes
    ----------
    heads, tails : arrays, the pairs of nodes
    S : array (nodes x nodes), second moments XX'/M of the signals
    variance : float, variance of the noise
    ridge : float, strength rho of the ridge; one signal is k^2 / M, with k the median distance of nearest nodes
    unit : float, the median squared distance, in the units of the signals
    n_signals : int
    """

    heads: Ints
    tails: Ints
    S: Floats
    variance: float
    ridge: float
    unit: float
    n_signals: int

    @classmethod
    def of(cls, X: Floats, variance: float) -> AllPairs:
        """The problem of signals (nodes x signals) with noise of this variance, and a ridge of one signal."""
        n, m = X.shape
        heads, tails = (ends.astype(np.int64) for ends in np.triu_indices(n, 1))
        S = X @ X.T / m
        d = np.diag(S)
        z = np.maximum(d[heads] + d[tails] - 2 * S[heads, tails], 0.0)
        unit = typical_distance(z)
        nearest = nearest_distance(squareform(z) / unit, variance / unit)
        return cls(heads, tails, S / unit, variance / unit, nearest**2 / m, unit, m)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.S)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of nodes."""
        return len(self.heads)

    @property
    def every_pair(self) -> Ints:
        """Indices of all pairs."""
        return np.arange(self.n_pairs)

    def likelihood(self, pairs: Ints) -> Likelihood:
        """The likelihood as a function of the weights of these pairs."""
        return noisy_likelihood(self.heads[pairs], self.tails[pairs], self.S, self.variance, SMALLEST)

    def fit(self, pairs: Ints, start: Floats, tol: float, *, ridge: bool) -> BestWeights:
        """The weights of these pairs that maximize the likelihood, with or without the ridge."""
        return best_weights(self.likelihood(pairs), start, ridge=self.ridge if ridge else 0.0, tol=tol)

    def count_until_connected(self, weights: Floats) -> int:
        """How many of the heaviest pairs connect all nodes: those no lighter than any in the heaviest spanning tree."""
        cost = 1.0 / weights
        return int((cost <= cost[spanning_forest(self.heads, self.tails, cost, len(self.S))].max()).sum())

    def outside_gap(self, pairs: Ints, weights: Floats) -> float:
        """The largest R / k - 1 of all other pairs (-1 where there are none)."""
        everywhere = np.zeros(self.n_pairs)
        everywhere[pairs] = weights
        state = self.likelihood(self.every_pair)(everywhere)
        others = everywhere == 0
        return float((state.resistance / state.distance - 1)[others].max(initial=-1.0))

    def graph(self, pairs: Ints, weights: Floats) -> Graph:
        """The graph of these pairs, with weights in the units of the signals."""
        return Graph(self.n_nodes, self.heads[pairs], self.tails[pairs], weights / self.unit, origin=Origin.LIKELY)


@dataclass
class GraphComparison:
    """Compares the graphs of the highest-ranked pairs by the information criterion -M F + price x edges.

    Attributes
    ----------
    problem : AllPairs
    ranked : array, weights of all pairs, by which they are ranked
    order : array, indices of the pairs, heaviest first
    price : float, price of an edge
    criterion : dict, number of edges -> criterion of the graphs fitted so far
    last_weights : array, weights of the last graph fitted, where the next fit starts
    """

    problem: AllPairs
    ranked: Floats
    order: Ints
    price: float
    criterion: dict[int, float] = field(default_factory=dict)
    last_weights: Floats = field(default_factory=lambda: np.empty(0))

    def evaluate(self, size: int) -> None:
        """Fit the graph of the `size` heaviest pairs and store its criterion."""
        pairs, m = self.order[:size], self.problem.n_signals
        known = min(size, len(self.last_weights))
        start = np.concatenate([self.last_weights[:known], self.ranked[pairs[known:]]])
        start = np.maximum(start, REVIVED * self.ranked[pairs])
        # The error of F is about N tol^2, and that of M F must be below about 1.
        fit = self.problem.fit(pairs, start, min(1e-2, (m * self.problem.n_nodes) ** -0.5), ridge=False)
        self.last_weights = fit.weights
        self.criterion[size] = -m * fit.state.objective + self.price * size

    @property
    def best(self) -> int:
        """Number of edges of the best graph so far; the smaller one at a tie."""
        return min(self.criterion, key=lambda size: (self.criterion[size], size))

    @property
    def path(self) -> list[tuple[int, float]]:
        """Number of edges and criterion of every graph, by number of edges."""
        return [(size, float(value)) for size, value in sorted(self.criterion.items())]


def nearest_distance(Z: Floats, variance: float) -> float:
    """The median over the nodes of the squared distance to the nearest other node, less the noise."""
    nearest = np.where(np.eye(len(Z), dtype=bool), np.inf, Z).min(axis=1)
    return float(np.median(np.maximum(nearest - 2 * variance, (1 - MAX_NOISE_SHARE) * nearest)))


def count_strong(weights: Floats) -> int:
    """How many weights lie above Otsu's threshold, which makes the variance within the two groups smallest.

    >>> count_strong(np.array([0.1, 0.9, 0.2, 1.1, 0.0]))
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


def _growing_sizes(first: int, last: int) -> list[int]:
    """Numbers of edges from first to last, each GROWTH times the one before, or one more.

    >>> _growing_sizes(10, 14), _growing_sizes(10, 10)
    ([10, 11, 12, 13, 14], [10])
    """
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(last, max(sizes[-1] + 1, int(GROWTH * sizes[-1]))))
    return sizes


def _sizes_between(sizes: list[int], best: int) -> list[int]:
    """About SECOND_LOOK further numbers between the two neighbors of the best one.

    >>> _sizes_between([10, 14, 18], 14)
    [11, 12, 13, 15, 16, 17]
    """
    at = sizes.index(best)
    low, high = sizes[max(at - 1, 0)], sizes[min(at + 1, len(sizes) - 1)]
    more = np.unique(np.linspace(low, high, SECOND_LOOK + 2).round().astype(int)).tolist()
    if high - low <= SECOND_LOOK + 1:
        more = list(range(low, high + 1))
    return [size for size in more if size not in sizes]
