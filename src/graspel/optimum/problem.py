r"""The weight problem: the weights of given edges that maximize the objective, and when they do.

With Theta = L + eps I, eps = 1/sigma^2 (the *ground*), and k = z_data + 4 beta, the objective is

    F(w) = logdet Theta - sum w k,        w >= 0.

It is concave. Its gradient is R - k with R_e = e' Theta^-1 e, so at the optimum

    R_e = k_e where w_e > 0,        R_e <= k_e where w_e = 0.

In the variables u = w k the gradient is R / k - 1, the *excess*, and at the optimum u is the leverage w R: a number
from 0 to 1 that sums to N - 1 over the edges (without a ground), and is 1 for a bridge. So the problem is well scaled,
whatever the distances are. All tolerances are numbers of the same kind as R / k - 1.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, the problem.

H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing, 11(6), 2017. The same problem, on all pairs, for hundreds of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.linalg.components import is_connected, spanning_forest
from graspel.optimum.gap import optimality_gap
from graspel.runtime.types import Bools, Floats, Ints

NEGLIGIBLE = 1e-3  # leverage up to which an edge counts as vanishing: 1 is a bridge, (N - 1) / |E| the mean


class WeightProblem(NamedTuple):
    """The problem on the edges (heads, tails) of a connected graph; the distances k should be of order one.

    Examples
    --------
    >>> triangle = WeightProblem(np.array([0, 0, 1]), np.array([1, 2, 2]), 3, np.array([2.0, 2.0, 2.0]))
    >>> triangle.normalized(np.ones(3)).round(4)
    array([0.6667, 0.6667, 0.6667])
    >>> triangle.excess(np.array([2.0, 2.2, 1.0]))
    array([ 0. ,  0.1, -0.5])
    """

    heads: Ints
    tails: Ints
    n_nodes: int
    k: Floats
    ground: float = 0.0

    @classmethod
    def of(cls, graph: Graph, k: Floats, ground: float = 0.0) -> WeightProblem:
        """The problem on the edges of a graph."""
        return cls(graph.heads, graph.tails, graph.n_nodes, k, ground)

    def objective(self, logdet: float, u: Floats) -> float:
        """F at the weights u / k."""
        return logdet - float(u.sum())

    def excess(self, R: Floats) -> Floats:
        """The gradient in the variables u = w k."""
        return R / self.k - 1

    def slack(self, u: Floats, R: Floats) -> float:
        """The sum of w (k - R), which is zero for optimal weights."""
        return -float(u @ self.excess(R))

    def deviation(self, u: Floats, R: Floats) -> float:
        """By how much the weights miss the optimality condition: the largest |R / k - 1|.

        Where the leverage is negligible, only a positive R / k - 1 counts.

        >>> pair = WeightProblem(np.array([0, 1]), np.array([1, 2]), 3, np.ones(2))
        >>> round(pair.deviation(np.array([0.5, 1e-6]), np.array([1.1, 0.1])), 6)
        0.1
        """
        counts, excess = u > NEGLIGIBLE, self.excess(R)
        return float(max(np.abs(excess[counts]).max(initial=0.0), excess[~counts].max(initial=0.0)))

    def gap(self, u: Floats, R: Floats) -> float:
        """The bound of F* - F over these edges in units of N - 1; weights that vanish may have any R below k."""
        edges = self.heads, self.tails, self.excess(R)
        return optimality_gap(self.n_nodes, *edges, self.slack(u, R), ground=self.ground)

    def has_gap_below(self, tol: float, u: Floats, R: Floats) -> bool:
        """Whether the bound is at most `tol`; a tree is at most N - 1 times the largest excess."""
        largest = max(float(self.excess(R).max()), 0.0) + self.slack(u, R) / (self.n_nodes - 1)
        return largest <= tol or self.gap(u, R) <= tol

    def normalized(self, u: Floats) -> Floats:
        """All weights multiplied so that sum u = N - 1, as at the optimum without ground."""
        return u * ((self.n_nodes - 1) / float(u.sum()))


def calibrated_weights(k: Floats, n_nodes: int) -> Floats:
    """Weights 1 / k, scaled so that sum w k = N - 1, as at the optimum."""
    return (n_nodes - 1) / len(k) / k


def find_needed(heads: Ints, tails: Ints, n_nodes: int, leverage: Floats, negligible: float = NEGLIGIBLE) -> Bools:
    """Mark the edges that are kept: those not negligible, and a spanning tree where these do not connect all nodes.

    >>> find_needed(np.array([0, 0, 1]), np.array([1, 2, 2]), 3, np.array([1e-5, 1.0, 1e-4]))
    array([False,  True,  True])
    """
    kept: Bools = leverage > negligible
    if not kept.all() and not is_connected(heads[kept], tails[kept], n_nodes):
        kept |= spanning_forest(heads, tails, -leverage, n_nodes)
    return kept


@dataclass
class State:
    """Where a solution stands between two rounds: all that the next one depends on, so a checkpoint keeps it.

    Attributes
    ----------
    graph : Graph, whose weights are those of the solution times `unit`
    k : array, the distances of its edges
    unit : float, the unit of k, in that of the data
    tol : float, accuracy of the weights in the next round: largest R / k - 1
    is_exact : bool, whether resistances are exact; None before the first round
    is_near : bool, whether pairs are looked for beyond the neighbor lists
    n_rounds : int, rounds that are done
    n_added : int, edges that the last round added
    best_F : float, the largest objective of any round
    error : float, what the last round left, in terms of R / k - 1
    n_new : int, most new edges at one node in a round; 0 before the first
    """

    graph: Graph
    k: Floats
    unit: float
    tol: float
    is_exact: bool | None = None
    is_near: bool = True
    n_rounds: int = 0
    n_added: int = -1
    best_F: float = -np.inf
    error: float = np.inf
    n_new: int = 0

    def as_dict(self) -> dict[str, Any]:
        """All but the graph."""
        names = [field.name for field in fields(self) if field.name not in ("graph", "k")]
        return {"k": self.k, **{name: np.asarray(getattr(self, name)).item() for name in names}}


@dataclass(frozen=True)
class Optimality:
    """How near a solution is to the optimum over the pairs that were searched.

    Attributes
    ----------
    gap : float, upper bound of F* - F, in units of N - 1; if it is estimated, with two standard errors
    excess : float, largest R / k - 1 over these pairs
    n_pairs : int, number of these pairs
    all_pairs : bool, whether these are all
    error : float, relative standard error of the resistances of the edges (root mean square); 0 if they are exact
    n_sampled : int, random nodes from whose pairs the bound over all pairs is estimated; 0 if it is not
    obstacle : str, why the search ended before its time, empty if it did not
    """

    gap: float
    excess: float
    n_pairs: int
    all_pairs: bool
    error: float = 0.0
    n_sampled: int = 0
    obstacle: str = ""
