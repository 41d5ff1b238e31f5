r"""Start coordinates of t-SNE: the leading principal coordinates of the points, or eigenvectors of their graph.

t-SNE moves points over short distances only. What lies far apart in the picture is decided by the start, and principal
coordinates keep the order of large distances better than any other linear map (Kobak and Linderman 2021): on MNIST 62 %
of random triplets keep the order of their distances, 59 % from the eigenvectors of the graph. The coordinates are read
off the sketch that the neighbor search made. Sparse points have none; theirs come from a few products with the matrix,
which stays sparse (:func:`sparse_principal_coordinates`), and those of a table of distances from its centered squares
(:func:`scaling_coordinates`). Points with fewer columns than the picture start from eigenvectors of the graph.

References
----------
D. Kobak and G. C. Linderman. Initialization is critical for preserving global data structure in both t-SNE and UMAP.
Nature Biotechnology 39, 2021.

N. Halko, P.-G. Martinsson and J. A. Tropp. Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions. SIAM Review 53, 2011.

W. S. Torgerson. Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.data.protocol import Data, local_points
from graspel.graph import Graph
from graspel.learning.spectral_coordinates import START_SPREAD, spectral_start
from graspel.linalg.contraction import group_means
from graspel.runtime.types import Floats, Ints

NOISE = 0.01  # of the spread, by which no two groups coincide


def start_coordinates(
    points: Data, A: sp.csr_array, n_components: int, rng: np.random.Generator, n_jobs: int | None
) -> Floats:
    """Start coordinates of all points; A is the adjacency of their graph."""
    coordinates = local_points(points).principal_coordinates(n_components, rng)
    if coordinates is None:
        return spectral_start(Graph.from_adjacency(A), n_components, rng, n_jobs)
    return _scale(coordinates, rng)


def group_start(
    points: Data, groups: Ints, graph: Graph, n_components: int, rng: np.random.Generator, n_jobs: int | None
) -> Floats:
    """Start coordinates of the groups of some points; `graph` is that of the groups."""
    coordinates = local_points(points).principal_coordinates(n_components, rng)
    if coordinates is None:
        return spectral_start(graph, n_components, rng, n_jobs)
    mass = np.bincount(groups, minlength=graph.n_nodes)
    return _scale(group_means(coordinates, groups, mass), rng)


def _scale(coordinates: Floats, rng: np.random.Generator) -> Floats:
    """The same with the spread that t-SNE starts from, and a little noise, so that no two points coincide."""
    spread = float(coordinates.std(axis=0).max())
    noise = NOISE * rng.standard_normal(coordinates.shape)
    return START_SPREAD * (coordinates / spread + noise if spread > 0 else noise)
