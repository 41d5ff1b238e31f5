r"""Optimal weights: the maximum of the objective on given edges.

On given edges F(w) = logdet(L + eps I) - sum w k is concave with the gradient R - k and the Hessian -R_ef^2, the
entrywise square of R_ef = e' Theta^-1 f. In the variables u = w k the gradient is R / k - 1, and at the optimum all
diagonal entries of the Hessian on the edges that keep a weight are -1, and its rows sum to at most 1 / leverage. So
the problem is well scaled, and a quasi-Newton method with bounds (:mod:`graspel.optimum.quasi_newton`) converges at a
rate that does not depend on the number of points: 16 evaluations to a gap of 1e-3
(:mod:`graspel.optimum.gap`) and 10 more for each further digit, on 1,200 to 5,000 points, where
multiplicative steps w <- w R / k with Anderson's extrapolation take 25 and 15. An evaluation is exact
(:mod:`graspel.linalg.edge_resistances`).

References
----------
H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing, 11(6), 2017. The same problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.linalg.edge_resistances import EdgeResistances, Factor
from graspel.optimum.gap import optimality_gap
from graspel.optimum.quasi_newton import minimize_above
from graspel.runtime.types import Floats, Ints

MAX_EVALUATIONS = 200  # of F and all resistances
LOWEST = 1e-9  # smallest u = w k, about the leverage; it keeps the graph connected whatever step is tried
NEGLIGIBLE = 1e-3  # leverage up to which an edge counts as vanishing: 1 is a bridge, (N - 1) / |E| the mean


class OptimalWeights(NamedTuple):
    """Weights, and F, the resistances R, the gap and the largest R / k - 1 over the edges, all at these weights.

    `factor` is the elimination of the graph with these weights.
    """

    weights: Floats
    objective: float
    resistance: Floats
    gap: float
    excess: float
    n_evaluations: int
    factor: Factor


def optimize_weights(
    heads: Ints,
    tails: Ints,
    n_nodes: int,
    k: Floats,
    start: Floats,
    *,
    ground: float = 0.0,
    tol: float = 1e-3,
    strict: bool = True,
    two_sided: bool = False,
    resistances: EdgeResistances | None = None,
    max_evaluations: int = MAX_EVALUATIONS,
) -> OptimalWeights:
    """Maximize F on the edges of a connected graph until no edge has R / k - 1 above `tol`; k should be of order one.

    Without `strict` it is enough that the bound of the gap is below `tol`, which takes half of the evaluations. If
    `two_sided`, the edges whose weight is not negligible must not have R / k - 1 below -`tol` either.
    `resistances` are those of the edges, if the order of elimination has been found before.

    Examples
    --------
    >>> triangle = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> found = optimize_weights(*triangle, 3, np.array([2.0, 2.0, 2.0]), np.ones(3), tol=1e-6)
    >>> found.weights.round(4)  # R = 2 / (3 w) on a triangle of equal weights
    array([0.3333, 0.3333, 0.3333])
    """
    resistances = resistances or EdgeResistances(heads, tails, n_nodes, ground)
    search = _Search(resistances, heads, tails, k, n_nodes, ground)

    def is_done() -> bool:
        best = search.best
        excess = best.resistance / k - 1
        error = largest_deviation(best.weights * k, excess) if two_sided else float(excess.max())
        return (error <= tol or not strict) and (two_sided or search.has_gap_below(tol))

    minimize_above(search, search.calibrate(start * k), LOWEST, is_done, max_evaluations)
    return search.finish()


def largest_deviation(leverage: Floats, excess: Floats) -> float:
    """The largest |R / k - 1| over edges above NEGLIGIBLE; below it only a positive R / k - 1 counts.

    >>> largest_deviation(np.array([0.5, 1e-6]), np.array([0.1, -0.9]))
    0.1
    """
    is_kept = leverage > NEGLIGIBLE
    return float(max(np.abs(excess[is_kept]).max(initial=0.0), excess[~is_kept].max(initial=0.0)))


class _Search:
    """F and its gradient as a function of u = w k, negated, and the best weights so far."""

    best: OptimalWeights

    def __init__(
        self, resistances: EdgeResistances, heads: Ints, tails: Ints, k: Floats, n_nodes: int, ground: float
    ) -> None:
        self._resistances, self._heads, self._tails = resistances, heads, tails
        self._k, self._n_nodes, self._ground = k, n_nodes, ground
        self.n_evaluations = 0

    def __call__(self, u: Floats) -> tuple[float, Floats]:
        """The value and the gradient that are minimized."""
        w = u / self._k
        factor = self._resistances.factor(w)
        F, excess = factor.logdet - float(u.sum()), factor.resistances / self._k - 1
        self.n_evaluations += 1
        if self.n_evaluations == 1 or self.best.objective <= F:
            self.best = OptimalWeights(w, F, factor.resistances, np.nan, np.nan, 0, factor)
        return -F, -excess

    def gap(self) -> float:
        """The bound of the gap over these edges; weights that vanish may have any R below k."""
        u, excess = self.best.weights * self._k, self.best.resistance / self._k - 1
        slack = -float(u @ excess)
        return optimality_gap(self._n_nodes, self._heads, self._tails, excess, slack, ground=self._ground)

    def has_gap_below(self, tol: float) -> bool:
        """Whether the bound is at most `tol`; a tree is at most N - 1 times the largest excess."""
        u, excess = self.best.weights * self._k, self.best.resistance / self._k - 1
        largest = max(float(excess.max()), 0.0) - float(u @ excess) / (self._n_nodes - 1)
        return largest <= tol or self.gap() <= tol

    def finish(self) -> OptimalWeights:
        """The best weights, with what is known about them."""
        gap, excess = self.gap(), float((self.best.resistance / self._k - 1).max())
        return self.best._replace(gap=gap, excess=max(gap, excess), n_evaluations=self.n_evaluations)

    def calibrate(self, u: Floats) -> Floats:
        """All weights multiplied so that sum w k = N - 1, as at the optimum without ground."""
        return u * ((self._n_nodes - 1) / float(u.sum()))
