"""The graph: Laplacian, canonical form, immutability, conversions, errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import toy_graphs
from graspel.graph import Graph, Origin


@st.composite
def graphs(draw, max_nodes=12):
    n = draw(st.integers(1, max_nodes))
    pairs = [(p, q) for p in range(n) for q in range(p + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []

    def column(values):
        return draw(st.lists(values, min_size=len(chosen), max_size=len(chosen)))

    return Graph(
        n,
        [p for p, _ in chosen],
        [q for _, q in chosen],
        column(st.floats(1e-6, 1e6)),
        origin=column(st.sampled_from(list(Origin))),
        round=column(st.integers(0, 100)),
        eta=column(st.floats(allow_nan=True)),
        gradient=column(st.floats(allow_nan=True)),
    )


def columns(graph):
    names = ("heads", "tails", "weights", "origin", "round", "eta", "gradient")
    return {name: getattr(graph, name) for name in names}


def slow_laplacian(graph):
    """L = sum of w e_pq e_pq', edge by edge: the definition."""
    L = np.zeros((graph.n_nodes, graph.n_nodes))
    for p, q, w in zip(graph.heads, graph.tails, graph.weights, strict=True):
        e = np.zeros(graph.n_nodes)
        e[p], e[q] = 1, -1
        L += w * np.outer(e, e)
    return L


# --- matrices


@given(graphs())
def test_laplacian_is_the_sum_over_edges(graph):
    assert_allclose(graph.laplacian.toarray(), slow_laplacian(graph), rtol=1e-12, atol=0)


@given(graphs())
def test_laplacian_is_symmetric_psd_with_zero_row_sums(graph):
    L = graph.laplacian.toarray()
    scale = graph.degrees.max() + 1
    assert_array_equal(L, L.T)
    assert_allclose(L.sum(axis=1), 0, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(L).min() > -1e-12 * scale


@given(graphs(), st.integers(0, 10))
def test_quadratic_form_is_the_weighted_sum_of_squared_differences(graph, seed):
    x = np.random.default_rng(seed).standard_normal(graph.n_nodes)
    expected = sum(w * (x[p] - x[q]) ** 2 for p, q, w in zip(graph.heads, graph.tails, graph.weights, strict=True))
    assert x @ (graph.laplacian @ x) == pytest.approx(expected, rel=1e-9, abs=1e-9 * (graph.degrees.max() + 1))


def test_null_space_has_a_dimension_for_each_component(toy_graph):
    eigenvalues = np.linalg.eigvalsh(toy_graph.laplacian.toarray())
    n_components, labels = toy_graph.components
    assert (eigenvalues < 1e-9 * (1 + eigenvalues.max())).sum() == n_components
    assert len(np.unique(labels)) == n_components
    assert_array_equal(labels[toy_graph.heads], labels[toy_graph.tails])
    assert toy_graph.is_connected == (n_components == 1)


def test_known_spectra():
    def spectrum(graph):
        return np.linalg.eigvalsh(graph.laplacian.toarray())

    assert_allclose(spectrum(toy_graphs.path(10)), 2 - 2 * np.cos(np.pi * np.arange(10) / 10), atol=1e-12)
    assert_allclose(spectrum(toy_graphs.complete(6)), [0, 6, 6, 6, 6, 6], atol=1e-12)
    assert_allclose(spectrum(toy_graphs.star(8)), [0, 1, 1, 1, 1, 1, 1, 8], atol=1e-12)


def test_matrices_are_canonical_csr(toy_graph):
    for name in ("adjacency", "laplacian"):
        matrix = getattr(toy_graph, name)
        assert matrix.format == "csr"
        assert matrix.dtype == np.float64
        assert matrix.has_canonical_format
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert (matrix != matrix.T).nnz == 0
        assert matrix is not getattr(toy_graph, name)
    assert toy_graph.adjacency.nnz == 2 * toy_graph.n_edges
    assert_allclose(toy_graph.degrees, toy_graph.adjacency.sum(axis=1))


def test_density_counts_every_edge_once():
    assert toy_graphs.path(10).density == 0.9
    assert toy_graphs.complete(6).density == 15 / 6
    assert toy_graphs.single_node().density == 0


# --- canonical form


@given(graphs(), st.randoms(use_true_random=False))
def test_order_and_orientation_of_the_input_do_not_matter(graph, random):
    order = list(range(graph.n_edges))
    random.shuffle(order)
    shuffled = {name: column[order] for name, column in columns(graph).items()}
    flip = np.array([random.random() < 0.5 for _ in order], dtype=bool)
    heads, tails = shuffled.pop("heads"), shuffled.pop("tails")
    again = Graph(graph.n_nodes, np.where(flip, tails, heads), np.where(flip, heads, tails), **shuffled)
    assert again == graph
    assert (again.heads < again.tails).all()
    keys = again.heads * again.n_nodes + again.tails
    assert (np.diff(keys) > 0).all()


def test_dtypes(toy_graph):
    dtypes = {name: column.dtype for name, column in columns(toy_graph).items()}
    assert dtypes == {
        "heads": np.int64,
        "tails": np.int64,
        "weights": np.float64,
        "origin": np.int8,
        "round": np.int32,
        "eta": np.float64,
        "gradient": np.float64,
    }


def test_provenance_defaults():
    graph = Graph(3, [0, 1], [1, 2], 1.0)
    assert (graph.origin == Origin.GIVEN).all()
    assert (graph.round == 0).all()
    assert np.isnan(graph.eta).all()
    assert np.isnan(graph.gradient).all()


# --- nothing changes


def test_arrays_are_read_only(toy_graph):
    arrays = [*columns(toy_graph).values(), toy_graph.degrees, toy_graph.components[1]]
    assert not any(array.flags.writeable for array in arrays)


def test_matrices_that_are_handed_out_may_be_changed(toy_graph):
    for name in ("adjacency", "laplacian"):
        before = getattr(toy_graph, name).toarray()
        changed = getattr(toy_graph, name)
        for array in (changed.data, changed.indices, changed.indptr):
            array[:] = 0
        np.testing.assert_array_equal(getattr(toy_graph, name).toarray(), before)


def test_the_arrays_that_were_given_stay_writable_and_apart():
    heads, tails, weights = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0])
    graph = Graph(3, heads, tails, weights)
    weights[0] = 99
    heads[0] = 2
    assert graph.weights[0] == 1
    assert graph.heads[0] == 0


