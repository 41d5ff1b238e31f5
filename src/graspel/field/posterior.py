r"""Posterior: the field given the values that were measured on some nodes, from one exact factor.

The field is v = H b + u with u ~ N(0, s^2 Theta^-1), Theta = L + eps I and eps = 1 / sigma^2. Node i was measured with
noise of variance s^2 tau_i. The trend H b has coefficients b ~ N(0, s^2 diag(p)^-1); the last column of H is one, with
p = 0, so that the mean of the field is estimated by generalized least squares, as in ordinary kriging. With
D = diag(1 / tau_i) on the measured nodes and zero on others, and M = (Theta + D)^-1, one solve gives

    F = M D y,    R = H - M D H = M Theta H,

and with s^2 S the covariance of the measurements of u,

    S^-1 y = (Theta F) on them,    S^-1 H = D R,    G = H' D R + diag(p),    b = G^-1 (Theta H)' F,
    E v = F + R b,                 Var v_i = s^2 (M_ii + (R G^-1 R')_ii).

With a = S^-1 (y - H b) the quadratic form of the restricted likelihood is q = (y - H b)' a + b' diag(p) b, and

    log det S = log det(Theta + D) - log det(Theta) + sum log tau_i.

Leaving out measurement i needs no other solve. With P_ii = d_i (1 - d_i M_ii) - (D R G^-1 R' D)_ii, the others predict
y_i - a_i / P_ii with the variance s^2 / P_ii, which contains the noise.

References
----------
H. Rue and L. Held. Gaussian Markov Random Fields: Theory and Applications. Chapman and Hall, 2005.

O. Dubrule. Cross validation of kriging in a unique neighborhood. Mathematical Geology 15, 1983. Leave-one-out.

C. E. Rasmussen and C. K. I. Williams. Gaussian Processes for Machine Learning. MIT Press, 2006. Section 2.7, the trend;
section 5.4, leave-one-out.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graspel.graph.adjacency import check_adjacency
from graspel.linalg.components import Components, spanning_forest
from graspel.linalg.exact_resistances import MOST_WORK
from graspel.linalg.inverse import EstimatedInverse, Inverse, InversePattern
from graspel.runtime.parallel import count_threads
from graspel.runtime.types import Floats, Ints

NO_NOISE = 1e-13  # noise variance that stands for none, as a share of 1 / weighted degree
GAP = 1e3  # ratio of successive weights of edges at which heavier ones join copies
LEAST_SHARE = 0.01  # of the edges of a forest, which a unit needs
STEEP = 1e4  # ratio of weights from which the trend is kept from rounding errors of heavy edges
ROUNDING = np.finfo(float).eps
UNSURE = 1e4  # errors by which P_ii must be larger to have four digits
UNKNOWN = 1e-12  # share of P_ii below which it is a rounding error, and nothing is known of a measurement without it


class Prior:
    """The field of a graph before any measurement: its pieces, found once, and the determinants of Theta.

    Parameters
    ----------
    graph : Graph, or sparse matrix or array of weights
    n_jobs : int or None
    error : float
        Relative standard error allowed of variances where an exact factor takes too long; 0 if they must be exact.

    Attributes
    ----------
    pattern : InversePattern
    error : float, that of the variances; 0 if they are exact
    n_nodes : int
    degrees : array of N, weighted
    units : list of float
        Scales of the parameters. The first is the median degree: s^2 / unit is the variance of a typical node whose
        neighbors are known. Where points have copies, whose edges are far heavier than all others, it says nothing of
        how much values vary between places, and there is another one for the graph of places.
    """

    def __init__(self, graph: object, n_jobs: int | None = None, error: float = 0.0) -> None:
        A = check_adjacency(graph)
        self.pattern, self._n_jobs = InversePattern(A, count_threads(n_jobs)), n_jobs
        self.error = error if self.pattern.work > MOST_WORK else 0.0
        if not self.error:
            self.pattern.check_work("Give a sparser graph, such as that of GRASPEL(2), or error=0.1 for estimates.")
        self.n_nodes, self.degrees = A.shape[0], np.asarray(A.sum(axis=1))
        self.units = [_median_degree(self.degrees), *_coarser_units(A)]
        self._logdets: dict[float, float] = {}

    def invert(self, s: Floats) -> Inverse | EstimatedInverse:
        """(L + diag(s))^-1."""
        if self.error:
            return EstimatedInverse(self.pattern, s, self.error, n_jobs=self._n_jobs)
        return self.pattern.invert(s)

    def require_exact(self, what: str) -> None:
        """Raise if variances are estimated."""
        if self.error:
            raise ValueError(
                f"{what} needs an exact factor, which takes too long for this graph of {self.n_nodes:,} nodes. Give a "
                "sparser graph, such as that of GRASPEL(2)."
            )

    def logdet(self, eps: float) -> float:
        """The log-determinant of Theta; it is computed once for each eps."""
        if eps not in self._logdets:
            self._logdets[eps] = self.pattern.invert(np.full(self.n_nodes, eps)).logdet
        return self._logdets[eps]

    def precision_times(self, eps: float, X: Floats) -> Floats:
        """Theta X, by differences along the edges, which are accurate however heavy some of them are."""
        return eps * X + self.pattern.laplacian @ X


def _median_degree(degrees: Floats) -> float:
    return float(np.median(degrees[degrees > 0])) if (degrees > 0).any() else 1.0


def _coarser_units(A: sp.csr_array) -> list[float]:
    """The median degrees of the graphs that are left when the heaviest edges are contracted, at every gap of weights.

    Weights are those of a heaviest spanning forest. Groups of a few light edges, as join far clusters, do not count.

    >>> pairs = np.diag([1e9, 1.0, 1e9, 1.0, 1e9], 1)
    >>> _coarser_units(sp.csr_array(pairs + pairs.T))
    [1.0]
    """
    if not A.nnz or A.data.max() < GAP * A.data.min():
        return []
    edges, n = sp.triu(A, 1).tocoo(), A.shape[0]
    heads, tails = edges.coords
    forest = np.flatnonzero(spanning_forest(heads, tails, -edges.data, n))
    forest = forest[np.argsort(-edges.data[forest], kind="stable")]
    ordered, units = edges.data[forest], []
    gaps = (1 + np.flatnonzero(ordered[1:] * GAP < ordered[:-1])).tolist()
    for start, end in pairwise([*gaps, len(ordered)]):
        if end - start < max(2, LEAST_SHARE * len(ordered)):
            continue
        heavy = forest[:start]
        place = Components.of(sp.coo_array((np.ones(start), (heads[heavy], tails[heavy])), shape=(n, n))).labels
        across = place[heads] != place[tails]
        ends, weights = np.append(place[heads[across]], place[tails[across]]), np.tile(edges.data[across], 2)
        units.append(_median_degree(np.bincount(ends, weights).astype(np.float64)))
    return units


class Smoothing:
    """What one factor gives for columns of values on the same nodes: all but the choice of p.

    Parameters
    ----------
    prior : Prior
    nodes : array of n node numbers, each once
    Y : array (n x m), the values there; each column is a field of its own
    eps : float, positive
    tau : array of n, noise variances in units of s^2; zero for none
    H : array (N x r), the columns of the trend
    """

    def __init__(self, prior: Prior, nodes: Ints, Y: Floats, eps: float, tau: Floats, H: Floats) -> None:
        self.prior, self.nodes, self.eps, self.H = prior, nodes, eps, H
        self.values, self.center = (
            Y,
            Y.mean(axis=0),
        )  # digits of a large mean are not lost; the last column of H makes up for it
        self.Y = Y = Y - self.center
        least = NO_NOISE / (prior.degrees[nodes] + eps)
        self.is_exact = tau < least
        self.d = 1 / np.maximum(tau, least)
        s = np.full(prior.n_nodes, eps)
        s[nodes] += self.d
        self.inverse: Any = prior.invert(s)
        m, theta_H = Y.shape[1], prior.precision_times(eps, H)
        # M Theta H has no digits where edges are far heavier than d and features differ along them; H - M D H has.
        steep = (prior.degrees.max() > STEEP * self.d.max()) & (
            np.abs(theta_H).max(axis=0) > eps * np.abs(H).max(axis=0)
        )
        B = np.zeros((prior.n_nodes, m + H.shape[1]))
        B[nodes] = self.d[:, None] * np.column_stack([Y, H[nodes]])
        B[:, m:][:, ~steep] = theta_H[:, ~steep]
        solved = self.inverse.solve(B)
        self.F, self.R = solved[:, :m], np.where(steep, H - solved[:, m:], solved[:, m:])
        self.DR = self.d[:, None] * self.R[nodes]  # S^-1 H
        by_theta = self.d > prior.degrees[nodes] + eps  # S^-1 y is Theta F or D (y - F): the one with smaller terms
        Sy = prior.precision_times(eps, self.F)[nodes]
        self.Sy = np.where(by_theta[:, None], Sy, self.d[:, None] * (Y - self.F[nodes]))
        self.H_nodes = H[nodes]
        self.G = self.H_nodes.T @ self.DR
        self.HSy = np.where(steep[:, None], self.H_nodes.T @ self.Sy, theta_H.T @ self.F)

    @cached_property
    def logdet(self) -> float:
        """Log det S."""
        return self.inverse.logdet - self.prior.logdet(self.eps) - float(np.log(self.d).sum())

    @cached_property
    def own(self) -> tuple[Floats, Floats]:
        """The diagonal of S^-1, d_i (1 - d_i M_ii), and about how large its error is."""
        remainders, error = self.inverse.remainders()
        return self.d * (self.eps * self.inverse.diagonal + remainders)[self.nodes], self.d * error[self.nodes]


class Posterior:
    """The field given the values, with a trend of precision p.

    Parameters
    ----------
    smoothing : Smoothing
    p : array of r, the precisions of the coefficients in units of 1 / s^2; zero for those that are estimated freely

    Attributes
    ----------
    coefficients : array (r x m), b
    quadratic : array of m, q
    n_free : int, coefficients with p = 0
    """

    def __init__(self, smoothing: Smoothing, p: Floats) -> None:
        self.smoothing, self.n_free = smoothing, int((p == 0).sum())
        base, proper = smoothing, p[p > 0]
        self._C = np.linalg.cholesky((base.G + base.G.T) / 2 + np.diag(p))
        b = scipy.linalg.cho_solve((self._C, True), base.HSy)
        self._a = base.Sy - base.DR @ b
        residual = base.Y - base.H_nodes @ b
        with np.errstate(over="ignore", invalid="ignore"):
            self.quadratic = np.maximum((residual * self._a).sum(axis=0) + p @ b**2, 0.0)
        if not np.isfinite(self.quadratic).all():
            raise ValueError(
                f"values of size {np.abs(base.Y).max():.1e} and weights of size {base.prior.degrees.max():.1e}: their "
                "product x'Lx overflows. Give values, or weights, in another unit."
            )
        self._mean = base.F + base.R @ b + base.center
        self.coefficients = b + np.outer(np.arange(len(b)) == len(b) - 1, base.center)
        self._logdet_of_trend = 2 * float(np.log(np.diag(self._C)).sum()) - float(np.log(proper).sum())

    @property
    def logdet(self) -> float:
        """Log det S + log det G - sum log p."""
        return self.smoothing.logdet + self._logdet_of_trend

    @property
    def mean(self) -> Floats:
        """E v (N x m)."""
        base, mean = self.smoothing, self._mean.copy()
        mean[base.nodes[base.is_exact]] = base.values[base.is_exact]
        return mean

    @property
    def variance(self) -> Floats:
        """Var v_i / s^2 (N)."""
        base = self.smoothing
        variance = base.inverse.diagonal + self.spread(base.R)
        variance[base.nodes[base.is_exact]] = 0.0
        return variance

    def spread(self, R: Floats) -> Floats:
        """The diagonal of R G^-1 R', the variance that the coefficients add."""
        half = scipy.linalg.solve_triangular(self._C, R.T, lower=True)
        return np.asarray((half**2).sum(axis=0))

    def leave_one_out(self) -> tuple[Floats, Floats]:
        """For every measurement its mean given the others (n x m), and the variance of their difference over s^2 (n).

        Both are NaN where the others say nothing of a measurement, or rounding leaves no digits of what they say.
        """
        base, (own, error) = self.smoothing, self.smoothing.own
        P = own - self.spread(base.DR)
        error = error + ROUNDING * np.minimum(base.d, base.prior.degrees[base.nodes] + base.eps)  # and that of a
        P = np.where((UNKNOWN * own < P) & (UNSURE * error < P), P, np.nan)
        return base.Y + base.center - self._a / P[:, None], 1 / P

    def log_likelihood(self, scale: Floats) -> Floats:
        """The logarithm of the restricted likelihood of every column, for the scale s of each."""
        n = len(self.smoothing.nodes) - self.n_free
        value: Floats = -0.5 * (n * np.log(2 * np.pi * scale**2) + self.logdet + self.quadratic / scale**2)
        return value
