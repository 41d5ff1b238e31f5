r"""Recall: the share of true nearest neighbors in neighbor lists, measured on a sample of points.

The measurement shares no error with the search. Squared distances of a sample to all points are computed by products in
double precision, together with a bound of their rounding error,

    |D_pq - |x_p - x_q|^2|  <=  (M + 8) eps (|x_p|^2 + |x_q|^2).

Every point that could be as near as the k-th neighbor in the list, if the error is as large as the bound, is measured
again from the difference of the two rows, which has no cancellation.

References
----------
N. J. Higham. Accuracy and Stability of Numerical Algorithms. SIAM, 2nd edition 2002. Section 3.1, inner products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.data.distance_table import DistanceTable
from graspel.data.prepared import Data
from graspel.neighbors.products import squared_distances, squared_lengths
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints

SAMPLE_POINTS = 128  # points whose lists are checked: the standard error of a recall of 0.99 is then below 0.01
POOL_BLOCK = 4096  # points that the sample is compared with in one product
TIE = 1e-6  # relative difference of squared distances that counts as none: single precision keeps no more


def measure_recall(points: Data, z: NDArray[np.floating], k: int) -> float:
    """The share of the k nearest neighbors that lists with distances z (points x width, increasing) hold.

    >>> points = Data(np.array([[0.0], [1.0], [3.0], [7.0]]))
    >>> z = points.squared_distances([0, 1, 2, 3], [1, 0, 0, 2])[:, None]  # the nearest point to 3 is 1, not 0
    >>> measure_recall(points, z, 1)
    0.75
    """
    k = min(k, z.shape[1])
    if k == 0 or isinstance(points, DistanceTable):  # lists from a table of all distances are exact
        return 1.0
    sample = np.unique(np.linspace(0, points.n_points - 1, min(points.n_points, SAMPLE_POINTS)).astype(np.int64))
    listed = z[sample, :k].astype(np.float64)
    truth = _true_distances(points, sample, listed[:, -1], k)
    return float((listed <= truth * (1 + TIE)).mean())


def _true_distances(points: Data, sample: Ints, reach: Floats, k: int) -> Floats:
    """z_data of the k nearest points of each sampled point; none of them is farther than `reach`."""
    X = points.product_rows(sample, np.float64)
    squares = squared_lengths(X)
    reach = reach * points.spectral_norm**2

    def find_near(block: slice) -> tuple[Ints, Ints]:
        Y = points.product_rows(block, np.float64)
        bound = (points.n_features + 8) * np.finfo(np.float64).eps
        error = bound * (squares[:, None] + squared_lengths(Y))
        row, column = np.nonzero(squared_distances(X, Y) - error <= reach[:, None] * (1 + TIE))
        return row, column + block.start

    found = list(map_blocks(find_near, row_blocks(points.n_points, POOL_BLOCK), points.n_threads))
    row, near = (np.concatenate(column) for column in zip(*found, strict=True))
    others = near != sample[row]
    row, near = row[others], near[others]
    z = points.squared_distances(sample[row], near)
    order = np.lexsort((z, row))
    row, z = row[order], z[order]
    first = np.searchsorted(row, np.arange(len(sample)))
    rank = np.arange(len(row)) - first[row]
    truth = np.full((len(sample), k), np.inf)
    truth[row[rank < k], rank[rank < k]] = z[rank < k]
    return truth
