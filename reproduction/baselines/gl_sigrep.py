r"""GL-SigRep: a graph on which the signals, without noise, are smooth.

Dong, Thanou, Frossard and Vandergheynst (2016) denoise the signals and learn the graph in turn:

    min over L, Y of   |X - Y|^2 + alpha Tr(Y'LY) + beta |L|_F^2,        L a Laplacian of trace N.

For given L, the signals are Y = (I + alpha L)^-1 X. For given Y it is a quadratic program on a simplex,

    min over w >= 0, sum w = N/2 of   alpha z_Y'w + beta (2 |w|^2 + |S w|^2),        z_Y = |y_p - y_q|^2.

With the best Y for each L inserted, the function of w alone has the gradient alpha z_Y + beta (4 w + 2 S'S w). So the
optimality condition of the quadratic program, with the Y that belongs to w, is that of the whole problem. Everything is
divided by 4 beta, which makes the second derivative in each weight about 1.

References
----------
X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from graspel.runtime.types import Floats
from reproduction.baselines.pairs import PairMethod, condensed_distances, degrees, laplacian, sums_of_ends
from reproduction.baselines.projected_gradient import Gradient, Minimum, Objective, kkt_residual, minimize, on_simplex


@dataclass(frozen=True)
class GLSigRep(PairMethod):
    """Laplacian of trace N on which the denoised signals are smooth (Dong et al. 2016), on all pairs.

    The weights sum to N/2. Time and memory grow as N^3 and N^2: 1,000 nodes take about half a minute on one core.

    Parameters
    ----------
    alpha : float
        Weight of the smoothness Tr(Y'LY).
    beta : float
        Weight of |L|_F^2: a larger one spreads the weights over more edges. Dong et al. choose it with the true graph
        known: 10**-0.2 for Gaussian graphs, the default, and 10**-0.6 for Erdos-Renyi graphs.
    tol : float
        KKT residual at which to stop.
    max_rounds : int
        Largest number of alternations between signals and graph.
    max_iter : int
        Largest number of iterations for each quadratic program.

    Examples
    --------
    >>> from reproduction.baselines import GLSigRep
    >>> from graspel.datasets import smooth_signals
    >>> from reproduction.random_graphs import gaussian_graph
    >>> truth = gaussian_graph(20, random_state=0)
    >>> graph = GLSigRep().learn(smooth_signals(truth, random_state=0))
    >>> round(2 * float(graph.weights.sum()), 6)  # the trace
    20.0
    """

    POSITIVE = ("alpha", "beta")

    alpha: float = 1e-2
    beta: float = 10**-0.2
    tol: float = 1e-5
    max_rounds: int = 50
    max_iter: int = 5000

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("max_rounds", "of at least 1", lambda v: v >= 1, whole=True)

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and their KKT residual."""
        minimum = self.minimum(X)
        return minimum.x, minimum.residual

    def minimum(self, X: Floats) -> Minimum:
        """Denoise the signals and learn the weights in turn, from equal weights. Values are of the whole function."""
        n = len(X)
        project = partial(on_simplex, total=n / 2)
        w = np.full(n * (n - 1) // 2, 1 / (n - 1))
        values: list[float] = []
        for _ in range(self.max_rounds + 1):
            Y = denoise(X, w, self.alpha)
            quadratic = smoothness(condensed_distances(Y) * (self.alpha / (4 * self.beta)))
            value, gradient = quadratic(w)
            values.append(4 * self.beta * value + float(((X - Y) ** 2).sum()))
            residual = kkt_residual(w, gradient(), project)
            if residual <= self.tol or len(values) > self.max_rounds:
                break
            w = minimize(quadratic, project, w, tol=self.tol / 2, max_iter=self.max_iter).x
        return Minimum(w, values, residual)


def denoise(X: Floats, w: Floats, alpha: float) -> Floats:
    """Y = (I + alpha L(w))^-1 X: the signals, smoothed on the graph."""
    return cho_solve(cho_factor(np.eye(len(X)) + alpha * laplacian(w)), X)


def smoothness(z: Floats) -> Objective:
    """Quadratic z'w + |w|^2 / 2 + |S w|^2 / 4, and its gradient z + w + S'S w / 2."""

    def objective(w: Floats) -> tuple[float, Gradient]:
        d = degrees(w)
        return float(z @ w + w @ w / 2 + d @ d / 4), lambda: z + w + sums_of_ends(d) / 2

    return objective
