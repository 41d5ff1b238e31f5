r"""Quasi-Newton steps above a lower limit: minimize a smooth convex function of u >= lower.

A variable at its limit whose derivative is positive stays there. On the others the step is that of L-BFGS, from the
last few changes of u and of the gradient, and what falls below the limit is set to the limit. A step that does not
lower the value enough is shortened. The first step is u <- u (1 - g), g the gradient: for optimal weights it is the
multiplicative step w <- w R / k, which never raises the value and solves a tree.

scipy's L-BFGS-B takes as many evaluations. But where one takes a millisecond, half of the time is its own: it searches
the bounds of all variables one by one.

References
----------
D. C. Liu and J. Nocedal. On the limited memory BFGS method for large scale optimization. Mathematical Programming 45,
1989.

D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM Journal on Control and
Optimization 20, 1982.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graspel.runtime.types import Bools, Floats

MEMORY = 10  # steps that are remembered; 5 to 40 need the same number of evaluations
ENOUGH = 1e-4  # share of the decrease that the gradient promises, which a step must reach
SHORTEN = 0.4  # factor of a step that did not
SHORTEST = 1e-6  # factor at which the memory is given up, and without memory the search: only rounding errors are left
ROUNDING = 1e-13  # relative rounding error of the value
CURVATURE = 1e-12  # smallest cosine of a change of u and that of the gradient that are used


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
            promised = float(gradient @ (there - u))
            is_lower = value_there <= value + ENOUGH * promised + ROUNDING * abs(value)
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
