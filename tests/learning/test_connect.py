"""What must hold, 1: every graph ends up connected, by (components - 1) joins, each the closest pair at its join."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import graspel.learning.connect as connect
import graspel.neighbors.exact as exact
from graspel import GRASPEL, Graph, Origin
from graspel.data.prepare import prepare_rows
from graspel.learning.run import run
from graspel.learning.settings import Settings
from graspel.neighbors.cells import Cells
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import nearest_neighbors
from twins import all_squared_distances, kruskal_joins, nearest_neighbor_pairs, pairs_of, prim_length

# A fit with its certificate takes several times longer than the joins alone: a third of the usual examples.
FEWER = settings(max_examples=settings.default.max_examples // 3)


@st.composite
def point_clouds(draw: st.DrawFn) -> np.ndarray:
    """Points of all sorts: clusters near and far, duplicates, constant columns, whole numbers (many ties)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    n, m = draw(st.integers(3, 60)), draw(st.integers(1, 8))
    X = rng.standard_normal((n, m))
    X += draw(st.sampled_from([0.0, 10.0, 1e4])) * rng.integers(0, draw(st.integers(1, 6)), (n, 1))
    if draw(st.booleans()):
        X = X.round()
    if draw(st.booleans()):
        X[rng.integers(n, size=n // 2)] = X[rng.integers(n, size=n // 2)]
    if draw(st.booleans()):
        X[:, 0] = 7.0
    return X


def joined(X: np.ndarray, n_neighbors: int = 2, **parameters) -> Graph:
    """Step 1 alone: the initial graph, its components joined."""
    index, settings = NeighborIndex.of_points(prepare_rows(X)), Settings(n_neighbors, max_iter=0, **parameters)
    return run(index, settings, np.random.default_rng(0)).graph


def joins_of(graph: Graph) -> Graph:
    chosen = graph.origin == Origin.JOIN
    return Graph(graph.n_nodes, graph.heads[chosen], graph.tails[chosen], graph.weights[chosen])


def without_joins(graph: Graph) -> Graph:
    kept = graph.origin != Origin.JOIN
    return Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], graph.weights[kept])


