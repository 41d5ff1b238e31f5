r"""Step 2, embed: each node at its row of the first nontrivial eigenvectors, scaled by their eigenvalues.

    U = [u_2 / sqrt(lambda_2 + 1/sigma^2), ..., u_r / sqrt(lambda_r + 1/sigma^2)].

Squared distances in this space, z_emb(p, q) = |U'e_pq|^2, approach the effective resistance from below as r and sigma
grow. The rows are also an embedding for the user, and a start for t-SNE.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3.1, equation (10).

M. Belkin and P. Niyogi. Laplacian eigenmaps for dimensionality reduction and data representation. Neural Computation
15, 2003.

D. Kobak and G. C. Linderman. Initialization is critical for preserving global data structure in both t-SNE and UMAP.
Nature Biotechnology 39, 2021. Why t-SNE starts from an informative embedding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graspel.graph import Graph
from graspel.linalg.eigen import follow_eigenpairs
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Floats

TOL = 1e-3  # residual in the energy norm; the relative error of z_emb is then at most 2 TOL sqrt(R / z_emb)


class Embedding(NamedTuple):
    """Nontrivial eigenvalues (ascending), unit eigenvectors as columns, and U (which may use fewer of them).

    `start` holds the vectors, and some approximate ones, from which the eigensolver starts in the next round; after a
    coarse round they are those of its groups.
    """

    values: Floats
    vectors: Floats
    U: Floats
    start: Floats | None = None

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_emb of the pairs (p_i, q_i)."""
        difference = self.U[np.asarray(p)] - self.U[np.asarray(q)]
        return np.einsum("ij,ij->i", difference, difference)


def spectral_embedding(
    graph: Graph,
    n_components: int,
    sigma: float,
    rng: np.random.Generator,
    *,
    n_eigenvalues: int = 0,
    previous: Embedding | None = None,
    n_jobs: int | None = None,
) -> Embedding:
    """Embed a connected graph by its first `n_components` nontrivial eigenvectors (all of them, if there are fewer).

    `n_eigenvalues` asks for more eigenpairs than U uses, to one digit less. `previous` is the embedding of the same
    nodes with fewer edges, from which the eigensolver starts.
    """
    values, vectors, start = np.empty(0), np.empty((graph.n_nodes, 0)), None
    k = min(max(n_components, n_eigenvalues), graph.n_nodes - 1)
    if k > 0:
        values, vectors, start = follow_eigenpairs(
            graph.adjacency,
            k,
            n_precise=n_components,
            tol=TOL,
            start=None if previous is None else previous.start,
            rng=rng,
            n_jobs=n_jobs,
        )
    used = slice(0, n_components)
    return Embedding(values, vectors, vectors[:, used] / np.sqrt(values[used] + 1 / sigma**2), start)


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


def spectral_init(graph: Any, n_components: int = 2, *, random_state: Any = 0, n_jobs: int | None = None) -> Floats:
    """Start coordinates from the first eigenvectors of a connected graph, for UMAP, openTSNE, PaCMAP and others.

    Parameters
    ----------
    graph : Graph or adjacency matrix
        Connected, for example ``GRASPEL().fit(X).graph_``.
    n_components : int, default=2
        Number of coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the eigensolver and of a little noise, by which no two nodes coincide.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    coordinates : array (n_nodes x n_components)
        With a standard deviation of 1e-4, as t-SNE needs it. UMAP and PaCMAP rescale what they are given.

    Examples
    --------
    >>> from graspel import Graph, spectral_init
    >>> path = Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    >>> line = spectral_init(path, 1)[:, 0]
    >>> bool(abs(line).argmin() == 2)  # the middle of the path is in the middle
    True
    """
    check_number("n_components", n_components, ">= 1", lambda v: v >= 1, whole=True)
    graph = graph if isinstance(graph, Graph) else Graph.from_adjacency(graph)
    if not graph.is_connected:
        raise ValueError(
            f"the graph has {graph.components[0]} components: spectral coordinates need a connected graph. "
            "Join them first, by graspel.connect(graph, X)."
        )
    with one_thread_per_call():
        return spectral_start(graph, n_components, generator(random_state), n_jobs)