def test_attributes_cannot_be_set():
    graph = toy_graphs.path()
    with pytest.raises(AttributeError, match="does not change"):
        graph.weights = np.ones(9)
    with pytest.raises(AttributeError, match="does not change"):
        graph.n_nodes = 3


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph))])
def test_copies_and_pickles_are_equal_and_still_read_only(toy_graph, duplicate):
    _ = toy_graph.laplacian
    twin = duplicate(toy_graph)
    assert twin == toy_graph
    assert not any(column.flags.writeable for column in columns(twin).values())


def test_pickle_leaves_the_caches_behind():
    graph = toy_graphs.grid(20, 20)
    before = len(pickle.dumps(graph))
    _ = graph.laplacian, graph.components
    assert len(pickle.dumps(graph)) == before


# --- equality


def test_equality_looks_at_everything():
    graph = toy_graphs.all_origins()
    assert graph == toy_graphs.all_origins()
    for name in ("weights", "origin", "round", "eta", "gradient"):
        changed = {key: column.copy() for key, column in columns(graph).items()}
        changed[name][1] = changed[name][2]
        assert Graph(graph.n_nodes, **changed) != graph, name
    assert Graph(graph.n_nodes + 1, **columns(graph)) != graph
    assert graph != "a graph"


def test_a_graph_has_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(toy_graphs.path())


# --- new graphs from old


