"""Arguments: every public function gives a clear error or the correct result, for every kind of graph and matrix."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graspel.graph.adjacency import check_adjacency, check_laplacian
from graspel.linalg import (
    LaplacianSolver,
    coarsen,
    effective_resistance,
    logdet,
    resistance_between,
    smallest_eigenpairs,
    sparsify,
)
from linalg.zoo import expander, isolated, reweighted
from toy_graphs import grid, path

# Each takes an adjacency and returns numbers to compare.
TAKES_ADJACENCY = {
    "LaplacianSolver": lambda A: LaplacianSolver(A).solve(np.arange(A.shape[0])),
    "resistance_between": lambda A: resistance_between(A, np.arange(A.shape[0])),
    "logdet": lambda A: logdet(A, 0.1)[0],
}


@pytest.fixture(params=list(TAKES_ADJACENCY))
def function(request):
    return TAKES_ADJACENCY[request.param]


def laplacian(A: sp.sparray) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(A.sum(axis=1)) - A)


SQUARE = sp.csr_array(np.array([[0.0, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 4], [2, 0, 4, 0]]))


def spoiled(p: int, q: int, value: float, symmetric: bool = True) -> sp.csr_array:
    A = SQUARE.toarray()
    A[p, q] = value
    if symmetric:
        A[q, p] = value
    return sp.csr_array(A)


NOT_A_GRAPH = [
    (None, TypeError, "is a NoneType: must be a scipy sparse matrix, a square array or a graspel Graph"),
    ("graph.npz", TypeError, "is a str: must be a scipy sparse matrix, a square array or a graspel Graph"),
    (networkx.path_graph(3), TypeError, "is a networkx Graph: must be a scipy sparse matrix, a square array"),
    (SQUARE[:3], ValueError, r"adjacency of shape \(3, 4\): must be square"),
    (SQUARE.toarray()[:3], ValueError, r"adjacency of shape \(3, 4\): must be square"),
    (sp.csr_array((0, 0)), ValueError, r"of shape \(0, 0\): must be square, .* at least one"),
    (sp.coo_array(np.array([1.0, 2.0])), ValueError, r"of shape \(2,\): must be square"),
    (["a", "b"], ValueError, r"of shape \(2,\): must be square"),
    (SQUARE * 1j, ValueError, "of dtype complex128: must hold real numbers"),
    (SQUARE.toarray() * 1j, ValueError, "of dtype complex128: must hold real numbers"),
    ([["0", "1"], ["1", "0"]], ValueError, "of dtype <U1: must hold real numbers"),
    (spoiled(0, 1, -2.5).toarray(), ValueError, r"\[0, 1\] is -2.5: weights must not be negative"),
    (spoiled(1, 2, np.nan), ValueError, r"\[1, 2\] is nan: weights must be finite"),
    (spoiled(0, 3, np.inf), ValueError, r"\[0, 3\] is inf: weights must be finite"),
    (spoiled(0, 1, -2.5), ValueError, r"\[0, 1\] is -2.5: weights must not be negative"),
    (spoiled(0, 2, 5.0, symmetric=False), ValueError, r"not symmetric: \S+\[0, 2\] is 5 and \S+\[2, 0\] is 0"),
    (spoiled(3, 2, 4.001, symmetric=False), ValueError, r"not symmetric: \S+\[2, 3\] is 4 and \S+\[3, 2\] is 4.001"),
    (spoiled(0, 1, 1.7e308), ValueError, r"\[0, 1\] is 1.7e\+308, .*between 1e-250 and 1e\+250"),
]


@pytest.mark.parametrize(("A", "error", "message"), NOT_A_GRAPH)
def test_what_is_not_a_graph_gets_a_clear_error(A, error, message):
    for function in (LaplacianSolver, lambda A: resistance_between(A, [0]), lambda A: logdet(A, 1.0)):
        with pytest.raises(error, match=message):
            function(A)


@pytest.mark.parametrize(
    ("L", "error", "message"),
    [
        (None, TypeError, "L is a NoneType: must be a scipy sparse matrix, a square array or a graspel Graph"),
        (laplacian(SQUARE)[:2], ValueError, r"L of shape \(2, 4\): must be square"),
        (sp.csr_array((0, 0)), ValueError, "at least one"),
        (laplacian(SQUARE) * 1j, ValueError, "L of dtype complex128: must hold real numbers"),
        (SQUARE, ValueError, r"-L\[2, 3\] is -4: .*must not be positive.*csgraph.laplacian"),
        (laplacian(spoiled(0, 1, -1.0)), ValueError, r"-L\[0, 1\] is -1: "),
        (laplacian(spoiled(1, 2, np.nan)), ValueError, "is nan: weights must be finite"),
        (laplacian(SQUARE) + sp.eye_array(4), ValueError, r"L\[0, 0\] is 4, and the weights at node 0 sum to 3"),
        (sp.csgraph.laplacian(SQUARE, normed=True), ValueError, "normalized Laplacian will not do"),
        (sp.csr_array(np.diag([0.0, 1.0])), ValueError, r"L\[1, 1\] is 1, and the weights at node 1 sum to 0"),
        (
            sp.csr_array(np.array([[2.0, -2], [-1, 1]])),
            ValueError,
            r"not symmetric: -L\[0, 1\] is 2 and -L\[1, 0\] is 1",
        ),
        (sp.csr_array(np.array([[np.nan, -2], [-2, 2]])), ValueError, r"L\[0, 0\] is nan"),
    ],
)
def test_what_is_not_a_laplacian_gets_a_clear_error(L, error, message):
    with pytest.raises(error, match=message):
        smallest_eigenpairs(L, 1)


@pytest.mark.parametrize("k", [0, -1, 5, 2.0, "2", True, None, np.array([1])])
def test_k_is_a_whole_number_of_pairs(k):
    with pytest.raises(ValueError, match=r"k=.*: must be a whole number from 1 to 4, the number of nodes"):
        smallest_eigenpairs(laplacian(SQUARE), k)


@pytest.mark.parametrize("tol", [0, -1e-3, np.nan, np.inf, "small", None, True])
def test_tolerances_and_shifts_are_positive(tol):
    with pytest.raises(ValueError, match=r"tol=.*: must be a positive finite number"):
        smallest_eigenpairs(laplacian(SQUARE), 2, tol=tol)
    with pytest.raises(ValueError, match=r"tol=.*: must be a positive finite number"):
        LaplacianSolver(SQUARE).solve(np.ones(4), tol)
    with pytest.raises(ValueError, match=r"shift=.*: must be a positive finite number"):
        logdet(SQUARE, tol)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (np.ones(3), ValueError, r"has shape \(3,\): must be \(4,\) or \(4, m\)"),
        (np.ones((3, 4)), ValueError, r"has shape \(3, 4\)"),
        (np.ones((4, 2, 2)), ValueError, r"has shape \(4, 2, 2\)"),
        (5.0, ValueError, r"has shape \(\)"),
        (np.array([1, np.nan, 0, 0]), ValueError, "has NaN or infinite entries"),
        (np.array([1, np.inf, 0, 0]), ValueError, "has NaN or infinite entries"),
        (np.ones(4) * 1j, TypeError, "has entries of type complex128"),
        (["a", "b", "c", "d"], TypeError, "has entries of type <U1"),
    ],
)
def test_vectors_on_the_nodes(values, error, message):
    with pytest.raises(error, match="^b " + message):
        LaplacianSolver(SQUARE).solve(values)
    with pytest.raises(error, match="^guess " + message):
        smallest_eigenpairs(laplacian(SQUARE), 2, guess=values)


@pytest.mark.parametrize("nodes", [[4], [-1], [0, 7], [[0, 1]], 3, [0.5], ["a"], [True, False, True, False]])
def test_nodes_are_node_numbers(nodes):
    with pytest.raises(ValueError, match="from 0 to 3"):
        resistance_between(SQUARE, nodes)


# These are no errors: the result is that of the plain matrix.


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("old", [False, True])
def test_every_sparse_format(form, old, function):
    A = SQUARE.asformat(form)
    A = getattr(sp, f"{form}_matrix")(A) if old else A
    assert_array_equal(function(A), function(SQUARE))
    L = laplacian(SQUARE).asformat(form)
    assert_allclose(smallest_eigenpairs(L, 4).values, smallest_eigenpairs(laplacian(SQUARE), 4).values, rtol=1e-13)


def test_dense_arrays_and_nested_lists(function):
    dense = SQUARE.toarray()
    assert_array_equal(function(dense), function(SQUARE))
    assert_array_equal(resistance_between(dense.tolist(), [0, 2]), resistance_between(SQUARE, [0, 2]))
    assert logdet(dense.tolist(), 0.1) == logdet(SQUARE, 0.1)
    L = laplacian(SQUARE)
    assert_array_equal(smallest_eigenpairs(L.toarray(), 3).vectors, smallest_eigenpairs(L, 3).vectors)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.longdouble])
def test_every_real_type(dtype, function):
    assert_array_equal(function(SQUARE.astype(dtype)), function(SQUARE))
    if np.dtype(dtype).kind != "u":
        pairs = smallest_eigenpairs(laplacian(SQUARE).astype(dtype), 3)
        assert_allclose(pairs.values, smallest_eigenpairs(laplacian(SQUARE), 3).values, rtol=1e-12)


def test_booleans_are_unit_weights(function):
    A = grid(3, 3).adjacency
    assert_array_equal(function(A.astype(bool)), function(A))


def messy() -> sp.csr_array:
    """SQUARE with duplicates, explicit zeros, self-loops and unsorted columns."""
    rows, columns, weights = [], [], []
    for p, q, w in [(3, 0, 2), (0, 1, 1), (2, 1, 3), (2, 3, 4)]:
        rows += [p, q, p, q]
        columns += [q, p, q, p]
        weights += [0.25 * w, 0.25 * w, 0.75 * w, 0.75 * w]
    rows += [0, 2, 1, 3, 1, 3]
    columns += [0, 2, 3, 1, 3, 1]
    weights += [9.0, -7.0, 0.0, 0.0, 1.0, 1.0]
    rows += [1, 3]
    columns += [3, 1]
    weights += [-1.0, -1.0]  # with the ones above: an edge whose duplicates cancel
    order = np.lexsort((-np.array(columns), rows))
    indptr = np.searchsorted(np.array(rows)[order], np.arange(5))
    return sp.csr_array((np.array(weights)[order], np.array(columns)[order], indptr), shape=(4, 4))


def test_duplicates_zeros_and_self_loops(function):
    assert not messy().has_canonical_format
    assert_array_equal(function(messy()), function(SQUARE))


def test_a_stored_zero_is_no_edge():
    """It must not connect two components."""
    A = sp.csr_array(np.array([[0.0, 1, 5, 0], [1, 0, 0, 0], [5, 0, 0, 1], [0, 0, 1, 0]]))
    A.data[A.data == 5] = 0
    assert A.nnz == 6
    assert_array_equal(np.isinf(resistance_between(A, range(4)))[0], [False, False, True, True])
    assert_array_equal(smallest_eigenpairs(laplacian(A), 2).values, 0)


def test_the_input_is_not_changed(function):
    for A in (messy(), SQUARE.copy(), spoiled(0, 0, 3.0)):
        copies = [array.copy() for array in (A.data, A.indices, A.indptr)]
        function(A)
        for array, before in zip((A.data, A.indices, A.indptr), copies, strict=True):
            assert_array_equal(array, before)
    L = laplacian(SQUARE)
    before = L.toarray()
    smallest_eigenpairs(L, 2)
    assert_array_equal(L.toarray(), before)


def test_read_only_arrays_and_graphs(function):
    graph = path(6)
    frozen = graph.adjacency
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    assert_array_equal(function(frozen), function(graph.adjacency))
    assert_array_equal(check_adjacency(graph).toarray(), graph.adjacency.toarray())


def test_rounding_is_not_taken_for_asymmetry(function):
    A = SQUARE.copy()
    A.data *= 1 + 1e-12 * np.arange(A.nnz)
    assert_allclose(function(A), function(SQUARE), rtol=1e-9)
    cleaned = check_adjacency(A)
    assert_array_equal(cleaned.toarray(), cleaned.toarray().T)


def test_a_laplacian_of_single_precision_is_one(rng):
    A = grid(5, 5).adjacency.astype(np.float32)
    A.data *= 0.1
    L = laplacian(A).astype(np.float32)
    assert_allclose(
        smallest_eigenpairs(L, 3).values, smallest_eigenpairs(laplacian(A.astype(float)), 3).values, rtol=1e-6
    )


@pytest.mark.parametrize("n", [1, 2, 5, 400])
def test_no_edges(n):
    A = sp.csr_array((n, n))
    pairs = smallest_eigenpairs(A, n)
    assert_array_equal(pairs.values, 0)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(n))
    assert_array_equal(LaplacianSolver(A).solve(np.ones(n)), np.zeros(n))
    assert logdet(A, 0.5)[0] == pytest.approx(n * np.log(0.5))
    assert_array_equal(resistance_between(A, [0, n - 1]), [[0, 0 if n == 1 else np.inf], [0 if n == 1 else np.inf, 0]])
    assert_array_equal(smallest_eigenpairs(isolated(n), 1).values, 0)


def test_one_node_with_a_self_loop(function):
    assert_array_equal(function(sp.csr_array([[3.0]])), function(sp.csr_array((1, 1))))


def test_one_edge():
    A = sp.csr_array(np.array([[0, 3.0], [3, 0]]))
    pairs = smallest_eigenpairs(laplacian(A), 2)
    assert_allclose(pairs.values, [0, 6])
    assert_allclose(np.abs(pairs.vectors), np.sqrt(0.5))
    assert_allclose(LaplacianSolver(A).solve([1, -1]), [1 / 6, -1 / 6])
    assert_allclose(resistance_between(A, [0, 1]), [[0, 1 / 3], [1 / 3, 0]])
    assert logdet(A, 1.0)[0] == pytest.approx(np.log(7))


WEIGHTS = st.just(0.0) | st.floats(1e-40, 1e6)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), WEIGHTS), max_size=15).map(
            lambda entries: (n, entries)
        )
    )
)
def test_the_adjacency_is_what_a_dense_matrix_says(graph):
    """Twin: add all entries up in a full matrix, both ways round, and empty its diagonal."""
    n, entries = graph
    A = np.zeros((n, n))
    for p, q, w in entries:
        A[p, q] += w
        A[q, p] += w
    p, q, w = (np.array(column) for column in zip(*entries, strict=True)) if entries else (np.zeros(0, int),) * 3
    stored = sp.coo_array((np.tile(w.astype(float), 2), (np.r_[p, q], np.r_[q, p])), shape=(n, n))
    np.fill_diagonal(A, 0)
    checked = check_adjacency(stored)
    assert_allclose(checked.toarray(), A, rtol=1e-12)
    assert checked.has_canonical_format
    assert (checked.data != 0).all()
    assert_allclose(check_laplacian(laplacian(sp.csr_array(A))).toarray(), A, rtol=1e-12)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("n", "seed"), [(12, 0), (12, 1), (310, 0)])
@pytest.mark.parametrize(("center", "decades"), [(0, 24), (-220, 24), (220, 24), (249, 0), (-249, 0)])
def test_weights_at_the_ends_of_the_range_give_finite_results(center, decades, n, seed):
    """Nothing over- or underflows inside the range that the check of the adjacency allows."""
    graph = reweighted(expander(n, seed=seed), decades, seed).scaled(10.0**center)
    pairs = smallest_eigenpairs(graph, 4, random_state=seed)
    assert np.isfinite(pairs.values).all()
    assert np.isfinite(pairs.vectors).all()
    assert np.isfinite(LaplacianSolver(graph, random_state=seed).solve(np.arange(n))).all()
    resistances = effective_resistance(graph, random_state=seed).values
    assert (resistances > 0).all()
    assert np.isfinite(resistances).all()
    assert np.isfinite(logdet(graph, 1e-3)).all()
    assert np.isfinite(coarsen(graph, 3, random_state=seed).graph.weights).all()
    assert sparsify(graph, density=1.2, random_state=seed).graph.is_connected


def test_a_solution_that_no_double_can_hold_is_refused():
    with pytest.raises(ValueError, match="the solution exceeds the largest number"):
        LaplacianSolver(path(3).scaled(1e-200)).solve([1e200, 0, -1e200])
