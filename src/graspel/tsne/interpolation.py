"""Interpolation: from the coordinates of representatives to those of all points, along the edges of the graph.

Every point starts at the coordinates of its group's representative. Then each point that is not a representative moves
to the weighted mean of its neighbors on the graph, a few times. These Jacobi iterations converge to the harmonic
function on the graph whose boundary values are the representatives' coordinates (Zhu et al. 2003).

References
----------
X. Zhu, Z. Ghahramani and J. Lafferty. Semi-supervised learning using Gaussian fields and harmonic functions.
International Conference on Machine Learning, 2003.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.linalg.coarsen import Coarsening
from graspel.runtime.types import Floats

SWEEPS = 5  # Jacobi iterations; only a start for t-SNE, compared with none in docs/embedding.md


def interpolate(A: sp.csr_array, coarse: Coarsening, coordinates: Floats) -> Floats:
    """Coordinates of all nodes of the graph with adjacency A, from those of the representatives.

    Examples
    --------
    >>> from graspel.linalg.coarsen import coarsen
    >>> path = sp.csr_array(np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1))
    >>> coarse = coarsen(path, 3, n_eigenvalues=0)
    >>> Y = interpolate(path, coarse, np.array([[0.0], [1.0]]))
    >>> bool((np.diff(Y[:, 0]) >= 0).all())
    True
    """
    degree = A.sum(axis=1)
    means = sp.csr_array(sp.diags_array(np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)) @ A)
    Y = coarse.up(coordinates)
    for _ in range(SWEEPS):
        Y = np.where(degree[:, None] > 0, means @ Y, Y)
        Y[coarse.representatives] = coordinates
    return Y