@given(graphs(), st.data())
def test_adding_the_edges_in_two_parts_gives_the_whole(graph, data):
    chosen = data.draw(st.lists(st.booleans(), min_size=graph.n_edges, max_size=graph.n_edges))
    late = np.array(chosen, dtype=bool)
    early = Graph(graph.n_nodes, **{name: column[~late] for name, column in columns(graph).items()})
    assert early.with_edges(**{name: column[late] for name, column in columns(graph).items()}) == graph


def test_with_edges_takes_scalars_and_leaves_the_old_graph_alone():
    graph = toy_graphs.path(5)
    longer = graph.with_edges([4, 0], [0, 2], 0.5, origin=Origin.CRITICAL, round=3, eta=[7.0, 8.0])
    assert graph == toy_graphs.path(5)
    assert longer.n_edges == 6
    new = longer.origin == Origin.CRITICAL
    assert_array_equal(longer.heads[new], [0, 0])
    assert_array_equal(longer.tails[new], [2, 4])
    assert_array_equal(longer.eta[new], [8, 7])
    assert_array_equal(longer.round[new], [3, 3])
    assert_array_equal(longer.weights[new], [0.5, 0.5])
    assert graph.with_edges(4, 0, 1.0) == toy_graphs.cycle(5)


def test_with_edges_of_nothing_is_the_same_graph(toy_graph):
    assert toy_graph.with_edges([], [], []) == toy_graph


def test_with_edges_refuses_an_edge_that_is_there():
    with pytest.raises(ValueError, match=r"edge \(2, 3\) is already in the graph.*with_weights"):
        toy_graphs.path(5).with_edges([0, 3], [4, 2], [1.0, 1.0])


def test_with_weights_and_scaled(toy_graph):
    doubled = toy_graph.scaled(2)
    assert doubled == toy_graph.with_weights(toy_graph.weights * 2)
    assert_array_equal(doubled.weights, 2 * toy_graph.weights)
    assert_allclose(doubled.laplacian.toarray(), 2 * toy_graph.laplacian.toarray())
    assert doubled.scaled(0.5) == toy_graph


@pytest.mark.parametrize("factor", [0, -1, np.nan, np.inf, "two", 1j, None])
def test_scaled_refuses(factor):
    with pytest.raises(ValueError, match=r"factor=.*positive finite number"):
        toy_graphs.path().scaled(factor)


# --- why, and repr


def test_why_names_the_origin_the_round_and_the_numbers():
    graph = toy_graphs.path(4).with_edges(3, 0, 0.25, origin=Origin.JOIN, round=1, eta=12.5, gradient=3.0)
    expected = (
        "Nodes 0 and 3 are joined, with weight 0.25: closest pair between two components, in round 1, "
        "with eta 12.5 and gradient 3."
    )
    assert graph.why(0, 3) == graph.why(3, 0) == graph.why(np.int64(3), np.int32(0)) == expected
    assert (
        graph.why(1, 2) == "Nodes 1 and 2 are joined, with weight 1: edge of the graph that was given, from the start."
    )


def test_why_knows_every_edge(toy_graph):
    for p, q, code in zip(toy_graph.heads, toy_graph.tails, toy_graph.origin, strict=True):
        assert Origin(code).meaning in toy_graph.why(q, p)


@pytest.mark.parametrize("pair", [(0, 2), (1, 1), (0, 99), (-1, 0), (-5, 99)])
def test_why_refuses_what_is_no_edge(pair):
    with pytest.raises(ValueError, match=rf"edge \({min(pair)}, {max(pair)}\) is not in the graph"):
        toy_graphs.path().why(*pair)


def test_why_refuses_what_is_no_node():
    with pytest.raises(TypeError):
        toy_graphs.path().why(0.5, 1)


def test_every_origin_has_a_meaning():
    assert [origin.value for origin in Origin] == [0, 1, 2, 3, 4, 5, 6]
    assert len({origin.meaning for origin in Origin}) == len(Origin)
    assert Origin.JOIN.meaning == "closest pair between two components"
    assert pickle.loads(pickle.dumps(Origin.JOIN)) is Origin.JOIN


