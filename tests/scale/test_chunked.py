"""Dask arrays: the same graph for all chunks and workers, also when a worker dies, and nearly that of one machine."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from graspel import GRASPEL, GraspelClustering
from graspel.data import chunked as chunked_points
from graspel.data.fingerprint import fingerprint
from graspel.runtime.progress import listening
from graspel.scale import chunked

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


def blobs(n, seed, n_clusters=5, n_features=4):
    rng = np.random.default_rng(seed)
    centers = 20 * rng.normal(size=(n_clusters, n_features))
    X = centers[rng.integers(0, n_clusters, n)] + rng.normal(size=(n, n_features))
    X = np.vstack([X, X[:9]])  # some copies, far from their originals
    return X.astype(np.float32)


@pytest.fixture
def small_partitions(monkeypatch):
    monkeypatch.setattr(chunked, "PARTITION_POINTS", 150)
    monkeypatch.setattr(chunked_points, "CHUNK_VALUES", 1000)


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def pairs(graph):
    return set(zip(graph.heads.tolist(), graph.tails.tolist(), strict=True))


@pytest.mark.parametrize("parameters", [{}, {"initial": "mst"}, {"metric": "cosine"}])
def test_one_partition_gives_the_graph_of_one_machine(parameters):
    X = blobs(200, 0)
    here = GRASPEL(random_state=0, max_iter=0, **parameters).fit(X)
    there = GRASPEL(random_state=0, max_iter=0, **parameters).fit(da.from_array(X, chunks=(77, 3)))
    assert pairs(there.graph_) == pairs(here.graph_)
    assert there.graph_.weights == pytest.approx(here.graph_.weights, rel=1e-5)
    assert there.certificate_.neighbor_recall == 1.0
    assert there.n_features_in_ == 4


@pytest.mark.long_seeds
def test_many_partitions_give_nearly_the_same_graph_for_all_chunks(seed, small_partitions):
    X = blobs(700, seed)
    here = GRASPEL(random_state=0).fit(X).graph_
    models = [GRASPEL(random_state=0).fit(da.from_array(X, chunks=chunks)) for chunks in ((100, 2), (709, 1))]
    graph = models[0].graph_
    assert all(model.graph_ == graph for model in models)
    assert graph.is_connected
    assert models[0].certificate_.neighbor_recall > 0.98
    assert len(pairs(graph) & pairs(here)) > 0.98 * here.n_edges


def test_components_that_fill_their_partitions_are_joined(small_partitions):
    X = np.random.default_rng(0).normal(size=(900, 2)) + 1e3 * np.repeat(np.arange(3), 300)[:, None]
    graph = GRASPEL(random_state=0, max_iter=0).fit(da.from_array(X, chunks=(100, 2))).graph_
    here = GRASPEL(random_state=0, max_iter=0).fit(X).graph_
    assert graph.is_connected
    assert pairs(graph) == pairs(here)  # the three clusters are joined by their closest pairs


@pytest.mark.long
def test_the_number_of_workers_does_not_matter(cluster, small_partitions):
    X = da.from_array(blobs(400, 0), chunks=(111, 4))
    alone = GRASPEL(random_state=0).fit(X).graph_
    cluster.scale(2)
    distributed.default_client().wait_for_workers(2)
    assert GRASPEL(random_state=0).fit(X).graph_ == alone


def test_a_killed_worker_costs_time_and_not_the_result(cluster, small_partitions):
    X = da.from_array(blobs(400, 1), chunks=(111, 4))
    expected = GRASPEL(random_state=0).fit(X).graph_
    client, killed = distributed.default_client(), []

    def kill(progress):
        if not killed and progress.step == "joining components":  # the partitions are on the workers
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    with listening(kill):
        model = GRASPEL(random_state=0).fit(X)
    assert killed
    assert model.graph_ == expected


def test_a_finished_run_is_taken_from_its_checkpoint(tmp_path, small_partitions, monkeypatch):
    X = blobs(400, 0)
    first = GRASPEL(random_state=0).fit(da.from_array(X, chunks=(50, 4)), checkpoint=tmp_path)
    monkeypatch.setattr(chunked.ChunkedStart, "search", None)
    again = GRASPEL(random_state=0).fit(da.from_array(X, chunks=(99, 2)), checkpoint=tmp_path)
    assert again.graph_ == first.graph_
    assert fingerprint(da.from_array(X, chunks=(7, 1))) == fingerprint(X)


def test_other_estimators_read_a_dask_array_block_by_block():
    X = blobs(200, 0)
    labels = GraspelClustering(5, random_state=0).fit(da.from_array(X, chunks=(50, 4))).labels_
    assert np.array_equal(labels, GraspelClustering(5, random_state=0).fit(X).labels_)


def test_errors_are_one_sentence():
    X = blobs(100, 0)
    X[71, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN .row 71, column 2 is the first"):
        GRASPEL().fit(da.from_array(X, chunks=(10, 4)))
    X = blobs(100, 0).astype(np.float64)
    unknown = da.from_array(X, chunks=(10, 4))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        GRASPEL().fit(unknown[unknown[:, 0] > 0])
    X[3] = 1e37
    with pytest.raises(ValueError, match="absurdly far"):
        GRASPEL().fit(da.from_array(X, chunks=(10, 4)))
    model = GRASPEL(random_state=0).fit(da.from_array(X[4:], chunks=(10, 4)))
    with pytest.raises(ValueError, match="stay on the workers"):
        model.transform(X[:2])
