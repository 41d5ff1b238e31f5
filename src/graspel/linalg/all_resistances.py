r"""All resistances: the effective resistances of all pairs of nodes of a small graph, to full relative accuracy.

Nodes are eliminated one after another (:mod:`graspel.linalg.factor.dense_factor`), which does not change the
resistances between the nodes that remain. Going back, let i be the node eliminated last, d its total weight at that
moment and p_l = w_il / d its shares. With the resistances R of the later nodes, those of i to every later node j are

    R_ij = 1/d + sum_l p_l R_lj - 1/2 sum_lm p_l p_m R_lm.

From R_lj <= 1/w_il + R_ij follows that no sum exceeds R_ij times the degree of i. So no digits are lost to
cancellation, whatever the range of the weights. The cost is N^3 operations.

References
----------
F. Dorfler and F. Bullo. Kron reduction of graphs with applications to electrical networks. IEEE Transactions on
Circuits and Systems I, 60(1), 2013.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.linalg.components import Components
from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.types import Floats


def all_resistances(adjacency: sp.csr_array) -> Floats:
    """The symmetric matrix of all effective resistances, infinite between components.

    Examples
    --------
    >>> all_resistances(sp.csr_array(np.array([[0.0, 1e30, 0], [1e30, 0, 2], [0, 2, 0]])))
    array([[0.e+00, 1.e-30, 5.e-01],
           [1.e-30, 0.e+00, 5.e-01],
           [5.e-01, 5.e-01, 0.e+00]])
    """
    with one_thread_per_call():
        R = resistances_from_factor(DenseFactor(adjacency.toarray(), np.zeros(adjacency.shape[0])))
    component = Components.of(adjacency).labels
    R[component[:, None] != component] = np.inf
    return R


def resistances_from_factor(factor: DenseFactor) -> Floats:
    """All resistances from the elimination of all nodes without ground; those between components have no meaning."""
    n = len(factor.pivots)
    R = np.zeros((n, n))
    for i in range(n - 2, -1, -1):
        later, p = R[i + 1 :, i + 1 :], -factor.G[i + 1 :, i]
        mean = later @ p
        # Rounding may leave less than 1/d, which no resistance of i can be.
        R[i, i + 1 :] = R[i + 1 :, i] = 1 / factor.pivots[i] + np.maximum(mean - p @ mean / 2, 0.0)
    return R
