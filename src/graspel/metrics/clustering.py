r"""Clustering accuracy (ACC): the share of points in the cluster that is matched to their class.

The names of the clusters have no meaning, so the score is that of the best one-to-one matching of clusters and classes.
The paper reports ACC and NMI. NMI and ARI are those of scikit-learn: `normalized_mutual_info_score` with
``average_method="geometric"``, as the paper has it (Strehl and Ghosh 2002), and `adjusted_rand_score`.

References
----------
H. W. Kuhn. The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.

A. Strehl and J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Labels = Iterable[Hashable] | NDArray[Any]


def clustering_accuracy(labels_true: Labels, labels_pred: Labels) -> float:
    """Share of points whose cluster is the one matched to their class, at the best one-to-one matching (ACC).

    The matching is found by the Hungarian method. Where the numbers of clusters and classes differ, those without a
    partner are not matched, and their points count as wrong.

    Parameters
    ----------
    labels_true : sequence of hashables, length n
        The class of each point: numbers, strings, anything that can be a key.
    labels_pred : sequence of hashables, length n
        The cluster of each point.

    Returns
    -------
    accuracy : float, in (0, 1]

    Examples
    --------
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    true, pred = _number("labels_true", labels_true), _number("labels_pred", labels_pred)
    if len(true) != len(pred):
        raise ValueError(
            f"labels_true has {len(true)} labels and labels_pred has {len(pred)}: both must have one for each point, "
            "in the same order."
        )
    shape = (int(true.max()) + 1, int(pred.max()) + 1)
    contingency = sp.coo_array((np.ones(len(true)), (true, pred)), shape=shape).toarray()
    classes, clusters = linear_sum_assignment(contingency, maximize=True)
    return float(contingency[classes, clusters].sum() / len(true))


def _number(name: str, labels: Labels) -> NDArray[np.int64]:
    """The labels as numbers 0, 1, ..., in the order in which they first occur."""
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise ValueError(f"{name} has shape {labels.shape}: must be one-dimensional, one label for each point.")
    numbers: dict[Hashable, int] = {}
    try:
        # tolist converts an array to Python values, so that np.int64(1) and 1 are one label, as is a repeated NaN.
        values = labels.tolist() if isinstance(labels, np.ndarray) else labels
        codes = [numbers.setdefault(label, len(numbers)) for label in values]
    except TypeError as error:
        raise ValueError(
            f"{name}={labels!r}: must be a sequence of hashable labels, such as numbers or strings ({error})."
        ) from error
    if not codes:
        raise ValueError(f"{name}={labels!r} is empty: must have one label for each point, and at least one point.")
    return np.array(codes, dtype=np.int64)
