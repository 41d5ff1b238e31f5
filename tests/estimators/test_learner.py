"""The estimator: scikit-learn's contract, its history, its callback, and the paper's run."""

from __future__ import annotations

import os
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graspel import GRASPEL, Graph, Origin
from graspel.data.prepare import prepare_rows
from graspel.learning.candidates import CANDIDATES
from graspel.learning.history import Round
from graspel.learning.objective import best_scale
from twins import laplacian, pairs_of, z_data


def blobs(seed: int, n: int = 150, m: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) + 4 * rng.standard_normal((5, m))[rng.integers(5, size=n)]


class Listener:
    """A callback that keeps its arguments and stops in a given round."""

    def __init__(self, stop_in: int | None = None) -> None:
        self.calls: list[tuple[Round, Graph]] = []
        self.stop_in = stop_in

    def __call__(self, record: Round, graph: Graph) -> bool:
        self.calls.append((record, graph))
        return record.round == self.stop_in


@cache
def fitted(seed: int) -> tuple[GRASPEL, Listener]:
    """A model with the default parameters, and all that its callback was called with; tests only read them."""
    listener = Listener()
    return GRASPEL(random_state=0).fit(blobs(seed), callback=listener), listener


# The interface of scikit-learn


def test_it_works_at_the_end_of_a_pipeline():
    X = load_iris().data
    pipeline = make_pipeline(StandardScaler(), GRASPEL(random_state=0)).fit(X)
    assert pipeline[-1].graph_ == GRASPEL(random_state=0).fit(StandardScaler().fit_transform(X)).graph_


def test_its_graph_serves_as_a_precomputed_affinity():
    X, y = load_iris(return_X_y=True)
    graph = GRASPEL(random_state=0).fit(X).graph_
    labels = SpectralClustering(3, affinity="precomputed", random_state=0).fit(graph.adjacency).labels_
    assert labels.shape == y.shape


def test_clone_get_params_and_set_params():
    model = GRASPEL(3, tol=10, candidates="clusters", max_iter=0, random_state=0).fit(blobs(0))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "graph_")
    copy.set_params(tol=20.0, window=0.1)
    assert (copy.tol, copy.window, model.tol) == (20.0, 0.1, 10)
    with pytest.raises(ValueError, match="windw"):
        copy.set_params(windw=0.1)


def test_parameters_are_kept_as_given():
    tol, initial = np.float32(5), Graph(150, np.arange(149), np.arange(1, 150), 1.0)
    model = GRASPEL(tol=tol, initial=initial, max_iter=0, random_state=0).fit(blobs(0))
    assert model.tol is tol
    assert model.initial is initial


def test_pickle_keeps_everything():
    model = clone(fitted(0)[0]).fit(blobs(0))
    again = pickle.loads(pickle.dumps(model))
    assert again.graph_ == model.graph_
    assert again.certificate_ == model.certificate_
    assert repr(again.history_) == repr(model.history_)


