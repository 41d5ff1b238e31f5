"""A few long vectors at a time: the algebra of whole arrays, the same bits at any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graspel.linalg import LaplacianSolver, logdet, resistance_between, smallest_eigenpairs, vectors
from graspel.linalg.vectors import combine, dots, lengths, map_each, products
from linalg.zoo import large


@pytest.fixture(params=[3, 7, 1000])
def block_length(request, monkeypatch):
    """Also with blocks that do not divide the length."""
    monkeypatch.setattr(vectors, "BLOCK_LENGTH", request.param)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_products_and_sums_of_rows(n_threads, rng, block_length):
    V, W, C = rng.standard_normal((4, 50)), rng.standard_normal((3, 50)), rng.standard_normal((2, 4))
    assert_allclose(products(V, W, n_threads), V @ W.T, atol=1e-12)
    assert_allclose(combine(C, V, n_threads), C @ V, atol=1e-12)
    assert_array_equal(products(V, W, n_threads), products(V, W, 1))
    assert_array_equal(combine(C, V, n_threads), combine(C, V, 1))


def test_combinations_may_overwrite_their_operands(rng, block_length):
    V, C = rng.standard_normal((4, 50)), rng.standard_normal((2, 4))
    expected = C @ V
    combine(C, V, 2, out=V[:2])
    assert_allclose(V[:2], expected, atol=1e-12)


def test_lengths_and_dots(rng):
    V, W = rng.standard_normal((2, 3, 20))
    assert_allclose(dots(V, W), (V * W).sum(axis=1))
    assert_allclose(lengths(V), np.linalg.norm(V, axis=1))
    assert lengths(np.zeros((0, 5))).shape == (0,)


def test_maps_go_row_by_row(rng):
    V = rng.standard_normal((5, 8))
    assert_array_equal(map_each(np.cumsum, V, 3), np.cumsum(V, axis=1))


@pytest.mark.parametrize("name", ["expander", "square grid"])
def test_kernels_do_not_depend_on_the_number_of_threads(name):
    graph = large(name)
    b = np.random.default_rng(0).standard_normal((graph.n_nodes, 5))
    results = []
    for n_jobs in (1, 2, 3):
        pairs = smallest_eigenpairs(graph.laplacian, 5, n_jobs=n_jobs)
        x = LaplacianSolver(graph, n_jobs=n_jobs).solve(b)
        R = resistance_between(graph, [0, 5, 9], n_jobs=n_jobs)
        results.append((pairs.values, pairs.vectors, x, R, logdet(graph, 0.1, n_jobs=n_jobs)[0]))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert_array_equal(one, two)
