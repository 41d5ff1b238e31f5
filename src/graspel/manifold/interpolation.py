"""Interpolation: from the places of representatives to a place for every point, along the edges of the graph.

Every point starts where its group's representative is. Then each point that is no representative moves to the weighted
mean of its neighbors on the graph, a few times: towards the harmonic function that has the representatives' places as
its boundary values.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.coarsen import Coarsening

Floats = NDArray[np.float64]

SWEEPS = 5


def along_edges(A: sp.csr_array, coarse: Coarsening, places: Floats) -> Floats:
    """Places of all nodes of the graph with adjacency A.

    Examples
    --------
    >>> from graspel.linalg.coarsen import coarsen
    >>> path = sp.csr_array(np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1))
    >>> coarse = coarsen(path, 3, n_eigenvalues=0)
    >>> Y = along_edges(path, coarse, np.array([[0.0], [1.0]]))
    >>> bool((np.diff(Y[:, 0]) >= 0).all())
    True
    """
    degree = A.sum(axis=1)
    means = sp.csr_array(sp.diags_array(np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)) @ A)
    Y = coarse.up(places)
    for _ in range(SWEEPS):
        Y = np.where(degree[:, None] > 0, means @ Y, Y)
        Y[coarse.representatives] = places
    return Y
