"""The verdicts: they say whether a number is good for these data, agree with the certificate's table, and advise."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.findings import judge
from graspel.learning.eigengap import eigengap

CLEAR, UNCLEAR = eigengap([0.01, 0.02, 1.0, 1.4]), eigengap([1.0, 2.0, 3.0, 4.1])


@pytest.fixture(scope="module")
def certificate():
    X = np.random.default_rng(0).standard_normal((120, 5))
    return GRASPEL(edge_ratio=0.01, tol=10.0, max_iter=20, random_state=0).fit(X).certificate_


def find(verdicts, question):
    return next(SimpleNamespace(**row) for row in verdicts.rows() if row["question"].startswith(question))


@pytest.mark.parametrize("r", [0.05, 0.32, 0.7, 0.95])
@pytest.mark.parametrize("ratio", [0.2, 1.0, 9.0])
def test_distances(certificate, r, ratio):
    certificate = replace(certificate, resistance_correlation=r, resistance_ratio=ratio)
    found = find(judge(certificate, CLEAR), "Can distances")
    near = 1 / 3 <= ratio <= 3
    assert found.rating == ("bad" if r < 0.6 else "good" if r >= 0.9 and near else "doubtful")
    assert found.entry == "R against z"
    assert found.answer.startswith({"good": "Yes.", "doubtful": "Roughly", "bad": "No, not here"}[found.rating])
    assert (found.advice == "") == (found.rating == "good")
    assert f"{r:.2f}" in found.answer
    if r == 0.32:
        assert found.rating == "bad", "where distances cannot be read off the graph, the page says so"


@pytest.mark.parametrize("r", [0.1, 0.7])
def test_nobody_is_sent_to_refine_an_optimum(certificate, r):
    certificate = replace(certificate, resistance_correlation=r, resistance_ratio=0.5, optimality_gap=1e-4)
    advice = find(judge(certificate, CLEAR), "Can distances").advice
    assert "refine" not in advice
    assert "GraspelEmbedding" in advice


@pytest.mark.parametrize("recall", [0.5, 0.95, 1.0])
def test_neighbors(certificate, recall):
    certificate = replace(certificate, neighbor_recall=recall)
    found = find(judge(certificate, CLEAR), "Were the nearest")
    assert found.rating == {0.5: "bad", 0.95: "doubtful", 1.0: "good"}[recall]
    assert f"{recall:.1%}" in found.answer


def test_rounds_connection_gap_and_agreement(certificate):
    c = replace(certificate, n_rounds=3)
    assert find(judge(replace(c, settled=True), CLEAR), "Is the graph finished").rating == "good"
    open_end = find(judge(replace(c, settled=False), CLEAR), "Is the graph finished")
    assert open_end.rating == "doubtful"
    assert f"after {c.n_rounds} rounds" in open_end.answer
    assert find(judge(replace(c, connected=False), CLEAR), "Is everything connected").rating == "bad"
    assert find(judge(c, CLEAR), "Is the number of groups").rating == "good"
    assert find(judge(c, UNCLEAR), "Is the number of groups").advice
    for agreement, rating in ((0.95, "good"), (0.8, "doubtful"), (0.4, "bad")):
        assert find(judge(c, CLEAR, agreement), "Are the groups the same").rating == rating


def test_what_was_not_measured_is_left_out(certificate):
    certificate = replace(certificate, neighbor_recall=np.nan, resistance_ratio=np.nan)
    questions = set(judge(certificate, None)["question"])
    assert questions == {"Is everything connected?", "Is the graph finished?", "Is the graph ultra-sparse?"}


def test_every_entry_is_one_of_the_certificate(certificate):
    labels = {label for label, _, _ in certificate.sentences()}
    verdicts = judge(replace(certificate, support_gap=0.5))
    assert set(verdicts["entry"]) <= labels
    assert find(verdicts, "Are the weights").rating == "bad"
    joined = replace(certificate, settled=False, n_rounds=1)
    assert find(judge(joined), "Is the graph finished").rating == "good", "a round that joins components is none"
