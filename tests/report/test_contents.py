"""What the report holds, before it becomes a page."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
import scipy.sparse as sp

from graspel import GRASPEL, Graph, GraspelClustering, GraspelTSNE, NeighborIndex
from graspel.findings.shown import show_value
from graspel.report.inputs import MAX_CLASSES, make_coloring
from graspel.report.making import list_settings, list_states, write_code
from graspel.report.packing import select_drawn
from report.conftest import gather


def unpack(packed, kind):
    return np.frombuffer(base64.b64decode(packed), dtype=kind)


# --- thinning --------------------------------------------------------------------------------------------------------


def test_a_small_graph_is_drawn_whole(toy_graph):
    whole = select_drawn(toy_graph, np.zeros(toy_graph.n_nodes, dtype=int))
    assert whole.nodes.tolist() == list(range(toy_graph.n_nodes))
    assert whole.edges.tolist() == list(range(toy_graph.n_edges))


def test_a_large_graph_keeps_late_edges_and_every_class(seed):
    rng = np.random.default_rng(seed)
    n = 3_000
    steps = np.concatenate([np.zeros(n - 1, dtype=int), np.ones(20, dtype=int)])
    far = np.sort(rng.choice(n, 40, replace=False)).reshape(20, 2)
    heads = np.concatenate([np.arange(n - 1), far[:, 0]])
    tails = np.concatenate([np.arange(1, n), far[:, 1] + (far[:, 1] - far[:, 0] == 1)])
    graph = Graph(n, heads, np.minimum(tails, n - 1), 1.0, round=steps)
    classes = np.zeros(n, dtype=int)
    classes[[7, 8]] = 1
    few = select_drawn(graph, classes, np.array([1234, 2345]), max_points=400, max_edges=300)
    assert len(few.nodes) == 400
    assert {1234, 2345} <= set(few.nodes.tolist()), "points that are listed are drawn"
    assert few.places(np.array([2345, 1234])) == [np.searchsorted(few.nodes, p) for p in (2345, 1234)]
    assert len(few.edges) <= 300
    assert np.isin(graph.heads[few.edges], few.nodes).all()
    assert np.isin(graph.tails[few.edges], few.nodes).all()
    assert np.isin(np.flatnonzero(graph.round > 0), few.edges).all()
    assert {7, 8} <= set(few.nodes.tolist())
    again = select_drawn(graph, classes, np.array([1234, 2345]), max_points=400, max_edges=300)
    assert again.nodes.tolist() == few.nodes.tolist()


def test_the_page_says_that_it_was_thinned(model, monkeypatch):
    from graspel.report import contents as module

    assert gather(model).words["drawn"].startswith("All 120 points")
    monkeypatch.setattr(module, "select_drawn", lambda *given: select_drawn(*given, max_points=100))
    found = gather(model)
    assert "100 of 120 points" in found.words["drawn"]
    heads = unpack(found.rest["edges"]["heads"], "<i4")
    assert 0 <= heads.min() <= heads.max() < 100
    for group in found.rest["groups"]:
        assert all(0 <= place < 100 for place in [*group["central"], *group["outlying"]])


# --- classes ---------------------------------------------------------------------------------------------------------


def test_names_sizes_and_classes():
    found = make_coloring("class", ["b", "a", "b", "x" * 10_000], 4)
    assert found.names[:2] == ["a", "b"]
    assert len(found.names[2]) == 60
    assert found.sizes == [1, 2, 1]
    assert found.classes.tolist() == [1, 0, 1, 2]


def test_too_many_classes_are_taken_together():
    labels = np.concatenate([np.arange(500), np.repeat(np.arange(10), 5)])
    found = make_coloring("class", labels, len(labels))
    assert len(found.names) == len(found.sizes) == MAX_CLASSES
    assert found.names[-1] == "441 others"
    assert sum(found.sizes) == len(labels)
    assert found.classes.max() == MAX_CLASSES - 1


def test_labels_of_another_length_are_refused(model):
    with pytest.raises(ValueError, match=r"class labels of shape \(3,\): the graph has 120 nodes"):
        gather(model, labels=[1, 2, 3])


def test_mixed_labels_do():
    assert make_coloring("class", np.array([1, "a", None], dtype=object), 3).names == ["1", "None", "a"]


# --- rounds and edges ------------------------------------------------------------------------------------------------


def test_the_states_lead_from_the_start_to_the_learned_graph(model):
    found = list_states(model.graph_, model.history_)
    assert found[0]["edges"] == int((model.graph_.round == 0).sum())
    assert found[-1]["edges"] == model.graph_.n_edges
    assert len(found) == 1 + model.certificate_.n_rounds == 1 + len(model.history_), "one count of rounds everywhere"
    assert [state["edges"] for state in found] == sorted(state["edges"] for state in found)
    for state, record in zip(found, model.history_, strict=False):
        assert state["density"] == pytest.approx(record.density)


def test_an_optimum_shows_its_bound_and_that_resistance_is_distance_on_its_edges(blobs):
    X = blobs[0]
    optimum = GRASPEL(weights="optimal", random_state=0).fit(X)
    found = gather(optimum)
    assert "upper bound of the gap" in found.words["convergence"]
    gaps = [record["gap"] for record in found.rest["rounds"] if record["gap"] is not None]
    assert gaps[-1] == optimum.certificate_.optimality_gap
    kinds = {one["words"].split(":")[0]: one for one in found.rest["pairs"]}
    assert list(kinds) == ["random pairs", "near pairs without an edge", "edges"]
    for name, one in kinds.items():
        z, R = (np.frombuffer(base64.b64decode(one[axis]), "<f4") for axis in ("z", "R"))
        assert (R / z).max() < 1.002
        assert ((R / z).min() > 0.998) == (name == "edges")
    assert "upper bound" not in gather(GRASPEL(random_state=0).fit(X)).words["convergence"]


def test_a_model_without_rounds_has_one_state(blobs):
    learner = GRASPEL(initial="mst", max_iter=0).fit(blobs[0])
    assert list_states(learner.graph_, learner.history_) == [{"edges": 119, "density": 119 / 120, "eta": None}]
    found = gather(learner)
    assert "no rounds were run" in next(
        v["answer"] for v in found.verdicts.rows() if v["question"] == "Is the graph finished?"
    )
    json.dumps([found.first, found.rest], allow_nan=False)


# --- how to get it again ---------------------------------------------------------------------------------------------


def test_the_code_gives_the_same_graph(model, blobs):
    code = write_code(model)
    names = {"X": blobs[0]}
    exec(code, names)
    assert names["learner"].graph_ == model.graph_


def test_the_code_gives_the_same_clusters(blobs):
    model = GraspelClustering(8, random_state=3).fit(blobs[0])
    rows, code = list_settings(model, "some.csv"), write_code(model)
    names = {"X": blobs[0]}
    exec(code, names)
    assert names["model"].labels_.tolist() == model.labels_.tolist()
    assert ("data", "some.csv") in rows
    assert "numpy version" in dict(rows)


def test_the_code_gives_the_graph_and_the_clusters_of_another_clusterer(model, blobs):
    clusterer = GraspelClustering(8, learner=GRASPEL(3, max_iter=0), random_state=0).fit(blobs[0])
    names = {"X": blobs[0]}
    exec(write_code(model, clusterer), names)
    assert names["learner"].graph_ == model.graph_
    assert names["clusterer"].labels_.tolist() == clusterer.labels_.tolist()


def test_a_run_without_a_seed_says_so(blobs):
    rows = list_settings(GRASPEL(max_iter=0).fit(blobs[0]), None)
    assert "none was set" in dict(rows)["seed"]


# --- data of all kinds -----------------------------------------------------------------------------------------------

BLOBS = np.vstack([np.random.default_rng(k).standard_normal((30, 4)) + 8 * k for k in range(3)])
KINDS = {
    "huge": BLOBS * 1e300,
    "tiny": BLOBS * 1e-300,
    "equal": np.ones((40, 3)),
    "constant columns": np.hstack([BLOBS, np.ones((90, 2))]),
    "whole numbers": (10 * BLOBS).astype(int),
    "flags": np.random.default_rng(0).random((60, 8)) < 0.5,
    "single precision": BLOBS.astype(np.float32),
    "copies": np.repeat(BLOBS[:10], 9, axis=0),
    "sparse": sp.random_array((80, 50), density=0.1, rng=np.random.default_rng(0), format="csr"),
    "more features than points": np.random.default_rng(0).standard_normal((20, 500)),
}


ELSEWHERE = [pytest.param(kind, False, marks=[] if kind in ("huge", "sparse") else pytest.mark.long) for kind in KINDS]


@pytest.mark.parametrize(("kind", "here"), [*((kind, True) for kind in KINDS), *ELSEWHERE])
def test_data_of_all_kinds_have_a_report(kind, here, monkeypatch):
    X = KINDS[kind]
    model = GRASPEL(random_state=0).fit(X)
    if not here:  # as if the points stayed on other machines
        monkeypatch.setattr(NeighborIndex, "is_remote", True)
    found = gather(model, labels=np.arange(X.shape[0]) % 3)
    json.dumps([found.first, found.rest], allow_nan=False)
    assert np.isfinite(unpack(found.first["map"], "<f4")).all()
    assert sum(found.first["colorings"][0]["sizes"]) == X.shape[0]


def test_the_coordinates_of_a_tsne_model_are_its_map():
    model = GraspelTSNE(random_state=0).fit(BLOBS)
    places = unpack(gather(model).first["map"], "<f4").reshape(2, -1).T
    assert np.allclose(places, model.embedding_, rtol=1e-5)


def test_groups_of_distances_are_described_by_the_values_that_are_given():
    distances = np.linalg.norm(BLOBS[:, None] - BLOBS, axis=2)
    model = GRASPEL(metric="precomputed", random_state=0).fit(distances)
    alone = gather(model, clusters=3)
    assert alone.summary[0].startswith("90 points fall into 3 groups")
    assert all(group["features"] == [] for group in alone.rest["groups"])
    described = gather(model, clusters=3, X=BLOBS, features=list("abcd"))
    assert described.summary[0].startswith("90 points with 4 columns fall into 3 groups")
    assert {feature["words"][0] for group in described.rest["groups"] for feature in group["features"]} <= set("abcd")
    with pytest.raises(ValueError, match="features holds 4 texts, but there are 0 columns"):
        gather(model, features=list("abcd"))


def test_groups_are_described_in_the_unit_of_the_values_that_are_given():
    scaled = (BLOBS - BLOBS.mean(axis=0)) / BLOBS.std(axis=0)
    found = gather(GRASPEL(random_state=0).fit(scaled), X=BLOBS * 1000, clusters=np.repeat([0, 1, 2], 30))
    means = {show_value(float(value), "number") for value in 1000 * BLOBS[:30].mean(axis=0)}
    words = " ".join(feature["words"] for feature in found.rest["groups"][0]["features"])
    assert any(f"{mean} here" in words for mean in means)


def test_points_of_no_cluster_and_very_many_clusters():
    model = GRASPEL(random_state=0).fit(BLOBS)
    noise = np.where(np.arange(90) < 5, -1, np.arange(90) % 2)
    assert gather(model, clusters=noise).first["colorings"][0]["names"][0] == "in no group"
    many = gather(model, clusters=np.arange(90), labels=np.arange(90))
    assert len(many.first["colorings"][0]["names"]) == MAX_CLASSES
    assert "more than 59 groups" in many.summary[0]
