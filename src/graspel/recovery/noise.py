r"""White noise in signals: its variance, and the likelihood of a graph given noisy signals.

Signals x = y + noise, where y is smooth on the graph (covariance L^+) and the noise has variance s^2 at every node,
have the covariance L^+ + s^2 I. Noise adds 2 s^2 to every squared distance. Near nodes then look far apart, and
spurious edges are needed to explain the signals.

**Estimate of the variance.** A smooth signal has no constant component: y sums to zero over the nodes. So the mean of x
over the nodes is noise alone, of variance s^2 / N. Real signals may share a constant component for other reasons. But
no direction has less variance than the noise. Where the constant component has clearly more variance than the smallest
eigenvalue of the covariance (or, with fewer signals than nodes, than half the typical smallest distance), it is not
noise, and the estimate is 0.

**Likelihood.** The likelihood of a graph given noisy signals is largest where resistance equals the squared distance of
the *denoised* signals. With A = (I + s^2 L)^-1, the Wiener filter, which GL-SigRep uses too,

    E[y y' | x] = A S A + s^2 (A - 11'/N),        S = XX'/M,

and k_pq = e_pq' E[yy'] e_pq. Every update w <- w R / k is a step of the EM algorithm (Dempster et al. 1977): the filter
is its E step.

References
----------
A. P. Dempster, N. M. Laird and D. B. Rubin. Maximum likelihood from incomplete data via the EM algorithm. Journal of
the Royal Statistical Society B 39, 1977.

X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.

V. A. Marchenko and L. A. Pastur. Distribution of eigenvalues for some sets of random matrices. Mathematics of the
USSR-Sbornik 1, 1967.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from graspel.data.validation import check_signals
from graspel.linalg.precision import laplacian_plus_mean, likelihood_terms, log_determinant
from graspel.recovery.likelihood import Likelihood, State
from graspel.runtime.types import Floats, Ints

LEAST_SHARE = 0.005  # noise variance over half the typical smallest distance; below this the noise counts as 0
CLEARLY_MORE = 1.5  # variance of the constant component over the least of any direction; above this it is not noise
EIGENVALUES = 1000  # largest number of nodes for which the smallest eigenvalue of the covariance is computed
SAMPLED = 300  # nodes sampled to measure the typical smallest distance
SMALLEST = 1e-6  # smallest squared distance k, as a share of the typical one: keeps weights of copies finite
SMALLEST_TYPICAL = 1e-10  # smallest typical squared distance, as a share of the largest; the median may be of copies
MAX_NOISE_SHARE = 0.9  # upper limit of the noise that is subtracted, as a share of a squared distance


def estimate_noise(X: Any) -> float:
    """Standard deviation of white noise in signals (nodes x signals); 0 where there is no clear noise.

    Examples
    --------
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(5, 5), n_signals=2000, noise=0.5, random_state=0)
    >>> round(estimate_noise(X), 2)
    0.5
    >>> estimate_noise(X - X.mean(axis=0))  # without the constant component it can not be estimated
    0.0
    """
    centered = check_signals("estimate_noise", X)
    # Scaled by a power of two, so that no square over- or underflows.
    unit = float(2.0 ** np.clip(np.frexp(np.abs(centered).max())[1], -1000, 1000))
    centered = centered / unit
    centered = centered - centered.mean(axis=1, keepdims=True)
    n, m = centered.shape
    shared = float(centered.sum(axis=0) @ centered.sum(axis=0)) / (n * m)
    if shared == 0:
        return 0.0
    least = smallest_distance(centered) / 2
    smallest_worth_it = LEAST_SHARE * least
    if m > n and n <= EIGENVALUES:
        residual = centered - centered.mean(axis=0)
        smallest = float(scipy.linalg.eigvalsh(residual @ residual.T / m, subset_by_index=[1, 1])[0])
        least = min(least, smallest / (1 - np.sqrt(n / m)) ** 2)  # undoes the bias of few signals (Marchenko, Pastur)
    return float(np.sqrt(shared)) * unit if smallest_worth_it < shared <= CLEARLY_MORE * least else 0.0


def typical_distance(z: Floats) -> float:
    """The unit of squared distances: their median, unless nearly all of them are of copies.

    >>> typical_distance(np.array([0.0, 1.0, 2.0])), typical_distance(np.array([0.0, 0.0, 2.0]))
    (1.0, 2e-10)
    """
    return max(float(np.median(z)), SMALLEST_TYPICAL * float(z.max()))


def smallest_distance(X: Floats) -> float:
    """The median over sampled nodes of the mean squared distance |x_p - x_q|^2 / M to the nearest other node."""
    nodes = np.unique(np.linspace(0, len(X) - 1, SAMPLED).astype(int))
    Z = cdist(X[nodes], X, "sqeuclidean")
    Z[np.arange(len(nodes)), nodes] = np.inf
    return float(np.median(Z.min(axis=1))) / X.shape[1]


def noisy_likelihood(heads: Ints, tails: Ints, S: Floats, variance: float, floor: float) -> Likelihood:
    """The likelihood of a graph, as a function of its weights, given the second moments S = XX'/M of noisy signals.

    `floor` is a lower limit for all distances k.
    """
    n = len(S)
    S = S - S.mean(axis=0) - S.mean(axis=1)[:, None] + S.mean()

    def distances(C: Floats) -> Floats:
        d = np.diag(C)
        return np.maximum(d[heads] + d[tails] - 2 * C[heads, tails], floor)

    plain = distances(S)

    def likelihood(w: Floats) -> State:
        T = laplacian_plus_mean(heads, tails, w, n)
        value, R = likelihood_terms(heads, tails, w, n, T)
        if variance == 0:
            return State(value - float(w @ plain), R, plain)
        L = T - 1.0 / n
        smoothed = variance * L
        smoothed.flat[:: n + 1] += 1
        smoothing, filtered = log_determinant(smoothed)
        A = filtered()
        k = distances(A @ S @ A + variance * A)
        return State(value - smoothing - float(np.sum(S * (L @ A))), R, k)

    return likelihood
