"""One eigengap for one graph: the report, the picture of the spectrum and n_clusters="auto" give the same number."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from graspel import GRASPEL, Graph, GraspelClustering
from graspel.cluster import cluster_graph
from graspel.plot.spectrum import first_eigenvalues
from graspel.report.contents import gather_contents
from graspel.report.summary import without_critical_edges

DATA = {"digits": load_digits().data, "wine": StandardScaler().fit_transform(load_wine().data)}


def gather(model):
    return gather_contents(model, labels=None, clusters=None, title=None, source=None)


@pytest.fixture(scope="module", params=DATA)
def fitted(request):
    """A learner with critical edges and its report; a clusterer, whose graph has no critical edges, and its report."""
    learner = GRASPEL(random_state=0).fit(DATA[request.param])
    clusterer = GraspelClustering(random_state=0).fit(DATA[request.param])
    return learner, gather(learner), clusterer, gather(clusterer)


def test_the_report_and_the_picture_of_the_spectrum_mark_the_gap_of_auto(fitted):
    learner, of_learner, clusterer, of_clusterer = fitted
    auto = cluster_graph(learner.graph_, "auto", random_state=0)
    assert of_learner.data["spectrum"]["gap"] == first_eigenvalues(learner).gap_after == auto.n_clusters
    assert of_learner.eigengap.startswith(f"On this graph: {auto.gap.sentence()}.")
    assert of_clusterer.data["spectrum"]["gap"] == clusterer.n_clusters_
    assert of_clusterer.eigengap == f"On this graph: {clusterer.eigengap_.sentence()}."


def test_the_report_of_a_learner_names_the_number_of_the_clusterer_too(fitted):
    learner, of_learner, clusterer, _ = fitted
    assert without_critical_edges(learner.graph_).n_edges == clusterer.graph_.n_edges
    assert of_learner.eigengap.endswith(f"of this graph: {clusterer.eigengap_.sentence()}.")


def test_a_gap_beyond_the_first_twenty_eigenvalues_is_shown_too():
    cliques = np.arange(120).reshape(30, 4)
    heads, tails = np.triu_indices(4, 1)
    inside = [cliques[:, heads].ravel(), cliques[:, tails].ravel()]
    i, j = np.triu_indices(30, 1)
    graph = Graph(120, [*inside[0], *cliques[i, 0]], [*inside[1], *cliques[j, 0]], [1.0] * 180 + [1e-3] * 435)
    learner = GRASPEL(initial=graph, max_iter=0, random_state=0).fit(np.repeat(np.eye(30), 4, axis=0) * 9.0)
    learner.graph_ = graph
    spectrum = gather(learner).data["spectrum"]
    assert spectrum["gap"] == 30
    assert len(spectrum["values"]) > 30
    exact = np.linalg.eigvalsh(graph.laplacian.toarray())[: len(spectrum["values"])]
    assert np.allclose(spectrum["values"], exact, rtol=1e-2, atol=1e-8)
