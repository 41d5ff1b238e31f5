from __future__ import annotations

import json

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.learning.certificate import SAMPLED_NODES, Certificate, resistance_against_distance
from twins import laplacian, resistances, z_data


def learned(seed: int, n: int = 150, callback=None, **settings) -> tuple[np.ndarray, GRASPEL]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) + 6 * rng.standard_normal((5, 4))[rng.integers(5, size=n)]
    return X, GRASPEL(random_state=0, **settings).fit(X, callback=callback)


def test_it_counts_what_is_there(seed):
    X, model = learned(seed)
    certificate = model.certificate_
    assert certificate.n_nodes == len(X)
    assert certificate.n_edges == model.graph_.n_edges
    assert certificate.connected is True
    assert certificate.density == model.graph_.density
    assert certificate.n_rounds == len(model.history_) == model.n_iter_
    assert certificate.eta_max == model.history_[-1].max_eta
    assert certificate.neighbor_recall == 1.0


@pytest.mark.parametrize("beta", [0.0, 1e-4])
def test_spectrum_and_objective_are_those_of_the_graph(seed, beta):
    X, model = learned(seed, sigma=50.0, beta=beta)
    L = laplacian(model.graph_)
    assert model.certificate_.lambda_2 == pytest.approx(np.linalg.eigvalsh(L)[1], rel=1e-5)
    trace = (L * -z_data(X) / 2).sum()  # Tr(X'LX)/M
    F = np.linalg.slogdet(L + np.eye(len(X)) / 50.0**2)[1] - trace - beta * np.abs(L).sum()
    assert model.certificate_.objective == pytest.approx(F, rel=1e-6)
    assert model.certificate_.objective_error == 0.0


def test_resistance_is_compared_with_distance_on_all_pairs_of_a_sample(seed):
    X, model = learned(seed, n=SAMPLED_NODES)  # few enough that the sample is everyone
    p, q = np.triu_indices(len(X), 1)
    R, z = resistances(model.graph_)[p, q], z_data(X)[p, q]
    certificate = model.certificate_
    assert certificate.n_sampled_pairs == len(p)
    assert certificate.resistance_correlation == pytest.approx(np.corrcoef(R, z)[0, 1], abs=1e-3)
    assert certificate.resistance_ratio == pytest.approx(np.median(R / z), rel=1e-3)


def test_resistance_and_distance_grow_together(seed):
    _, model = learned(seed)
    assert model.certificate_.resistance_correlation > 0.2
    assert 0.1 < model.certificate_.resistance_ratio < 10


@pytest.mark.parametrize(
    ("R", "z", "correlation", "ratio"),
    [
        ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 1.0, 0.5),
        ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], -1.0, 1.0),
        ([1.0, 1.0], [2.0, 4.0], np.nan, 0.375),
        ([1.0, 2.0], [1.0, 1.0], np.nan, 1.5),
        ([1.0], [2.0], np.nan, 0.5),
        ([1.0, 5.0], [0.0, 0.0], np.nan, np.nan),
        ([1.0, 5.0, 6.0], [0.0, 1.0, 2.0], 0.945, 4.0),
    ],
)
def test_correlation_and_ratio(R, z, correlation, ratio):
    found = resistance_against_distance(np.array(R), np.array(z))
    assert found == pytest.approx((correlation, ratio), abs=1e-3, nan_ok=True)


def test_settled_is_said_only_where_it_is_so(seed):
    assert learned(seed)[1].certificate_.settled is True
    with pytest.warns(match="did not settle"):
        assert learned(seed, tol=1e-6, max_iter=2)[1].certificate_.settled is False
    assert learned(seed, max_iter=0)[1].certificate_.settled is False
    assert learned(seed, callback=lambda *_: True)[1].certificate_.settled is False


def test_it_can_be_read_by_people_and_machines(seed):
    certificate = learned(seed)[1].certificate_
    entries = certificate.as_dict()
    assert json.loads(json.dumps(entries)) == entries
    # Weights were not refined, nor was the optimum searched.
    unknown = {name for name, value in entries.items() if value is None}
    assert unknown == {"support_gap", "optimality_gap", "optimality_pairs", "largest_excess"}
    assert all(type(value) in (int, float, bool) for name, value in entries.items() if name not in unknown)
    for label, value, meaning in certificate.sentences():
        assert label
        assert value
        assert meaning
    assert repr(certificate).startswith("Certificate(\n  n_nodes=150,\n")
    assert eval(repr(certificate), {"Certificate": Certificate}) == certificate


def test_without_a_round_there_is_no_eta(rng):
    X = np.cumsum(1 + rng.random((30, 1)), axis=0)  # a line: its 2NN graph is connected
    certificate = GRASPEL(max_iter=0, random_state=0).fit(X).certificate_
    assert certificate.n_rounds == 0
    assert np.isnan(certificate.eta_max)
    assert ("eta max", "unknown") in [sentence[:2] for sentence in certificate.sentences()]
