from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graspel import Graph, Origin
from graspel.data.prepare import prepare_rows
from graspel.learning.initial import INITIAL, InitialInputs, edges_from_user, initial_graph
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors, nearest_neighbors
from twins import all_squared_distances, nearest_neighbor_pairs, pairs_of, z_data


def index_of(X: np.ndarray) -> NeighborIndex:
    return NeighborIndex.of_points(prepare_rows(X))


@pytest.mark.parametrize("k", [1, 2, 5, 29])
def test_knn_joins_every_point_to_its_k_nearest(rng, k):
    X = rng.standard_normal((30, 4))
    start = initial_graph(index_of(X), "knn", k, rng)
    assert pairs_of(start.graph) == nearest_neighbor_pairs(all_squared_distances(X), k)
    assert set(start.graph.origin) == {Origin.NEIGHBOR}
    assert set(start.graph.round) == {0}
    z = z_data(X)[start.graph.heads, start.graph.tails]
    assert start.graph.weights == pytest.approx(1 / (4 * z), rel=1e-6)
    assert start.weigh.distances(start.graph) == pytest.approx(z, rel=1e-6)


def test_mst_starts_without_edges(rng):
    start = initial_graph(index_of(rng.standard_normal((30, 4))), "mst", 2, rng)
    assert start.graph.n_edges == 0
    assert start.neighbors is not None


def test_a_list_that_is_too_short_makes_fewer_edges(rng):
    points = prepare_rows(rng.standard_normal((6, 2)))
    found = nearest_neighbors(points, 2, rng)
    z, indices = found.z.copy(), found.indices.copy()
    z[2, 1:], indices[2, 1:] = np.inf, 2  # a list that found only one point ends in the point itself
    neighbors = Neighbors(**{**vars(found), "z": z, "indices": indices})
    lists = InitialInputs(points, neighbors, 2, "nearest", Weights.from_distances(z[:, :1], 2), rng)
    graph = INITIAL["knn"].build(lists)
    assert np.isin(2, [graph.heads, graph.tails])
    assert graph.n_edges <= 11


def test_unn_is_sparser_and_keeps_the_spectrum(rng):
    """Between a tree and the kNN graph, with at most the paper's condition number."""
    index = index_of(rng.standard_normal((300, 4)))
    dense = initial_graph(index, "knn", 5, rng).graph
    sparse = initial_graph(index, "unn", 5, rng).graph
    assert set(zip(sparse.heads, sparse.tails, strict=True)) < set(zip(dense.heads, dense.tails, strict=True))
    assert set(sparse.origin) <= {Origin.TREE, Origin.SPARSIFIER}
    assert sparse.components[0] == dense.components[0]
    values = np.linalg.eigvals(np.linalg.pinv(sparse.laplacian.toarray()) @ dense.laplacian.toarray()).real
    values = np.sort(values)[dense.components[0] :]
    assert values[-1] / values[0] <= 31


def test_unn_of_points_that_are_all_equal(rng):
    start = initial_graph(index_of(np.ones((5, 2))), "unn", 2, rng)
    assert start.graph.n_edges == 0


def test_weights_of_the_user_do_not_count(rng):
    X = rng.standard_normal((20, 3))
    edges = np.arange(19), np.arange(1, 20)
    one, other = (initial_graph(index_of(X), Graph(20, *edges, w), 2, rng).graph for w in (1.0, 1e9))
    assert one == other
    assert one.weights == pytest.approx(1 / (3 * z_data(X)[edges]), rel=1e-6)


def test_lists_that_name_the_point_itself_are_fine():
    heads, tails = edges_from_user((np.array([[0, 1], [1, 2], [2, 0]]), None), 3)
    assert list(zip(heads, tails, strict=True)) == [(0, 1), (1, 2), (2, 0)]


def test_zeros_and_the_diagonal_of_a_matrix_are_no_edges():
    A = sp.csr_array(np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    A.data[A.data == 2] = 0
    heads, tails = edges_from_user(A, 3)
    assert {(int(p), int(q)) for p, q in zip(heads, tails, strict=True)} == {(0, 1), (1, 0)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Graph(4, [0], [1], [1.0]), "initial has 4 nodes but X has 3 points"),
        (sp.csr_array((4, 4)), "initial has 4 nodes but X has 3 points"),
        (sp.csr_array((3, 4)), r"initial of shape \(3, 4\): must be square"),
        (sp.csr_array(-np.ones((3, 3))), r"initial\[0, 1\] is -1: weights must not be negative"),
        (sp.csr_array(np.eye(3) * np.nan), r"initial\[0, 0\] is nan: weights must be finite"),
        (sp.csr_array(np.eye(3) * 1j), "complex128"),
        ((np.zeros((4, 1), dtype=int), None), "initial has 4 nodes but X has 3 points"),
        ((np.zeros((3, 1)), None), "indices must be whole numbers"),
        ((np.zeros(3, dtype=int), None), r"shape \(3,\)"),
        ((np.full((3, 1), 3), None), "between 0 and 2; they run from 3 to 3"),
        ((np.full((3, 1), -1), None), "they run from -1"),
        ((np.zeros((3, 1), dtype=int), np.zeros((3, 2))), r"in the shape of indices, \(3, 1\)"),
        ((np.zeros((3, 1), dtype=int), np.full((3, 1), np.inf)), "finite"),
        ((np.zeros((3, 1), dtype=int), [["a"], ["b"], ["c"]]), "finite numbers"),
        (np.zeros((3, 3)), "initial=a ndarray: must be 'knn', 'mutual', 'local-scale', 'unn', 'mst', a graspel Graph"),
        (None, "initial=None: must be"),
        (7, "initial=7: must be"),
    ],
)
def test_a_graph_that_cannot_be_used_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        edges_from_user(given, 3)