def test_repr():
    assert repr(toy_graphs.single_node()) == "Graph(1 node, 0 edges, density 0.00, 1 component)"
    assert repr(toy_graphs.isolated_last_node()) == "Graph(3 nodes, 1 edge, density 0.33, 2 components; 1 given)"
    graph = toy_graphs.grid(40, 50).with_edges([0, 1], [1999, 1998], 1.0, origin=Origin.CRITICAL)
    assert repr(graph) == "Graph(2,000 nodes, 3,912 edges, density 1.96, 1 component; 3,910 given, 2 critical)"


# --- errors of the constructor

EDGES = {"n_nodes": 3, "heads": [0, 1], "tails": [1, 2], "weights": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_nodes": 0}, r"n_nodes=0: must be a whole number from 1"),
        ({"n_nodes": 2.5}, r"n_nodes=2.5: must be a whole number"),
        ({"n_nodes": True}, r"n_nodes=True"),
        ({"n_nodes": 2**40}, r"n_nodes=1099511627776"),
        ({"tails": [1, 3]}, r"tails\[1\] = 3: nodes are numbered from 0 to n_nodes - 1 = 2"),
        ({"heads": [-1, 1]}, r"heads\[0\] = -1: nodes are numbered"),
        ({"heads": [0.0, 1.0]}, r"heads of shape \(2,\) and dtype float64: must be a list of node numbers"),
        ({"heads": ["a", "b"]}, r"heads .* must be a list of node numbers"),
        ({"heads": [[0, 1]]}, r"heads of shape \(1, 2\)"),
        ({"heads": [0, 2]}, r"edge \(2, 2\): a node cannot be joined to itself"),
        ({"heads": [0, 1], "tails": [1, 0]}, r"edge \(0, 1\) is given twice"),
        ({"heads": [0]}, r"heads has 1 entries and tails has 2"),
        ({"weights": [1.0]}, r"weights of shape \(1,\): must have one entry for each of the 2 edges"),
        ({"weights": [1.0, 0.0]}, r"weights\[1\] = 0.0: must be positive and finite"),
        ({"weights": [-1.0, 1.0]}, r"weights\[0\] = -1.0: must be positive and finite"),
        ({"weights": [1.0, np.nan]}, r"weights\[1\] = nan: must be positive and finite"),
        ({"weights": [np.inf, 1.0]}, r"weights\[0\] = inf: must be positive and finite"),
        ({"weights": [1j, 1.0]}, r"weights of dtype complex128: must hold real numbers"),
        ({"weights": ["1", "2"]}, r"weights of dtype <U1: must hold real numbers"),
        ({"origin": 7}, r"origin = 7: unknown. Allowed .* 4 \(join\)"),
        ({"origin": [0, np.nan]}, r"origin = nan: unknown"),
        ({"round": -1}, r"round = -1.0: must be a whole number from 0"),
        ({"round": [0, 0.5]}, r"round = 0.5"),
        ({"eta": [1.0]}, r"eta of shape \(1,\)"),
        ({"gradient": [1j, 0]}, r"gradient of dtype complex128"),
    ],
)
def test_constructor_says_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        Graph(**{**EDGES, **change})


# --- from_adjacency

SPARSE = [
    getattr(sp, f"{name}_{kind}")
    for name in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    for kind in ("array", "matrix")
]


@pytest.mark.parametrize("kind", [np.array, np.asmatrix, np.asfortranarray, lambda A: A.tolist(), *SPARSE])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_from_adjacency_takes_any_matrix(kind):
    graph = toy_graphs.knn_like()
    plain = Graph(graph.n_nodes, graph.heads, graph.tails, graph.weights)
    assert Graph.from_adjacency(kind(graph.adjacency.toarray())) == plain


@given(graphs())
def test_from_adjacency_undoes_adjacency(graph):
    plain = Graph(graph.n_nodes, graph.heads, graph.tails, graph.weights, origin=Origin.TREE)
    assert Graph.from_adjacency(graph.adjacency, origin=Origin.TREE) == plain
    assert Graph.from_adjacency(graph.adjacency.toarray(), origin=Origin.TREE) == plain


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_from_adjacency_takes_any_real_dtype(dtype):
    A = toy_graphs.cycle().adjacency.toarray().astype(dtype)
    assert Graph.from_adjacency(A) == toy_graphs.cycle()
    if dtype is not np.float16:  # scipy has no such sparse matrices
        assert Graph.from_adjacency(sp.csr_array(A)) == toy_graphs.cycle()


