"""The Laplacian as a map: both forms say the same, and differences first lose nothing next to heavy edges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graspel.linalg.laplacian import WIDE_WEIGHTS, FlowLaplacian, laplacian_map, laplacian_of
from linalg.zoo import expander, reweighted
from toy_graphs import path


def test_both_forms_are_the_laplacian(toy_graph, rng):
    X = rng.standard_normal((toy_graph.n_nodes, 3))
    expected = toy_graph.laplacian @ X
    assert_allclose(laplacian_of(toy_graph.adjacency) @ X, expected, atol=1e-12)
    assert_allclose(FlowLaplacian(toy_graph.adjacency) @ X, expected, atol=1e-12)
    assert_array_equal(FlowLaplacian(toy_graph.adjacency).diagonal(), toy_graph.adjacency.sum(axis=1))
    assert FlowLaplacian(toy_graph.adjacency).shape == toy_graph.laplacian.shape


def test_differences_are_taken_where_the_weights_span_many_digits():
    assert sp.issparse(laplacian_map(path(5).adjacency))
    assert sp.issparse(laplacian_map(sp.csr_array((3, 3))))
    assert isinstance(laplacian_map(path(3).with_weights([1.0, 2 * WIDE_WEIGHTS]).adjacency), FlowLaplacian)


def test_the_energy_is_right_to_the_last_digits(seed):
    """x'Lx = sum w (x_p - x_q)^2 in fractions, of a vector that varies little along heavy edges."""
    graph = reweighted(expander(60, seed=seed), 12, seed)
    X = np.random.default_rng(seed).standard_normal((60, 1))
    L = FlowLaplacian(graph.adjacency)
    smooth = np.linalg.lstsq(np.eye(60) + 1e3 * graph.laplacian.toarray(), X)[0]
    exact = sum(
        Fraction(w) * (Fraction(smooth[p, 0]) - Fraction(smooth[q, 0])) ** 2
        for p, q, w in zip(graph.heads, graph.tails, graph.weights.tolist(), strict=True)
    )
    assert_allclose((smooth * (L @ smooth)).sum(), float(exact), rtol=1e-10)
