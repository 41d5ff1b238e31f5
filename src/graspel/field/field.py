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
from scipy.sparse.csgraph import breadth_first_order

from graspel.field.design import Design, choose_greedily
from graspel.field.new_points import NewPoints
from graspel.field.parameters import Climb, Given, Parameters, precisions
from graspel.field.posterior import NO_NOISE, Posterior, Prior, Smoothing
from graspel.field.values import ColumnGroup, check_measured, group_columns
from graspel.graph.adjacency import check_nodes, check_positive
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Floats, Ints

PART = 20_000  # nodes of a part whose parameters are those of a graph that is too large for an exact factor
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
    error : float
        Relative standard error of the deviations, where they are estimated; 0 if they are exact.
    """

    mean: Floats
    deviation: Floats
    sigma: Any
    noise: Any
    scale: Any
    error: float = 0.0


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
    trend_blocks : tuple of int or None
        Numbers of successive features whose weights have the same variance; None for one block. The weights of
        features after the blocks are estimated freely, as the mean is.
    error : float
        0: everything is exact, and a graph for which that takes too long is refused. Otherwise the relative standard
        error allowed of variances in such a graph; means are accurate, and parameters that are not given are those of
        a connected part of 20,000 nodes.
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
        trend_blocks: tuple[int, ...] | None = None,
        error: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        if sigma is not None:
            check_positive("sigma", sigma, "the prior standard deviation, or None to estimate it")
        if scale is not None:
            check_positive("scale", scale, "the standard deviation of the field in units of the graph, or None")
        check_number("error", error, "from 0 to 1", lambda v: 0 <= v < 1)
        self.prior = Prior(graph, n_jobs, error)
        self._n_jobs = n_jobs
        self.n_nodes, self.sigma, self.scale = self.prior.n_nodes, sigma, scale
        features = np.empty((self.n_nodes, 0)) if trend is None else np.asarray(trend, dtype=np.float64)
        self._H = np.column_stack([features.reshape(self.n_nodes, -1), np.ones(self.n_nodes)])
        n_features = self._H.shape[1] - 1
        self._blocks = trend_blocks or ((n_features,) if n_features else ())

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
        places, Y = check_measured(values, nodes, self.n_nodes)
        mean, deviation = np.empty((2, self.n_nodes, Y.shape[1]))
        found = np.empty((3, Y.shape[1]))
        for group, columns, parameters, posterior in self._posteriors(places, Y, noise):
            mean[:, columns] = posterior.mean
            found[:, columns] = _describe(group, parameters)
            deviation[:, columns] = np.sqrt(posterior.variance)[:, None] * found[2, columns]
        return _shaped(mean, deviation, found, np.shape(values)[1:], self.prior.error / 2)

    def leave_one_out(self, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None) -> LeftOut:
        """Predict every value from all others, by a formula with the diagonal of the inverse.

        The parameters are those that fit all values. NaN where the others say nothing of a value, or where rounding
        leaves no digits of it: at values without noise whose edges are far heavier than what leads to the others.

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
        self.prior.require_exact("leave_one_out")
        places, Y = check_measured(values, nodes, self.n_nodes)
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
        self.prior.require_exact("log_likelihood")
        places, Y = check_measured(values, nodes, self.n_nodes)
        likelihood = np.empty(Y.shape[1])
        for _, columns, parameters, posterior in self._posteriors(places, Y, noise):
            likelihood[columns] = posterior.log_likelihood(np.array([one.scale for one in parameters]))
        return likelihood.reshape(np.shape(values)[1:])[()]

    def variances(self) -> Floats:
        """The variance of the field at every node before any measurement; sigma is 1000 and the scale 1 if not set."""
        eps, scale = self._unfitted()
        return np.asarray(self.prior.invert(np.full(self.n_nodes, eps)).diagonal * scale**2)

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
        (eps, scale), rng = self._unfitted(), generator(random_state)
        B = self.prior.pattern.draw(np.full(self.n_nodes, eps), n_samples, rng)
        return np.asarray(scale * self.prior.invert(np.full(self.n_nodes, eps)).solve(B))

    def predict(
        self, points: NewPoints, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None
    ) -> Conditioned:
        """The field at points beside the nodes, given values at some nodes; `deviation` is without noise.

        Parameters
        ----------
        points : NewPoints
        values, nodes, noise
            As in `leave_one_out`.
        """
        places, Y = check_measured(values, nodes, self.n_nodes)
        mean, deviation = np.empty((2, len(points.indices), Y.shape[1]))
        found = np.empty((3, Y.shape[1]))
        for group, columns, parameters, posterior in self._posteriors(places, Y, noise):
            mean[:, columns], variance = points.predict(posterior)
            found[:, columns] = _describe(group, parameters)
            deviation[:, columns] = np.sqrt(variance)[:, None] * found[2, columns]
        return _shaped(mean, deviation, found, np.shape(values)[1:], self.prior.error / 2)

    def next_measurements(self, k: int, nodes: ArrayLike = (), *, noise: float = 0.0) -> Design:
        """The k nodes whose measurement lowers the total variance most, chosen one after the other.

        It depends on where is measured, not on the values. sigma is 1000 and the scale 1 if not set.

        Parameters
        ----------
        k : int
        nodes : array of node numbers, default=()
            Where is measured already.
        noise : float, default=0
            Standard deviation of the noise of all measurements.

        Returns
        -------
        design : Design

        Examples
        --------
        >>> from graspel import Graph
        >>> path = Graph(7, range(6), range(1, 7), 1.0)
        >>> Field(path).next_measurements(1).nodes
        array([3])
        """
        taken = check_nodes(nodes, self.n_nodes).astype(np.int64)
        n_free = self.n_nodes - len(np.unique(taken))
        check_number("k", k, f"from 1 to {n_free}, the nodes that are left", lambda v: 1 <= v <= n_free, whole=True)
        check_number("noise", noise, ">= 0", lambda v: 0 <= v < np.inf)
        eps, scale = self._unfitted()
        tau = max((noise / scale) ** 2, NO_NOISE / (self.prior.units[0] + eps))
        s = np.full(self.n_nodes, eps)
        s[taken] += 1 / tau
        self.prior.require_exact("next_measurements")
        design = choose_greedily(self.prior.pattern.invert(s), int(k), tau, taken)
        return Design(design.nodes, design.total_variance * scale**2, design.bound * scale**2)

    def _unfitted(self) -> tuple[float, float]:
        """The eps and the scale of a field without values."""
        sigma = DEFAULT_SIGMA if self.sigma is None else self.sigma
        return 1 / sigma**2, 1.0 if self.scale is None else self.scale

    def fit(self, group: ColumnGroup) -> list[Parameters]:
        """The parameters of every column of a group."""
        given = Given(self.sigma, group.noise, self.scale)
        if len(group.nodes) == 1 and given.scale is None and not given.noise:
            raise ValueError("one value does not tell how much the field varies: give a scale, or more values.")
        prior, H = self.prior, self._H
        if prior.error:
            A = prior.pattern.adjacency
            part = np.sort(breadth_first_order(A, group.nodes[0], return_predecessors=False)[:PART])
            inside = np.isin(group.nodes, part)
            nodes = np.searchsorted(part, group.nodes[inside])
            group = group._replace(nodes=nodes, Y=group.Y[inside], ratios=group.ratios[inside])
            prior, H = Prior(A[part][:, part], self._n_jobs), H[part]
        climbs = [Climb(prior, group, H, self._blocks, given, unit).run() for unit in prior.units]
        return [max(found, key=lambda scored: scored[0])[1] for found in zip(*climbs, strict=True)]

    def posterior(self, group: ColumnGroup, columns: Ints, parameters: Parameters) -> Posterior:
        """The field given some columns of a group that have the same parameters but for the scale."""
        tau = parameters.tau * group.ratios
        smoothing = Smoothing(self.prior, group.nodes, group.Y[:, columns], parameters.eps, tau, self._H)
        return Posterior(smoothing, precisions(self._blocks, parameters.p, self._H.shape[1]))

    def _posteriors(
        self, places: Ints, Y: Floats, noise: Any
    ) -> Iterator[tuple[ColumnGroup, Ints, list[Parameters], Posterior]]:
        """The posteriors of all columns, those of equal parameters together."""
        for group in group_columns(places, Y, noise):
            parameters = self.fit(group)
            alike: dict[tuple[float, float, tuple[float, ...]], list[int]] = {}
            for column, one in enumerate(parameters):
                alike.setdefault((one.eps, one.tau, one.p), []).append(column)
            for columns in alike.values():
                chosen = [parameters[column] for column in columns]
                yield group, group.columns[columns], chosen, self.posterior(group, np.array(columns), chosen[0])


def _describe(group: ColumnGroup, parameters: list[Parameters]) -> Floats:
    """The rows sigma, noise and scale of some columns."""
    noises = [one.noise if group.noise is None else group.noise for one in parameters]
    return np.array([[one.sigma for one in parameters], noises, [one.scale for one in parameters]])


def _shaped(mean: Floats, deviation: Floats, found: Floats, shape: tuple[int, ...], error: float) -> Conditioned:
    """Results with as many columns as the values had."""
    sigma, noise, scale = (row.reshape(shape)[()] for row in found)
    rows = (len(mean), *shape)
    return Conditioned(mean.reshape(rows), deviation.reshape(rows), sigma, noise, scale, error)
