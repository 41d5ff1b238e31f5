from __future__ import annotations

import numpy as np
import pytest

import toy_graphs
from graspel.learning import embed
from graspel.learning.embed import spectral_embedding
from twins import laplacian


def test_it_is_the_matrix_of_the_paper(connected_graph, rng):
    sigma, r = 7.0, 3
    embedding = spectral_embedding(connected_graph, r, sigma, rng)
    values, vectors = np.linalg.eigh(laplacian(connected_graph))
    used = slice(1, min(1 + r, connected_graph.n_nodes))
    assert embedding.values == pytest.approx(values[used], abs=1e-9)
    np.testing.assert_allclose(embedding.U, embedding.vectors / np.sqrt(values[used] + 1 / sigma**2), atol=1e-9)
    # z_emb does not depend on signs; where eigenvalues are equal, only on all of their vectors together.
    if r >= connected_graph.n_nodes - 1 or values[r + 1] > values[r] + 1e-6:
        U = vectors[:, used] / np.sqrt(values[used] + 1 / sigma**2)
        p, q = np.triu_indices(connected_graph.n_nodes, 1)
        assert embedding.squared_distances(p, q) == pytest.approx(((U[p] - U[q]) ** 2).sum(axis=1), abs=1e-8)


def test_more_eigenvalues_than_eigenvectors(rng):
    embedding = spectral_embedding(toy_graphs.path(12), 2, 1e3, rng, n_eigenvalues=5)
    assert embedding.values.shape == (5,)
    assert embedding.vectors.shape == (12, 5)
    assert embedding.U.shape == (12, 2)
    assert embedding.values == pytest.approx(2 - 2 * np.cos(np.pi * np.arange(1, 6) / 12))


def test_no_more_than_there_are(rng):
    assert spectral_embedding(toy_graphs.path(4), 100, 1e3, rng).U.shape == (4, 3)
    assert spectral_embedding(toy_graphs.path(2), 1, 1e3, rng, n_eigenvalues=3).U.shape == (2, 1)


def test_a_guess_changes_nothing_but_the_way_there(rng, monkeypatch):
    monkeypatch.setattr(embed, "TOL", 1e-7)
    graph = toy_graphs.path(700)
    one = spectral_embedding(graph, 3, 1e3, rng)
    other = spectral_embedding(graph, 3, 1e3, rng, previous=one._replace(start=one.start + 1e-3))
    assert other.values == pytest.approx(one.values, rel=1e-9)
    p, q = rng.integers(700, size=(2, 100))
    assert other.squared_distances(p, q) == pytest.approx(one.squared_distances(p, q), rel=1e-4, abs=1e-6)
