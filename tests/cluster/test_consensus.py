"""Consensus: the partition that members agree on, how sure it is, and what follows from it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from graspel import GRASPEL, GraspelClustering
from graspel.cluster.clustering import refine_by_kmeans
from graspel.cluster.confidence import find_confidence
from graspel.cluster.consensus import (
    adjusted_agreement,
    describe_consensus,
    find_consensus,
    match_labels,
    separation,
)
from graspel.cluster.members import (
    MEANS,
    MEANS_START,
    MEMBERS,
    WARD,
    Nodes,
    build_member,
    cluster_without_graph,
    count_shared,
    count_side_by_side,
)
from graspel.data.prepare import prepare_rows
from graspel.learning.weights import Weights
from graspel.linalg.components import Components
from graspel.metrics import clustering_accuracy
from graspel.neighbors.search import nearest_neighbors


def disturb(labels, share, k, rng):
    """The labels under other names, a share of them replaced by random ones."""
    noisy = np.where(rng.random(len(labels)) < share, rng.integers(k, size=len(labels)), labels)
    return rng.permutation(k)[noisy]


def test_agreement_is_the_adjusted_rand_index(rng):
    for k in (1, 2, 5):
        one, other = rng.integers(k, size=(2, 300))
        assert adjusted_agreement(one, other, k) == pytest.approx(adjusted_rand_score(one, other))


def test_matching_undoes_a_permutation(rng):
    labels = rng.integers(6, size=200)
    assert_array_equal(match_labels(rng.permutation(6)[labels], labels, 6), labels)


def test_the_vote_is_better_than_its_members(rng):
    truth = rng.integers(5, size=2000)
    members = [disturb(truth, 0.3, 5, rng) for _ in range(7)]
    found = find_consensus(members)
    best = max(adjusted_rand_score(truth, member) for member in members)
    assert adjusted_rand_score(truth, found.labels) > best + 0.1


def test_a_majority_that_disagrees_with_itself_is_not_followed(rng):
    """Three members are nearly right and four are wrong, each in its own way: a plain vote would be disturbed."""
    truth = np.repeat(np.arange(4), 250)
    right = [disturb(truth, 0.05, 4, rng) for _ in range(3)]
    wrong = [rng.permutation(truth) for _ in range(4)]
    found = find_consensus([*wrong, *right])
    assert adjusted_rand_score(truth, found.labels) > 0.95
    assert found.weights[4:].sum() > 0.9


def test_the_names_of_clusters_and_the_order_of_members_do_not_matter(rng):
    truth = rng.integers(4, size=400)
    members = [disturb(truth, 0.2, 4, rng) for _ in range(5)]
    renamed = [rng.permutation(4)[member] for member in members[::-1]]
    assert adjusted_rand_score(find_consensus(members).labels, find_consensus(renamed).labels) == 1


def test_no_cluster_vanishes(rng):
    for _ in range(20):
        members = [np.unique(rng.integers(6, size=30), return_inverse=True)[1] for _ in range(3)]
        k = max(member.max() for member in members) + 1
        found = find_consensus(members)
        assert len(np.unique(found.labels)) >= min(len(np.unique(member)) for member in members)
        assert found.labels.max() < k


def test_how_sure_it_is():
    labels = np.array([0, 0, 0, 1, 1, 1])
    other = np.array([1, 1, 1, 1, 0, 0])
    described = describe_consensus(labels, [labels, other], np.array([3.0, 1.0]))
    assert_allclose(described.agreement, [1, 1, 1, 0.75, 1, 1])
    assert_allclose(described.overlaps, [[1, 1 / 12], [1 / 12, 0.75 + 0.25 * 5 / 9]])


@pytest.mark.parametrize("member", MEMBERS)
def test_the_graph_of_a_member_is_connected(member, rng):
    points = prepare_rows(rng.standard_normal((200, 3)))
    lists = nearest_neighbors(points, 16, rng)
    A = build_member(member, Nodes.of_points(lists, Weights.from_distances(lists.z[:, :1], 3)), rng)
    assert Components.of(A).number == 1
    assert (A != A.T).nnz == 0
    assert A.nnz / 2 <= (member.k + 1) * 200


def test_one_graph_is_the_learned_one_and_a_learner_means_one():
    X, _ = make_moons(300, noise=0.05, random_state=0)
    one = GraspelClustering(2, consensus=1, random_state=0).fit(X)
    own = GraspelClustering(2, learner=GRASPEL(max_iter=0), random_state=0).fit(X)
    assert_array_equal(one.labels_, own.labels_)
    assert one.member_weights_ == own.member_weights_ == {}
    assert_array_equal(one.agreement_, 1)
    assert GraspelClustering(2, n_neighbors=4).fit(X).member_weights_ == {}


def test_the_result_says_how_sure_it_is(seed):
    X, _ = make_blobs(300, 3, centers=4, cluster_std=1.5, random_state=seed)
    model = GraspelClustering(4, random_state=seed).fit(X)
    assert list(model.member_weights_) == [
        *(member.name for member in MEMBERS),
        WARD,
        WARD + MEANS,
        MEANS_START + MEANS,
    ]
    assert sum(model.member_weights_.values()) == pytest.approx(1)
    assert ((model.agreement_ >= 0) & (model.agreement_ <= 1 + 1e-9)).all()
    assert model.cluster_overlaps_.shape == (4, 4)
    assert_allclose(model.cluster_overlaps_, model.cluster_overlaps_.T)
    assert_array_equal(model.predict(X), model.labels_)


def test_digits_by_consensus():
    X, y = load_digits(return_X_y=True)
    scores = [clustering_accuracy(y, GraspelClustering(10, random_state=s).fit(X).labels_) for s in range(2)]
    assert min(scores) > 0.93
    assert np.std(scores) < 0.005


def ring_with_noise(seed):
    """A disk in a ring, and five percent of points anywhere."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, 1050), np.full(1050, 2.0) + 0.1 * rng.standard_normal(1050)
    radius[:500] = 0.5 * np.sqrt(rng.random(500))
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    X[1000:] = rng.uniform(-2.5, 2.5, (50, 2))
    return X, np.arange(1000) >= 500


