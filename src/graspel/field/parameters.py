r"""Parameters of a field: sigma, noise, scale and the size of the trend for every column of values, by likelihood.

In the notation of :mod:`graspel.field.posterior`, the scale that maximizes the restricted likelihood of n values is
s^2 = q / (n - n_free), and what is left is a function of eps = 1 / sigma^2, of tau, the noise variance in units of s^2,
and of p, the precision of the trend. It is flat around its maximum, so it is climbed on a grid of half decades. A point
of the grid takes one factor, which serves all columns that were measured on the same nodes and all p. Where there are
few values, the likelihood can be largest at the end of the grid; a wide normal prior around the start prevents this.

References
----------
H. D. Patterson and R. Thompson. Recovery of inter-block information when block sizes are unequal. Biometrika 58, 1971.
Restricted likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from graspel.field.posterior import Posterior, Prior, Smoothing
from graspel.field.values import ColumnGroup
from graspel.runtime.types import Floats, Ints

PER_DECADE = 2  # points of the grid in a decade
EPS = (-6.0, 0.0)  # decades of eps over the unit of the prior
TAU = (-4.0, 4.0)  # decades of tau times the unit
TREND = (0.5, 2.0, 4.0, 6.0)  # decades of 1 / p times the unit, for each block of the trend
START = (-3.0, -1.0)  # of eps and tau
PRIOR_DECADES = 2.0  # standard deviation of log10 of eps and tau around the start


@dataclass(frozen=True)
class Given:
    """What the user knows of a field: sigma, the standard deviation of the noise, the scale s; None for the rest."""

    sigma: float | None = None
    noise: float | None = None
    scale: float | None = None


@dataclass(frozen=True)
class Parameters:
    """The parameters of one column.

    Attributes
    ----------
    eps : float, 1 / sigma^2
    tau : float, noise variance in units of s^2
    p : tuple of float, precision of each block of the trend in units of 1 / s^2
    scale : float, s
    """

    eps: float
    tau: float
    p: tuple[float, ...]
    scale: float

    @property
    def sigma(self) -> float:
        """The prior standard deviation, in the unit of the graph."""
        return self.eps**-0.5

    @property
    def noise(self) -> float:
        """The standard deviation of the noise, in the unit of the values."""
        return self.scale * self.tau**0.5


def precisions(blocks: tuple[int, ...], p: tuple[float, ...], n_columns: int) -> Floats:
    """The precisions of all coefficients: those of the blocks of the trend, and 0 for the columns after them."""
    return np.append(np.repeat(np.array(p), blocks), np.zeros(n_columns - sum(blocks)))


class Climb:
    """The likelihood of columns of values on one set of nodes, climbed for every column.

    Parameters
    ----------
    prior : Prior
    group : ColumnGroup, columns of values and their nodes
    H : array (N x r), the trend and a last column of ones
    blocks : tuple of int, columns of each block of the trend
    given : Given
    unit : float, one of `prior.units`
    """

    def __init__(
        self, prior: Prior, group: ColumnGroup, H: Floats, blocks: tuple[int, ...], given: Given, unit: float
    ) -> None:
        self._prior, self._H, self._blocks, self._given, self._unit = prior, H, blocks, given, unit
        self._nodes, self._Y, self._ratios = group.nodes, group.Y, group.ratios
        self._seen: dict[tuple[float, float], tuple[Floats, Ints, Floats]] = {}
        self._p = list(product([unit / 10**decade for decade in TREND], repeat=len(blocks)))

    def run(self) -> list[tuple[float, Parameters]]:
        """The score and the parameters of every column."""
        return [self._climb(column) for column in range(self._Y.shape[1])]

    def _climb(self, column: int) -> tuple[float, Parameters]:
        at, step = START, 2.0 / PER_DECADE
        score = self._score(at, column)
        while step >= 1.0 / PER_DECADE:
            near = [(at[0] + i * step, at[1] + j * step) for i, j in self._directions()]
            inside = [(e, t) for e, t in near if EPS[0] <= e <= EPS[1] and TAU[0] <= t <= TAU[1]]
            better = [place for place in inside if self._score(place, column) > score]
            if better:
                at = better[0]
                score = self._score(at, column)
            else:
                step /= 2
        eps, tau = self._values(at)
        _, p, scale = self._seen[at]
        return score, Parameters(eps, tau, self._p[int(p[column])], float(scale[column]))

    def _directions(self) -> list[tuple[int, int]]:
        """Steps along the parameters that are not known."""
        along_eps = [] if self._given.sigma is not None else [(1, 0), (-1, 0)]
        return along_eps + ([] if self._knows_tau else [(0, 1), (0, -1)])

    @property
    def _knows_tau(self) -> bool:
        noise, scale = self._given.noise, self._given.scale
        return noise == 0 or (noise is not None and scale is not None)

    def _values(self, at: tuple[float, float]) -> tuple[float, float]:
        """The eps and tau of a point of the grid."""
        unit, given = self._unit, self._given
        eps = unit * 10 ** at[0] if given.sigma is None else 1 / given.sigma**2
        if not self._knows_tau:
            return eps, 10 ** at[1] / unit
        return eps, (given.noise / given.scale) ** 2 if given.noise and given.scale else 0.0

    def _score(self, at: tuple[float, float], column: int) -> float:
        if at not in self._seen:
            self._seen[at] = self._evaluate(at)
        return float(self._seen[at][0][column])

    def _evaluate(self, at: tuple[float, float]) -> tuple[Floats, Ints, Floats]:
        """The score of every column with its best p, the number of that p, and the scale."""
        eps, tau = self._values(at)
        smoothing = Smoothing(self._prior, self._nodes, self._Y, eps, tau * self._ratios, self._H)
        scores, scales = [], []
        for p in self._p:
            posterior = Posterior(smoothing, precisions(self._blocks, p, self._H.shape[1]))
            scales.append(self._scale(posterior, tau))
            scores.append(posterior.log_likelihood(scales[-1]))
        best, columns = np.argmax(scores, axis=0), np.arange(self._Y.shape[1])
        far = sum((x - start) ** 2 for x, start in zip(at, START, strict=True)) / (2 * PRIOR_DECADES**2)
        return np.array(scores)[best, columns] - far, best, np.array(scales)[best, columns]

    def _scale(self, posterior: Posterior, tau: float) -> Floats:
        """The scale that is given, that follows from the noise that is given, or that is most likely."""
        n, given = len(self._nodes) - posterior.n_free, self._given
        if given.scale is not None:
            return np.full(self._Y.shape[1], given.scale)
        if given.noise:
            return np.full(self._Y.shape[1], given.noise / tau**0.5)
        return np.sqrt(np.maximum(posterior.quadratic / n, np.finfo(float).tiny))
