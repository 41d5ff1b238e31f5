"""The eigengap: right on spectra of known shape, and honest where there is no gap."""

from __future__ import annotations

import numpy as np
import pytest

import toy_graphs
from graspel.learning.eigengap import eigengap, largest_relative_gap
from graspel.learning.embed import spectral_embedding


@pytest.mark.parametrize("k", range(2, 30))
def test_a_jump_is_found_wherever_it_is(k):
    values = np.concatenate([1e-3 * (1 + np.arange(k - 1)), 1.0 + 0.1 * np.arange(20)])
    found = eigengap(values)
    assert found.n_clusters == k
    assert found.is_clear


def test_even_growth_shows_no_gap():
    """Points spread over a plane: lambda_k is proportional to k - 1."""
    found = eigengap(np.arange(1.0, 40.0))
    assert not found.is_clear
    assert np.abs(found.gaps).max() < 1e-12
    assert "not clear" in found.sentence()


def test_the_scale_of_the_weights_does_not_matter(rng):
    values = np.sort(rng.random(20))
    assert eigengap(values).n_clusters == eigengap(1e9 * values).n_clusters
    assert eigengap(1e-9 * values).gaps == pytest.approx(eigengap(values).gaps)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_too_few_eigenvalues_say_two(values):
    found = eigengap(values)
    assert found.n_clusters == 2
    assert not found.is_clear
    assert "too few" in found.sentence()


@pytest.mark.parametrize(
    ("values", "k"),
    [
        ([0.1], 2),
        ([0.1, 0.2], 2),
        ([0.001, 0.9, 1.0], 2),
        ([0.01, 0.011, 0.012, 0.9, 1.0], 4),
        ([1.0, 1.0, 1.0], 2),
        ([1e-9, 1.0, 5.0], 2),  # gaps are relative: from 1e-9 to 1 is the largest
    ],
)
def test_the_largest_relative_gap_gives_the_number_of_eigenvalues(values, k):
    assert largest_relative_gap(np.array(values)) == k


@pytest.mark.parametrize("k", [2, 3, 6])
def test_as_many_clusters_as_cliques(k, rng):
    embedding = spectral_embedding(toy_graphs.chain_of_cliques(k, 12, rng), 15, 1e3, rng)
    assert largest_relative_gap(embedding.values) == k
