r"""White noise in signals: how much there is, and the likelihood of a graph beneath it.

Signals x = y + noise, where y is smooth on the graph (covariance L^+) and the noise has variance s^2 at every node,
have the covariance L^+ + s^2 I. Noise adds 2 s^2 to every squared distance, which makes near nodes look far apart and
spurious edges necessary.

**How much.** A smooth signal has no constant part: y sums to zero over the nodes. So the mean of x over the nodes is
noise alone, of variance s^2 / N. Real signals may share a constant part for other reasons. But no direction at all has
less variance than the noise: where the constant part has clearly more than the smallest eigenvalue of the covariance
(or, with fewer signals than nodes, than half the usual smallest distance), it is something else, and nothing is known.

**Beneath it.** The likelihood of a graph given noisy signals is largest where resistance equals the distance of the
*denoised* signals. With A = (I + s^2 L)^-1, the filter that takes noise off (Wiener's, and the one of GL-SigRep),

    E[y y' | x] = A S A + s^2 (A - 11'/N),        S = XX'/M,

and k_pq = e_pq' E[yy'] e_pq. Every step w <- w R / k is one of the EM algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from graspel.learning.refine import Likelihood, State
from graspel.linalg.precision import edge_resistances, laplacian_plus_mean, log_determinant

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_SHARE = 0.005  # of the smallest squared distance: noise below this is not clearly there
CLEARLY_MORE = 1.5  # times the least variance of any direction: then the constant part is not noise
EIGENVALUES = 1000  # nodes up to which the smallest eigenvalue of the covariance is computed
SAMPLED = 300  # nodes whose nearest other is looked for
MOST_TAKEN = 0.9  # of a squared distance that is taken off as noise, at the most


def estimate_noise(X: Any) -> float:
    """Standard deviation of white noise in signals (nodes x signals), 0 where none is clearly there.

    Examples
    --------
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(5, 5), n_signals=2000, noise=0.5, random_state=0)
    >>> round(estimate_noise(X), 2)
    0.5
    >>> estimate_noise(X - X.mean(axis=0))  # without the constant part nothing is known of it
    0.0
    """
    centered = np.asarray(X, dtype=np.float64)
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
        least = min(least, smallest / (1 - np.sqrt(n / m)) ** 2)  # few signals pull it down (Marchenko, Pastur)
    return float(np.sqrt(shared)) if smallest_worth_it < shared <= CLEARLY_MORE * least else 0.0


def smallest_distance(X: Floats) -> float:
    """The median over (some of) the nodes of the mean squared distance |x_p - x_q|^2 / M to the nearest other."""
    nodes = np.unique(np.linspace(0, len(X) - 1, SAMPLED).astype(int))
    Z = cdist(X[nodes], X, "sqeuclidean")
    Z[np.arange(len(nodes)), nodes] = np.inf
    return float(np.median(Z.min(axis=1))) / X.shape[1]


def noisy_likelihood(heads: Ints, tails: Ints, S: Floats, variance: float, floor: float) -> Likelihood:
    """The likelihood of a graph on all nodes given the second moments S = XX'/M of signals with noise.

    No distance k is taken to be smaller than `floor`.
    """
    n = len(S)
    S = S - S.mean(axis=0) - S.mean(axis=1)[:, None] + S.mean()

    def distances(C: Floats) -> Floats:
        d = np.diag(C)
        return np.maximum(d[heads] + d[tails] - 2 * C[heads, tails], floor)

    plain = distances(S)

    def likelihood(w: Floats) -> State:
        T = laplacian_plus_mean(heads, tails, w, n)
        value, inverse = log_determinant(T)
        if not np.isfinite(value):
            return State(-np.inf, np.ones_like(w), plain)
        R = edge_resistances(inverse(), heads, tails)
        if variance == 0:
            return State(value - float(w @ plain), R, plain)
        L = T - 1.0 / n
        smoothing, filtered = log_determinant(np.eye(n) + variance * L)
        A = filtered()
        k = distances(A @ S @ A + variance * A)
        return State(value - smoothing - float(np.sum(S * (L @ A))), R, k)

    return likelihood
