"""UMAP, openTSNE and PaCMAP take neighbor lists and start coordinates of a learned graph."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from graspel import GRASPEL, GraspelNeighbors, spectral_init

N = 400


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:N], y[:N]
    return X, y, GRASPEL(random_state=0).fit(X).graph_


def check_layout(rows, y):
    """Points lie among their own class: most of them have the class of their neighbors in the plane."""
    assert rows.shape == (N, 2)
    assert KNeighborsClassifier(5).fit(rows[::2], y[::2]).score(rows[1::2], y[1::2]) > 0.8


@pytest.mark.long  # compiles for ten seconds
@pytest.mark.filterwarnings("ignore")
def test_umap(digits):
    umap = pytest.importorskip("umap", reason="needs umap-learn: pip install graspel[test-ecosystem]")
    X, y, graph = digits
    lists = graph.neighbor_lists(15, include_self=True)
    # UMAP takes lists for an index of its own too; None says that there is none.
    model = umap.UMAP(
        n_neighbors=15,
        precomputed_knn=(lists.indices, lists.distances, None),
        init=spectral_init(graph),
        n_epochs=100,
        random_state=0,
    )
    check_layout(model.fit_transform(X), y)


@pytest.mark.long  # compiles for ten seconds
@pytest.mark.filterwarnings("ignore")
def test_umap_takes_the_symmetric_matrix(digits):
    umap = pytest.importorskip("umap", reason="needs umap-learn: pip install graspel[test-ecosystem]")
    X, y, _ = digits
    A = GraspelNeighbors(mode="symmetric", random_state=0).fit_transform(X)
    check_layout(umap.UMAP(metric="precomputed", n_epochs=100, random_state=0).fit_transform(A), y)


def test_opentsne(digits):
    openTSNE = pytest.importorskip("openTSNE", reason="needs openTSNE: pip install openTSNE")
    _, y, graph = digits
    knn = openTSNE.nearest_neighbors.PrecomputedNeighbors(*graph.neighbor_lists(30))
    affinities = openTSNE.affinity.PerplexityBasedNN(knn_index=knn, perplexity=10)
    start = spectral_init(graph)
    assert np.std(start, axis=0) == pytest.approx(1e-4, rel=0.05)
    embedding = openTSNE.TSNE(n_iter=100, early_exaggeration_iter=50, random_state=0).fit(
        affinities=affinities, initialization=start
    )
    check_layout(np.asarray(embedding), y)


def test_opentsne_takes_the_adjacency_itself(digits):
    openTSNE = pytest.importorskip("openTSNE", reason="needs openTSNE: pip install openTSNE")
    _, _y, graph = digits
    A = graph.adjacency
    P = openTSNE.affinity.PrecomputedAffinities(A / A.sum())
    embedding = openTSNE.TSNE(n_iter=100, early_exaggeration_iter=50, random_state=0).fit(
        affinities=P, initialization=spectral_init(graph)
    )
    assert np.isfinite(np.asarray(embedding)).all()


@pytest.mark.long  # compiles for ten seconds
def test_pacmap(digits):
    pacmap = pytest.importorskip("pacmap", reason="needs pacmap: pip install graspel[test-ecosystem]")
    X, y, graph = digits
    lists = graph.neighbor_lists(10)
    pairs = np.column_stack([np.repeat(np.arange(N), 10), lists.indices.ravel()]).astype(np.int32)
    model = pacmap.PaCMAP(n_neighbors=10, pair_neighbors=pairs, random_state=0, num_iters=(50, 50, 100))
    check_layout(model.fit_transform(X.astype(np.float32), init=spectral_init(graph).astype(np.float32)), y)
