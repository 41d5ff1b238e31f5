"""One search of neighbors for each data set: by each estimator, by the report, and none where an index is shared."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from graspel import (
    GRASPEL,
    GraspelClassifier,
    GraspelClustering,
    GraspelEmbedding,
    GraspelNeighbors,
    GraspelRecovery,
    GraspelTSNE,
    NeighborIndex,
    audit,
    plot,
    write_report,
)
from graspel.neighbors import index as index_module
from graspel.neighbors.engines import InvertedEngine, LandmarkEngine, TableEngine
from graspel.report.inputs import check_inputs, count_listed

X, Y = make_blobs(120, 6, centers=3, random_state=0)
ESTIMATORS = {
    "GRASPEL": GRASPEL(random_state=0),
    "GRASPEL, refined": GRASPEL(weights="refined", random_state=0),
    "GRASPEL, optimal": GRASPEL(weights="optimal", random_state=0),
    "GRASPEL, unn": GRASPEL(5, initial="unn", random_state=0),
    "GraspelClustering": GraspelClustering(random_state=0),
    "GraspelClustering, one graph": GraspelClustering(3, consensus=1, noise=True, random_state=0),
    "GraspelClassifier": GraspelClassifier(random_state=0),
    "GraspelEmbedding": GraspelEmbedding(2, random_state=0),
    "GraspelTSNE": GraspelTSNE(max_iter=50, random_state=0),
    "GraspelTSNE, representatives": GraspelTSNE(reduction=3, max_iter=50, random_state=0),
    "GraspelNeighbors": GraspelNeighbors(5),
}


@pytest.fixture
def searches(monkeypatch):
    """The numbers of neighbors that were searched for, whoever searched."""
    found = []

    def spied(lists):
        return lambda engine, k, rng: found.append(k) or lists(engine, k, rng)

    for kind in (LandmarkEngine, InvertedEngine, TableEngine):
        monkeypatch.setattr(kind, "lists", spied(kind.lists))
    return found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_searches_once_and_on_a_searched_index_not_at_all(name, searches):
    alone = ESTIMATORS[name].fit(X, Y)
    assert len(searches) == alone.index_.n_searches == 1
    index = NeighborIndex(X, random_state=0).expect(count_listed())
    index.lists(1)
    shared = ESTIMATORS[name].fit(index, Y)
    assert shared.index_ is index
    assert len(searches) == 2
    assert index.n_searches == 1


def test_recovery_searches_at_most_once(searches):
    signals = np.random.default_rng(0).standard_normal((80, 30))
    GraspelRecovery(all_pairs=False).fit(signals)
    assert len(searches) <= 1


def test_all_estimators_share_one_search(searches):
    index = NeighborIndex(X, random_state=0).expect(count_listed())
    for estimator in ESTIMATORS.values():
        estimator.fit(index, Y)
    assert len(searches) == index.n_searches == 1


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_a_report_and_a_chart_search_once_in_the_metric_of_the_model(metric, searches, tmp_path, monkeypatch):
    values = np.abs(X[:, None] - X).sum(axis=2) if metric == "precomputed" else X
    index = NeighborIndex(values, metric=metric, random_state=0).expect(count_listed())
    model = GRASPEL(metric=metric, random_state=0).fit(index)
    asked = []
    prepare = index_module.prepare
    monkeypatch.setattr(index_module, "prepare", lambda *given, **more: asked.append(1) or prepare(*given, **more))
    write_report(model, tmp_path / "report.html", labels=Y)
    plot.resistance(model)
    assert len(searches) <= 1, "a table of distances is searched by itself"
    assert index.n_searches == 1
    assert not asked, "the data are prepared once"


def test_a_report_searches_once_where_the_model_has_released_its_lists(searches, tmp_path):
    model = GRASPEL(random_state=0).fit(X)
    write_report(model, tmp_path / "report.html")
    assert searches[1:] == [count_listed()]


@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_the_near_points_of_a_report_are_near_in_the_metric_of_the_model(metric):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 3)) * np.array([1.0, 5.0, 0.2])
    distances = np.abs(values[:, None] - values).sum(axis=2)
    model = GRASPEL(metric=metric, random_state=0).fit(values if metric == "manhattan" else distances)
    near = check_inputs(model).near
    for point in range(60):
        nearest = np.argsort(distances[point], kind="stable")[1:21]
        assert near.of(point).tolist() == nearest.tolist()


def test_an_audit_searches_once(searches):
    audit(X, Y, split=["a"] * 60 + ["b"] * 60)
    assert len(searches) == 1


@pytest.mark.parametrize(("command", "output"), [("report", "report.html"), ("audit", "audit")])
def test_the_command_searches_once(command, output, searches, tmp_path):
    from graspel.cli import main

    np.save(tmp_path / "points.npy", X)
    with pytest.raises(SystemExit) as ended:
        main([command, str(tmp_path / "points.npy"), "-o", str(tmp_path / output), "--seed", "0", "--quiet"])
    assert ended.value.code == 0
    assert searches == [count_listed()]
