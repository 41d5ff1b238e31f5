"""Graphs that grow and shrink: as good as one fit, connected, with provenance, and exact lists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from fuzzing.limits import low_limits
from graspel import GRASPEL, Origin, cluster_graph
from graspel.data.growing import growing
from graspel.data.prepare import prepare_rows
from graspel.metrics import clustering_accuracy
from graspel.neighbors.exact import exact_neighbors


def grow(X, batches, **options):
    model = GRASPEL(random_state=0, **options)
    for part in np.array_split(np.arange(X.shape[0]), batches):
        model.partial_fit(X[part])
    return model


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def test_ten_batches_are_as_good_as_one_fit(digits):
    X, y = digits
    one, ten = GRASPEL(random_state=0).fit(X), grow(X, 10)
    assert ten.graph_.is_connected
    F, G = one.certificate_.objective, ten.certificate_.objective
    assert abs(F - G) <= 0.02 * abs(F)
    scores = [
        clustering_accuracy(y, cluster_graph(model.graph_, 10, random_state=0).labels)
        for model in (GRASPEL(max_iter=0, random_state=0).fit(X), grow(X, 10, max_iter=0))
    ]
    assert scores[1] >= scores[0] - 0.02
    assert abs(ten.graph_.density - one.graph_.density) < 0.1


@pytest.mark.long_seeds
def test_lists_stay_those_of_a_search(digits, seed):
    rng = np.random.default_rng(seed)
    X = digits[0][rng.permutation(800)]
    model = grow(X, 6)
    lists = model._growing.neighbors
    z = exact_neighbors(prepare_rows(X), np.arange(800), 2)[1]
    np.testing.assert_allclose(lists.z[:, :2], z, rtol=1e-4)


def test_the_edges_without_rounds_are_those_of_a_fit(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 3)) + 4 * rng.integers(3, size=(300, 1))
    one, many = GRASPEL(max_iter=0, random_state=0).fit(X).graph_, grow(X, 5, max_iter=0).graph_
    near = [graph._keys[graph.origin == Origin.NEIGHBOR] for graph in (one, many)]
    np.testing.assert_array_equal(*near)
    assert many.is_connected  # by other joins than those of one fit: joins stay as long as they are needed
    assert many.n_edges - len(near[1]) <= one.n_edges - len(near[0]) + 3


def test_an_edge_knows_its_batch(digits):
    X = digits[0][:600]
    model = GRASPEL(max_iter=0, random_state=0).partial_fit(X[:400])
    before = model.graph_
    model.partial_fit(X[400:])
    graph = model.graph_
    new = graph.tails >= 400
    batch = model.history_[-1].round
    assert (graph.round[new] == batch).all()
    kept = np.isin(graph._keys[~new], before.heads * graph.n_nodes + before.tails)
    assert (graph.round[~new][kept & (graph.origin[~new] == Origin.NEIGHBOR)] < batch).all()
    assert "in round" in graph.why(int(graph.heads[new][0]), int(graph.tails[new][0]))


@pytest.mark.long_seeds
def test_forgetting_keeps_the_graph_connected(digits, seed):
    X = digits[0][:700]
    rng = np.random.default_rng(seed)
    gone = rng.choice(700, 200, replace=False)
    model = GRASPEL(random_state=0).fit(X).forget(gone)
    assert model.graph_.n_nodes == 500
    assert model.graph_.is_connected
    rest = GRASPEL(random_state=0).fit(np.delete(X, gone, axis=0))
    assert abs(model.graph_.density - rest.graph_.density) < 0.1
    F, G = rest.certificate_.objective, model.certificate_.objective
    assert abs(F - G) <= 0.02 * abs(F)
    np.testing.assert_allclose(
        model.transform(np.delete(X, gone, axis=0)[:9] + 0.1).sum(axis=1),
        rest.transform(np.delete(X, gone, axis=0)[:9] + 0.1).sum(axis=1),
        rtol=0.05,
    )


def test_copies_come_and_go():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    model = GRASPEL(random_state=0).partial_fit(X[:40])
    model.partial_fit(np.concatenate([X[:5], X[40:], X[40:42], X[:1]]))
    graph = model.graph_
    assert graph.n_nodes == 68
    assert graph.is_connected
    assert sorted(model._growing.neighbors.copies.tolist()) == [40, 41, 42, 43, 44, 65, 66, 67]
    model.forget([0, 45])  # originals whose copies stay
    assert model.graph_.is_connected
    model.partial_fit(X[:1])
    assert model.graph_.is_connected
    assert model.transform(X[:1]).nnz > 0


def test_copies_in_a_batch_do_not_hide_its_new_points():
    x = np.array([0.0, 8.3, 8.3003, 0.1])[:, None]
    model = GRASPEL(random_state=0, max_iter=0).partial_fit(x[:3]).partial_fit(x[[3, 0, 1, 2, 3]])
    anew = GRASPEL(random_state=0, max_iter=0).fit(np.vstack([x, x]))
    near = [graph._keys[graph.origin == Origin.NEIGHBOR] for graph in (model.graph_, anew.graph_)]
    np.testing.assert_array_equal(*near)


def test_names_and_sparse_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), index=[f"p{i}" for i in range(30)])
    model = GRASPEL(random_state=0).partial_fit(frame[:20]).partial_fit(frame[20:])
    assert model.graph_.node_names[25] == "p25"
    model.forget(["p3", "p25"])
    assert model.graph_.node_names[3] == "p4"
    with pytest.raises(ValueError, match="name all or none"):
        model.partial_fit(frame.to_numpy())
    with pytest.raises(ValueError, match="have the names of old ones"):
        model.partial_fit(frame[:3])
    dense, sparse = grow(frame.to_numpy(), 3), grow(sp.csr_array(frame.to_numpy()), 3)
    np.testing.assert_array_equal(dense.graph_.heads, sparse.graph_.heads)


def test_what_cannot_be_done():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = GRASPEL(random_state=0).fit(X)
    with pytest.raises(ValueError, match="must be numbers from 0 to 19"):
        model.forget([25])
    with pytest.raises(ValueError, match="2 of 20 points would be left"):
        model.forget(range(18))
    with pytest.raises(ValueError, match="initial='mst'"):
        GRASPEL(initial="mst").fit(X).partial_fit(X + 1)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])


def test_the_norm_is_followed_exactly(rng):
    X = rng.standard_normal((50, 4)) * [1, 2, 3, 4]
    changing = growing(prepare_rows(X[:20]))
    changing.append(X[20:])
    assert changing.points.spectral_norm == pytest.approx(prepare_rows(X).spectral_norm, rel=1e-5)
    changing.remove(np.arange(10, 50), np.arange(10))
    assert changing.points.spectral_norm == pytest.approx(prepare_rows(X[10:]).spectral_norm, rel=1e-5)
    before = X.copy()
    changing.append(X[:3])
    np.testing.assert_array_equal(X, before)


def test_many_points_are_searched_by_landmarks(monkeypatch, digits):
    monkeypatch.setattr("graspel.neighbors.exact.EXACT_WORK", 1e6)
    X = digits[0]
    model = grow(X, 5, max_iter=0)
    assert model._growing.neighbors.landmarks is not None
    exact = exact_neighbors(prepare_rows(X), np.arange(len(X)), 2)[1]
    assert np.isclose(model._growing.neighbors.z[:, :2], exact, rtol=1e-4).mean() > 0.95
    ties = model.transform(X[-300:] + 1e-6)
    assert (np.asarray(ties.argmax(axis=1)).ravel() == np.arange(len(X) - 300, len(X))).mean() > 0.95


@pytest.mark.parametrize(("first", "second"), [(1.0, 1e15), (1.0, 1e30), (1e200, 1.0), (1e-9, 1.0)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.long_seeds
def test_batches_of_very_different_scale_are_learned_as_at_once(first, second, kind, seed):
    rng = np.random.default_rng(seed)
    few, more = first * rng.standard_normal((80, 4)), second * rng.standard_normal((60, 4))
    model = GRASPEL(random_state=0).partial_fit(kind(few)).partial_fit(kind(more))
    assert model.graph_ == GRASPEL(random_state=0).fit(kind(np.vstack([few, more]))).graph_


def test_points_may_follow_ones_that_are_all_equal(seed):
    names = [f"n{node}" for node in range(5)]
    model = GRASPEL(random_state=0).fit(pd.DataFrame(np.ones((5, 2)), index=names, columns=["a", "b"]))
    more = np.random.default_rng(seed).standard_normal((6, 2))
    model.partial_fit(pd.DataFrame(more, index=list("uvwxyz"), columns=["a", "b"]))
    assert model.graph_.is_connected
    assert model.graph_.node_names.tolist() == [*names, *"uvwxyz"]
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_a_mask_of_nodes_is_no_list_of_numbers():
    X = np.random.default_rng(0).standard_normal((40, 3))
    gone = np.arange(40) % 5 == 0
    by_mask = GRASPEL(random_state=0).fit(X).forget(gone).graph_
    assert by_mask == GRASPEL(random_state=0).fit(X).forget(np.flatnonzero(gone)).graph_
    with pytest.raises(ValueError, match="one entry for each of the 40 nodes"):
        GRASPEL(random_state=0).fit(X).forget(gone[:3])
    with pytest.raises(ValueError, match="must be numbers from 0 to 39, or names"):
        GRASPEL(random_state=0).fit(X).forget([10**30])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_points_that_are_left_on_another_scale_are_learned_anew(kind, seed):
    X = np.random.default_rng(seed).standard_normal((40, 3))
    X[20:] *= 1e6
    model = GRASPEL(random_state=0).fit(kind(X)).forget(np.arange(20, 40))
    assert model.graph_ == GRASPEL(random_state=0).fit(kind(X[:20])).graph_


def test_only_copies_may_be_left(seed):
    X = np.vstack([np.ones((10, 3)), np.random.default_rng(seed).standard_normal((10, 3))])
    model = GRASPEL(random_state=0).fit(X).forget(np.arange(10, 20))
    assert model.graph_ == GRASPEL(random_state=0).fit(X[:10]).graph_


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_the_recall_of_changed_lists_is_that_of_the_lists(seed, share):
    """Evenly spread points, of which landmarks miss neighbors; what is left of their lists may miss more."""
    rng = np.random.default_rng([7021, seed])
    X = rng.standard_normal((200, 40))
    with low_limits():
        model = GRASPEL(max_iter=0, random_state=0).fit(X[:100]).partial_fit(X[100:])
        gone = rng.random(200) < share
        if gone.any():
            model.forget(gone)
        rows = X[~gone]
        found = model._growing.neighbors.z[:, :2]
    true = exact_neighbors(model._growing.points.points, np.arange(len(rows)), 2)[1]
    sample = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), 128)).astype(int))
    recall = float((found <= true * (1 + 1e-6))[sample].mean())
    assert model.certificate_.neighbor_recall == pytest.approx(recall, abs=1e-9)
    assert recall > 0.9
