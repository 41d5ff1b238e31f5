"""What a user gives beside the points: labels that are not known, parts that do not fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from graspel import GRASPEL, GraspelClustering, NeighborIndex, audit
from graspel.report.classes import compare_with_classes
from graspel.report.groups import describe_groups
from graspel.report.inputs import check_inputs


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, 3, centers=[[0, 0, 0], [9, 9, 0], [0, 9, 9]], random_state=0)
    y[11] = (y[11] + 1) % 3  # one false label
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, ""], ids=repr)
def test_points_without_a_label_are_neither_doubtful_nor_witnesses(blobs, missing):
    X, classes = blobs
    y = classes.astype(object)
    y[np.arange(90) % 4 == 0] = missing
    found = audit(X, y, clusters=3).tables["labels"]
    assert found["point"][found["confident"]].tolist() == [11]
    assert not (found["point"] % 4 == 0).any()
    assert set(found["label"]) | set(found["suggested"]) <= {"ant", "bee", "cat"}
    groups = audit(X, y, clusters=3).tables["groups"]
    assert all("100 %" in row or "97 %" in row or "96 %" in row or "95 %" in row for row in groups["classes"])


def test_a_report_has_no_doubt_about_points_without_a_label(blobs):
    X, classes = blobs
    y = np.where(np.arange(90) % 4 == 0, "", classes.astype(str))
    inputs = check_inputs(GRASPEL(random_state=0).fit(X), labels=y, clusters=3)
    found = compare_with_classes(inputs, describe_groups(inputs))
    assert found.confident.tolist() == [11]
    assert not (found.doubtful["point"] % 4 == 0).any()


def test_copies_with_one_label_unknown_do_not_contradict(blobs):
    X, classes = blobs
    X, y = X.copy(), classes.astype(object)
    X[20], y[20] = X[21], None
    assert "another label" not in repr(audit(X, y, clusters=3))


def test_no_labels_at_all(blobs):
    assert audit(blobs[0], [None] * 90, clusters=3).counts["labels"] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"clusters": np.zeros(5, dtype=int)}, "clusters has 5 entries, but X has 90 rows"),
        ({"values": np.zeros((3, 3))}, "values has 3 entries, but X has 90 rows"),
        ({"y": np.linspace(0, 1, 90)}, "y holds 0.01.*: must be classes"),
    ],
)
def test_what_does_not_fit_the_points_is_refused(blobs, given, message):
    with pytest.raises(ValueError, match=message):
        audit(blobs[0], **given)


def test_a_clustering_of_other_points_and_a_metric_that_the_index_has_not(blobs):
    X = blobs[0]
    with pytest.raises(ValueError, match="clusters has 40 entries"):
        audit(X, clusters=GraspelClustering(2, random_state=0).fit(X[:40]))
    with pytest.raises(ValueError, match="metric='cosine': the index was made with metric='euclidean'"):
        audit(NeighborIndex(X), metric="cosine")
