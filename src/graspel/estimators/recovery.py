r"""GraspelRecovery: find the graph on which given signals are smooth, as a scikit-learn estimator.

The rows of X are nodes and its columns are signals, smooth on an unknown graph: x ~ N(0, L^+ + s^2 I), with white noise
of standard deviation s. On the graph of largest likelihood the effective resistance of every edge equals the mean
squared distance of the signals without noise, R = k. An information criterion decides which pairs are edges.

If the causes Y of the signals are known as well, L X = Y, as currents and voltages in a network of resistors, the
weights are those of least squares (:mod:`graspel.recovery.currents`).

References
----------
X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016. The model of signals and noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from graspel.data.preparation import power_of_two_unit
from graspel.data.validation import check_signals
from graspel.recovery.all_pairs import recover_from_all_pairs
from graspel.recovery.currents import check_currents, recover_from_currents
from graspel.recovery.pruning import recover_by_pruning
from graspel.recovery.recovered import CRITERIA, Recovered, RecoveryCertificate
from graspel.recovery.signals import estimate_noise, prepare_signals
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice, check_flag, check_number, check_run, generator
from graspel.runtime.progress import announce, printing_progress
from graspel.runtime.types import Floats

ALL_PAIRS = 64  # largest number of nodes for which every pair is a candidate by default; see docs/recovery.md
SPARSE = 2.4  # edges per node below which the graph of all pairs is compared with that of the learner's edges, and
CHANCE = 0.7  # share of its edges below which the latter is taken: the others are chance; see docs/notes/recovery.md
MAX_NOISE = 3.0  # upper limit of the noise, in standard deviations of the signals: a few signals tell it only roughly
FINER_THAN_CHANCE = 0.1  # upper limit of tol, in units of the relative standard deviation (2 / M)^(1/2) of distances


class GraspelRecovery(BaseEstimator):
    """Recover the weighted graph on which signals are smooth.

    Parameters
    ----------
    noise : "auto" or float, default="auto"
        Standard deviation of white noise in the signals, which is subtracted; 0 for none. "auto" estimates it
        (:func:`graspel.recovery.estimate_noise`).
    criterion : {"bic", "aic"}, default="bic"
        The information criterion. It sets the gain that an edge must bring, in units of twice the log-likelihood of the
        M signals: log M (BIC) or 2 (AIC). BIC finds the true edges as M grows; AIC keeps more edges.
    all_pairs : bool or None, default=None
        Whether every pair of nodes is a candidate, which takes time of order N^3 and more, or only the edges that
        `GRASPEL` finds. None: every pair up to 64 nodes, unless the graph is sparse (below 2.4 edges per node) and the
        other way finds less than 0.7 times as many edges. Then few signals have brought edges by chance.
    n_neighbors : int, default=5
        Neighbors of each node in GRASPEL's initial graph, where not all pairs are candidates. It is larger than the
        graph needs, because superfluous edges are removed later.
    tol : float, default=1e-3
        Largest |R / k - 1| on an edge at which the weights have converged (where exact resistances of more than
        5,000 nodes take too long, they are estimated). Many signals determine the weights more accurately, and then a
        smaller tolerance is used.
    random_state : int, RandomState, Generator or None, default=None
        Seed. The same seed gives the same graph.
    n_jobs : int, default=None
        Threads; None or -1 for all cores.
    verbose : bool, default=False
        Print progress.

    Attributes
    ----------
    graph_ : Graph
        The recovered graph, which is connected. Effective resistance on it is the mean squared distance of the signals.
    noise_ : float
        Standard deviation of the noise that was subtracted.
    certificate_ : RecoveryCertificate
        How far the weights are from the optimum.
    path_ : list of (int, float)
        With all pairs: number of edges and criterion of every graph compared. Otherwise, for every round: number of
        edges, and the smallest loss of likelihood that the removal of one edge would cause.
    error_ : float
        With currents, the relative error |Y - L X| / |Y| (NaN without).
    n_features_in_ : int
        Number of signals.

    Examples
    --------
    >>> from graspel import GraspelRecovery
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> truth = grid_graph(4, 4)
    >>> X = smooth_signals(truth, n_signals=1000, noise=0.5, random_state=0)
    >>> model = GraspelRecovery().fit(X)
    >>> model.graph_.n_edges, truth.n_edges
    (24, 24)
    """

    def __init__(
        self,
        *,
        noise: str | float = "auto",
        criterion: str = "bic",
        all_pairs: bool | None = None,
        n_neighbors: int = 5,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.noise = noise
        self.criterion = criterion
        self.all_pairs = all_pairs
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, currents: Any = None) -> GraspelRecovery:
        """Recover the graph of the rows of X.

        Parameters
        ----------
        X : array or DataFrame (nodes x signals), at least 2 x 2
        y : ignored
        currents : array of the shape of X, default=None
            The causes of the signals: in a network of resistors, the currents that enter at the nodes when X are the
            voltages, L X = Y. The weights are then conductances, fitted by nonnegative least squares; `noise`,
            `all_pairs` and `tol` are not used. What the currents of one column have in common is subtracted, because
            the network passes on all that enters.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from graspel.graph import grid_graph
        >>> grid = grid_graph(5, 5)
        >>> X = np.random.default_rng(0).normal(size=(25, 10))
        >>> model = GraspelRecovery(n_neighbors=12).fit(X, currents=grid.laplacian @ X)
        >>> model.graph_.n_edges, round(model.error_, 6)
        (40, 0.0)
        """
        self._check_parameters()
        if currents is not None:
            return self._fit_currents(X, currents)
        signals, unit = prepare_signals(check_signals(self, X))
        validate_data(self, X, skip_check_array=True)
        n, m = signals.shape
        if n > ALL_PAIRS if self.all_pairs is None else not self.all_pairs:
            self._check_neighbors(n)
        rng = generator(self.random_state)
        with one_thread_per_call(), printing_progress(self.verbose):
            announce("recovering", None, "noise")
            noise = estimate_noise(signals) if isinstance(self.noise, str) else _scale_noise(self.noise, unit, signals)
            tol = min(self.tol, FINER_THAN_CHANCE * (2 / m) ** 0.5)
            found = self._recover(signals, noise, tol, rng)
        return self._store(found, unit**2, m, noise / unit)

    def _fit_currents(self, X: Any, currents: Any) -> GraspelRecovery:
        """Recover the network of voltages X and currents."""
        voltages, causes = check_signals(self, X), check_currents(currents, np.shape(X))
        validate_data(self, X, skip_check_array=True)
        n, m = voltages.shape
        self._check_neighbors(n)
        unit, cause_unit = (power_of_two_unit(float(np.abs(values).max())) for values in (voltages, causes))
        voltages, causes = (voltages - voltages.mean(axis=0)) * unit, causes * cause_unit
        with one_thread_per_call(), printing_progress(self.verbose):
            price, rng = CRITERIA[self.criterion](n * m), generator(self.random_state)
            found = recover_from_currents(voltages, causes, price, rng, self.n_neighbors, self.n_jobs)
        return self._store(found, unit / cause_unit, m, 0.0)

    def _store(self, found: Recovered, scale: float, n_signals: int, noise: float) -> GraspelRecovery:
        """Keep a recovered graph, with weights times `scale`, and what is known of it."""
        self.graph_ = found.graph.scaled(scale) if scale != 1 else found.graph
        self.noise_, self.path_ = noise, found.path
        self.error_ = float("nan") if found.error is None else found.error
        self.certificate_ = RecoveryCertificate.of(found, n_signals, noise)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _recover(self, X: Floats, noise: float, tol: float, rng: np.random.Generator) -> Recovered:
        """The graph from all pairs or from the learner's edges; for few nodes from the one that has less chance."""
        n, price = len(X), CRITERIA[self.criterion](X.shape[1])
        if self.all_pairs or (self.all_pairs is None and n <= ALL_PAIRS):
            announce("recovering", None, "edges among all pairs")
            found = recover_from_all_pairs(X, noise**2, price, tol)
            if self.all_pairs or self.n_neighbors >= n or found.graph.density >= SPARSE:
                return found
            other = recover_by_pruning(X, noise**2, price, tol, rng, self.n_neighbors, self.n_jobs)
            return other if other.graph.n_edges < CHANCE * found.graph.n_edges else found
        return recover_by_pruning(X, noise**2, price, tol, rng, self.n_neighbors, self.n_jobs)

    def _check_neighbors(self, n_nodes: int) -> None:
        if self.n_neighbors >= n_nodes:
            raise ValueError(f"n_neighbors={self.n_neighbors}: must be smaller than the number of nodes, {n_nodes}.")

    def _check_parameters(self) -> None:
        if self.noise != "auto":
            check_number("noise", self.noise, "of at least 0, or 'auto'", lambda v: 0 <= v < np.inf)
        check_choice("criterion", self.criterion, CRITERIA)
        if self.all_pairs is not None:
            check_flag("all_pairs", self.all_pairs)
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True)
        check_number("tol", self.tol, "above 0", lambda v: 0 < v < np.inf)
        check_run(self.n_jobs, self.verbose)


def _scale_noise(noise: Any, unit: float, signals: Floats) -> float:
    """The noise that the user gave, in the units of the scaled signals."""
    size = float(np.sqrt(np.mean(signals**2)))
    if noise > MAX_NOISE * size / unit:
        raise ValueError(
            f"noise={noise!r}: must be at most {MAX_NOISE * size / unit:.2g}, {MAX_NOISE:g} times the standard "
            f"deviation of the signals ({size / unit:.2g}), which includes the noise. Pass a smaller number, or 'auto' "
            "to estimate it."
        )
    return float(noise) * unit
