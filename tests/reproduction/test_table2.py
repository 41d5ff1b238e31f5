"""Table 2 and the recovery times: all rows, both ways of scoring, each cell measured once."""

from __future__ import annotations

import numpy as np
import pytest

from graspel import Graph
from graspel.metrics import edge_scores
from reproduction import Request, Results, recovery_time, table2
from reproduction.paper import TABLE2
from reproduction.random_graphs import erdos_renyi_graph
from reproduction.table2 import GRAPHS, METHODS, make_problem, oracle_threshold


def test_every_method_learns_a_graph_of_every_kind():
    for kind in GRAPHS:
        truth, X = make_problem(kind, 0)
        assert X.shape == (20, 100)
        assert truth.n_nodes == 20
    for name in METHODS:
        cell = table2.measure_recovery("er", name, 0)
        assert 0 < cell["plain"]["f_measure"] <= cell["oracle"]["f_measure"] + 1e-12, name


def test_a_run_goes_on_where_it_was(tmp_path, monkeypatch):
    request = Request(only=("er",), methods=("graspel", "lsgl"), seeds=2)
    text = table2.run(request, Results(tmp_path, "table2"))
    assert "as it comes" in text
    assert "by oracle" in text
    monkeypatch.setattr(table2, "measure_recovery", lambda *_: pytest.fail("measured again"))
    assert table2.run(request, Results(tmp_path, "table2")) == text


def test_the_papers_numbers_stand_beside_ours(tmp_path):
    text = table2.run(Request(only=("er",), methods=("graspel",), seeds=1), Results(tmp_path, "table2"))
    assert f"{TABLE2['er']['graspel'].f_measure:.3f}" in text


def test_recovery_times_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(recovery_time, "QUICK_SIZES", (20, 30))
    text = recovery_time.run(Request(methods=("graspel", "glsc"), quick=True), Results(tmp_path, "fig-recovery-time"))
    assert "GLSC" in text
    assert (tmp_path / "fig-recovery-time.png").stat().st_size > 10_000


def test_a_slow_peer_is_not_asked_for_more(tmp_path):
    results = Results(tmp_path, "times")
    results.entries["20/glsc"] = {"value": {"seconds": 100.0, "f_measure": 0.5}}
    assert not recovery_time._is_to_be_measured(results, "glsc", 50, (20, 50))
    assert recovery_time._is_to_be_measured(results, "graspel", 50, (20, 50))


def test_the_oracle_threshold_is_the_best_of_all(seed):
    truth, learned = (erdos_renyi_graph(15, p, seed) for p in (0.3, 0.4))
    learned = learned.with_weights(
        np.random.default_rng(seed).uniform(0.01, 1, learned.n_edges).round(1) + 0.1
    )  # with ties
    best = edge_scores(truth, learned, threshold=oracle_threshold(truth, learned)).f_measure
    assert best == max(edge_scores(truth, learned, threshold=t).f_measure for t in np.unique(learned.weights))
    assert oracle_threshold(truth, Graph(15, [], [], [])) == 0
