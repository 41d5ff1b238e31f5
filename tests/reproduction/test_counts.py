"""How many clusters: each reference counts as right, and the sets that were looked at are kept apart."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction import authors_code, counts
from reproduction.counts import CountRule, miss
from reproduction.data import Labeled
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
    request = Request(only=("usps",), methods=("text", "u2-u5", "mean", "5k-scaled", "one-start", "unit"), seeds=1)
    results = Results(tmp_path, "authors-code")
    page = authors_code.run(request, results)
    assert "the paper" in page
    assert len(results["usps/one-start/0"]["acc"]) == authors_code.ONE_START_SEEDS
    assert results["usps/unit/0"]["acc"] == [1.0]
