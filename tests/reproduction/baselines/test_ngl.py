from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from reproduction.baselines import GLSC, NGL, RECOVERY
from reproduction.random_graphs import erdos_renyi_graph
from twins import all_squared_distances, pairs_of, resistances

# A ConvergenceWarning is an error in all tests but the one that expects it.
pytestmark = pytest.mark.filterwarnings(f"error::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")

SETTINGS = [(0.3, 0.1), (1.0, 0.05), (1.0, 1.0)]


def signals(seed, n=12, n_signals=40):
    rng = np.random.default_rng(seed)
    return smooth_signals(erdos_renyi_graph(n, 0.35, rng), n_signals, random_state=rng)


def distances(X):
    return all_squared_distances(X) / X.shape[1]


def mcp(w, penalty, gamma):
    """The integral of max(0, penalty - w / gamma)."""
    return np.where(w < gamma * penalty, penalty * w - w**2 / (2 * gamma), gamma * penalty**2 / 2)


def whole_objective(X, penalty, gamma):
    """The objective of Ying et al. (2020) as a function of the weights of all pairs, with its gradient."""
    n = len(X)
    p, q = np.triu_indices(n, 1)
    z, E = distances(X)[p, q], np.eye(n)[p] - np.eye(n)[q]

    def objective(w):
        T = E.T * w @ E + 1 / n
        R = np.einsum("ij,jk,ik->i", E, np.linalg.inv(T), E)
        value = z @ w - np.linalg.slogdet(T)[1] + mcp(w, penalty, gamma).sum()
        return value, z - R + np.maximum(0, penalty - w / gamma)

    return objective


def general_minimum(objective, start):
    # The lower bound keeps L + 11'/N positive definite wherever the line search tries it.
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    bounds = [(1e-10, None)] * len(start)
    return minimize(objective, np.maximum(start, 1e-10), jac=True, bounds=bounds, method="L-BFGS-B", options=options)


def weights_of(graph):
    return graph.adjacency.toarray()[np.triu_indices(graph.n_nodes, 1)]


@pytest.mark.parametrize(("penalty", "gamma"), SETTINGS)
def test_the_optimality_conditions_hold(seed, penalty, gamma):
    X = signals(seed)
    graph = NGL(penalty, gamma, tol=1e-7).learn(X)
    W = graph.adjacency.toarray()
    R, k = resistances(graph), distances(X) + np.maximum(0, penalty - W / gamma)
    heavy = W * k > 1e-5
    off = ~np.eye(len(X), dtype=bool)
    assert R[heavy] == pytest.approx(k[heavy], rel=1e-5)
    assert (R[off] <= k[off] * (1 + 1e-6)).all()
    assert graph.is_connected


@pytest.mark.parametrize(("penalty", "gamma"), SETTINGS)
def test_a_general_solver_cannot_improve_it(seed, penalty, gamma):
    X = signals(seed, n=8)
    objective = whole_objective(X, penalty, gamma)
    w = weights_of(NGL(penalty, gamma, tol=1e-7).learn(X))
    slow = general_minimum(objective, w)
    assert objective(w)[0] <= slow.fun + 1e-7
    assert w == pytest.approx(slow.x, abs=1e-3 * w.max())


def test_a_general_solver_finds_the_same_where_the_penalty_is_hardly_concave(seed):
    X = signals(seed, n=8)
    slow = general_minimum(whole_objective(X, 0.5, 10.0), weights_of(GLSC(alpha=0.0).learn(X)))
    assert weights_of(NGL(0.5, 10.0, tol=1e-7).learn(X)) == pytest.approx(slow.x, abs=1e-3 * slow.x.max())


@pytest.mark.parametrize(("penalty", "gamma"), SETTINGS)
def test_reweighting_never_raises_the_objective(seed, penalty, gamma):
    X = signals(seed)
    z, n = distances(X)[np.triu_indices(len(X), 1)], len(X)
    objective = whole_objective(X, penalty, gamma)
    unpenalized = weights_of(GLSC(alpha=0.0).learn(X))
    first = len(GLSC().minimum(z, n).values)  # by then the likelihood alone is maximized
    iterations = [first + more for more in (1, 3, 10, 30, 100, 1000)]
    values = [objective(unpenalized)[0]] + [
        objective(NGL(penalty, gamma, max_iter=many).reweight(z, n)[0])[0] for many in iterations
    ]
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] < values[0] - 1e-3


@pytest.mark.parametrize("gamma", [1e-9, 1.0, 1e9])
def test_without_penalty_or_with_a_straight_one_it_is_glsc(seed, gamma):
    X = signals(seed)
    penalty = 0.4 if gamma == 1e9 else 0.0
    other = GLSC(alpha=penalty / 4, tol=1e-7).learn(X).adjacency.toarray()
    assert NGL(penalty, gamma, tol=1e-7).learn(X).adjacency.toarray() == pytest.approx(other, abs=1e-4 * other.max())


def test_the_concave_penalty_is_sparser_than_the_straight_one(seed):
    X = signals(seed, n=20, n_signals=100)
    straight, concave = GLSC(alpha=0.25, tol=1e-6).learn(X), NGL(penalty=1.0, gamma=0.1, tol=1e-6).learn(X)
    assert concave.n_edges < 0.8 * GLSC(alpha=0.0, tol=1e-6).learn(X).n_edges < straight.n_edges


def test_many_signals_give_the_graph_that_made_them_and_nothing_else():
    truth = grid_graph(4, 5)
    X = smooth_signals(truth, 5_000, noise=0.0, random_state=0)
    assert pairs_of(NGL().learn(X)) == pairs_of(truth)
    assert len(pairs_of(GLSC(alpha=0.0).learn(X))) > truth.n_edges


def test_two_nodes():
    # 1 / w = z + max(0, penalty - w / gamma) with z = 2.5
    w = NGL(penalty=1.0, gamma=1.0, tol=1e-9).learn([[0.0, 1.0], [2.0, 0.0]]).weights
    assert w == pytest.approx([brentq(lambda w: 2.5 * w + w * max(0, 1 - w) - 1, 0.01, 1)])


def test_copies_of_a_node_are_refused():
    with pytest.raises(ValueError, match=r"nodes 0 and 2 have equal signals: .*Leave one of them out"):
        NGL().learn([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])


def test_it_has_a_name():
    assert RECOVERY["ngl"] is NGL


@pytest.mark.parametrize("max_iter", [2, 30])
def test_too_few_iterations_are_reported(max_iter):
    with pytest.warns(ConvergenceWarning, match=r"NGL reached a KKT residual of .*, not the tol=1\.0e-10"):
        NGL(max_iter=max_iter, tol=1e-10).learn(signals(0))


@pytest.mark.parametrize("bad", [{"penalty": -1.0}, {"gamma": 0.0}, {"gamma": np.inf}, {"tol": 0.0}, {"max_iter": 0}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}=.*: must be a"):
        NGL(**bad)
