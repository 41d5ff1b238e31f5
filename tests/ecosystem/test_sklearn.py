"""The doors to scikit-learn: pipelines that begin with the learner, in both of its forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN, HDBSCAN, SpectralClustering
from sklearn.datasets import load_digits, make_moons
from sklearn.manifold import TSNE, Isomap
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline

from graspel import GRASPEL, Graph, GraspelNeighbors, connect, spectral_init
from graspel.data.table import TableData
from graspel.graph.neighbor_lists import FEW_NODES, Seeds, nearest_along_graph


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.06, random_state=0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


# --- GRASPEL as a transformer


def test_fit_transform_gives_the_adjacency_and_transform_the_ties(moons):
    X, _ = moons
    model = GRASPEL(random_state=0)
    A = model.fit_transform(X)
    assert (model.graph_.adjacency != A).nnz == 0
    A.data[:] = 0  # a copy of the user's own
    assert model.graph_.adjacency.data.min() > 0
    assert abs(model.transform(X) - model.graph_.adjacency).max() == 0
    new = X[:5] + 1e-3
    ties = model.transform(new)
    assert ties.shape == (5, 300)
    assert (np.diff(ties.indptr) == 2).all()
    assert (np.asarray(ties.argmax(axis=1)).ravel() == np.arange(5)).all()


def test_the_weight_of_a_tie_is_that_of_an_edge_of_this_length(moons):
    X, _ = moons
    model = GRASPEL(random_state=0).fit(X)
    graph = model.graph_
    squared = ((X[graph.heads] - X[graph.tails]) ** 2).sum(axis=1)
    c = np.median(graph.weights * squared)
    new = X[:20] + 0.01
    ties = model.transform(new).tocoo()
    expected = c / ((new[ties.row] - X[ties.col]) ** 2).sum(axis=1)
    np.testing.assert_allclose(ties.data, expected, rtol=1e-6)


def test_a_pipeline_with_spectral_clustering(moons):
    X, y = moons
    model = make_pipeline(GRASPEL(random_state=0), SpectralClustering(2, affinity="precomputed", random_state=0))
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9


# --- GraspelNeighbors instead of KNeighborsTransformer


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_it_has_the_form_of_kneighborstransformer(moons, mode):
    X, _ = moons
    ours = GraspelNeighbors(7, mode=mode, random_state=0)
    theirs = KNeighborsTransformer(n_neighbors=7, mode=mode)
    A, B = ours.fit_transform(X), theirs.fit_transform(X)
    assert A.format == B.format == "csr"
    assert A.shape == B.shape
    assert (np.diff(A.indptr) == np.diff(B.indptr)).all()
    assert (A.indices[A.indptr[:-1]] == np.arange(len(X))).all()  # the point itself comes first
    if mode == "distance":
        assert (np.diff(A.data.reshape(len(X), -1), axis=1) >= 0).all()
    assert abs(A - ours.transform(X)).max() < 1e-12
    assert len(ours.get_feature_names_out()) == len(X)


def test_distances_are_those_of_shortest_paths_in_the_unit_of_the_data(moons):
    X, _ = moons
    model = GraspelNeighbors(9, random_state=0)
    A = model.fit_transform(X).tocoo()
    graph = model.graph_
    lengths = np.linalg.norm(X[graph.heads] - X[graph.tails], axis=1)
    W = sp.coo_array((lengths, (graph.heads, graph.tails)), shape=(300, 300)).tocsr()
    paths = sp.csgraph.dijkstra(W, directed=False)
    np.testing.assert_allclose(A.data, paths[A.row, A.col], atol=1e-9)
    np.testing.assert_allclose(np.sort(paths, axis=1)[:, :10].ravel(), A.data, atol=1e-9)
    assert (A.data >= np.linalg.norm(X[A.row] - X[A.col], axis=1) - 1e-9).all()


def test_new_points_reach_others_through_their_nearest_point(moons):
    X, _ = moons
    model = GraspelNeighbors(5, random_state=0).fit(X)
    row = model.transform(X[[10]] + 1e-9)
    np.testing.assert_allclose(row.toarray(), model.transform(X[[10]]).toarray(), atol=1e-6)


@pytest.mark.parametrize("mode", ["distance", "connectivity", "symmetric"])
def test_a_point_can_be_left_out_of_its_own_neighbors(moons, mode):
    X = np.concatenate([moons[0], np.repeat(moons[0][:1], 12, axis=0)])  # more copies of a point than neighbors
    model = GraspelNeighbors(7, mode=mode, include_self=False, random_state=0)
    A = model.fit_transform(X)
    own = A.tocoo()
    assert (own.row != own.col).all()
    if mode == "symmetric":
        assert (A != A.T).nnz == 0
        return
    assert (np.diff(A.indptr) == 7).all()
    assert (A.data[A.indptr[0] : A.indptr[1]] == (mode == "connectivity")).all()
    unique = slice(1, len(moons[0]))  # a copy gets the row of the first
    assert abs(A[unique] - model.transform(X[unique])).max() < 1e-12
    assert (np.diff(model.transform(X[:3] + 0.01).indptr) == 7).all()


def test_include_self_must_be_a_flag(moons):
    with pytest.raises(ValueError, match="include_self='no'"):
        GraspelNeighbors(7, include_self="no").fit(moons[0])


def test_isomap_takes_the_symmetric_matrix_of_separate_groups(rng):
    X = np.concatenate([rng.standard_normal((60, 3)), 50 + rng.standard_normal((60, 3))])
    A = GraspelNeighbors(mode="symmetric", random_state=0).fit_transform(X)
    rows = Isomap(n_neighbors=None, radius=np.inf, metric="precomputed").fit_transform(A)
    assert (np.sign(rows[:60, 0]) != np.sign(rows[60:, 0])).all()


def test_cleanlab_finds_the_duplicates_and_no_others(digits):
    cleanlab = pytest.importorskip("cleanlab", reason="needs cleanlab: pip install cleanlab[datalab]")
    X = digits[0].copy()
    X[5] = X[9]
    A = GraspelNeighbors(10, include_self=False, random_state=0).fit_transform(X)
    lab = cleanlab.Datalab({"y": digits[1]}, label_name="y", verbosity=0)
    lab.find_issues(knn_graph=A, issue_types={"near_duplicate": {}, "outlier": {}})
    issues = lab.get_issues()
    assert set(np.flatnonzero(issues.is_near_duplicate_issue)) >= {5, 9}
    assert issues.is_near_duplicate_issue.mean() < 0.05


@pytest.mark.parametrize(
    ("last", "measure"),
    [
        (SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=8, random_state=0), "labels"),
        (DBSCAN(eps=0.25, metric="precomputed"), "labels"),
        (HDBSCAN(metric="precomputed", copy=True), "labels"),
        (Isomap(n_neighbors=20, metric="precomputed"), "rows"),
        (TSNE(perplexity=5, metric="precomputed", init="random", random_state=0, max_iter=250), "rows"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_pipelines(moons, last, measure):
    X, y = moons
    mode = "symmetric" if isinstance(last, HDBSCAN) else "distance"
    model = make_pipeline(GraspelNeighbors(20, mode=mode, random_state=0), last)
    if measure == "labels":
        assert adjusted_rand_score(y, model.fit_predict(X)) > 0.5
    else:
        rows = model.fit_transform(X)
        assert rows.shape == (300, 2)
        assert np.isfinite(rows).all()


def test_too_few_points_for_the_neighbors():
    with pytest.raises(ValueError, match="n_neighbors=4: must be smaller than the number of points"):
        GraspelNeighbors(4).fit(np.arange(8.0).reshape(4, 2))


# --- neighbor lists of a graph


def test_the_compiled_search_and_all_paths_agree(rng, monkeypatch):
    X = rng.standard_normal((400, 3))
    X[5] = X[200] = X[7]
    graph = GRASPEL(random_state=0).fit(X).graph_
    slow = graph.neighbor_lists(12)
    monkeypatch.setattr("graspel.graph.neighbor_lists.FEW_NODES", 10)
    fast = graph.neighbor_lists(12)
    np.testing.assert_array_equal(fast.indices, slow.indices)
    np.testing.assert_allclose(fast.distances, slow.distances, rtol=1e-12)
    seeds = Seeds(np.array([0, 2, 3]), np.array([3, 8, 11]), np.array([0.5, 0.1, 0.0]))
    fast = nearest_along_graph(graph, seeds, 9)
    monkeypatch.setattr("graspel.graph.neighbor_lists.FEW_NODES", FEW_NODES)
    np.testing.assert_array_equal(fast.indices, nearest_along_graph(graph, seeds, 9).indices)


def test_lists_with_and_without_the_node_itself(toy_graph):
    if not toy_graph.is_connected or toy_graph.n_nodes < 3:
        with pytest.raises(ValueError, match="k="):
            toy_graph.neighbor_lists(toy_graph.n_nodes)
        return
    alone, own = toy_graph.neighbor_lists(2), toy_graph.neighbor_lists(3, include_self=True)
    np.testing.assert_array_equal(own.indices[:, 0], np.arange(toy_graph.n_nodes))
    np.testing.assert_array_equal(own.indices[:, 1:], alone.indices)
    assert (own.distances[:, 0] == 0).all()


def test_a_node_in_a_small_component_has_few_neighbors():
    with pytest.raises(ValueError, match=r"node 0 reaches only 1 others, the graph has 2 components.*graspel.connect"):
        Graph(4, [0, 2], [1, 3], 1.0).neighbor_lists(2)


# --- metrics


def test_any_metric_gives_the_graph_of_its_distances(moons):
    X, _ = moons
    ours = GRASPEL(metric="manhattan", random_state=0).fit(X)
    table = GRASPEL(metric="precomputed", random_state=0).fit(pairwise_distances(X, metric="manhattan"))
    function = GRASPEL(metric=lambda x, y: np.abs(x - y).sum(), random_state=0).fit(X)
    for other in (table, function):
        np.testing.assert_array_equal(ours.graph_.heads, other.graph_.heads)
        np.testing.assert_allclose(ours.graph_.weights, other.graph_.weights, rtol=1e-9)
    assert ours.graph_.is_connected
    np.testing.assert_allclose(
        ours.transform(X[:3] + 0.01).toarray(),
        table.transform(pairwise_distances(X[:3] + 0.01, X, metric="manhattan")).toarray(),
        rtol=1e-6,
    )


@pytest.mark.parametrize("candidates", ["fiedler", "clusters", "multilevel"])
def test_precomputed_euclidean_distances_give_the_graph_of_the_points(moons, candidates):
    X, _ = moons
    by_rows = GRASPEL(candidates=candidates, random_state=0).fit(X)
    by_table = GRASPEL(metric="precomputed", candidates=candidates, random_state=0).fit(pairwise_distances(X))
    differing = np.setxor1d(by_rows.graph_._keys, by_table.graph_._keys)
    assert len(differing) <= 0.01 * by_rows.graph_.n_edges  # ties between candidates are broken by rounding errors
    assert by_rows.certificate_.objective == pytest.approx(by_table.certificate_.objective, rel=0.01)


def test_sparse_distances_and_lists_are_completed_by_paths(digits):
    X, _ = digits
    A = kneighbors_graph(X, 10, mode="distance")
    sparse = GRASPEL(metric="precomputed", random_state=0).fit(A)
    indices, distances = A.indices.reshape(len(X), 10), A.data.reshape(len(X), 10)
    lists = GRASPEL(metric="precomputed", random_state=0).fit((indices, distances))
    assert sparse.graph_ == lists.graph_
    assert sparse.graph_.is_connected
    rows = GRASPEL(random_state=0, max_iter=0).fit(X).graph_
    common = np.isin(sparse.graph_._keys, rows._keys).sum()
    assert common > 0.98 * rows.n_edges


def test_unknown_distances_between_components_are_said():
    D = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]], dtype=float))
    with pytest.warns(UserWarning, match="2 components that no path joins.*arbitrary"):
        model = GRASPEL(1, metric="precomputed", random_state=0).fit(D)
    assert model.graph_.is_connected


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 2)), "a square matrix"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "not symmetric"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "must be a finite number >= 0"),
        (np.array([[1.0, 0.5], [0.5, 1.0]]), "to itself is 1, must be 0. Pass distances, not similarities"),
        ((np.zeros((3, 2)), np.zeros((3, 2))), "the first of whole numbers"),
        ((np.array([[5], [0], [1]]), np.zeros((3, 1))), "must lie between 0 and 2"),
    ],
)
def test_bad_distances(X, message):
    with pytest.raises(ValueError, match=message):
        GRASPEL(1, metric="precomputed").fit(X)


def test_bad_metrics():
    with pytest.raises(ValueError, match="metric='nonsense': must be 'euclidean'"):
        GRASPEL(metric="nonsense").fit(np.eye(4))


def test_the_limit_of_the_table_is_said(monkeypatch):
    monkeypatch.setattr("graspel.data.table.MAX_TABLE_POINTS", 10)
    with pytest.raises(ValueError, match=r"12 points: .*at most 10 points. Pass features"):
        GRASPEL(metric="chebyshev").fit(np.eye(12))


def test_a_table_has_the_norm_of_its_points(rng):
    X = rng.standard_normal((80, 4))
    points = TableData.prepare(pairwise_distances(X))
    assert points.unit_length == pytest.approx(np.linalg.norm(X - X.mean(axis=0), 2), rel=1e-5)


# --- joins only


def test_connect_adds_the_joins_and_nothing_else(rng):
    X = np.concatenate([rng.standard_normal((40, 2)) + 20 * c for c in rng.standard_normal((4, 2))])
    A = kneighbors_graph(X, 3, mode="connectivity")
    A = A.maximum(A.T)
    before = Graph.from_adjacency(A)
    after = connect(A, X, random_state=0)
    assert after.is_connected
    assert after.n_edges == before.n_edges + before.components[0] - 1
    assert abs((after.adjacency - before.adjacency).multiply(A != 0)).max() == 0
    assert connect(after, X) is after


def test_connect_continues_the_weights_of_the_graph(rng):
    X = np.concatenate([rng.standard_normal((30, 2)), 20 + rng.standard_normal((30, 2))])
    D = kneighbors_graph(X, 4, mode="distance")
    D = D.maximum(D.T)
    D.data = 7 / D.data**2
    graph = connect(D, X)
    squared = ((X[graph.heads] - X[graph.tails]) ** 2).sum(axis=1)
    np.testing.assert_allclose(graph.weights * squared, 7, rtol=1e-6)


def test_connect_compares_sizes():
    with pytest.raises(ValueError, match="2 nodes but X has 3 points"):
        connect(Graph(2, [0], [1], [1.0]), np.eye(3))


def test_spectral_init_takes_a_matrix():
    path = Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    assert np.array_equal(spectral_init(path), spectral_init(path.adjacency))
    with pytest.raises(TypeError, match=r"A is a networkx Graph: .* graspel\.Graph\.from_networkx"):
        spectral_init(path.to_networkx())


def test_spectral_init_needs_a_connected_graph():
    with pytest.raises(ValueError, match=r"2 components.*graspel.connect"):
        spectral_init(Graph(4, [0, 2], [1, 3], 1.0))