def test_rings_with_noise():
    """Most are found. Not all: where noise makes a bridge, the narrow graphs share the error (docs/clustering.md)."""
    found = []
    for seed in range(6):
        X, truth = ring_with_noise(seed)
        found.append(clustering_accuracy(truth, GraspelClustering(2, random_state=0).fit(X).labels_[:1000]) > 0.99)
    assert sum(found) >= 5


def test_noise_is_marked():
    X, truth = ring_with_noise(1)
    model = GraspelClustering(2, random_state=0, noise=True).fit(X)
    kept = model.labels_[:1000] >= 0
    assert kept.mean() > 0.98
    assert (model.labels_[1000:] < 0).mean() > 0.4
    assert clustering_accuracy(truth[kept], model.labels_[:1000][kept]) > 0.99
    assert np.median(model.outlier_scores_[1000:]) > np.quantile(model.outlier_scores_[:1000], 0.9)
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.long_seeds
def test_points_count_where_no_graph_separates(seed):
    """Overlapping Gaussians in many dimensions: the members without a graph are trusted, and the result is better."""
    X, y = make_blobs(1500, 60, centers=8, center_box=(-1.1, 1.1), cluster_std=1.6, random_state=seed)
    model = GraspelClustering(8, random_state=seed).fit(X)
    alone = GraspelClustering(8, consensus=1, random_state=seed).fit(X)
    assert clustering_accuracy(y, model.labels_) > clustering_accuracy(y, alone.labels_)


