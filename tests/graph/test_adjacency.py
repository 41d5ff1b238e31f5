"""The validator of adjacency matrices and Laplacians: one set of rules for all functions that take a graph."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from graspel import GRASPEL, Graph
from graspel.graph.adjacency import check_adjacency, check_laplacian, check_real
from graspel.linalg import LaplacianSolver
from toy_graphs import knn_like, path

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
SQUARE = np.array([[0.0, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 4], [2, 0, 4, 0]])


def laplacian(A):
    return np.diag(A.sum(axis=1)) - A


def spoil(p, q, value, symmetric=True):
    A = SQUARE.copy()
    A[p, q] = value
    if symmetric:
        A[q, p] = value
    return A


weights = st.just(0.0) | st.floats(1e-40, 1e6)
symmetric_matrices = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=weights).map(lambda A: np.maximum(A, A.T))
)


# --- what is returned


@given(symmetric_matrices)
def test_the_entries_off_the_diagonal(A):
    expected = A.copy()
    np.fill_diagonal(expected, 0)
    for given_as in (A, A.tolist(), sp.csr_array(A), sp.coo_array(A)):
        checked = check_adjacency(given_as)
        assert_array_equal(checked.toarray(), expected)
        assert checked.has_canonical_format
        assert checked.dtype == np.float64
        assert (checked.data != 0).all()


@given(symmetric_matrices)
def test_a_laplacian_gives_its_adjacency_back(A):
    np.fill_diagonal(A, 0)
    L = laplacian(A)
    assert_array_equal(check_laplacian(L).toarray(), A)
    assert_array_equal(check_laplacian(sp.csc_array(L)).toarray(), A)


@pytest.mark.parametrize("old", [False, True], ids=["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format(form, old):
    convert = getattr(sp, f"{form}_{'matrix' if old else 'array'}")
    assert_array_equal(check_adjacency(convert(SQUARE)).toarray(), SQUARE)
    assert_array_equal(check_laplacian(convert(laplacian(SQUARE))).toarray(), SQUARE)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, np.float32, np.longdouble])
def test_every_real_type(dtype):
    assert_array_equal(check_adjacency(SQUARE.astype(dtype)).toarray(), SQUARE)
    if np.dtype(dtype).kind != "u":
        assert_array_equal(check_laplacian(laplacian(SQUARE).astype(dtype)).toarray(), SQUARE)


def test_booleans_are_weights_of_1():
    assert_array_equal(check_adjacency(SQUARE > 0).toarray(), (SQUARE > 0).astype(float))


def test_duplicates_are_summed_and_zeros_dropped():
    rows, columns = [0, 1, 0, 1, 0, 2, 1, 2, 1, 2], [1, 0, 1, 0, 2, 0, 2, 1, 2, 1]
    weights = [1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 5.0, 5.0, -5.0, -5.0]
    A = sp.coo_array((weights, (rows, columns)), shape=(3, 3))
    checked = check_adjacency(A)
    assert_array_equal(checked.toarray(), [[0, 3, 0], [3, 0, 0], [0, 0, 0]])
    assert checked.nnz == 2
    assert A.nnz == 10  # the argument is not changed


def test_the_diagonal_does_not_count_even_if_negative():
    assert_array_equal(check_adjacency(SQUARE - 7 * np.eye(4)).toarray(), SQUARE)


def test_rounding_is_averaged():
    A = np.array([[0, 1.0], [1 + 1e-12, 0]])
    checked = check_adjacency(A).toarray()
    assert_array_equal(checked, checked.T)
    assert checked[0, 1] == pytest.approx(1 + 5e-13, abs=1e-15)
    single = np.array([[0, 1], [1 + 1e-6, 0]], dtype=np.float32)  # rounding of this type, but not of double precision
    assert check_adjacency(single)[0, 1] == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match="not symmetric"):
        check_adjacency(single.astype(np.float64))


def test_a_directed_matrix_is_returned_as_it_is():
    A = np.triu(SQUARE)
    assert_array_equal(check_adjacency(A, directed=True).toarray(), A)
    with pytest.raises(ValueError, match="not symmetric"):
        check_adjacency(A)


def test_an_object_with_an_adjacency():
    graph = knn_like()
    assert_array_equal(check_adjacency(graph).toarray(), graph.adjacency.toarray())
    assert_array_equal(check_laplacian(graph).toarray(), graph.adjacency.toarray())


@pytest.mark.parametrize("weight", [5e-324, 1e-251, 1e-30, 1e30, 1e251, 1.7e308])
def test_weights_beyond_the_range_of_the_kernels_are_kept_on_request(weight):
    A = np.array([[0, weight], [weight, 0]])
    assert_array_equal(check_adjacency(A, bounded=False).toarray(), A)
    if not 1e-250 <= weight <= 1e250:
        with pytest.raises(ValueError, match=r"adjacency\[0, 1\] is \S+, .*between 1e-250 and 1e\+250.*Scale"):
            check_adjacency(A)


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_weights_too_far_apart_are_refused(unit):
    A = unit * np.array([[0, 1e-30, 0], [1e-30, 0, 1e21], [0, 1e21, 0]])
    with pytest.raises(ValueError, match=r"\[0, 1\] is \S+, and another weight is \S+: .*at most 1e\+50 times"):
        check_adjacency(A)
    A[unit < A] /= 100
    assert_array_equal(check_adjacency(A).toarray(), A)


def test_no_edges():
    assert check_adjacency(sp.csr_array((3, 3))).nnz == 0
    assert check_laplacian(np.zeros((1, 1))).nnz == 0


def test_the_argument_is_not_changed():
    for A in (sp.csr_array(spoil(0, 0, 3.0)), sp.csr_array(spoil(0, 1, 1 + 1e-12, symmetric=False))):
        before = [array.copy() for array in (A.data, A.indices, A.indptr)]
        check_adjacency(A)
        for array, old in zip((A.data, A.indices, A.indptr), before, strict=True):
            assert_array_equal(array, old)


# --- what is refused

NOT_A_GRAPH = [
    (None, TypeError, "A is a NoneType: must be a scipy sparse matrix, a square array or a graspel Graph"),
    ("graph.npz", TypeError, "A is a str"),
    (networkx.path_graph(3), TypeError, "A is a networkx Graph: .* graspel.Graph.from_networkx converts"),
    (3.0, ValueError, r"A of shape \(\): must be square"),
    ([1.0, 2.0], ValueError, r"A of shape \(2,\): must be square"),
    (SQUARE[:3], ValueError, r"A of shape \(3, 4\): must be square"),
    (np.zeros((0, 0)), ValueError, r"A of shape \(0, 0\): must be square, one row and column for each node, at least"),
    (np.zeros((2, 2, 2)), ValueError, r"A of shape \(2, 2, 2\): must be square"),
    (SQUARE * 1j, ValueError, "A of dtype complex128: must hold real numbers. Take the real part"),
    ([["a", "b"], ["c", "d"]], ValueError, "A of dtype <U1: must hold real numbers. Convert"),
    (spoil(1, 2, np.nan), ValueError, r"A\[1, 2\] is nan: weights must be finite"),
    (spoil(0, 3, np.inf), ValueError, r"A\[0, 3\] is inf: weights must be finite"),
    (spoil(2, 2, np.nan), ValueError, r"A\[2, 2\] is nan: weights must be finite"),
    (spoil(0, 1, -2.5), ValueError, r"A\[0, 1\] is -2.5: weights must not be negative. If this is a Laplacian"),
]
NOT_SYMMETRIC = [
    (spoil(0, 2, 5.0, symmetric=False), r"not symmetric: A\[0, 2\] is 5 and A\[2, 0\] is 0. Pass"),
    (spoil(3, 2, 4.001, symmetric=False), r"not symmetric: A\[2, 3\] is 4 and A\[3, 2\] is 4.001. Pass"),
    (spoil(0, 2, 1e-12, symmetric=False), r"not symmetric: A\[0, 2\] is 1e-12 and A\[2, 0\] is 0. Pass"),
]


@pytest.mark.parametrize(("A", "error", "message"), NOT_A_GRAPH)
@pytest.mark.parametrize("directed", [False, True])
def test_what_is_not_a_graph(A, error, message, directed):
    with pytest.raises(error, match=message):
        check_adjacency(A, "A", directed=directed)


@pytest.mark.parametrize(("A", "message"), NOT_SYMMETRIC)
def test_what_is_not_symmetric(A, message):
    for given_as in (A, sp.csr_array(A)):
        with pytest.raises(ValueError, match=message):
            check_adjacency(given_as, "A")


@pytest.mark.parametrize(
    ("L", "message"),
    [
        (laplacian(SQUARE)[:2], r"L of shape \(2, 4\): must be square"),
        (laplacian(SQUARE) * 1j, "L of dtype complex128: must hold real numbers"),
        (SQUARE, r"-L\[2, 3\] is -4: .*must not be positive.*csgraph.laplacian"),
        (laplacian(spoil(0, 1, -1.0)), r"-L\[0, 1\] is -1: "),
        (laplacian(spoil(1, 2, np.nan)), r"L\[1, 1\] is nan: weights must be finite"),
        (laplacian(SQUARE) + np.eye(4), r"L\[0, 0\] is 4, and the weights at node 0 sum to 3"),
        (sp.csgraph.laplacian(SQUARE, normed=True), "normalized Laplacian will not do"),
        ([[2.0, -2], [-1, 1]], r"not symmetric: -L\[0, 1\] is 2 and -L\[1, 0\] is 1"),
        ([[np.nan, -2], [-2, 2]], r"L\[0, 0\] is nan"),
        ([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]], r"-L\[0, 1\] is 1.7e\+308, .*between 1e-250 and 1e\+250"),
    ],
)
def test_what_is_not_a_laplacian(L, message):
    for given_as in (L, sp.csr_array(L)):
        with pytest.raises(ValueError, match=message):
            check_laplacian(given_as)


@pytest.mark.parametrize("dtype", [complex, "U3", object, "M8[D]"])
def test_types_that_are_not_real(dtype):
    with pytest.raises(ValueError, match=r"values of dtype .*: must hold real numbers"):
        check_real("values", np.dtype(dtype))


# --- the same rules for everyone

TAKES_A_GRAPH = {
    "Graph.from_adjacency": Graph.from_adjacency,
    "LaplacianSolver": LaplacianSolver,
    "GRASPEL": lambda A: GRASPEL(initial=A, random_state=0).fit(np.arange(A.shape[0] * 1.0)[:, None] ** 2),
}


@pytest.mark.parametrize("take", TAKES_A_GRAPH.values(), ids=TAKES_A_GRAPH)
@pytest.mark.parametrize(
    "A", [A for A, _, _ in NOT_A_GRAPH if isinstance(A, np.ndarray) and A.ndim == 2 and A.shape == (4, 4)]
)
def test_everyone_refuses_the_same_matrices(take, A):
    with pytest.raises(ValueError, match=r"finite|negative|real"):
        take(sp.csr_array(A))


def test_everyone_drops_the_diagonal_and_zeros():
    A = sp.csr_array(path(4).adjacency + sp.diags_array([9.0, 0, 0, 0]))
    assert Graph.from_adjacency(A) == path(4)
    b = np.array([1.0, 0, 0, -1])
    assert_allclose(LaplacianSolver(A).solve(b), LaplacianSolver(path(4)).solve(b))
    model = GRASPEL(initial=A, max_iter=0, random_state=0).fit(np.arange(4.0)[:, None])
    assert_array_equal(model.graph_.heads, path(4).heads)


def damaged():
    A = sp.csr_array(SQUARE)
    A.indices[-1] = 10**6
    return A


@pytest.mark.parametrize(
    "take",
    [
        check_adjacency,
        check_laplacian,
        Graph.from_adjacency,
        LaplacianSolver,
        lambda A: GRASPEL(initial=A).fit(np.eye(4)),
    ],
    ids=["adjacency", "laplacian", "Graph", "solver", "initial"],
)
def test_damaged_indices_are_refused_before_scipy_follows_them(take):
    with pytest.raises(ValueError, match="is damaged: a column index is 1000000"):
        take(damaged())


def test_arrays_longer_than_their_content_are_cut():
    A = sp.csr_array(SQUARE)
    longer = A.copy()
    longer.data, longer.indices = np.append(A.data, np.nan), np.append(A.indices, 77)
    assert_array_equal(check_adjacency(longer).toarray(), SQUARE)
    assert len(longer.data) == len(A.data) + 1
