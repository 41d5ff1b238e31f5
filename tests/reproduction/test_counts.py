"""How many clusters: each reference counts as right, and the sets that were looked at are kept apart."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.data.prepare import prepare_rows
from reproduction import authors_code, counts
from reproduction.counts import CountRule, miss
from reproduction.data import Labeled, center_rows
from reproduction.request import Request
from reproduction.results import Results


@pytest.fixture
def blobs(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([center + rng.standard_normal((20, 2)) for center in ([0, 0], [40, 0], [0, 40])])
    return Labeled(X, [np.repeat([1, 2, 3], 20), np.repeat([1, 2, 2], 20)])


@pytest.mark.parametrize("rule", counts.COUNT_RULES)
def test_three_groups_far_apart_are_counted(blobs, rule):
    assert counts.COUNT_RULES[rule].count(blobs, 0) == 3


def test_the_nearest_reference_counts(blobs):
    assert counts.count_references(blobs) == [2, 3]
    assert [miss(number, [2, 3]) for number in (2, 3, 7)] == [0, 0, 4]


def test_the_page(blobs, monkeypatch, tmp_path):
    monkeypatch.setattr(counts, "list_sets", lambda large: ["iris", "a.b", "a.c"])
    monkeypatch.setattr(counts, "load_labeled", lambda name: blobs)
    monkeypatch.setattr(counts, "COUNT_RULES", {"five": CountRule("always five", lambda data, seed: 5)})
    page = counts.run(Request(), Results(tmp_path, "counts"))
    assert "0 of 2, 2.00 | 0 of 1, 2.00 | 0 of 3, 2.00" in page
    assert counts.was_looked_at("a.b")
    assert not counts.was_looked_at("a.c")


def test_variants_of_the_authors_code_run(blobs, monkeypatch, tmp_path):
    class Data:
        X, y = blobs.X, blobs.labelings[0]

    monkeypatch.setattr(authors_code, "load_data", lambda name: Data)
    request = Request(only=("usps",), methods=("text", "text-unit", "code", "code-joined", "code-5k"), seeds=1)
    results = Results(tmp_path, "authors-code")
    page = authors_code.run(request, results)
    assert "the paper" in page
    assert results["usps/text-unit/0"]["acc"] == 1.0
    assert results["usps/code-joined/0"]["components"] == 1


def test_a_round_of_the_published_code_weighs_by_eta_and_that_of_the_text_by_distance():
    """A line of points: the ends of its path are much farther apart on the graph than in space, as it is bent."""
    angle = np.linspace(0.05, 2 * np.pi - 0.05, 200)
    X = np.stack([np.cos(angle), np.sin(angle), np.zeros(200)], axis=1)
    for name, by_eta in (("code-joined", True), ("text", False)):
        graph, rounds = authors_code.learn(X, authors_code.VARIANTS[name]._replace(window=0.05), 0)
        new = graph.round == 1
        assert rounds > 1
        assert new.any()
        z = prepare_rows(center_rows(X)).squared_distances(graph.heads, graph.tails)
        by_distance = np.isclose(graph.weights, 1 / (X.shape[1] * z))
        assert by_distance[graph.round == 0].all()
        assert by_distance[new].all() != by_eta
        assert not by_eta or (graph.weights[new] >= authors_code.TOL).all()
