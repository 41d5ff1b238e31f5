r"""Placement: where the points of a t-SNE picture begin, where interpolation puts them, and where new ones go.

**Start.** t-SNE moves points over short distances only. What lies far apart in the picture is decided by the start, and
principal coordinates keep the order of large distances better than any other linear map (Kobak and Linderman 2021): on
MNIST 62 % of random triplets keep the order of their distances, 59 % from the eigenvectors of the graph. The data give
these coordinates, whatever their kind (:mod:`graspel.data.principal`). Points with fewer columns than the picture start
from eigenvectors of the graph.

**Interpolation** goes from the coordinates of representatives to those of all points, along the edges of the graph.
Every point starts at the coordinates of its group's representative. Then each point that is not a representative moves
to the weighted mean of its neighbors on the graph, a few times. These Jacobi iterations converge to the harmonic
function on the graph whose boundary values are the representatives' coordinates (Zhu et al. 2003).

**New points** go where their nearest neighbors attract them most. A new point i with neighbors at y_1, ..., y_k, of
weights w_1, ..., w_k, is placed at the y with the smallest

    sum_j w_j log(1 + |y - y_j|^2),

whose slope is the attraction of t-SNE. Neighbors far from the others hardly count, so the point lies among those that
lie together, never in the empty space between two clusters, where means are, and medians of two halves. The best of
the neighbors' own positions is found first; reweighted means then go down from it (the M-estimator of a Cauchy
distribution, Huber 1981).

The weight of a neighbor is the geometric mean of the share that the new point gives to it and of the share that it
would give to the new point:

    w_ij = sqrt(p_j|i p_i|j),      p_j|i ~ exp(-b_i z_ij),      p_i|j = exp(c_j - b_j z_ij).

Both are those of t-SNE. A neighbor that has nearer ones of its own counts little: it is often of another class.

References
----------
D. Kobak and G. C. Linderman. Initialization is critical for preserving global data structure in both t-SNE and UMAP.
Nature Biotechnology 39, 2021.

X. Zhu, Z. Ghahramani and J. Lafferty. Semi-supervised learning using Gaussian fields and harmonic functions.
International Conference on Machine Learning, 2003.

L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.

P. J. Huber. Robust Statistics. Wiley, 1981.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.data.protocol import Data, local_points
from graspel.graph import Graph
from graspel.learning.embed import START_SPREAD, spectral_start
from graspel.linalg.coarsen import Coarsening, group_means
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

NOISE = 0.01  # noise of the start, as a share of its spread, so that no two points coincide
SWEEPS = 5  # Jacobi iterations; only a start for t-SNE, compared with none in docs/embedding.md
N_ITER = 20  # reweighted means; each lowers the sum
HEAVIEST = 15  # neighbors that attract a new point; with all of 45 as many of four data sets lie among their class
ONE_SIDED = 1e-3  # share of the weight that does not depend on the neighbor, so that some neighbor always counts
BLOCK = 4096  # new points that are placed together


def start_coordinates(
    points: Data,
    A: sp.csr_array,
    n_components: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    groups: Ints | None = None,
) -> Floats:
    """Start coordinates of all points, or of groups of them; A is the adjacency of their graph."""
    coordinates = local_points(points).principal_coordinates(n_components, rng)
    if coordinates is None:
        return spectral_start(Graph.from_adjacency(A), n_components, rng, n_jobs)
    if groups is not None:
        coordinates = group_means(coordinates, groups, np.bincount(groups, minlength=A.shape[0]))
    spread = float(coordinates.std(axis=0).max())
    noise = NOISE * rng.standard_normal(coordinates.shape)
    return START_SPREAD * (coordinates / spread + noise if spread > 0 else noise)


def interpolate(A: sp.csr_array, coarse: Coarsening, coordinates: Floats) -> Floats:
    """Coordinates of all nodes of the graph with adjacency A, from those of the representatives.

    Examples
    --------
    >>> from graspel.linalg.coarsen import coarsen
    >>> path = sp.csr_array(np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1))
    >>> coarse = coarsen(path, 3, n_eigenvalues=0)
    >>> Y = interpolate(path, coarse, np.array([[0.0], [1.0]]))
    >>> bool((np.diff(Y[:, 0]) >= 0).all())
    True
    """
    degree = A.sum(axis=1)
    means = sp.csr_array(sp.diags_array(np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)) @ A)
    Y = coarse.up(coordinates)
    for _ in range(SWEEPS):
        Y = np.where(degree[:, None] > 0, means @ Y, Y)
        Y[coarse.representatives] = coordinates
    return Y


def mutual_weights(z: Floats, shares: Floats, widths: Floats) -> Floats:
    """Weights (m x k) of the neighbors of new points at squared distances z, from the shares that these give to them.

    `widths` (m x k x 2) holds the b and c of each neighbor (:func:`graspel.tsne.affinities.gaussian_widths`).

    Examples
    --------
    >>> z, shares = np.array([[1.0, 1.0]]), np.array([[0.5, 0.5]])
    >>> widths = np.array([[[1.0, 1.0], [5.0, 1.0]]])  # the second has nearer neighbors of its own
    >>> mutual_weights(z, shares, widths).round(2)
    array([[0.88, 0.12]])
    """
    distances = np.where(np.isfinite(z), z, 0.0)  # the share of a neighbor that was not found is zero
    returned = np.exp(np.minimum(widths[..., 1] - widths[..., 0] * distances, 0.0))
    weights: Floats = np.sqrt(shares * returned) + ONE_SIDED * shares
    return weights / weights.sum(axis=1, keepdims=True)


def keep_heaviest(indices: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """The heaviest of the neighbors of each new point, with their weights.

    >>> keep_heaviest(np.array([[4, 7]]), np.array([[0.1, 0.9]]))
    (array([[7, 4]]), array([[0.9, 0.1]]))
    """
    order = np.argsort(-weights, axis=1, kind="stable")[:, :HEAVIEST]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(weights, order, axis=1)


def place_by_attraction(positions: Floats, weights: Floats) -> Floats:
    """Positions of m new points, from those of their k neighbors (m x k x d) and their weights (m x k).

    Examples
    --------
    >>> positions = np.array([[[0.0, 0.0], [9.0, 8.0], [9.0, 9.0], [9.0, 10.0]]])
    >>> place_by_attraction(positions, np.ones((1, 4))).round(1)
    array([[9. , 8.9]])
    """
    placed = np.empty((len(positions), positions.shape[2]))
    for block in row_blocks(len(positions), BLOCK):
        placed[block] = _place(positions[block], weights[block])
    return placed


def _place(positions: Floats, weights: Floats) -> Floats:
    between = ((positions[:, :, None] - positions[:, None]) ** 2).sum(axis=3)
    sums = (weights[:, None] * np.log1p(between)).sum(axis=2)
    best = positions[np.arange(len(positions)), sums.argmin(axis=1)]
    current = best
    for _ in range(N_ITER):
        factors = weights / (1 + ((positions - current[:, None]) ** 2).sum(axis=2))
        current = np.einsum("ij,ijk->ik", factors, positions) / factors.sum(axis=1, keepdims=True)
    alone = weights.max(axis=1) == weights.sum(axis=1)  # an old point keeps its position to the last bit
    return np.where(alone[:, None], best, current)
