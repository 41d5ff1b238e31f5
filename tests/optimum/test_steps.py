"""Quasi-Newton steps above a lower limit: the optimality conditions, and the value of scipy's L-BFGS-B."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from graspel.optimum.steps import minimize_above

LOWER = 1e-6


def quadratic(seed, n=40):
    """A convex function with a Hessian of condition 1e3; about half of the variables end at their limit."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H, center = (Q * np.logspace(0, 3, n)) @ Q.T, rng.normal(size=n)
    return lambda u: (float((u - center) @ H @ (u - center)) / 2, H @ (u - center))


def test_optimality_conditions_hold(seed):
    function = quadratic(seed)
    u = minimize_above(function, np.ones(40), LOWER, lambda: False, 1000)
    gradient = function(u)[1]
    at_limit = u <= LOWER
    assert 5 <= at_limit.sum() <= 35
    assert (u >= LOWER).all()
    assert_allclose(gradient[~at_limit], 0, atol=1e-4)
    assert gradient[at_limit].min() > -1e-4
    best = minimize(function, np.ones(40), jac=True, bounds=[(LOWER, None)] * 40, options={"maxiter": 1000})
    assert function(u)[0] <= best.fun * (1 + 1e-6)


def test_values_never_rise_between_steps_and_evaluations_are_limited(seed):
    values = []
    function = quadratic(seed)

    def count(u):
        values.append(function(u)[0])
        return function(u)

    reached = []
    minimize_above(count, np.ones(40), LOWER, lambda: bool(reached.append(values[-1])), 30)
    assert len(values) == 30
    assert (np.diff(reached) <= 1e-9 * abs(reached[0])).all()


def test_ends_when_only_rounding_errors_are_left():
    counted = []

    def flat(u):
        counted.append(1)
        return float(1e6 + ((u - 2) ** 2).sum() * 1e-12), 2e-12 * (u - 2)

    minimize_above(flat, np.full(3, 5.0), LOWER, lambda: False, 500)
    assert len(counted) <= 500


def test_a_wrong_gradient_ends_the_search():
    """Nothing is lower along the step, so the memory and then the search are given up."""
    counted = []

    def wrong(u):
        counted.append(1)
        return float(u.sum()), -np.ones(len(u))

    minimize_above(wrong, np.ones(3), LOWER, lambda: False, 500)
    assert len(counted) < 60