def clusters_far_apart(rng: np.random.Generator, n: int = 240, m: int = 3) -> np.ndarray:
    """Clusters of 20 points, each much smaller than its distance to the next: neighbor lists end inside them."""
    return 50 * rng.standard_normal((n // 20, 1, m)).repeat(20, axis=1).reshape(n, m) + rng.standard_normal((n, m))


def squared(X: np.ndarray, pairs: set[tuple[int, int]]) -> np.ndarray:
    p, q = np.array(sorted(pairs), dtype=int).reshape(-1, 2).T
    return np.sort(((X[p] - X[q]) ** 2).sum(axis=1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@FEWER
@given(point_clouds(), st.sampled_from(["knn", "mst"]), st.sampled_from(["fiedler", "clusters"]), st.integers(1, 3))
def test_every_input_gives_a_connected_graph_with_finite_weights(X, initial, candidates, k):
    model = GRASPEL(min(k, len(X) - 1), initial=initial, candidates=candidates, max_iter=3, tol=1e-9, random_state=0)
    graph = model.fit(X).graph_
    assert graph.is_connected
    assert model.certificate_.connected
    assert np.isfinite(graph.weights).all()
    first = graph.round == 0
    n_components = Graph(len(X), graph.heads[first], graph.tails[first], graph.weights[first]).components[0]
    assert (graph.origin == Origin.JOIN).sum() == n_components - 1


@given(point_clouds(), st.integers(1, 3))
def test_joins_are_those_of_kruskal(X, k):
    graph = joined(X, min(k, len(X) - 1))
    joins, start = joins_of(graph), without_joins(graph)
    if start.n_edges == 0:  # all points equal
        return
    D = all_squared_distances(X)
    truth = kruskal_joins(D, start.components[1])
    assert joins.n_edges == start.components[0] - 1
    # Ties may be broken otherwise; the lengths of the joins may not differ.
    assert squared(X, pairs_of(joins)) == pytest.approx(squared(X, set(truth)), rel=1e-9, abs=0)


def test_joins_are_the_very_pairs_of_kruskal_where_there_are_no_ties(rng):
    X = clusters_far_apart(rng)
    graph = joined(X)
    start = without_joins(graph)
    assert start.components[0] > 5
    assert pairs_of(start) == nearest_neighbor_pairs(all_squared_distances(X), 2)
    assert pairs_of(joins_of(graph)) == set(kruskal_joins(all_squared_distances(X), start.components[1]))


@given(point_clouds())
def test_mst_is_as_short_as_prims(X):
    graph = joined(X, 1, initial="mst")
    assert graph.n_edges == len(X) - 1
    assert graph.is_connected
    assert set(graph.origin) == {Origin.TREE}
    lengths = np.sqrt(((X[graph.heads] - X[graph.tails]) ** 2).sum(axis=1))
    assert lengths.sum() == pytest.approx(prim_length(np.sqrt(all_squared_distances(X))), rel=1e-9)


@pytest.mark.parametrize("form", ["graph", "sparse", "lists", "lists without distances"])
def test_graphs_of_the_user_are_joined_by_closest_pairs(rng, form):
    X = clusters_far_apart(rng, 120)
    D = all_squared_distances(X)
    pairs = nearest_neighbor_pairs(D, 1)
    heads, tails = np.array(sorted(pairs)).T
    given_graph = Graph(len(X), heads, tails, 3.0)
    indices = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :1]
    initial = {
        "graph": given_graph,
        "sparse": sp.csc_matrix((np.ones(len(heads)), (heads, tails)), shape=D.shape),  # upper half only
        "lists": (indices, np.take_along_axis(D, indices, axis=1)),
        "lists without distances": (indices, None),
    }[form]
    graph = joined(X, initial=initial)
    start = without_joins(graph)
    assert pairs_of(start) == pairs
    assert set(start.origin) == {Origin.GIVEN}
    assert pairs_of(joins_of(graph)) == set(kruskal_joins(D, given_graph.components[1]))


def test_random_disconnected_graphs_are_joined_too(rng):
    X = rng.standard_normal((80, 4))
    heads, tails = np.triu_indices(80, 1)
    chosen = rng.choice(len(heads), 40, replace=False)
    initial = Graph(80, heads[chosen], tails[chosen], 1.0)
    assert pairs_of(joins_of(joined(X, initial=initial))) == set(
        kruskal_joins(all_squared_distances(X), initial.components[1])
    )


def test_a_connected_graph_of_the_user_needs_no_joins_and_no_search(rng):
    X = rng.standard_normal((30, 2))
    path = Graph(30, np.arange(29), np.arange(1, 30), 1.0)
    model = GRASPEL(initial=path, max_iter=0, random_state=0).fit(X)
    assert pairs_of(model.graph_) == pairs_of(path)
    assert np.isnan(model.certificate_.neighbor_recall)
    assert model.history_ == []


def test_an_empty_graph_of_the_user_becomes_the_tree(rng):
    X = rng.standard_normal((30, 2))
    assert joined(X, initial=sp.csr_array((30, 30))) == joined(X, initial="mst")


def test_copies_are_joined_before_anything_else(rng):
    X = np.repeat(clusters_far_apart(rng, 60), 3, axis=0)
    graph = joined(X)
    same = (X[graph.heads] == X[graph.tails]).all(axis=1)
    assert graph.is_connected
    assert same.sum() == 2 * 60  # two edges for every three copies
    assert set(graph.origin[same]) == {Origin.JOIN}


def test_eta_of_a_join_is_that_of_the_null_space(rng):
    """Between two components z_emb = |P e_pq|^2 sigma^2, P the projection on the null space of L."""
    line = np.arange(20) + 0.1 * rng.random(20)
    X, sigma, beta = np.concatenate([line, line[:12] + 500])[:, None], 100.0, 1e-3  # two clusters, one join
    graph = joined(X, sigma=sigma, beta=beta)
    start = without_joins(graph)
    assert start.components[0] == 2
    (at,) = np.flatnonzero(graph.origin == Origin.JOIN)
    label = start.components[1]
    P = sum(np.outer(label == c, label == c) / (label == c).sum() for c in range(2))
    e = np.zeros(len(X))
    e[graph.heads[at]], e[graph.tails[at]] = 1, -1
    z_emb = sigma**2 * e @ P @ e
    z = prepare_rows(X).squared_distances([graph.heads[at]], [graph.tails[at]])[0]
    assert graph.eta[at] == pytest.approx(z_emb / z)
    assert graph.gradient[at] == pytest.approx(z_emb - z - 4 * beta)
    assert graph.round[at] == 1


@pytest.fixture
def through_cells(monkeypatch):
    """Search as for very many points: no search computes all distances."""
    calls = []
    outside = Cells.nearest_outside

    def counted(*args, **options):
        calls.append(args)
        return outside(*args, **options)

    monkeypatch.setattr(exact, "EXACT_WORK", 0.0)
    monkeypatch.setattr(Cells, "nearest_outside", counted)
    return calls


@pytest.mark.parametrize("n", [400, 1200])
def test_the_path_through_cells_connects_everything_too(rng, n, through_cells):
    X = clusters_far_apart(rng, n, 10)
    model = GRASPEL(max_iter=0, random_state=0).fit(X)
    assert through_cells
    assert model.graph_.is_connected
    assert 0.9 < model.certificate_.neighbor_recall <= 1.0
    # ... and its joins are close to the shortest there are.
    start = without_joins(model.graph_)
    assert (model.graph_.origin == Origin.JOIN).sum() == start.components[0] - 1
    if n == 400:
        truth = kruskal_joins(all_squared_distances(X), start.components[1])
        length = np.sqrt(squared(X, pairs_of(joins_of(model.graph_)))).sum()
        assert length <= 1.05 * np.sqrt(squared(X, set(truth))).sum()


def test_the_path_through_cells_builds_a_tree_from_single_points(rng, through_cells):
    X = rng.standard_normal((600, 5))
    graph = joined(X, initial="mst")
    assert graph.n_edges == 599
    assert graph.is_connected
    lengths = np.sqrt(((X[graph.heads] - X[graph.tails]) ** 2).sum(axis=1))
    assert lengths.sum() <= 1.02 * prim_length(np.sqrt(all_squared_distances(X)))


@pytest.mark.parametrize("rest", [0, None])
def test_lists_cut_short_do_not_keep_components_apart(rng, rest):
    """Lists that found too few points end in inf, with any index: such points must still be searched for."""
    X = clusters_far_apart(rng, 60)
    found = nearest_neighbors(prepare_rows(X), 2, rng)
    short_z, short_indices = found.z.copy(), found.indices.copy()
    short_z[:, 2:], short_indices[:, 2:] = np.inf, np.arange(60)[:, None] if rest is None else rest
    short = type(found)(**{**vars(found), "z": short_z, "indices": short_indices})
    labels = Graph(60, *np.array(sorted(nearest_neighbor_pairs(all_squared_distances(X), 2))).T, 1.0).components[1]
    joins = connect.join_components(short, labels.astype(np.int64), rng)
    truth = kruskal_joins(all_squared_distances(X), labels)
    assert set(zip(joins.heads.tolist(), joins.tails.tolist(), strict=True)) == set(truth)
