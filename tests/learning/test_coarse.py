"""Rounds on a smaller graph: its groups, its eigenvectors, and the graph that is learned by it."""

from __future__ import annotations

import numpy as np
import pytest

import toy_graphs
from graspel import GRASPEL
from graspel.graph import Origin
from graspel.learning import coarse, run
from graspel.learning.coarse import Groups
from graspel.learning.embed import spectral_embedding
from graspel.learning.settings import Settings
from graspel.linalg import eigen, eigensolver
from graspel.linalg.coarsen import contract


@pytest.fixture
def graph(seed):
    X = np.random.default_rng(seed).standard_normal((600, 3))
    return GRASPEL(random_state=0, max_iter=2).fit(X).graph_


def test_groups_are_small_and_connected(graph):
    groups = Groups.of(graph)
    n = len(groups.mass)
    assert groups.mass.sum() == graph.n_nodes
    assert 1 < groups.mass.mean() <= groups.mass.max() <= coarse.LARGEST_GROUP
    inside = groups.group[graph.heads] == groups.group[graph.tails]
    parts = type(graph)(graph.n_nodes, graph.heads[inside], graph.tails[inside], graph.weights[inside])
    assert parts.components[0] == n


def test_groups_stay_while_critical_edges_are_added(graph):
    p, q = np.array([0]), np.array([599])
    more = graph.with_edges(p, q, np.array([1e9]), origin=Origin.CRITICAL, round=3, eta=[1.0], gradient=[1.0])
    assert np.array_equal(Groups.of(more).group, Groups.of(graph).group)


def test_on_a_path_the_vectors_are_those_of_the_graph(rng):
    graph = toy_graphs.path(6000)
    groups = Groups.of(graph)
    full = spectral_embedding(graph, 1, 1e3, rng, n_eigenvalues=3)
    small = groups.embed(graph, Settings(), rng)
    assert len(groups.mass) < 1500
    assert full.values[0] * (1 - 1e-6) <= small.values[0] < 5 * full.values[0]  # steps between groups cost energy
    assert abs(small.vectors[:, 0] @ full.vectors[:, 0]) == pytest.approx(1, abs=1e-3)
    assert small.vectors.shape == small.U.shape == (6000, 1)
    assert small.start.shape == (len(groups.mass), 3)
    # The last check starts from them, and ends at the vectors of the graph; the next coarse round from those.
    last = spectral_embedding(graph, 1, 1e3, rng, n_eigenvalues=3, previous=groups.move(small, 6000))
    assert last.values == pytest.approx(full.values, rel=1e-2)
    again = groups.embed(graph, Settings(), rng, last)
    assert again.values == pytest.approx(small.values, rel=1e-4)


def test_coarse_values_bound_those_of_the_graph(graph, rng):
    groups = Groups.of(graph)
    full = np.linalg.eigvalsh(graph.laplacian.toarray())[1:4]
    small = groups.embed(graph, Settings(), rng)
    assert (small.values >= full * (1 - 1e-6)).all()
    assert abs(small.vectors[:, 0].mean()) < 1e-12


@pytest.mark.parametrize("parameters", [{}, {"candidates": "clusters"}, {"candidates": "multilevel"}], ids=str)
def test_the_graph_is_as_good_as_by_full_rounds(parameters, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, 4)) + 4 * rng.standard_normal((5, 4))[rng.integers(5, size=1500)]
    full = GRASPEL(random_state=0, **parameters).fit(X)
    monkeypatch.setattr(run, "COARSE_FROM", 1000)
    model, again = GRASPEL(random_state=0, **parameters).fit(X), GRASPEL(random_state=0, n_jobs=1, **parameters).fit(X)
    assert model.graph_ == again.graph_
    assert model.certificate_.settled
    assert model.graph_.is_connected
    assert model.certificate_.objective > full.certificate_.objective - 0.02 * len(X)
    assert model.history_[-1].n_added == 0


def test_the_last_word_has_the_graph_itself(monkeypatch):
    monkeypatch.setattr(run, "COARSE_FROM", 100)
    seen = []
    original = eigensolver.solve_connected

    def solve(A, *arguments):
        seen.append(A.shape[0])
        return original(A, *arguments)

    for module in (eigensolver, eigen):
        monkeypatch.setattr(module, "solve_connected", solve)
    model = GRASPEL(random_state=0).fit(np.random.default_rng(0).standard_normal((400, 3)))
    assert seen[-1] == 400
    assert set(seen[:-1]) != {400}
    assert len(model.history_[-1].eigenvalues) == 3


def test_contraction_sums_the_weights_between_groups(graph):
    groups = Groups.of(graph).group
    P = np.eye(groups.max() + 1)[groups]
    expected = P.T @ graph.adjacency.toarray() @ P
    np.fill_diagonal(expected, 0)
    assert contract(graph.adjacency, groups).toarray() == pytest.approx(expected)
