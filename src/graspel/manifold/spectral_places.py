"""Spectral places: nodes at their rows of the first nontrivial eigenvectors of the graph's Laplacian."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.learning.embed import Embedding, spectral_embedding

Floats = NDArray[np.float64]

START_SPREAD = 1e-4  # of the first coordinate: small, so that repulsion does not tear apart before attraction gathers


def spectral_places(
    graph: Graph, n_components: int, sigma: float, rng: np.random.Generator, n_jobs: int | None
) -> Embedding:
    """Eigenpairs and U of a connected graph, with signs that do not depend on the solver."""
    found = spectral_embedding(graph, n_components, sigma, rng, n_jobs=n_jobs)
    # An eigenvector is fixed up to its sign: let the longer tail point to the positive side.
    signs = np.where((found.vectors**3).sum(axis=0) < 0, -1.0, 1.0)
    return Embedding(found.values, found.vectors * signs, found.U * signs[: found.U.shape[1]])


def spectral_start(graph: Graph, n_components: int, rng: np.random.Generator, n_jobs: int | None) -> Floats:
    """Where t-SNE starts: the eigenvectors, drawn together, and a trace of noise so that no two nodes coincide.

    A graph of few nodes has too few eigenvectors; the rest is noise.
    """
    start = 0.01 * rng.standard_normal((graph.n_nodes, n_components))
    n_vectors = min(n_components, graph.n_nodes - 1)
    if n_vectors:
        vectors = spectral_places(graph, n_vectors, 1e3, rng, n_jobs).vectors[:, :n_vectors]
        start[:, :n_vectors] += vectors * np.sqrt(graph.n_nodes)
    return start * START_SPREAD
