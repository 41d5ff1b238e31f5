"""Any X as prepared data: the choice between the four kinds is made here and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.data.chunked import ChunkedData
from graspel.data.dense import DenseData
from graspel.data.preparation import find_preparation
from graspel.data.protocol import Data
from graspel.data.rows import block_of
from graspel.data.sparse import SparseData, can_stay_sparse
from graspel.data.table import PRECOMPUTED, TableData, check_distances
from graspel.data.validation import check_dask_array, check_data, is_dask_array

METRICS = ("euclidean", "cosine", "correlation")  # of rows, of which there may be very many
# The metrics of sklearn.metrics.pairwise_distances that need no further argument.
TABLE_METRICS = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "dice", "hamming", "haversine", "jaccard", "l1", "l2"),
    *("mahalanobis", "manhattan", "minkowski", "rogerstanimoto", "russellrao", "seuclidean", "sokalmichener"),
    *("sokalsneath", "sqeuclidean", "yule"),
)


def check_metric(metric: Any) -> None:
    """Raise unless the metric is one that the learner knows, "precomputed", one of scikit-learn's, or a function.

    >>> check_metric("manhatan")
    Traceback (most recent call last):
    ...
    ValueError: metric='manhatan': must be 'euclidean', 'cosine', 'correlation', 'precomputed', a function of ...
    """
    known = (*METRICS, PRECOMPUTED, *TABLE_METRICS)
    if not callable(metric) and not (isinstance(metric, str) and metric in known):
        raise ValueError(
            f"metric={metric!r}: must be 'euclidean', 'cosine', 'correlation', 'precomputed', a function of two rows, "
            f"or one of {', '.join(TABLE_METRICS)}."
        )


def is_of_rows(metric: Any) -> bool:
    """Whether distances come from rows as they are needed; for other metrics all of them are held in a table."""
    return isinstance(metric, str) and metric in METRICS


def check_values(X: Any, metric: Any, owner: Any, *, stays_remote: bool = True) -> Any:
    """X as a matrix of points, or of distances between them; errors name the `owner`.

    The rows of a dask array stay on its workers if `stays_remote`, where they are checked when they are prepared; they
    are fetched otherwise.
    """
    if is_dask_array(X) and is_of_rows(metric) and stays_remote:
        return check_dask_array(X)
    return check_distances(X) if isinstance(metric, str) and metric == PRECOMPUTED else check_data(owner, X)


def prepare(
    X: Any,
    *,
    metric: Any = "euclidean",
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
) -> Data:
    """The points of checked data, by their rows or by their distances; the rows of a dask array stay where they are.

    Parameters
    ----------
    X : array, CSR array or dask array (N x M) of finite numbers; distances (N x N) for "precomputed"
    metric : one that `check_metric` lets pass
    rng : numpy Generator
    n_threads : int
    """
    if is_dask_array(X):
        return ChunkedData.prepare(X, metric, rng, n_threads)
    if is_of_rows(metric):
        return prepare_rows(X, metric, rng=rng, n_threads=n_threads)
    return TableData.prepare(X, metric, n_threads)


def prepare_rows(
    X: Any,
    metric: str = "euclidean",
    *,
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
) -> DenseData | SparseData:
    """The points of an array or a sparse matrix on this machine, by their rows.

    Examples
    --------
    >>> points = prepare_rows(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    >>> z = points.squared_distances([0, 0], [1, 2])
    >>> round(float(z[0] / z[1]), 6)
    25.0
    """
    preparation = find_preparation(X, metric, block_of(X.shape[1]))
    if can_stay_sparse(X, preparation):
        return SparseData.prepare(X, preparation, rng, n_threads)
    return DenseData.prepare(X, preparation, rng, n_threads)
