"""Neighbor rules: which of its nearest points a point is joined to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from graspel.learning.initial import NEIGHBOR_RULES, choose_neighbors, mutual_keys
from graspel.neighbors.search import nearest_neighbors


def test_mutual_keys_are_those_of_the_plain_loop(rng):
    lists = nearest_neighbors(prepare_rows(rng.standard_normal((60, 3))), 6, rng)
    indices, z = lists.indices[:, :6], lists.z[:, :6]
    keys = mutual_keys(indices, z)
    for p in range(60):
        for at, q in enumerate(indices[p]):
            back = np.flatnonzero(indices[q] == p)
            assert keys[p, at] == at + 1 + (back[0] + 1 if len(back) else 12)


def test_all_rules_agree_where_all_neighbors_are_taken(rng):
    lists = nearest_neighbors(prepare_rows(rng.standard_normal((12, 2))), 11, rng)
    pairs = [set(zip(*choose_neighbors(lists, rule, 11)[:2], strict=True)) for rule in NEIGHBOR_RULES]
    assert pairs[0] == pairs[1] == pairs[2]


@pytest.mark.parametrize("rule", ["knn", "mutual", "local-scale"])
def test_the_learner_uses_the_rule(rule, rng):
    X = np.concatenate([rng.standard_normal((60, 2)), 0.05 * rng.standard_normal((60, 2)) + 4])
    graph = GRASPEL(initial=rule, max_iter=0, random_state=0).fit(X).graph_
    assert graph.is_connected
    assert graph.density < 2.1


def test_a_sparse_point_is_no_bridge():
    """The point between two dense lines is the second neighbor of their ends by distance, and not by mutual rank."""
    line = np.arange(20) / 10
    X = np.concatenate([line, [2.0], line + 2.1])[:, None]
    X[20] = 2.0
    far = np.array([[1.0, 5.0]])
    points = prepare_rows(np.concatenate([np.hstack([X, np.zeros_like(X)]), far]))
    lists = nearest_neighbors(points, 16, np.random.default_rng(0))
    heads, tails, _ = choose_neighbors(lists, "mutual", 2)
    assert 41 not in tails[heads != 41]


def test_the_default_takes_the_nearest():
    X = np.random.default_rng(0).standard_normal((30, 2))
    nearest = GRASPEL(max_iter=0, random_state=0).fit(X).graph_
    assert_array_equal(nearest.heads, GRASPEL(initial="knn", max_iter=0, random_state=0).fit(X).graph_.heads)
