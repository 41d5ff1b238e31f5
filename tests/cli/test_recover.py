"""``graspel recover``: the graph, the comparison with a known one, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graspel.datasets import smooth_signals
from graspel.graph import Graph, grid_graph


@pytest.fixture
def signals(tmp_path):
    """Signals on a grid of 12 nodes, and the grid."""
    truth = grid_graph(3, 4)
    np.save(tmp_path / "signals.npy", smooth_signals(truth, 500, noise=0.3, random_state=0))
    truth.save(tmp_path / "truth.npz")
    return tmp_path


def test_the_graph_is_written_and_compared(graspel, signals):
    out = signals / "graph.npz"
    result = graspel("recover", signals / "signals.npy", "-o", out, "--truth", signals / "truth.npz")
    assert result.code == 0
    assert Graph.read(out).is_connected
    for shown in ("F-measure", "noise", "gap on edges", "precision"):
        assert shown in result.out


def test_json(graspel, signals):
    result = graspel(
        "recover", signals / "signals.npy", "-o", signals / "g.csv", "--truth", signals / "truth.npz", "--json"
    )
    record = json.loads(result.out)
    assert record["f_measure"] > 0.9
    assert record["support_gap"] <= 1e-3
    assert record["n_nodes"] == 12


def test_options_reach_the_estimator(graspel, signals):
    options = ["--noise", "0", "--seed", "1", "--json"]
    options += ["--set", "criterion=aic", "--set", "all_pairs=false", "--set", "n_neighbors=3"]
    result = graspel("recover", signals / "signals.npy", "-o", signals / "g.npz", *options)
    record = json.loads(result.out)
    assert record["noise"] == 0
    assert record["outside_gap"] is None


def test_quiet(graspel, signals):
    assert graspel("recover", signals / "signals.npy", "-o", signals / "g.npz", "-q").out == ""


def test_a_truth_of_another_size(graspel, signals):
    grid_graph(5, 5).save(signals / "other.npz")
    result = graspel("recover", signals / "signals.npy", "-o", signals / "g.npz", "--truth", signals / "other.npz")
    assert result.code == 2
    assert "25 nodes" in result.err
    assert not (signals / "g.npz").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--noise", "-1"], "noise"), (["--set", "criterion=cic"], "criterion"), (["--set", "n_neighbors=0"], "n_neigh")],
)
def test_options_that_make_no_sense(graspel, signals, options, message):
    result = graspel("recover", signals / "signals.npy", "-o", signals / "g.npz", *options)
    assert result.code == 2
    assert message in result.err


def test_one_signal(graspel, tmp_path):
    np.save(tmp_path / "one.npy", np.arange(5.0)[:, None])
    result = graspel("recover", tmp_path / "one.npy", "-o", tmp_path / "g.npz")
    assert result.code == 2
    assert "at least 2 signals" in result.err
