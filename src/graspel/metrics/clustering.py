r"""Clustering scores: how well clusters agree with known classes.

The names of the clusters have no meaning, so all three scores are invariant to renaming on either side. With n_ij the
number of points in class i and cluster j (the contingency table):

    ACC = max over one-to-one matchings of sum n_ij / n        share of points in the cluster matched to their class
    NMI = I(true, pred) / sqrt(H(true) H(pred))                shared information, 0 to 1
    ARI = (R - E[R]) / (max R - E[R])                          pairs of points that agree, corrected for chance

ACC and NMI are the scores of the paper, which divides by the geometric mean of the two entropies.

References
----------
A. Strehl and J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002. NMI with the geometric mean.

L. Hubert and P. Arabie. Comparing partitions. Journal of Classification 2, 1985. ARI.

H. W. Kuhn. The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

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
    true, pred = _codes(labels_true, labels_pred)
    shape = (int(true.max()) + 1, int(pred.max()) + 1)
    contingency = sp.coo_array((np.ones(len(true)), (true, pred)), shape=shape).toarray()
    classes, clusters = linear_sum_assignment(contingency, maximize=True)
    return float(contingency[classes, clusters].sum() / len(true))


def normalized_mutual_information(labels_true: Labels, labels_pred: Labels) -> float:
    """Mutual information over the geometric mean of the two entropies (NMI), I / sqrt(H(true) H(pred)).

    Parameters
    ----------
    labels_true : sequence of hashables, length n
        The class of each point.
    labels_pred : sequence of hashables, length n
        The cluster of each point.

    Returns
    -------
    nmi : float, in [0, 1]
        1 if the two partitions are the same, 0 if they are independent. With one class and one cluster both entropies
        are 0, and the result is 1, because the partitions are the same. With only one entropy 0 the result is 0.

    Examples
    --------
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.816497
    """
    true, pred = _codes(labels_true, labels_pred)
    return float(np.clip(normalized_mutual_info_score(true, pred, average_method="geometric"), 0.0, 1.0))


def adjusted_rand_index(labels_true: Labels, labels_pred: Labels) -> float:
    """Share of pairs of points on which the two partitions agree, corrected for chance (ARI).

    Parameters
    ----------
    labels_true : sequence of hashables, length n
        The class of each point.
    labels_pred : sequence of hashables, length n
        The cluster of each point.

    Returns
    -------
    ari : float, in [-0.5, 1]
        1 if the two partitions are the same, near 0 for random labels.

    Examples
    --------
    >>> round(adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.571429
    """
    return float(adjusted_rand_score(*_codes(labels_true, labels_pred)))


def _codes(labels_true: Labels, labels_pred: Labels) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both labelings as numbers 0, 1, ..., in the order in which the labels first occur."""
    true, pred = _number("labels_true", labels_true), _number("labels_pred", labels_pred)
    if len(true) != len(pred):
        raise ValueError(
            f"labels_true has {len(true)} labels and labels_pred has {len(pred)}: both must have one for each point, "
            "in the same order."
        )
    return true, pred


def _number(name: str, labels: Labels) -> NDArray[np.int64]:
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
