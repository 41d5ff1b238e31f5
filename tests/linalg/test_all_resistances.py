"""All resistances of a small graph: exact for any range of weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graspel.graph import Graph
from graspel.linalg import resistance_between
from graspel.linalg.resistance import all_resistances
from linalg.zoo import expander, reweighted
from toy_graphs import several_components


def exact_resistances(graph: Graph) -> np.ndarray:
    """Twin: star-mesh elimination of all other nodes in rational numbers."""
    R = np.zeros((graph.n_nodes,) * 2)
    for p in range(graph.n_nodes):
        for q in range(p):
            w = {
                frozenset(e): Fraction(float(x))
                for *e, x in zip(graph.heads.tolist(), graph.tails.tolist(), graph.weights, strict=True)
            }
            for k in set(range(graph.n_nodes)) - {p, q}:
                star = {next(iter(e - {k})): x for e, x in w.items() if k in e}
                w = {e: x for e, x in w.items() if k not in e}
                for a in star:
                    for b in star:
                        if a < b:
                            new = star[a] * star[b] / sum(star.values())
                            w[frozenset((a, b))] = w.get(frozenset((a, b)), 0) + new
            R[p, q] = R[q, p] = float(1 / w[frozenset((p, q))])
    return R


@pytest.mark.parametrize("decades", [0, 3, 12, 24])
@pytest.mark.parametrize("seed", range(3))
def test_every_digit_is_right_for_any_range_of_weights(decades, seed):
    graph = reweighted(expander(9, seed=seed), decades, seed)
    assert_allclose(all_resistances(graph.adjacency), exact_resistances(graph), rtol=1e-13)


def test_between_components_it_is_infinite():
    graph = several_components()
    label = graph.components[1]
    R = all_resistances(graph.adjacency)
    assert_array_equal(np.isinf(R), label[:, None] != label)
    assert_allclose(np.diag(R), 0)


def test_resistance_between_uses_it_for_wide_weights(seed):
    graph = reweighted(expander(40, seed=seed), 20, seed)
    R = all_resistances(graph.adjacency)
    assert_array_equal(resistance_between(graph, [3, 1, 7]), R[np.ix_([3, 1, 7], [3, 1, 7])])
    plain = expander(40, seed=seed)
    assert_allclose(resistance_between(plain, range(40)), all_resistances(plain.adjacency), rtol=1e-6)
