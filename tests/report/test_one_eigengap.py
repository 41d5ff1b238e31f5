"""One count of rounds, one eigengap, one number of clusters: the clusterer and the report say the same."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from graspel import GRASPEL, GraspelClustering, NeighborIndex
from graspel.report.inputs import without_critical_edges
from report.conftest import gather

DATA = {"digits": load_digits().data[:400], "wine": StandardScaler().fit_transform(load_wine().data)}


@pytest.fixture(scope="module", params=[pytest.param("digits", marks=pytest.mark.long), "wine"])
def fitted(request):
    """Data, a learner with critical edges, and a clusterer, whose graph has no critical edges."""
    X = DATA[request.param]
    return X, GRASPEL(random_state=0).fit(X), GraspelClustering(random_state=0).fit(X)


def number_of_groups(found):
    return next(v["answer"] for v in found.verdicts.rows() if "number of groups" in v["question"])


def test_the_report_of_a_learner_has_the_number_and_the_clusters_of_the_clusterer(fitted):
    _, learner, clusterer = fitted
    assert without_critical_edges(learner.graph_).n_edges == clusterer.learner_.graph_.n_edges
    found = gather(learner)
    assert len(found.rest["groups"]) == clusterer.n_clusters_
    is_one = clusterer.eigengap_.n_clusters == clusterer.n_clusters_
    assert found.rest["spectrum"]["gap"] == (clusterer.n_clusters_ if is_one else None)
    assert (clusterer.eigengap_.sentence() in found.words["eigengap"]) == is_one, "the page has one number of groups"
    assert clusterer.cluster_count_.sentence() in found.words["eigengap"]
    assert clusterer.cluster_count_.sentence() in number_of_groups(found)


def test_of_points_on_other_machines_the_eigengap_decides(fitted, monkeypatch):
    _, learner, clusterer = fitted
    monkeypatch.setattr(NeighborIndex, "is_remote", True)
    found = gather(learner)
    assert found.rest["spectrum"]["gap"] == len(found.rest["groups"]) == clusterer.eigengap_.n_clusters
    assert clusterer.eigengap_.sentence() in found.words["eigengap"]
    assert clusterer.eigengap_.sentence() in number_of_groups(found)


def test_where_another_number_is_given_no_gap_says_how_many_groups_there_are(fitted):
    X, learner, clusterer = fitted
    assert clusterer.eigengap_.n_clusters != 4
    found = gather(learner, clusters=GraspelClustering(4, random_state=0).fit(X))
    assert len(found.rest["groups"]) == 4
    assert found.rest["spectrum"]["gap"] is None
    assert clusterer.eigengap_.sentence() not in found.words["eigengap"]
    assert "The 4 groups of this page do not rest on it." in found.words["eigengap"]


def test_there_is_one_count_of_rounds(fitted):
    _, learner, _ = fitted
    found = gather(learner)
    n_rounds = learner.certificate_.n_rounds
    assert n_rounds == learner.n_iter_ == len(found.rest["rounds"]) == len(found.rest["states"]) - 1
    words = f"{n_rounds} {'round' if n_rounds == 1 else 'rounds'}"
    assert f"after {words};" in next(
        v["answer"] for v in found.verdicts.rows() if v["question"] == "Is the graph finished?"
    )
    assert words in {row[0]: row[1] for row in learner.certificate_.sentences()}["settled"]