@pytest.mark.long_seeds
def test_clusters_of_different_density(seed):
    """A dense and a sparse pair of groups: weights 1/z keep the dense pair together, shared neighbors part it."""
    rng = np.random.default_rng(seed)
    centers, scale = np.array([[0, 0], [0.9, 0], [9, 0], [9, 9]]), np.array([0.12, 0.12, 1.4, 1.4])
    y = np.repeat(np.arange(4), [400, 400, 150, 150])
    X = centers[y] + scale[y, None] * rng.standard_normal((len(y), 2))
    assert clustering_accuracy(y, GraspelClustering(4, random_state=0).fit(X).labels_) > 0.97


def test_shared_neighbors_are_counted_as_sets_are(rng):
    lists = nearest_neighbors(prepare_rows(rng.standard_normal((60, 2))), 7, rng).indices[:, :7].astype(np.int64)
    is_listed = rng.random(lists.shape) < 0.9
    own = [{point, *row[listed].tolist()} for point, (row, listed) in enumerate(zip(lists, is_listed, strict=True))]
    expected = [[len(own[p] & own[q]) for q in row] for p, row in enumerate(lists.tolist())]
    assert_array_equal(count_shared(lists, is_listed), expected)


def test_separation_prefers_groups_that_are_apart_and_even(rng):
    X, y = make_blobs(200, 2, centers=[[0, 0], [20, 0]], random_state=0)
    lists = nearest_neighbors(prepare_rows(X), 3, rng)
    assert separation(lists, y) == pytest.approx(1 - 0.25)
    assert separation(lists, rng.permutation(y)) < 0.4
    assert separation(lists, (np.arange(200) == 0).astype(np.int64)) < 0.6


def test_separation_is_believed_before_agreement(rng):
    """Four members share an error, two are right and nearly agree; only what is seen of the points can tell."""
    truth = np.repeat(np.arange(4), 250)
    right, shared_error = [disturb(truth, 0.02, 4, rng) for _ in range(2)], rng.permutation(truth)
    members = [disturb(shared_error, 0.02, 4, rng) for _ in range(4)] + right
    assert adjusted_rand_score(truth, find_consensus(members).labels) < 0.1
    trusted = find_consensus(members, np.array([0.5] * 4 + [0.6] * 2))
    assert adjusted_rand_score(truth, trusted.labels) > 0.9


def test_a_table_of_distances_is_clustered_by_graphs_alone():
    X, y = make_blobs(150, 3, centers=3, random_state=0)
    model = GraspelClustering(3, metric="precomputed", random_state=0).fit(squareform(pdist(X)))
    assert clustering_accuracy(y, model.labels_) == 1
    assert list(model.member_weights_) == [member.name for member in MEMBERS]


def test_groups_of_rows_are_merged_first(monkeypatch, rng):
    X, y = make_blobs(400, 3, centers=4, random_state=1)
    lists = nearest_neighbors(prepare_rows(X), 16, rng)
    nodes = Nodes.of_points(lists, Weights.from_distances(lists.z[:, :1], 3))
    monkeypatch.setattr("graspel.cluster.members.MAX_WARD", 60)
    for member in cluster_without_graph(nodes, 4, {}, rng).values():
        assert clustering_accuracy(y, member.labels) > 0.95


@pytest.mark.parametrize("sparse", [False, True])
def test_principal_rows_keep_distances(sparse, rng):
    X = rng.standard_normal((60, 5))
    points = prepare_rows(sp.csr_array(X) if sparse else X)
    rows = points.principal_rows()
    ratio = pdist(rows) / pdist(X)
    assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_centers_never_lose_a_cluster(rng):
    rows, labels = np.repeat(rng.standard_normal((2, 3)), 5, axis=0), np.arange(10) % 3
    assert_array_equal(refine_by_kmeans(rows, labels), labels)


def test_threads_do_not_change_the_consensus():
    X, _ = make_blobs(700, 4, centers=5, cluster_std=2.5, random_state=0)
    one, three = (GraspelClustering(5, random_state=0, n_jobs=jobs).fit(X) for jobs in (1, 3))
    assert_array_equal(one.labels_, three.labels_)
    assert_array_equal(one.embedding_, three.embedding_)
    assert one.member_weights_ == three.member_weights_