def test_from_adjacency_drops_zeros_and_the_diagonal_and_sums_duplicates():
    rows, columns = [0, 1, 0, 1, 2, 0, 2], [1, 0, 1, 0, 2, 2, 0]
    A = sp.coo_array(([1.0, 1.0, 2.0, 2.0, 9.0, 0.0, 0.0], (rows, columns)), shape=(3, 3))
    assert Graph.from_adjacency(A) == Graph(3, [0], [1], [3.0])
    assert A.nnz == 7  # the argument is left as it was
    assert Graph.from_adjacency(sp.csr_array((4, 4))) == Graph(4, [], [], [])


def test_from_adjacency_averages_rounding_errors():
    A = np.array([[0, 1.0], [1 + 1e-12, 0]])
    assert Graph.from_adjacency(A).weights[0] == pytest.approx(1 + 5e-13, abs=1e-15)


@pytest.mark.parametrize("weight", [5e-324, 1e-30, 1e30, 1.7e308])
def test_from_adjacency_keeps_extreme_weights(weight):
    assert Graph.from_adjacency([[0, weight], [weight, 0]]).weights[0] == weight


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[0, 1.0, 0], [1, 0, 1]], r"shape \(2, 3\): must be square"),
        ([[0, np.nan], [np.nan, 0]], r"A\[0, 1\] is nan: weights must be finite"),
        ([[0, np.inf], [np.inf, 0]], r"A\[0, 1\] is inf: weights must be finite"),
        ([[np.nan, 1], [1, 0]], r"A\[0, 0\] is nan: weights must be finite"),
        ([[0, 1j], [1j, 0]], "dtype complex128: must hold real numbers"),
        ([[0, -2.0], [-2, 0]], r"A\[0, 1\] is -2: weights must not be negative.*Laplacian"),
        ([[0, 1.0], [2.0, 0]], r"not symmetric: A\[0, 1\] is 1 and A\[1, 0\] is 2. Pass"),
        ([[0, 1.0, 1e-12], [1.0, 0, 0], [0, 0, 0]], r"not symmetric: A\[0, 2\] is 1e-12 and A\[2, 0\] is 0"),
        ([[0, 1.0], [1.000001, 0]], "not symmetric"),
    ],
)
def test_from_adjacency_says_what_is_wrong(A, message, kind):
    with pytest.raises(ValueError, match=message):
        Graph.from_adjacency(kind(A))


@pytest.mark.parametrize("A", [[1.0, 2.0], np.zeros((2, 2, 2)), 3.0, np.zeros((0, 0)), [["a", "b"], ["c", "d"]]])
def test_from_adjacency_refuses_what_is_no_matrix(A):
    with pytest.raises(ValueError, match=r"shape|n_nodes=0|dtype"):
        Graph.from_adjacency(A)


# --- scikit-learn


@pytest.mark.parametrize("name", ["barbell", "knn_like"])
def test_adjacency_is_a_precomputed_affinity(name):
    from sklearn.cluster import SpectralClustering

    graph = toy_graphs.TOY_GRAPHS[name]()
    if not graph.is_connected:
        graph = graph.with_edges(*_joins(graph), 1e-3)
    model = SpectralClustering(n_clusters=2, affinity="precomputed", random_state=0)
    labels = model.fit_predict(graph.adjacency)
    assert labels.shape == (graph.n_nodes,)
    if name == "barbell":
        assert len(set(labels[:5])) == len(set(labels[5:])) == 1
        assert labels[0] != labels[-1]


def _joins(graph):
    """The first nodes of consecutive components."""
    _, first = np.unique(graph.components[1], return_index=True)
    return first[:-1], first[1:]
