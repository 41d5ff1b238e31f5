from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from graspel.learning.history import Round
from graspel.learning.objective import best_scale
from graspel.learning.stability import (
    STABILITY,
    distortion_is_small,
    distortion_removed,
    eigenvalues_are_steady,
)


def rounds(*etas: float, eigenvalues=(1.0, 2.0)) -> list[Round]:
    return [Round(i, eta, eta / 2, 1, 1.5, np.array(eigenvalues), 0.0, 0.0) for i, eta in enumerate(etas, start=1)]


@pytest.mark.parametrize(("max_eta", "stable"), [(9.999, True), (10.0, False), (10.001, False)])
def test_distortion_must_fall_under_the_tolerance(max_eta, stable):
    assert distortion_is_small(max_eta, np.ones(3), [], 10.0) is stable


@pytest.mark.parametrize(
    ("before", "now", "stable"),
    [
        ([1.0, 1.1, 9.0], [1.0, 1.1, 9.0], True),
        ([1.0, 1.1, 9.0], [1.005, 1.1, 9.0], True),
        ([1.0, 1.1, 9.0], [1.02, 1.1, 9.0], False),
        ([1.0, 1.1, 9.0], [1.0, 1.2, 9.0], False),
        ([1.0, 1.1, 7.0], [1.0, 1.1, 9.0], True),  # what lies behind the largest gap may move
        ([0.0, 0.0], [1.0, 1.1, 9.0], False),  # components were joined in between
    ],
)
def test_eigenvalues_up_to_the_gap_must_keep_still(before, now, stable):
    history = rounds(5.0, eigenvalues=before)
    assert eigenvalues_are_steady(1e9, np.array(now), history, 0.01) is stable


def test_the_first_round_has_nothing_to_compare_with():
    assert eigenvalues_are_steady(1.0, np.ones(3), [], 0.5) is False


def test_without_a_tolerance_the_rule_takes_the_scale_of_calibration(rng):
    """c* = (N - 1) / sum w (z + 4 beta) = (N - 1) M / (number of edges), where w = 1 / (M z) and beta = 0."""
    X = rng.standard_normal((50, 6))
    seen = []
    model = GRASPEL(random_state=0).fit(X, callback=lambda record, graph: seen.append((record, graph)))
    _, graph = seen[-1]
    z = prepare_rows(X).squared_distances(graph.heads, graph.tails)
    assert best_scale(graph, z, 0.0) == pytest.approx(49 * 6 / graph.n_edges)
    assert model.certificate_.settled
    assert model.certificate_.eta_max < 49 * 6 / graph.n_edges
    for record, _ in seen[1 if seen[0][0].eigenvalues[0] == 0 else 0 : -1]:
        assert record.max_eta >= 49 * 6 / (record.density * 50) * (1 - 1e-9)


@pytest.mark.parametrize("name", list(STABILITY))
def test_rules_settle(name, rng):
    X = rng.standard_normal((120, 3)) + 8 * rng.standard_normal((4, 3))[rng.integers(4, size=120)]
    model = GRASPEL(stability=name, random_state=0).fit(X)
    assert model.certificate_.settled
    assert model.history_[-1].n_added == 0
    assert len(model.history_[-1].eigenvalues) == STABILITY[name].n_eigenvalues


def test_the_rule_of_eigenvalues_stops_at_the_first_round_that_moves_them_little(rng):
    X = rng.standard_normal((120, 30)) + 3 * rng.standard_normal((4, 30))[rng.integers(4, size=120)]
    model = GRASPEL(stability="eigenvalues", tol=0.1, random_state=0).fit(X)
    spectra = [record.eigenvalues for record in model.history_ if record.was_connected]
    steady = []
    for before, now in pairwise(spectra):
        k = 1 + int(np.argmax((now[1:] - now[:-1]) / now[1:]))
        steady.append(bool(np.all(np.abs(now - before)[:k] / now[:k] < 0.1)))
    assert len(steady) > 1
    assert steady == [False] * (len(steady) - 1) + [True]


def test_share_done_counts_the_way_from_the_first_distortion_to_the_tolerance():
    assert distortion_removed(rounds(1000.0), 10.0) == 0.0
    assert distortion_removed(rounds(1000.0, 100.0), 10.0) == pytest.approx(0.5)
    assert distortion_removed(rounds(1000.0, 100.0, 500.0), 10.0) == pytest.approx(0.5)  # never goes back
    assert distortion_removed(rounds(1000.0, 5.0), 10.0) == 1.0
    assert distortion_removed(rounds(1000.0, 0.0), 10.0) == 1.0


def test_share_done_is_unknown_before_the_first_connected_round():
    assert distortion_removed([], 10.0) is None
    assert distortion_removed(rounds(1e9, eigenvalues=(0.0,)), 10.0) is None
    assert distortion_removed(rounds(5.0), 10.0) is None
    assert STABILITY["eigenvalues"].share_done(rounds(1.0, 2.0), 0.01) is None
