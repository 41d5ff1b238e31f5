r"""Step 2, embed: each node at its row of the first nontrivial eigenvectors, scaled by their eigenvalues.

    U = [u_2 / sqrt(lambda_2 + 1/sigma^2), ..., u_r / sqrt(lambda_r + 1/sigma^2)].

Squared distances in this space, z_emb(p, q) = |U'e_pq|^2, approach the effective resistance from below as r and sigma
grow.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3.1, equation (10).

M. Belkin and P. Niyogi. Laplacian eigenmaps for dimensionality reduction and data representation. Neural Computation
15, 2003.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graspel.graph import Graph
from graspel.linalg.eigen import follow_eigenpairs
from graspel.runtime.types import Floats

TOL = 1e-3  # residual in the energy norm; the relative error of z_emb is then at most 2 TOL sqrt(R / z_emb)


class Embedding(NamedTuple):
    """Nontrivial eigenvalues (ascending), unit eigenvectors as columns, and U (which may use fewer of them).

    `start` holds the vectors, and some approximate ones, from which the eigensolver starts in the next round.
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