def test_members_share_the_memory_that_there_is():
    assert count_side_by_side(10_000, 20, n_threads=4) == 4
    assert count_side_by_side(140_000, 200, n_threads=64) == 1
    assert count_side_by_side(1_000_000, 20, n_threads=4) == 1  # there the eigensolver uses the threads itself


@pytest.mark.parametrize("consensus", [1, 3])
def test_the_hierarchy(consensus, rng):
    X, _ = make_blobs(200, 3, centers=5, random_state=1)
    X[17] = X[3]
    model = GraspelClustering(5, consensus=consensus, random_state=0).fit(X)
    assert model.linkage_.shape == (199, 4)
    assert is_valid_linkage(model.linkage_)
    assert (np.diff(model.linkage_[:, 2]) >= 0).all()
    assert_array_equal(model.labels_at(5), model.labels_)
    coarse, fine = model.labels_at(3), model.labels_at(12)
    assert len(np.unique(coarse)) == 3
    assert len(np.unique(fine)) == 12
    for part in range(12):
        assert len(np.unique(model.labels_[fine == part])) == 1
    for cluster in range(5):
        assert len(np.unique(coarse[model.labels_ == cluster])) == 1
    with pytest.raises(ValueError, match="from 1 to the number of points"):
        model.labels_at(0)


def test_wrong_parameters():
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(ValueError, match=r"consensus=9: must be .*from 1 to 8"):
        GraspelClustering(2, consensus=9).fit(X)
    with pytest.raises(ValueError, match="metric='cosine': is a parameter of the learner"):
        GraspelClustering(2, metric="cosine", learner=GRASPEL()).fit(X)
    with pytest.raises(ValueError, match="noise"):
        GraspelClustering(2, noise="yes").fit(X)


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.long_seeds
def test_sparse_rows_have_centers_too(rng, n):
    """Sparse points have no sketch: a small matrix is taken as it is, a large one by its singular directions."""
    X = sp.random_array((n, 600), density=0.02, rng=rng, format="csr")
    points = prepare_rows(X)
    assert len(points.principal_rows()) == n
    labels = GraspelClustering(8, metric="cosine", random_state=0).fit_predict(X)
    assert len(set(labels.tolist())) == 8


def test_confidence_grows_with_agreement_and_is_about_the_share_of_right_points():
    X, y = make_blobs(600, 4, centers=4, cluster_std=2.5, random_state=3)
    model = GraspelClustering(4, random_state=0).fit(X)
    assert ((model.confidence_ > 0) & (model.confidence_ < 1)).all()
    sure = model.agreement_ > 0.99
    assert 0 < sure.sum() < len(X)
    assert model.confidence_[sure].mean() > model.confidence_[~sure].mean() + 0.1
    assert abs(model.confidence_.mean() - clustering_accuracy(y, model.labels_)) < 0.15
    means = [model.confidence_[model.labels_ == cluster].mean() for cluster in range(4)]
    assert_allclose(model.cluster_confidence_, means)
    assert np.isnan(GraspelClustering(4, consensus=1, random_state=0).fit(X).confidence_).all()


def test_confidence_is_low_where_neighbors_or_the_members_disagree():
    labels = np.repeat([0, 1], 20)
    z = np.ones((40, 5))
    own = np.arange(40)[:, None] // 20 * 20 + np.arange(5)
    other = np.where(np.arange(40)[:, None] == 0, 20 + np.arange(5), own)
    agreed, torn = np.stack([labels] * 4), np.stack([labels] * 4)
    torn[:2, 5] = 1
    alike = find_confidence(agreed, labels, SimpleNamespace(z=z, indices=own))
    assert_allclose(alike, alike[0])
    assert find_confidence(agreed, labels, SimpleNamespace(z=z, indices=other))[0] < alike[0]
    assert find_confidence(torn, labels, SimpleNamespace(z=z, indices=own))[5] < alike[5] - 0.01
