"""Spectral coordinates: rows of the first nontrivial eigenvectors of a graph's Laplacian.

References
----------
M. Belkin and P. Niyogi. Laplacian eigenmaps for dimensionality reduction and data representation. Neural Computation
15, 2003.

D. Kobak and G. C. Linderman. Initialization is critical for preserving global data structure in both t-SNE and UMAP.
Nature Biotechnology 39, 2021. Why t-SNE starts from an informative embedding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.learning.embed import Embedding, spectral_embedding

Floats = NDArray[np.float64]

START_SPREAD = 1e-4  # standard deviation of t-SNE's start coordinates; small, so that attraction acts before repulsion


def spectral_coordinates(
    graph: Graph, n_components: int, sigma: float, rng: np.random.Generator, n_jobs: int | None
) -> Embedding:
    """The spectral embedding of a connected graph, with signs that do not depend on the solver."""
    found = spectral_embedding(graph, n_components, sigma, rng, n_jobs=n_jobs)
    # An eigenvector is defined up to its sign: choose the sign for which the longer tail is positive.
    signs = np.where((found.vectors**3).sum(axis=0) < 0, -1.0, 1.0)
    return Embedding(found.values, found.vectors * signs, found.U * signs[: found.U.shape[1]])


def spectral_start(graph: Graph, n_components: int, rng: np.random.Generator, n_jobs: int | None) -> Floats:
    """Start coordinates of t-SNE: the eigenvectors, scaled down, plus a little noise so that no two nodes coincide.

    Where the graph has fewer nontrivial eigenvectors than components, the other components are noise alone.
    """
    start = 0.01 * rng.standard_normal((graph.n_nodes, n_components))
    n_vectors = min(n_components, graph.n_nodes - 1)
    if n_vectors:
        vectors = spectral_coordinates(graph, n_vectors, 1e3, rng, n_jobs).vectors[:, :n_vectors]
        start[:, :n_vectors] += vectors * np.sqrt(graph.n_nodes)
    return start * START_SPREAD
