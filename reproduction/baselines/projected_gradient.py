r"""Projected gradient: the minimum of a smooth function over a convex set with a simple projection.

    x <- P(x - t g),        g the gradient, P the projection on the set.

The step size t is that of Barzilai and Borwein (1988), |s|^2 / s'y and s'y / |y|^2 in turn, with s and y the last
changes of x and g. It is halved until the function decreases enough, so the values never increase. The method stops by
the optimality condition of Karush, Kuhn and Tucker, x = P(x - g):

    residual = max |x - P(x - g)| <= tol.

The callers scale x so that the second derivative in each entry is about 1 and the entries at each node sum to about 1.
The residual is then relative: the largest error of a weight, as a share of the weights at a node.

References
----------
J. Barzilai and J. M. Borwein. Two-point step size gradient methods. IMA Journal of Numerical Analysis 8, 1988.

E. G. Birgin, J. M. Martinez and M. Raydan. Nonmonotone spectral projected gradient methods on convex sets. SIAM Journal
on Optimization 10, 2000. The projected variant; ours is monotone.

L. Armijo. Minimization of functions having Lipschitz continuous first partial derivatives. Pacific Journal of
Mathematics 16, 1966.

C. Michelot. A finite algorithm for finding the projection of a point onto the canonical simplex of R^n. Journal of
Optimization Theory and Applications 50, 1986.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graspel.runtime.types import Floats

Gradient = Callable[[], Floats]
# The value at x (infinite outside the domain), and a function that computes the gradient there, which may take longer.
Objective = Callable[[Floats], tuple[float, Gradient]]
Projection = Callable[[Floats], Floats]

ENOUGH = 1e-4  # smallest decrease of a step, as a share of the decrease predicted by the gradient (Armijo's rule)
ROUNDING = 1e-15  # increase that counts as a rounding error, as a share of the value
SHORTEST, LONGEST = 1e-8, 1e8  # limits of the step size t


@dataclass(frozen=True)
class Minimum:
    """Result of a minimization.

    Attributes
    ----------
    x : array
    values : list of float, the function after each iteration
    residual : float, max |x - P(x - g)|
    """

    x: Floats
    values: list[float]
    residual: float

    @property
    def n_steps(self) -> int:
        """The number of steps that were taken."""
        return len(self.values) - 1


def minimize(objective: Objective, project: Projection, x: Floats, *, tol: float, max_iter: int) -> Minimum:
    """Minimize a function over a set, from a point x of the set.

    Parameters
    ----------
    objective : callable, x -> (value, callable that returns the gradient)
    project : callable, x -> nearest point of the set
    x : array
    tol : float
        Residual at which to stop.
    max_iter : int
        Largest number of iterations.

    Returns
    -------
    Minimum

    Examples
    --------
    >>> import numpy as np
    >>> target = np.array([1.0, -2.0])
    >>> def objective(x):
    ...     return 0.5 * ((x - target) ** 2).sum(), lambda: x - target
    >>> minimize(objective, non_negative, np.zeros(2), tol=1e-9, max_iter=10).x
    array([1., 0.])
    """
    value, gradient = objective(x)
    g, t, values = gradient(), 1.0, [value]
    for iteration in range(max_iter):
        if kkt_residual(x, g, project) <= tol:
            break
        while True:
            x_next = project(x - t * g)
            s = x_next - x
            value_next, gradient = objective(x_next)
            if value_next <= value - ENOUGH / t * (s @ s) + ROUNDING * abs(value):
                break
            t /= 2
            if t < SHORTEST:  # further decreases are below the rounding error
                return Minimum(x, values, kkt_residual(x, g, project))
        g_next = gradient()
        t = _barzilai_borwein(s, g_next - g, long=iteration % 2 == 0)
        x, g, value = x_next, g_next, value_next
        values.append(value)
    return Minimum(x, values, kkt_residual(x, g, project))


def _barzilai_borwein(s: Floats, y: Floats, *, long: bool) -> float:
    curvature = float(s @ y)
    if curvature <= 0:
        return 1.0
    return min(max(float(s @ s) / curvature if long else curvature / float(y @ y), SHORTEST), LONGEST)


def kkt_residual(x: Floats, g: Floats, project: Projection) -> float:
    """The largest entry of x - P(x - g): zero exactly at a minimum (of a convex function).

    >>> kkt_residual(np.array([0.0, 2.0]), np.array([0.5, 0.25]), non_negative)
    0.25
    """
    return float(np.abs(x - project(x - g)).max())


def non_negative(x: Floats) -> Floats:
    """Nearest point with x >= 0."""
    return np.maximum(x, 0.0)


def on_simplex(x: Floats, total: float) -> Floats:
    """Nearest point with x >= 0 and sum x = total: max(0, x - theta), with theta from Michelot's (1986) algorithm.

    >>> on_simplex(np.array([3.0, 2.0, -1.0]), total=2.0)
    array([1.5, 0.5, 0. ])
    """
    kept = x
    while True:
        theta = (kept.sum() - total) / len(kept)
        above = kept[kept > theta]
        if len(above) in (0, len(kept)):  # 0: all are equal
            return np.maximum(x - theta, 0.0)
        kept = above
