r"""Steps: how the weights of given edges are moved to their optimum, in the variables u = w k.

**Quasi-Newton steps above a lower limit** need F and its exact gradient 1 - R / k (the signs are those of a problem of
minimization). The Hessian of -F is R_ef^2, R_ef = e' Theta^-1 f, in these variables with a unit diagonal on the edges
that keep a weight, and rows that sum to at most 1 / leverage. So the steps converge at a rate that does not depend on
the number of points: 16 evaluations to a gap of 1e-3 and 10 more for each further digit, on 1,200 to 5,000 points,
where multiplicative steps w <- w R / k with Anderson's extrapolation take 25 and 15. A variable at its limit whose
derivative is positive stays there. On the others the step is that of L-BFGS, from the last few changes of u and of the
gradient, and what falls below the limit is set to the limit. A step that does not lower the value enough is shortened.
The first step is u <- u (1 - g), g the gradient: the multiplicative step, which never raises the value and solves a
tree.

scipy's L-BFGS-B takes as many evaluations. But where one takes a millisecond, half of the time is its own: it searches
the bounds of all variables one by one.

**Damped steps** are for estimates of the leverages tau = w R. By the matrix-tree theorem logdet L is convex in log w,
so the step u <- tau(u) never lowers F; it is a minorization-maximization step (Hunter and Lange). With estimates of tau
that are unbiased (:mod:`graspel.linalg.edge_leverages`), the steps

    u <- u + a_t (tau - u),        a_t = 1, then smaller and smaller,

average over the errors of all steps (Robbins and Monro). Each has fresh random numbers. Momentum, half of the last
change of log u, shortens the way of the directions in which F is flat.

References
----------
D. C. Liu and J. Nocedal. On the limited memory BFGS method for large scale optimization. Mathematical Programming 45,
1989.

D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM Journal on Control and
Optimization 20, 1982.

D. R. Hunter and K. Lange. A tutorial on MM algorithms. The American Statistician 58, 2004.

H. Robbins and S. Monro. A stochastic approximation method. Annals of Mathematical Statistics 22, 1951.

B. T. Polyak. Some methods of speeding up the convergence of iteration methods. USSR Computational Mathematics and
Mathematical Physics 4, 1964. Momentum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graspel.runtime.types import Bools, Floats

MEMORY = 10  # steps that are remembered; 5 to 40 need the same number of evaluations
SUFFICIENT = 1e-4  # share of the decrease predicted by the gradient that a step must reach (Armijo)
SHORTEN = 0.4  # factor of a step that did not
SHORTEST = 1e-6  # factor at which the memory is given up, and without memory the search: only rounding errors are left
ROUNDING = 1e-13  # relative rounding error of the value
CURVATURE = 1e-12  # smallest cosine of a change of u and that of the gradient that are used
SHRINK = 0.1  # smallest factor by which a damped step changes u; estimates of small leverages may be negative
LOWEST = 1e-9  # smallest u; it keeps the graph connected whatever step is tried


def minimize_above(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    lower: float,
    is_done: Callable[[], bool],
    max_evaluations: int,
) -> Floats:
    """Minimize a function, which returns its value and gradient, until `is_done()` after a step.

    Examples
    --------
    >>> def parabola(u): return float(((u - [2.0, -1.0]) ** 2).sum()), 2 * (u - [2.0, -1.0])
    >>> minimize_above(parabola, np.ones(2), 0.25, lambda: False, 20).round(6)
    array([2.  , 0.25])
    """
    u = np.maximum(start, lower)
    value, gradient = function(u)
    changes: list[tuple[Floats, Floats]] = []
    n_evaluations = 1
    while n_evaluations < max_evaluations and not is_done():
        free = (u > lower) | (gradient < 0)
        direction = -np.where(free, _multiply_inverse(changes, free, np.where(free, gradient, 0.0), u), 0.0)
        length = 1.0
        while True:
            there = np.maximum(u + length * direction, lower)
            value_there, gradient_there = function(there)
            n_evaluations += 1
            predicted = float(gradient @ (there - u))
            is_lower = value_there <= value + SUFFICIENT * predicted + ROUNDING * abs(value)
            if is_lower or n_evaluations >= max_evaluations or length < SHORTEST:
                break
            length *= SHORTEN
        if is_lower:
            changes = [*changes, (there - u, gradient_there - gradient)][-MEMORY:]
            u, value, gradient = there, value_there, gradient_there
        elif changes:
            changes = []
        else:
            break
    return u


def _multiply_inverse(changes: list[tuple[Floats, Floats]], free: Bools, gradient: Floats, u: Floats) -> Floats:
    """The inverse Hessian as the changes tell it, times the gradient, on the free variables (two loops)."""
    used = []
    q = gradient
    for s, y in reversed(changes):
        s, y = np.where(free, s, 0.0), np.where(free, y, 0.0)
        curvature = float(s @ y)
        if curvature > CURVATURE * float(np.sqrt((s @ s) * (y @ y))):
            share = float(s @ q) / curvature
            q = q - share * y
            used.append((s, y, curvature, share))
    if not used:
        return q * u
    s, y, curvature, _ = used[0]
    q = q * (curvature / float(y @ y))
    for s, y, curvature, share in reversed(used):
        q = q + (share - float(y @ q) / curvature) * s
    return q


class Steps(NamedTuple):
    """A number of damped steps of the same length a, with momentum."""

    number: int
    length: float
    momentum: float


FIRST = (Steps(14, 1.0, 0.5), Steps(6, 0.5, 0.5))  # from equal leverages
LATER = (Steps(6, 1.0, 0.5), Steps(4, 0.5, 0.5))  # from nearly optimal weights and few new edges
FINAL = (Steps(10, 1.0, 0.5), Steps(6, 0.5, 0.5), Steps(6, 0.25, 0.5), Steps(6, 0.12, 0.5))  # to small errors


def follow_leverages(
    leverages: Callable[[Floats], Floats], start: Floats, schedule: tuple[Steps, ...], report: Callable[[float], None]
) -> Floats:
    """The numbers u after all damped steps of the schedule; `report` is told the share of them that is done.

    Every u, and the start, sums to the same as the leverages of every graph, N - 1 (Foster).

    Examples
    --------
    >>> leverages = np.array([0.5, 0.5, 1.0])
    >>> follow_leverages(lambda u: leverages, np.array([0.6, 0.6, 0.8]), FINAL, lambda share: None).round(3)
    array([0.5, 0.5, 1. ])
    """
    u, size = np.maximum(start, LOWEST), float(start.sum())
    before, done, total = np.log(u), 0, sum(steps.number for steps in schedule)
    for steps in schedule:
        for _ in range(steps.number):
            report(done / total)
            now = np.log(u)
            after = np.maximum(u + steps.length * (leverages(u) - u), SHRINK * u)
            u = np.maximum(after * np.exp(steps.momentum * np.clip(now - before, -1, 1)), LOWEST)
            u *= size / u.sum()
            before, done = now, done + 1
    return u
