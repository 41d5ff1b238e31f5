r"""Smoothed features: k-means on points averaged with their neighbors, for data that no graph separates.

Where neighbors are noisy, as between sentence embeddings, every partition cuts many edges, and eigenvectors follow
accidental thin places of the graph. There the consensus of the graphs is only a start. The points are smoothed along
the graph of their nearest neighbors,

    X <- (D + I)^-1/2 (A + I) (D + I)^-1/2 X,

which averages out what neighbors do not share, and k-means on the rows of unit length starts from the centers of the
consensus. So no random start is needed. On 15,000 sentence embeddings the steps raise ACC from .42 to .46 and NMI from
.46 to .49; on images of digits or objects they would lower ACC by .1 to .2, so they are used only where links to near
neighbors are often cut (`kept_links`).

References
----------
F. Wu, A. Souza, T. Zhang, C. Fifty, T. Yu and K. Weinberger. Simplifying graph convolutional networks. International
Conference on Machine Learning, 2019. The smoothing.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import randomized_svd

from graspel.linalg.contraction import group_means
from graspel.neighbors.search import Neighbors
from graspel.points.prepared import SKETCH_DIMENSIONS, Points

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ENOUGH_LINKS = 0.85  # share of links that a partition keeps; sentence embeddings .7 to .75, all other data .9 and more
LINKS = 10  # nearest neighbors of each point that count as its links ...
LINKS_IN_CLUSTER = 0.2  # ... but no more than this share of the mean size of a cluster
STEPS = 8  # of smoothing; from 4 to 8 the results are the same to .005
SMOOTHING_NEIGHBORS = 10  # of each point in the graph along which the points are smoothed


def kept_links(neighbors: Neighbors, labels: Ints) -> float:
    """The share of the links between points and their nearest neighbors whose two ends are in one cluster."""
    mean_size = len(labels) / (int(labels.max()) + 1)
    width = min(max(1, min(LINKS, int(LINKS_IN_CLUSTER * mean_size))), neighbors.indices.shape[1])
    listed = np.isfinite(neighbors.z[:, :width])
    return float((labels[neighbors.indices[:, :width]] == labels[:, None])[listed].mean()) if listed.any() else 1.0


def can_smooth(neighbors: Neighbors) -> bool:
    """Whether there are features to smooth: a table of distances has none, and rows on other machines stay there."""
    sketch = getattr(neighbors.points, "sketch", None)
    return sketch is not None and len(sketch) == len(neighbors.distinct)


def _features(points: Points) -> NDArray[np.float32]:
    """The points in few dimensions: their sketch, or the leading singular directions of sparse rows."""
    if points.sparse is None:
        return points.sketch.astype(np.float32)
    if min(points.sparse.shape) <= SKETCH_DIMENSIONS:
        return points.sparse.toarray().astype(np.float32)
    U, s, _ = randomized_svd(points.sparse, SKETCH_DIMENSIONS, n_iter=3, random_state=0)
    return (U * s).astype(np.float32)


def smoothed_rows(neighbors: Neighbors) -> Floats:
    """The sketch of the distinct points, smoothed along their graph, centered, as rows of unit length."""
    n, k = neighbors.points.n_points, min(SMOOTHING_NEIGHBORS, neighbors.indices.shape[1])
    listed = np.isfinite(neighbors.z[:, :k])
    ends = np.repeat(np.arange(n), listed.sum(axis=1)), neighbors.indices[:, :k][listed]
    A = sp.csr_array((np.ones(len(ends[0]), dtype=np.float32), ends), shape=(n, n))
    A = sp.csr_array(A.maximum(A.T) + sp.eye_array(n, dtype=np.float32))
    scale = sp.diags_array(1 / np.sqrt(A.sum(axis=1)))
    S = sp.csr_array(scale @ A @ scale)
    X = _features(neighbors.points)
    for _ in range(STEPS):
        X = S @ X
    rows = X.astype(np.float64)
    rows -= rows.mean(axis=0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)


def smoothed_labels(rows: Floats, labels: Ints) -> Ints:
    """k-means of the smoothed rows from the centers of a partition; the partition itself where a cluster vanishes."""
    from sklearn.cluster import KMeans

    k = int(labels.max()) + 1
    centers = group_means(rows, labels, np.bincount(labels, minlength=k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: handled below
        found = KMeans(k, init=centers, n_init=1).fit(rows).labels_.astype(np.int64)
    return found if len(np.unique(found)) == k else labels
