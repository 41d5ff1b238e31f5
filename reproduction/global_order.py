"""The global order of a picture: whether what is far apart in the data is far apart in it.

    triplet accuracy = share of random triplets (i, j, k) for which j and k have the same order of distance to i in both
    centroid correlation = Spearman's correlation, over pairs of classes, of the distances between their centers

References
----------
Y. Wang, H. Huang, C. Rudin and Y. Shaposhnik. Understanding how dimension reduction tools work. Journal of Machine
Learning Research 22, 2021.

D. Kobak and P. Berens. The art of using t-SNE for single-cell transcriptomics. Nature Communications 10, 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

TRIPLETS = 10_000  # triplets that are measured together


def triplet_accuracy(X: Any, embedding: Any, *, n_triplets: int = 100_000, seed: int = 0) -> float:
    """Share of random triplets whose two distances from the first point have the same order in the embedding.

    Chance gives one half.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> triplet_accuracy(X, 3 * X)
    1.0
    """
    X, Y = np.asarray(X), np.asarray(embedding, dtype=np.float64)
    rng, same = np.random.default_rng(seed), 0
    for part in row_blocks(n_triplets, TRIPLETS):
        i, j, k = (rng.integers(len(X), size=part.stop - part.start) for _ in range(3))
        there = _squares(X, i, j) - _squares(X, i, k)
        here = _squares(Y, i, j) - _squares(Y, i, k)
        same += int((np.sign(there) == np.sign(here)).sum())
    return same / n_triplets


def centroid_correlation(X: Any, embedding: Any, labels: Any) -> float:
    """Spearman's correlation of the distances between the classes' means in the data and medians in the embedding.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [50.0], [51.0]])
    >>> centroid_correlation(X, -2 * X, list("aabbcc"))
    1.0
    """
    X, Y = np.asarray(X), np.asarray(embedding, dtype=np.float64)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    there = np.stack([X[codes == c].mean(axis=0, dtype=np.float64) for c in range(len(names))])
    here = np.stack([np.median(Y[codes == c], axis=0) for c in range(len(names))])
    return float(spearmanr(pdist(there), pdist(here)).statistic)


def _squares(rows: NDArray[Any], i: Ints, j: Ints) -> Floats:
    difference = rows[i].astype(np.float64) - rows[j]
    squares: Floats = np.einsum("ij,ij->i", difference, difference)
    return squares
