r"""Start coordinates of t-SNE: the leading principal coordinates of the points, or eigenvectors of their graph.

t-SNE moves points over short distances only. What lies far apart in the picture is decided by the start, and principal
coordinates keep the order of large distances better than any other linear map (Kobak and Linderman 2021): on MNIST 62 %
of random triplets keep the order of their distances, 59 % from the eigenvectors of the graph. The coordinates are read
off the sketch that the neighbor search made. Where there is none (sparse points, a table of distances), eigenvectors
of the graph are the start.

References
----------
D. Kobak and G. C. Linderman. Initialization is critical for preserving global data structure in both t-SNE and UMAP.
Nature Biotechnology 39, 2021.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.linalg.contraction import group_means
from graspel.manifold.spectral_coordinates import START_SPREAD, spectral_start
from graspel.points.prepared import Points
from graspel.runtime.parallel import map_blocks, row_blocks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BLOCK = 8192  # rows of the sketch that are multiplied together
NOISE = 0.01  # of the spread, by which no two groups coincide


def group_start(
    points: Points, groups: Ints, graph: Graph, n_components: int, rng: np.random.Generator, n_jobs: int | None
) -> Floats:
    """Start coordinates of the groups of some points; `graph` is that of the groups."""
    sketch = getattr(points, "sketch", None)
    if sketch is None or len(sketch) != len(groups) or sketch.shape[1] < n_components:
        return spectral_start(graph, n_components, rng, n_jobs)
    mass = np.bincount(groups, minlength=graph.n_nodes)
    coordinates = group_means(principal_coordinates(sketch, n_components, points.n_threads), groups, mass)
    spread = float(coordinates.std(axis=0).max())
    noise = NOISE * rng.standard_normal(coordinates.shape)
    return START_SPREAD * (coordinates / spread + noise if spread > 0 else noise)


def principal_coordinates(rows: NDArray[np.floating], n_components: int, n_threads: int = 1) -> Floats:
    """The leading principal coordinates of some rows, each with its longer tail positive.

    Examples
    --------
    >>> line = np.outer([0.0, 1.0, 5.0], [3.0, 4.0])
    >>> principal_coordinates(line, 1).ravel().round(6)
    array([-10.,  -5.,  15.])
    """
    mean = rows.mean(axis=0, dtype=np.float64)
    blocks = row_blocks(len(rows), BLOCK)

    def gram(block: slice) -> Floats:
        part = rows[block].astype(np.float64) - mean
        return part.T @ part

    _, vectors = np.linalg.eigh(sum(map_blocks(gram, blocks, n_threads), np.zeros((len(mean), len(mean)))))
    axes = vectors[:, ::-1][:, :n_components]
    found = [(rows[block].astype(np.float64) - mean) @ axes for block in blocks]
    coordinates: Floats = np.concatenate(found)
    return coordinates * np.where((coordinates**3).sum(axis=0) < 0, -1.0, 1.0)
