"""Sparse rows: the inverted index finds exactly the neighbors of a dense search, whatever the signs and lengths."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import graspel.neighbors.engines as engines
import graspel.neighbors.inverted as inverted
from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from graspel.data.sparse import SparseData
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.inverted import InvertedIndex
from graspel.neighbors.search import nearest_neighbors
from twins import all_squared_distances


def texts(rng: np.random.Generator, n: int = 400, m: int = 300, *, signed: bool = False) -> sp.csr_array:
    """Rows like TF-IDF: few values each, columns of very unequal frequency, and lengths that differ."""
    used = rng.random((n, m)) < 0.6 / np.arange(1, m + 1) ** 0.8
    values = rng.exponential(size=(n, m)) * np.log(2 + np.arange(m))
    return sp.csr_array(used * values * (rng.choice([-1, 1], (n, m)) if signed else 1))


@pytest.fixture
def compiled(monkeypatch):
    """Search as for many rows, by the compiled index."""
    monkeypatch.setattr(engines, "MANY_PAIRS", 0)


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize(("metric", "signed"), [("cosine", False), ("euclidean", False), ("euclidean", True)])
def test_lists_are_those_of_all_distances(rng, metric, signed, is_compiled, request):
    if is_compiled:
        request.getfixturevalue("compiled")
    A = texts(rng, signed=signed)
    found = nearest_neighbors(prepare_rows(A, metric=metric), 5, rng)
    X = A.toarray()[found.distinct]
    if metric == "cosine":
        X = X / np.where((norm := np.linalg.norm(X, axis=1)) > 0, norm, 1.0)[:, None]
    D = all_squared_distances(X) + np.diag(np.full(len(X), np.inf))
    chosen = np.take_along_axis(D, found.indices, axis=1)
    assert chosen == pytest.approx(np.sort(D, axis=1)[:, : chosen.shape[1]], rel=1e-9, abs=1e-12)
    assert found.z == pytest.approx(chosen / found.points.spectral_norm**2, rel=1e-9)
    assert found.recall == 1.0


def test_norm_and_distances_are_those_of_dense_rows(rng):
    for shape in ((400, 300), (70, 40), (40, 70), (5, 3)):
        A = texts(rng, *shape)
        for metric in ("cosine", "euclidean"):
            sparse, dense = prepare_rows(A, metric=metric, rng=rng), prepare_rows(A.toarray(), metric=metric, rng=rng)
            p, q = rng.integers(shape[0], size=(2, 60))
            X = dense.centered_rows(np.arange(shape[0]), np.float64)
            assert sparse.spectral_norm == pytest.approx(np.linalg.norm(X, 2), rel=1e-5)
            z = sparse.squared_distances(p, q) * sparse.spectral_norm**2
            assert z == pytest.approx(((X[p] - X[q]) ** 2).sum(axis=1), rel=1e-6, abs=1e-9)
            assert (z[p == q] == 0).all()


def test_no_row_is_made_dense(rng, compiled, monkeypatch):
    """Neither the search nor the joins, the rounds and the certificate ask for a dense block."""
    monkeypatch.setattr(SparseData, "rows", lambda *_: pytest.fail("a dense block"))
    model = GRASPEL(metric="cosine", random_state=0).fit(texts(rng, 500))
    assert model.graph_.is_connected
    assert model.certificate_.neighbor_recall == 1.0


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_graph_is_that_of_the_dense_matrix(rng, compiled, metric):
    """The neighbor edges are the same; joins too, up to ties."""
    A = texts(rng, 300)
    graphs = [GRASPEL(metric=metric, max_iter=0, random_state=0).fit(X).graph_ for X in (A, A.toarray())]
    pairs = [set(zip(g.heads.tolist(), g.tails.tolist(), strict=True)) for g in graphs]
    assert len(pairs[0] ^ pairs[1]) <= 0.01 * len(pairs[0])
    assert graphs[0].n_edges == graphs[1].n_edges


def test_rows_that_share_no_column_are_joined_too(rng, compiled):
    """Words of one topic never occur in another, and one row is empty: the closest pairs are the shortest rows."""
    A = sp.csr_array(sp.block_diag([texts(rng, 30, 20) for _ in range(6)] + [sp.csr_array((1, 1))]))
    for metric in ("euclidean", "cosine"):
        graph = GRASPEL(metric=metric, max_iter=0, random_state=0).fit(A).graph_
        assert graph.is_connected
    X = A.toarray()
    lengths = np.sqrt(all_squared_distances(X))
    sparse = GRASPEL(initial="mst", max_iter=0, random_state=0).fit(A).graph_
    dense = GRASPEL(initial="mst", max_iter=0, random_state=0).fit(X).graph_
    total = [lengths[graph.heads, graph.tails].sum() for graph in (sparse, dense)]
    assert total[0] == pytest.approx(total[1], rel=1e-6)


def test_a_small_budget_is_raised_until_the_recall_is_high(rng, compiled, monkeypatch):
    budgets: list[int] = []
    whole = InvertedIndex.search

    def counted(self, *args, **options):
        budgets.append(options["budget"])
        return whole(self, *args, **options)

    monkeypatch.setattr(InvertedIndex, "search", counted)
    monkeypatch.setattr(inverted, "BUDGET", 4)
    found = nearest_neighbors(prepare_rows(texts(rng), metric="cosine"), 2, rng)
    assert len(budgets) > 1
    assert found.recall >= 0.99


@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads_change_no_bit(compiled, n_threads):
    A = texts(np.random.default_rng(0), 1500)
    lists = [nearest_neighbors(prepare_rows(A, n_threads=n), 2, np.random.default_rng(1)) for n in (1, n_threads)]
    assert (lists[0].indices == lists[1].indices).all()
    assert (lists[0].z == lists[1].z).all()


def test_new_points_and_copies(rng, compiled):
    A = texts(rng, 300)
    A = sp.csr_array(sp.vstack([A, A[:20], sp.csr_array((3, 300))]))
    points = prepare_rows(A, metric="cosine")
    first = find_first_equals(points)
    X = points.rows(np.arange(323))
    assert first.tolist() == [next(j for j in range(i + 1) if (X[j] == X[i]).all()) for i in range(len(X))]
    near = NeighborIndex.of_points(points, rng, nearest_neighbors(points, 2, rng))
    ties = near.query(sp.csr_array(A[:50] * 2.0), 1)
    assert ties.is_old.all()
    assert (X[ties.indices[:, 0]] == X[:50]).all()


def test_compiled_distances_are_those_of_scipy(rng, monkeypatch):
    points = prepare_rows(texts(rng), metric="cosine")
    p, q = rng.integers(400, size=(2, 200))
    slow = points.squared_distances(p, q)
    monkeypatch.setattr("graspel.data.sparse.COMPILED_VALUES", 0)
    assert points.squared_distances(p, q) == pytest.approx(slow, rel=1e-12, abs=0)


def test_values_stored_twice_or_as_zero(rng):
    A = texts(rng, 50, 20).tocoo()
    row, column, value = np.append(A.row, A.row), np.append(A.col, A.col), np.append(A.data / 2, A.data / 2)
    twice = sp.csr_array((np.append(value, [0.0, 0.0]), (np.append(row, [3, 4]), np.append(column, [0, 19]))), A.shape)
    halves = sp.csr_array((50, 20))
    halves.indptr = np.append(0, np.cumsum(np.bincount(np.append(row, [3, 4]), minlength=50))).astype(np.int32)
    order = np.argsort(np.append(row, [3, 4]), kind="stable")
    halves.indices = np.append(column, [0, 19])[order].astype(np.int32)
    halves.data = np.append(value, [0.0, 0.0])[order]
    expected = prepare_rows(A.tocsr()).squared_distances(np.arange(49), np.arange(1, 50))
    for given in (twice, halves):
        assert prepare_rows(given).squared_distances(np.arange(49), np.arange(1, 50)) == pytest.approx(
            expected, rel=1e-12
        )
