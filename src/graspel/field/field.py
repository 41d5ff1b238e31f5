r"""Field: a Gaussian field on the nodes of a graph, and what it says about values that were not measured.

The paper's objective is the likelihood of a Gaussian Markov random field with the precision Theta = L + I / sigma^2. So
the learned graph is a model of values on its nodes, v ~ N(mu, s^2 Theta^-1): near nodes have similar values. It answers
what is not known by conditioning on what is. :mod:`graspel.field.posterior` has the formulas.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3.

X. Zhu, J. Lafferty and Z. Ghahramani. Semi-supervised learning: from Gaussian fields to Gaussian processes. Technical
report CMU-CS-03-175, 2003.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graspel.field.parameters import Climb, Given, Parameters, precisions
from graspel.field.posterior import Posterior, Prior, Smoothing
from graspel.field.values import Group, check_values, find_groups
from graspel.linalg.arguments import check_positive
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Floats, Ints

DEFAULT_SIGMA = 1e3  # of a field without values, as in GRASPEL


@dataclass(frozen=True)
class Conditioned:
    """The field given values; arrays have the shape of the values: of one column, or one column for each.

    Attributes
    ----------
    mean : array of N, or N x m
    deviation : array like `mean`, the standard deviation of the field, without the noise of a new measurement
    sigma, noise, scale : float, or array of m
        The parameters: the prior standard deviation in the unit of the graph, the standard deviation of the noise
        (root mean square), and the scale s.
    """

    mean: Floats
    deviation: Floats
    sigma: Any
    noise: Any
    scale: Any


@dataclass(frozen=True)
class LeftOut:
    """What the other values say about every value; arrays have the shape of the values, NaN where there is none.

    Attributes
    ----------
    mean : array, the prediction of a value from the others
    deviation : array, the standard deviation of the value around it, with the noise
    score : array, (value - mean) / deviation
    """

    mean: Floats
    deviation: Floats
    score: Floats


class Field:
    """A Gaussian field on the nodes of a graph, v ~ N(mu, s^2 (L + I / sigma^2)^-1), and the noise of measurements.

    Parameters
    ----------
    graph : Graph, or sparse matrix or array of weights
        It need not be connected; it may have one node.
    sigma : float or None
        Prior standard deviation, in the unit of the graph: 1 / sigma^2 is added to the Laplacian. None: by maximum
        likelihood.
    scale : float or None
        The factor s, in the unit of the values. None: by maximum likelihood.
    trend : array (N x r) or None
        Features whose weighted sum, with weights from a normal distribution, is added to the field. None: the mean
        alone, which is always estimated.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from graspel import Graph
    >>> path = Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    >>> found = Field(path, sigma=100, scale=1).condition([0, 4], [0.0, 4.0], noise=0)
    >>> found.mean.round(3), found.deviation.round(2)
    (array([0., 1., 2., 3., 4.]), array([0.  , 0.87, 1.  , 0.87, 0.  ]))
    """

    def __init__(
        self,
        graph: Any,
        *,
        sigma: float | None = None,
        scale: float | None = None,
        trend: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if sigma is not None:
            check_positive("sigma", sigma, "the prior standard deviation, or None to estimate it")
        if scale is not None:
            check_positive("scale", scale, "the standard deviation of the field in units of the graph, or None")
        self.prior = Prior(graph, n_jobs)
        self.n_nodes, self.sigma, self.scale = self.prior.n_nodes, sigma, scale
        self._H = np.ones((self.n_nodes, 1))
        if trend is not None:
            features = np.asarray(trend, dtype=np.float64).reshape(self.n_nodes, -1)
            self._H = np.column_stack([features, self._H])

    def condition(self, nodes: ArrayLike | None, values: ArrayLike, *, noise: Any = None) -> Conditioned:
        """The mean and the standard deviation of the field at every node, given values at some.

        Parameters
        ----------
        nodes : array of n node numbers, or None for all nodes
        values : array (n) or (n x m)
            Each column is a field of its own; NaN where a value is not known.
        noise : float or array, default=None
            Standard deviation of the noise: one number, or one for each of the n nodes, or for each value. 0: the
            values are exact. None: by maximum likelihood, the same for all values of a column.

        Returns
        -------
        conditioned : Conditioned
        """
        places, Y = check_values(values, nodes, self.n_nodes)
        mean, variance = np.empty((self.n_nodes, Y.shape[1])), np.empty((self.n_nodes, Y.shape[1]))
        found = np.empty((3, Y.shape[1]))
        for group, columns, parameters, posterior in self._posteriors(places, Y, noise):
            mean[:, columns] = posterior.mean
            scale = np.array([one.scale for one in parameters])
            variance[:, columns] = posterior.variance[:, None] * scale**2
            level = [one.noise if group.noise is None else group.noise for one in parameters]
            found[:, columns] = [one.sigma for one in parameters], level, scale
        shape = np.shape(values)[1:]
        sigma, noises, scales = (row.reshape(shape)[()] for row in found)
        deviation = np.sqrt(variance).reshape((self.n_nodes, *shape))
        return Conditioned(mean.reshape((self.n_nodes, *shape)), deviation, sigma, noises, scales)

    def leave_one_out(self, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None) -> LeftOut:
        """Predict every value from all others, by a formula with the diagonal of the inverse.

        The parameters are those that fit all values. NaN where the others say nothing of a value.

        Parameters
        ----------
        values : array (N) or (N x m), NaN where a value is not known
        nodes : array of n node numbers, default=None
            Where the values have one row for each of these nodes.
        noise : float or array, default=None
            As in `condition`.

        Returns
        -------
        left_out : LeftOut
        """
        places, Y = check_values(values, nodes, self.n_nodes)
        mean, deviation = np.full(Y.shape, np.nan), np.full(Y.shape, np.nan)
        row_of = np.zeros(self.n_nodes, dtype=np.int64)
        row_of[places] = np.arange(len(places))
        for group, columns, parameters, posterior in self._posteriors(places, Y, noise):
            at = np.ix_(row_of[group.nodes], columns)
            mean[at], variance = posterior.leave_one_out()
            deviation[at] = np.sqrt(variance)[:, None] * [one.scale for one in parameters]
        with np.errstate(divide="ignore", invalid="ignore"):
            score = (Y - mean) / deviation
        return LeftOut(*(array.reshape(np.shape(values)) for array in (mean, deviation, score)))

    def log_likelihood(self, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None) -> Any:
        """The logarithm of the restricted likelihood of the values, of each column if there are several.

        It is the likelihood with the mean integrated out, so it is that of n - 1 contrasts between n values.

        Parameters
        ----------
        values : array (N) or (N x m), NaN where a value is not known
        nodes : array of n node numbers, default=None
            Where the values have one row for each of these nodes.
        noise : float or array, default=None
            As in `condition`.
        """
        places, Y = check_values(values, nodes, self.n_nodes)
        likelihood = np.empty(Y.shape[1])
        for _, columns, parameters, posterior in self._posteriors(places, Y, noise):
            likelihood[columns] = posterior.log_likelihood(np.array([one.scale for one in parameters]))
        return likelihood.reshape(np.shape(values)[1:])[()]

    def variances(self) -> Floats:
        """The variance of the field at every node before any measurement; sigma is 1000 and the scale 1 if not set."""
        eps, scale = self._unfitted()
        return self.prior.invert(eps).diagonal * scale**2

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Floats:
        """Draw fields with mean zero; sigma is 1000 and the scale 1 if not set.

        With independent normal x, the vector b = B' W^1/2 x + eps^1/2 x' has the covariance Theta (B: the incidence
        matrix), so Theta^-1 b has Theta^-1. This takes one solve.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState, Generator or None

        Returns
        -------
        samples : array (N x n_samples)
        """
        check_number("n_samples", n_samples, ">= 1", lambda v: v >= 1, whole=True)
        (eps, scale), rng, pattern = self._unfitted(), generator(random_state), self.prior.pattern
        B = np.sqrt(eps) * rng.standard_normal((self.n_nodes, n_samples))
        flows = np.sqrt(pattern.weights * pattern.unit)[:, None] * rng.standard_normal((len(pattern.heads), n_samples))
        np.add.at(B, pattern.heads, flows)
        np.subtract.at(B, pattern.tails, flows)
        return scale * self.prior.invert(eps).solve(B)

    def _unfitted(self) -> tuple[float, float]:
        """The eps and the scale of a field without values."""
        sigma = DEFAULT_SIGMA if self.sigma is None else self.sigma
        return 1 / sigma**2, 1.0 if self.scale is None else self.scale

    def fit(self, group: Group) -> list[Parameters]:
        """The parameters of every column of a group."""
        given = Given(self.sigma, group.noise, self.scale)
        if len(group.nodes) == 1 and given.scale is None and not given.noise:
            raise ValueError("one value does not tell how much the field varies: give a scale, or more values.")
        return Climb(self.prior, group.nodes, group.Y, self._H, given, group.ratios).run()

    def posterior(self, group: Group, columns: Ints, parameters: Parameters) -> Posterior:
        """The field given some columns of a group that have the same parameters but for the scale."""
        tau = parameters.tau * group.ratios
        smoothing = Smoothing(self.prior, group.nodes, group.Y[:, columns], parameters.eps, tau, self._H)
        return Posterior(smoothing, precisions(self._H.shape[1] - 1, parameters.p))

    def _posteriors(
        self, places: Ints, Y: Floats, noise: Any
    ) -> Iterator[tuple[Group, Ints, list[Parameters], Posterior]]:
        """The posteriors of all columns, those of equal parameters together."""
        for group in find_groups(places, Y, noise):
            parameters = self.fit(group)
            alike: dict[tuple[float, float, float], list[int]] = {}
            for column, one in enumerate(parameters):
                alike.setdefault((one.eps, one.tau, one.p), []).append(column)
            for columns in alike.values():
                chosen = [parameters[column] for column in columns]
                yield group, group.columns[columns], chosen, self.posterior(group, np.array(columns), chosen[0])
