r"""Design: which nodes to measure next, so that the total variance of the field falls most.

Measuring node j, with noise of variance s^2 tau, lowers the total variance, the trace of M = (Theta + D)^-1, by

    gain_j = |M e_j|^2 / (M_jj + tau),

and changes M by the rank-one term u u', u = M e_j / (M_jj + tau)^(1/2). The greedy choice takes the largest gain at
each step. On a field whose precision has no positive entry off the diagonal the reduction is submodular, so all gains
only fall. Hence greedy nodes S reach at least 1 - 1/e of the reduction of the best k nodes, and these reach at most
f(S) plus the k largest gains that are left, which is usually a far better bound.

On larger graphs the norms |M e_j| of all nodes are estimated by products of M with random vectors, which the rank-one
terms update, and the gains of the nodes that look best are computed exactly by solves. The bound is an estimate then.

References
----------
Y. Ma, R. Garnett and J. Schneider. Sigma-optimality for active learning on Gaussian random fields. NIPS, 2013.

G. L. Nemhauser, L. A. Wolsey and M. L. Fisher. An analysis of approximations for maximizing submodular set functions.
Mathematical Programming 14, 1978.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graspel.linalg.inverse import Inverse
from graspel.runtime.types import Floats, Ints

DENSE_NODES = 1500  # nodes up to which the whole of M is computed
PROBES = 64  # random vectors; the relative error of an estimated |M e_j|^2 is (2 / 64)^(1/2)
SHORTLIST = 8  # nodes whose gains are computed exactly in each step


@dataclass(frozen=True)
class Design:
    """Nodes to measure, best first.

    Attributes
    ----------
    nodes : array of k
    total_variance : array of k + 1, the sum of the variances over all nodes before the first and after each of them
    bound : float
        No k nodes lower the total variance below this (on large graphs: as estimated).
    """

    nodes: Ints
    total_variance: Floats
    bound: float


class Gains:
    """The gains of all nodes, exactly or estimated, as measurements are added.

    Parameters
    ----------
    inverse : Inverse, M before the first
    tau : float, noise variance of a measurement
    taken : array, nodes that are measured already
    """

    def __init__(self, inverse: Inverse, tau: float, taken: Ints) -> None:
        n = inverse.pattern.n_nodes
        self._inverse, self._tau, self.diagonal = inverse, tau, inverse.diagonal.copy()
        self._is_exact = n <= DENSE_NODES
        rng = np.random.default_rng(0)
        self._Z = np.eye(n) if self._is_exact else rng.standard_normal((n, PROBES)) / np.sqrt(PROBES)
        self._Y = inverse.solve(self._Z)
        self._open = np.ones(n, dtype=bool)
        self._open[taken] = False
        self._U = np.empty((n, 0))
        self._columns: dict[int, Floats] = {}

    def all(self) -> Floats:
        """The gains; zero for nodes that are measured."""
        return np.where(self._open, (self._Y**2).sum(axis=1) / (self.diagonal + self._tau), 0.0)

    def take_best(self) -> int:
        """Measure the node of the largest gain."""
        gains = self.all()
        best = int(gains.argmax())
        if self._is_exact:
            column = self._Y[:, best].copy()
        else:
            near = np.argsort(-gains, kind="stable")[:SHORTLIST]
            columns = self._current_columns(near)
            best_at = int(((columns**2).sum(axis=0) / (self.diagonal[near] + self._tau)).argmax())
            best, column = int(near[best_at]), columns[:, best_at]
        u = column / np.sqrt(self.diagonal[best] + self._tau)
        self._Y -= np.outer(u, u @ self._Z)
        self.diagonal = np.maximum(self.diagonal - u**2, 0.0)
        self._U = np.column_stack([self._U, u]) if not self._is_exact else self._U
        self._open[best] = False
        return best

    def _current_columns(self, nodes: Ints) -> Floats:
        """Columns of M after all measurements so far; those of the first M are kept."""
        new = [node for node in nodes.tolist() if node not in self._columns]
        if new:
            B = np.zeros((len(self.diagonal), len(new)))
            B[new, np.arange(len(new))] = 1.0
            self._columns |= dict(zip(new, self._inverse.solve(B).T, strict=True))
        columns = np.column_stack([self._columns[node] for node in nodes.tolist()])
        return np.asarray(columns - self._U @ self._U[nodes].T)


def choose_greedily(inverse: Inverse, k: int, tau: float, taken: Ints) -> Design:
    """The k nodes of the largest gains, one after the other."""
    gains = Gains(inverse, tau, taken)
    chosen, totals = [], [float(gains.diagonal.sum())]
    for _ in range(k):
        chosen.append(gains.take_best())
        totals.append(float(gains.diagonal.sum()))
    left = float(np.sort(gains.all())[::-1][:k].sum())
    greedy = totals[0] - (totals[0] - totals[-1]) / (1 - np.exp(-1))
    return Design(np.array(chosen, dtype=np.int64), np.array(totals), max(totals[-1] - left, greedy, 0.0))