def test_names_of_columns_are_remembered():
    X = blobs(0, m=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GRASPEL(random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    assert model.graph_ == GRASPEL(random_state=0).fit(X).graph_
    assert not hasattr(model.fit(X), "feature_names_in_")


def test_fit_returns_the_model_and_ignores_y():
    model = GRASPEL(random_state=0)
    assert model.fit(blobs(0), y="nothing") is model


# What it learns


@pytest.mark.parametrize("candidates", ["fiedler", "clusters"])
def test_every_edge_says_why_it_is_there(seed, candidates):
    X = blobs(seed)
    model = GRASPEL(candidates=candidates, edge_ratio=0.02, random_state=0).fit(X)
    graph = model.graph_
    assert set(graph.origin) <= {Origin.NEIGHBOR, Origin.JOIN, Origin.CRITICAL}
    assert (graph.round[graph.origin == Origin.NEIGHBOR] == 0).all()
    for record in model.history_:
        of_round = graph.round == record.round
        assert of_round.sum() == record.n_added
        if record.n_added:
            assert graph.eta[of_round].max() == pytest.approx(record.max_eta)
            assert (graph.gradient[of_round] > 0).all()
            ends = np.concatenate([graph.heads[of_round], graph.tails[of_round]])
            if record.was_connected:
                assert len(set(ends.tolist())) == len(ends)  # no node twice in one round
                assert record.n_added <= round(0.02 * 150)
    assert np.isnan(graph.eta[graph.origin == Origin.NEIGHBOR]).all()


@pytest.mark.parametrize("candidates", ["fiedler", "clusters"])
@pytest.mark.long_seeds
def test_the_history_is_true(seed, candidates):
    """Every number of a record, computed again from full matrices of the graph that the callback got."""
    X, listener, sigma, beta = blobs(seed), Listener(), 100.0, 1e-5
    settings = {"candidates": candidates, "sigma": sigma, "beta": beta, "edge_ratio": 0.02}
    model = GRASPEL(random_state=0, **settings).fit(X, callback=listener)
    assert [record for record, _ in listener.calls] == model.history_
    assert [record.round for record in model.history_] == list(range(1, model.n_iter_ + 1))
    z = z_data(X)
    for (_, before), (record, after) in zip(listener.calls[:-1], listener.calls[1:], strict=True):
        values, vectors = np.linalg.eigh(laplacian(before))
        k = len(record.eigenvalues)
        assert record.eigenvalues == pytest.approx(values[1 : k + 1], rel=1e-4)
        penalty = before.weights @ (z[before.heads, before.tails] + 4 * beta)
        assert record.objective == pytest.approx(np.log(values[1 : k + 1] + sigma**-2).sum() - penalty, rel=1e-4)
        assert record.density == before.density
        assert record.n_added == after.n_edges - before.n_edges
        assert pairs_of(before) <= pairs_of(after)
        assert 0 < record.mean_eta <= record.max_eta
        new = after.round == record.round
        r = 1 if candidates == "fiedler" else 20
        U = vectors[:, 1 : r + 1] / np.sqrt(values[1 : r + 1] + sigma**-2)
        z_emb = ((U[after.heads[new]] - U[after.tails[new]]) ** 2).sum(axis=1)
        assert after.eta[new] == pytest.approx(z_emb / z[after.heads[new], after.tails[new]], rel=1e-3)
        assert after.gradient[new] == pytest.approx(z_emb - z[after.heads[new], after.tails[new]] - 4 * beta, rel=1e-3)
        assert after.weights[new] == pytest.approx(1 / (8 * z[after.heads[new], after.tails[new]]), rel=1e-5)
        assert record.seconds > 0


def test_joining_components_is_the_first_round(seed):
    model, _ = fitted(seed)
    first = model.history_[0]
    joins = model.graph_.origin == Origin.JOIN
    assert joins.any()
    assert first.n_added == joins.sum() == len(first.eigenvalues)
    assert not first.was_connected
    assert (first.eigenvalues == 0).all()
    assert np.isnan(first.objective)
    assert first.max_eta == model.graph_.eta[joins].max()
    assert first.mean_eta == pytest.approx(model.graph_.eta[joins].mean())
    assert first.density == (model.graph_.round == 0).sum() / 150


def test_the_last_graph_is_the_learned_one_but_for_its_scale(seed):
    model, listener = fitted(seed)
    last = listener.calls[-1][1]
    z = prepare_rows(blobs(seed)).squared_distances(last.heads, last.tails)
    assert pairs_of(last) == pairs_of(model.graph_)
    assert model.graph_.weights / last.weights == pytest.approx(best_scale(last, z, 0.0))


@pytest.mark.parametrize("stop_in", [1, 3])
def test_the_callback_can_stop_the_run(seed, stop_in):
    listener = Listener(stop_in)
    model = GRASPEL(tol=1e-6, edge_ratio=0.02, random_state=0).fit(blobs(seed), callback=listener)
    assert model.n_iter_ == stop_in == len(listener.calls)
    assert model.graph_.round.max() == stop_in
    assert model.graph_.is_connected
    assert isinstance(listener.calls[0][0], Round)
    assert isinstance(listener.calls[0][1], Graph)


def test_an_error_in_the_callback_leaves_nothing_half_fitted():
    def fail(record, graph):
        raise ZeroDivisionError

    model = GRASPEL()
    with pytest.raises(ZeroDivisionError):
        model.fit(blobs(0), callback=fail)
    assert not hasattr(model, "graph_")


@pytest.mark.parametrize("max_iter", [1, 3])
def test_max_iter_is_kept_and_a_warning_says_so(seed, max_iter):
    with pytest.warns(ConvergenceWarning, match=rf"max_iter={max_iter} rounds.*1e-06.*edge_ratio"):
        model = GRASPEL(tol=1e-6, max_iter=max_iter, random_state=0).fit(blobs(seed))
    assert model.n_iter_ == max_iter
    assert not model.certificate_.settled
    assert model.graph_.is_connected


def test_no_rounds_is_the_joined_initial_graph(seed, recwarn):
    model = GRASPEL(max_iter=0, random_state=0).fit(blobs(seed))
    assert not recwarn.list
    assert set(model.graph_.origin) <= {Origin.NEIGHBOR, Origin.JOIN}
    assert model.n_iter_ <= 1


def test_smaller_tolerances_give_denser_graphs(seed):
    densities = [
        GRASPEL(tol=tol, edge_ratio=0.03, random_state=0).fit(blobs(seed)).graph_.density for tol in (100, 10, 3)
    ]
    assert densities == sorted(densities)
    assert densities[0] < densities[-1]


@pytest.mark.parametrize(("name", "n_components"), [("fiedler", 5), ("fiedler", 500), ("clusters", 1)])
def test_any_number_of_eigenvectors(seed, name, n_components):
    candidates = CANDIDATES[name]._replace(n_components=n_components)
    model = GRASPEL(candidates=candidates, random_state=0).fit(blobs(seed))
    assert model.certificate_.settled
    assert len(model.history_[-1].eigenvalues) == max(3, min(149, n_components))


def test_the_cosine_does_not_see_how_long_rows_are(seed):
    X = blobs(seed)
    lengths = np.random.default_rng(seed).uniform(0.1, 10, (150, 1))
    one, other = (GRASPEL(metric="cosine", random_state=0).fit(Y).graph_ for Y in (X, X * lengths))
    assert pairs_of(one) == pairs_of(other)
    assert other.weights == pytest.approx(one.weights, rel=1e-6)


def test_digits_settle_into_an_ultra_sparse_graph():
    model = GRASPEL(random_state=0).fit(load_digits().data)
    certificate = model.certificate_
    assert certificate.settled
    assert certificate.density < 1.6
    assert certificate.resistance_correlation > 0.15
    assert certificate.n_rounds < 30


DATA = Path(os.environ.get("GRASPEL_DATA", "/nowhere"))


@pytest.mark.skipif(not (DATA / "usps.npz").exists(), reason="GRASPEL_DATA names no folder with usps.npz")
def test_the_papers_run():
    """What must hold, 3: USPS settles within 25 rounds; the largest distortion falls by more than 2,600 times."""
    from reproduction.datasets import load

    X = load("usps").X
    model = GRASPEL(2, tol=10, random_state=0).fit(X - X.mean(axis=1, keepdims=True))
    first, last = model.history_[0], model.history_[-1]
    assert not first.was_connected
    assert model.certificate_.settled
    assert model.n_iter_ <= 25
    assert last.max_eta < 10
    assert first.max_eta > 2600 * last.max_eta
    assert all(record.n_added == 9 for record in model.history_[1:-1])  # 0.001 |V|
