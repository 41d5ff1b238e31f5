r"""Contraction: a graph with the nodes of each group merged into one.

With S the 0/1 map from groups to nodes, the contracted graph has the adjacency S'AS without its diagonal: the weights
between two groups are added up.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def contract(A: sp.csr_array, groups: Ints) -> sp.csr_array:
    """P'AP without its diagonal, P the 0/1 map from groups to nodes: weights between groups are sums over members."""
    n, k = A.shape[0], int(groups.max()) + 1
    P = sp.csr_array((np.ones(n), (np.arange(n), groups)), shape=(n, k))
    coarse = sp.csr_array(P.T @ A @ P)
    coarse.setdiag(0.0)
    coarse.eliminate_zeros()
    return sp.csr_array((coarse + coarse.T) / 2)


def group_means(values: Floats, groups: Ints, mass: Ints) -> Floats:
    """Mean of the values (N or N x m) over every group."""
    member = sp.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape=(len(mass), len(groups)))
    means = member @ values.reshape(len(groups), -1) / mass[:, None]
    return means.reshape(len(mass), *values.shape[1:])
