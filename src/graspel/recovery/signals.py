"""Signals: what is done with the rows of X before the graph of these nodes is recovered, and the noise in them.

**Preparation.**

1. *Center.* The mean of each row is subtracted. It says nothing about the graph.
2. *Unit.* Values are multiplied by a power of two, where their squares could over- or underflow.
3. *Far rows.* Nodes whose signals are absurdly far from those of all others are pulled in
   (:mod:`graspel.data.preparation`). Beside them, the differences of all other nodes would be lost to rounding.
4. *Shared.* What all nodes have in common is subtracted, where it is so large that it would do the same. The estimate
   of the noise is then 0, as it is without this step: so large a constant component is no noise.

Ordinary signals only lose their means, and nothing else changes by a bit.

**White noise.** Signals x = y + noise, where y is smooth on the graph (covariance L^+) and the noise has variance s^2
at every node, have the covariance L^+ + s^2 I. Noise adds 2 s^2 to every squared distance. Near nodes then look far
apart, and spurious edges are needed to explain the signals.

A smooth signal has no constant component: y sums to zero over the nodes. So the mean of x over the nodes is noise
alone, of variance s^2 / N. Real signals may share a constant component for other reasons. But no direction has less
variance than the noise. Where the constant component has clearly more variance than the smallest eigenvalue of the
covariance (or, with fewer signals than nodes, than half the typical smallest distance), it is not noise, and the
estimate is 0.

References
----------
V. A. Marchenko and L. A. Pastur. Distribution of eigenvalues for some sets of random matrices. Mathematics of the
USSR-Sbornik 1, 1967.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from graspel.data.preparation import (
    MAX_UNITS,
    SAFE_RANGE,
    FarRows,
    find_median,
    power_of_two_unit,
    row_lengths,
    warn_far_row,
)
from graspel.data.validation import check_signals
from graspel.runtime.types import Floats

FAR = 1e3  # far rows are moved to about this multiple of the typical distance: their squares use 6 of the 16 digits
SMALLEST_SIGNAL, LARGEST_SIGNAL = 1e-140, 1e140  # range of typical values; the weights lie between 1e-300 and 1e300
VARIES = 1e-12  # largest difference, relative to the largest value, below which values count as equal
LEAST_SHARE = 0.005  # noise variance over half the typical smallest distance; below this the noise counts as 0
CLEARLY_MORE = 1.5  # variance of the constant component over the least of any direction; above this it is not noise
EIGENVALUES = 1000  # largest number of nodes for which the smallest eigenvalue of the covariance is computed
SAMPLED = 300  # nodes sampled to measure the typical smallest distance


def prepare_signals(X: Floats) -> tuple[Floats, float]:
    """The prepared signals (nodes x signals), and the unit that they were multiplied by, a power of two.

    Raises an error where the signals hold nothing to learn from, or are too large or small for the weights.

    >>> signals, unit = prepare_signals(np.array([[1e120, 3e120], [5e120, 2e120]]))
    >>> np.round(signals / unit / 1e120, 6)
    array([[-1. ,  1. ],
           [ 1.5, -1.5]])
    """
    largest = float(np.abs(X).max())
    centered = X - X.mean(axis=1, keepdims=True) if largest < SAFE_RANGE[1] else _center_large_rows(X)
    # A quarter, because differences of the largest numbers overflow.
    if not (np.abs(centered / 4) > VARIES * np.abs(X / 4).max(axis=1, keepdims=True)).any():
        raise ValueError(
            "every node has the same value in all signals: they do not distinguish between graphs. "
            "Pass signals that vary."
        )
    median, typical = find_median(centered / 4)
    median, typical = 4 * median, 4 * (typical or float(np.abs(centered / 4).max()))
    is_safe = SAFE_RANGE[0] < largest < SAFE_RANGE[1] and typical > SMALLEST_SIGNAL
    unit = 1.0 if is_safe else power_of_two_unit(typical)
    if not SMALLEST_SIGNAL <= 1 / unit <= LARGEST_SIGNAL:
        raise ValueError(
            f"X has differences of about {1 / unit:.0e}: they must lie between {SMALLEST_SIGNAL:g} and "
            f"{LARGEST_SIGNAL:g}, because weights are one over squared distances. Multiply X by {unit:.0e}."
        )
    centered = np.clip(centered, -MAX_UNITS / unit, MAX_UNITS / unit) * unit
    median, typical = median * unit, typical * unit
    centered = _pull_in(centered, median, FAR * typical)
    shared = centered.mean(axis=0)
    if np.abs(shared).max() > FAR * typical:
        centered = centered - shared
    if not np.abs(centered - centered.mean(axis=0)).max() > VARIES * np.abs(centered).max():
        raise ValueError(
            "all nodes have the same signals: they do not distinguish between nodes. "
            "Pass signals that differ between nodes."
        )
    return centered, unit


def _center_large_rows(X: Floats) -> Floats:
    """Each row less its mean, cut at the largest number where it would overflow."""
    quarter = X / 4
    quarter -= (quarter / X.shape[1]).sum(axis=1, keepdims=True)
    most = np.finfo(float).max
    return np.clip(quarter, -most / 4, most / 4) * 4


def _pull_in(signals: Floats, median: Floats, reach: float) -> Floats:
    """The signals with far rows nearer; warn of the first of them."""
    distance = row_lengths(signals - median)
    if not (distance > reach).any():
        return signals
    at = int(np.argmax(distance > reach))
    warn_far_row(at, FAR * distance[at] / reach)
    return FarRows(median, reach).pull_in(signals)


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


def smallest_distance(X: Floats) -> float:
    """The median over sampled nodes of the mean squared distance |x_p - x_q|^2 / M to the nearest other node."""
    nodes = np.unique(np.linspace(0, len(X) - 1, SAMPLED).astype(int))
    Z = cdist(X[nodes], X, "sqeuclidean")
    Z[np.arange(len(nodes)), nodes] = np.inf
    return float(np.median(Z.min(axis=1))) / X.shape[1]
