r"""Sharpness: how sure the shares of classes at a point are, learned from each label left out in turn.

The harmonic function is the mean of a field without noise, and sigma so large that it says nothing. Its values are
shares that sum to one, but not chances: with few labels they are too even. So the chance of class c is taken as
f_c^g / sum f_b^g, with the power g of the largest likelihood of the labels, each predicted from the others by the
formula with the diagonal of the inverse. A normal prior of log g, chosen on digits and PenDigits, decides where labels
are few; a class with one label tells nothing.

References
----------
C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger. On calibration of modern neural networks. ICML, 2017. The power is the
reciprocal of their temperature.
"""

from __future__ import annotations

import numpy as np

from graspel.field.field import Field
from graspel.graph import Graph
from graspel.runtime.types import Floats, Ints

POWERS = np.geomspace(0.5, 5.0, 21)
USUAL, SPREAD = 1.5, 0.35  # mean of g and standard deviation of log g in the prior
SIGMA = 1e3  # as in GRASPEL
LEAST_SHARE = 1e-3  # share of a class below which a point says no more against it


def sharpen(f: Floats, power: float) -> Floats:
    """Rows of shares to a power, which sum to one again.

    >>> sharpen(np.array([[0.8, 0.2]]), 2.0).round(3)
    array([[0.941, 0.059]])
    """
    g = (f / f.max(axis=1, keepdims=True)) ** power
    return np.asarray(g / g.sum(axis=1, keepdims=True))


def find_power(graph: Graph, known: Ints, classes: Ints, n_jobs: int | None = None) -> float:
    """The power that makes chances of the shares of classes, from the labels `classes` at the nodes `known`."""
    told = np.bincount(classes)[classes] > 1
    cost = np.log(POWERS / USUAL) ** 2 / (2 * SPREAD**2)
    if told.any():
        try:
            field = Field(graph, sigma=SIGMA / graph.weights.mean() ** 0.5, scale=1.0, n_jobs=n_jobs)
        except ValueError:  # no exact factor is affordable
            return USUAL
        f = field.leave_one_out(np.eye(classes.max() + 1)[classes], known, noise=0.0).mean
        told &= np.isfinite(f).all(axis=1)
        f, own = np.clip(f[told], LEAST_SHARE, 1.0), classes[told]
        cost -= [float(np.log(sharpen(f, power)[np.arange(len(own)), own]).sum()) for power in POWERS]
    return float(POWERS[int(cost.argmin())])
