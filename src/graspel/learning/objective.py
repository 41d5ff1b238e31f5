r"""The objective F, and the scale of the weights that maximizes it.

    F(L) = logdet(L + I/sigma^2) - Tr(X'LX)/M - beta |L|_1

is, up to constants, the log-likelihood of the data under a Gaussian Markov random field with precision L + I/sigma^2,
minus a penalty. In terms of edges, Tr(X'LX)/M = sum w z and |L|_1 = 4 sum w. So the gradient in one weight is
z_emb - z - 4 beta, where z_emb, taken over all eigenvectors, is the effective resistance (as sigma grows).

Multiplying all weights by c changes F to (N - 1) log c - c sum w (z + 4 beta) + const as sigma grows. This is largest
at

    c* = (N - 1) / sum w (z + 4 beta).

The graph is calibrated when all its weights are multiplied by c*; effective resistance then estimates z_data.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3, equations (4), (6), (7) and
(11). The paper writes beta for our 4 beta in the gradient: an edge appears in four entries of L.

J. Friedman, T. Hastie and R. Tibshirani. Sparse inverse covariance estimation with the graphical lasso. Biostatistics
9, 2008.
"""

from __future__ import annotations

import numpy as np

from graspel.graph import Graph
from graspel.linalg import logdet
from graspel.runtime.types import Floats


def penalty(graph: Graph, z: Floats, beta: float) -> float:
    """Tr(X'LX)/M + beta |L|_1 = sum w (z + 4 beta), for edges with data distances z.

    >>> penalty(Graph(3, [0, 1], [1, 2], [1.0, 2.0]), np.array([3.0, 0.5]), beta=0.25)
    7.0
    """
    return float(graph.weights @ (z + 4 * beta))


def objective(
    graph: Graph,
    z: Floats,
    *,
    sigma: float,
    beta: float,
    rng: np.random.Generator | int | None = 0,
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """F of a graph whose edges have data distances z, and its standard error (0 where it is exact)."""
    value, error = logdet(graph.adjacency, 1 / sigma**2, random_state=rng, n_jobs=n_jobs)
    return value - penalty(graph, z, beta), error


def truncated_objective(eigenvalues: Floats, graph: Graph, z: Floats, *, sigma: float, beta: float) -> float:
    """F with only the first eigenvalues in the log-determinant, as the paper plots it."""
    return float(np.log(eigenvalues + 1 / sigma**2).sum()) - penalty(graph, z, beta)


def best_scale(graph: Graph, z: Floats, beta: float) -> float:
    """c* = (N - 1) / sum w (z + 4 beta), the factor for all weights that maximizes F.

    >>> best_scale(Graph(3, [0, 1], [1, 2], [1.0, 2.0]), np.array([3.0, 0.5]), beta=0.0)
    0.5
    """
    return (graph.n_nodes - 1) / penalty(graph, z, beta)


def calibrate(graph: Graph, z: Floats, beta: float) -> Graph:
    """The graph with all weights multiplied by c*."""
    return graph.scaled(best_scale(graph, z, beta))
