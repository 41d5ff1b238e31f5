"""Scale: the weights of a graph as multiples of a unit near the largest one.

With the largest weight of order one, squares of weights and of residuals neither overflow nor vanish. The unit is a
power of two, so that dividing by it causes no rounding error.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def scale_weights(adjacency: sp.csr_array) -> tuple[sp.csr_array, float]:
    """The weights divided by the largest power of two up to the heaviest weight, and this unit.

    Examples
    --------
    >>> scaled, unit = scale_weights(sp.csr_array(np.array([[0.0, 5e30], [5e30, 0.0]])))
    >>> round(float(scaled[0, 1]), 3), bool(np.log2(unit) % 1 == 0)
    (1.972, True)
    """
    if not adjacency.nnz:
        return adjacency, 1.0
    unit = 2.0 ** np.floor(np.log2(adjacency.data.max()))
    return adjacency / unit, float(unit)
