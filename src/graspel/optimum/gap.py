r"""Optimality gap: an upper bound of how much any other weights, or any other graph, could raise the objective.

With Theta = L + eps I, eps = 1/sigma^2, the objective is F(w) = logdet Theta - sum w k, k = z_data + 4 beta. It is
concave, its gradient is R - k with R_e = e' Theta^-1 e, and at the optimum w*

    R_e = k_e where w*_e > 0,        R_e <= k_e for all other pairs.

*The tree bound.* A concave function lies below its tangents: F* - F <= sum (R_e - k_e) (w*_e - w_e). At the optimum
w*_e k_e is the leverage l*_e = w*_e R*_e, the probability that edge e is in a random spanning tree of the graph with
one more node, the ground (Kirchhoff; without eps there is no ground). So l* lies in the polytope of forests, and a
linear function of it is largest at a forest:

    F* - F <= sum over e in T of max(R_e / k_e - 1, 0) + sum w_e (k_e - R_e),

where T is the spanning forest of all pairs for which the first sum is largest. The second sum is zero for calibrated
weights without eps, where sum w k = N - 1 = sum w R (Foster).

*The scaling bound.* If R <= (1 + d) k for all pairs, Theta^-1 / (1 + d) is feasible in the dual problem, and with the
sum D = sum w R (N - 1 without eps)

    F* - F <= D log(1 + d) + sum w_e (k_e - R_e)        (eps = 0).

The tree bound counts a pair only as often as a graph could use it, and is much the smaller of the two near the optimum:
on 5,000 points 5.6e-4 where the largest d is 6.7e-3 (both per node; the true gap is 1.6e-6). Far from the optimum the
logarithm makes the other smaller, and the smaller one is reported. Over some of the pairs only, both bound the gap to
the best graph with edges among these pairs.

*The estimate of the tree bound.* A forest has roots, and every other node one edge to its parent. So its sum is at most
the sum over all nodes p of the largest max(R_pq / k_pq - 1, 0) of any pair of p, which random nodes estimate without
bias: 1,024 of them to 5 %. On 6,000 images of MNIST this sum is 1.04 to 1.2 times the tree bound.

References
----------
S. Boyd and L. Vandenberghe. Convex optimization. Cambridge University Press, 2004. Chapter 5.

G. Kirchhoff. Ueber die Aufloesung der Gleichungen, auf welche man bei der Untersuchung der linearen Vertheilung
galvanischer Stroeme gefuehrt wird. Annalen der Physik 148, 1847.

J. Edmonds. Submodular functions, matroids, and certain polyhedra. Combinatorial Structures and their Applications,
1970. The polytope of forests.
"""

from __future__ import annotations

import numpy as np

from graspel.linalg.components import spanning_forest
from graspel.runtime.types import Floats, Ints


def optimality_gap(
    n_nodes: int, heads: Ints, tails: Ints, excess: Floats, slack: float, below: float = 0.0, ground: float = 0.0
) -> float:
    """The smaller of the two bounds of F* - F, in units of N - 1.

    Parameters
    ----------
    n_nodes : int
    heads, tails, excess : arrays
        Pairs of nodes and their R / k - 1. Only positive ones matter.
    slack : float
        The sum of w (k - R) over the edges.
    below : float
        Upper limit of R / k - 1 for all pairs that are not listed; 0 if all positive ones are.
    ground : float
        The eps that is added to the diagonal. The scaling bound is not used with it.

    Examples
    --------
    >>> triangle = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> round(optimality_gap(3, *triangle, np.array([0.1, -0.5, 0.02]), slack=0.0), 6)  # the tree is 0.1 + 0.02
    0.06
    """
    forest = (n_nodes - 1) * below + heaviest_forest(n_nodes, heads, tails, excess - below)
    bound = forest + slack
    if ground == 0:
        bound = min(bound, (n_nodes - 1) * float(np.log1p(excess.max(initial=below))) + slack)
    return max(bound, 0.0) / (n_nodes - 1)


def sampled_gap(n_nodes: int, largest: Floats, slack: float) -> float:
    """The tree bound over all pairs, estimated, in units of N - 1, with two standard errors added.

    Parameters
    ----------
    n_nodes : int
    largest : array
        The largest max(R / k - 1, 0) over all pairs of each of some random nodes, drawn without replacement.
    slack : float
        The sum of w (k - R) over the edges.

    Examples
    --------
    >>> round(float(sampled_gap(4, np.array([0.1, 0.3, 0.1, 0.3]), slack=0.0)), 6)  # all nodes: no error
    0.266667
    """
    n = len(largest)
    error = float(np.std(largest)) * np.sqrt((1 / n - 1 / n_nodes) * n / max(n - 1, 1))
    return max((float(largest.mean()) + 2 * error) * n_nodes + slack, 0.0) / (n_nodes - 1)


def heaviest_forest(n_nodes: int, heads: Ints, tails: Ints, values: Floats) -> float:
    """The largest sum of values that a forest among the pairs has.

    >>> heaviest_forest(3, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([3.0, -1.0, 2.0]))
    5.0
    """
    positive = values > 0
    if not positive.any():
        return 0.0
    heads, tails, values = heads[positive], tails[positive], values[positive]
    return float(values[spanning_forest(heads, tails, -values, n_nodes)].sum())
