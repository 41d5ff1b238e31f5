r"""Contraction: a graph with the nodes of each group merged into one.

Let P be the N x K matrix with P_ig = 1 if node i belongs to group g, and 0 otherwise. The contracted graph has the
adjacency matrix P'AP without its diagonal: the weight between two groups is the sum of the weights between their nodes.

References
----------
A. Loukas. Graph reduction with spectral and cut guarantees. Journal of Machine Learning Research, 20(116), 2019.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.runtime.types import Floats, Ints


def contract(A: sp.csr_array, groups: Ints) -> sp.csr_array:
    """Merge the nodes of each group: return P'AP without its diagonal.

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0.0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]]))
    >>> contract(path, np.array([0, 0, 1, 1])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    n, k = A.shape[0], int(groups.max()) + 1
    P = sp.csr_array((np.ones(n), (np.arange(n), groups)), shape=(n, k))
    coarse = sp.csr_array(P.T @ A @ P)
    coarse.setdiag(0.0)
    coarse.eliminate_zeros()
    return sp.csr_array((coarse + coarse.T) / 2)  # the two sums of a pair may differ by rounding


def group_means(values: Floats, groups: Ints, mass: Ints | Floats) -> Floats:
    """Mean of the values (N or N x m) over every group; `mass` is the number of nodes in each group.

    Examples
    --------
    >>> group_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), np.array([2, 1]))
    array([2., 5.])
    """
    member = sp.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape=(len(mass), len(groups)))
    means = member @ values.reshape(len(groups), -1) / mass[:, None]
    return means.reshape(len(mass), *values.shape[1:])
