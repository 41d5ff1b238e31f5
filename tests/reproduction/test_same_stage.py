"""One stage on all graphs: the consensus takes the graphs of others, and the page shows who is ahead of our default."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.metrics import clustering_accuracy
from reproduction import same_stage
from reproduction.baselines import KNN
from reproduction.clusterings import FoundClusters, Problem
from reproduction.request import Request
from reproduction.results import Results
from reproduction.same_stage import StageRow


@pytest.fixture
def problem(seed):
    """Three groups of 20 points, with a point that occurs twice."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([center + rng.standard_normal((20, 2)) for center in ([0, 0], [20, 0], [0, 20])])
    X[1] = X[0]
    return Problem("toy", X, np.repeat([0, 1, 2], 20), 0)


@pytest.mark.parametrize("name", ["knn", "graspel-2nn", "knn-seven", "graspel"])
def test_clear_groups_are_found_by_every_kind_of_row(problem, name):
    found = same_stage.ROWS[name].cluster(problem)
    assert clustering_accuracy(problem.y, found.labels) == 1
    assert found.density > 0.9


def test_the_vote_of_equal_graphs_is_their_clustering(problem):
    graph = KNN(5).learn(problem.X, 0)
    graph = same_stage.join_components(graph, problem.X, 0)
    alone = same_stage.cluster_each([graph], problem)[0]
    assert clustering_accuracy(alone, same_stage.vote([graph, graph, graph], problem)) == 1


def test_the_page_says_who_is_ahead(problem, monkeypatch, tmp_path):
    half = np.where(np.arange(60) < 10, 1, problem.y)
    monkeypatch.setattr(same_stage, "load_data", lambda name: problem)
    monkeypatch.setattr(
        same_stage,
        "ROWS",
        {
            "knn": StageRow("kNN", lambda _: FoundClusters(problem.y, density=5.0)),
            "graspel": StageRow("ours", lambda _: FoundClusters(half, density=1.5)),
        },
    )
    page = same_stage.run(Request(only=("usps",), seeds=1), Results(tmp_path, "graphs"))
    assert "+0.167 USPS" in page
    assert "1.000/1.000" in page
