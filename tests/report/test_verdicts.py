"""The verdicts: they say whether a number is good for these data, agree with the certificate's table, and advise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graspel.learning.eigengap import eigengap
from graspel.learning.verdicts import judge as judge_entries
from graspel.report.verdicts import judge

QUESTIONS = {"R against z": "Can distances be computed", "kNN recall": "Were the nearest neighbors found"}
CLEAR, UNCLEAR = eigengap([0.01, 0.02, 1.0, 1.4]), eigengap([1.0, 2.0, 3.0, 4.1])


def find(verdicts, question):
    return next(verdict for verdict in verdicts if verdict.question.startswith(question))


@pytest.mark.parametrize("r", [0.05, 0.32, 0.7, 0.95])
@pytest.mark.parametrize("ratio", [0.2, 1.0, 9.0])
def test_distances(model, r, ratio):
    certificate = replace(model.certificate_, resistance_correlation=r, resistance_ratio=ratio)
    found = find(judge(certificate, CLEAR), "Can distances")
    assert found.rating == judge_entries(certificate)["R against z"].word
    assert found.answer.startswith({"good": "Yes.", "doubtful": "Roughly", "bad": "No, not here"}[found.rating])
    assert (found.advice == "") == (found.rating == "good")
    assert f"{r:.2f}" in found.answer
    if r == 0.32:
        assert found.rating == "bad", "where distances cannot be read off the graph, the page says so"


@pytest.mark.parametrize("r", [0.1, 0.7])
def test_nobody_is_sent_to_refine_an_optimum(model, r):
    certificate = replace(model.certificate_, resistance_correlation=r, resistance_ratio=0.5, optimality_gap=1e-4)
    for advice in (find(judge(certificate, CLEAR), "Can distances").advice, judge_entries(certificate)["R against z"]):
        assert "refine" not in str(advice)
        assert "GraspelEmbedding" in str(advice)


@pytest.mark.parametrize("recall", [0.5, 0.95, 1.0])
def test_neighbors(model, recall):
    certificate = replace(model.certificate_, neighbor_recall=recall)
    found = find(judge(certificate, CLEAR), "Were the nearest")
    assert found.rating == judge_entries(certificate)["kNN recall"].word
    assert f"{recall:.1%}" in found.answer


def test_rounds_connection_gap_and_agreement(model):
    c = model.certificate_
    assert find(judge(replace(c, settled=True), CLEAR), "Is the graph finished").rating == "good"
    open_end = find(judge(replace(c, settled=False), CLEAR), "Is the graph finished")
    assert open_end.rating == "doubtful"
    assert f"after {c.n_rounds} rounds" in open_end.answer
    assert find(judge(replace(c, connected=False), CLEAR), "Is everything connected").rating == "bad"
    assert find(judge(c, CLEAR), "Is the number of groups").rating == "good"
    assert find(judge(c, UNCLEAR), "Is the number of groups").advice
    for agreement, rating in ((0.95, "good"), (0.8, "doubtful"), (0.4, "bad")):
        assert find(judge(c, CLEAR, agreement), "Are the groups the same").rating == rating


def test_what_was_not_measured_is_left_out(model):
    certificate = replace(model.certificate_, neighbor_recall=np.nan, resistance_ratio=np.nan)
    questions = {verdict.question for verdict in judge(certificate, None)}
    assert questions == {"Is everything connected?", "Is the graph finished?"}
