r"""New points: the field at points that were not among its nodes, joined to their nearest nodes.

A new point with links of weights w_j to the nodes J has, given the field on these, the mean sum a_j u_j with
a = w / (W + eps), W = sum w_j, and the variance s^2 / (W + eps). The field on the nodes does not change by it, so
predictions do not depend on which other points are asked for. With the trend H b and the row h of the point,

    E v = a' E v_J + (h - a' H_J) E b,
    Var v / s^2 = 1 / (W + eps) + a' M a + r G^-1 r',    r = a' R_J + h - a' H_J

in the notation of :mod:`graspel.field.posterior`; a' M a takes one solve for each new point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graspel.field.posterior import Posterior
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Bools, Floats, Ints

POINTS = 256  # points that are solved for at once


@dataclass(frozen=True)
class NewPoints:
    """Points beside the nodes of a field.

    Attributes
    ----------
    indices : array (m x k), the nodes that each point is joined to
    weights : array (m x k)
    is_old : array of m, whether a point is equal to the first of its nodes, whose field it then has
    trend : array (m x r), the features of the trend at the points, and a last column of ones
    """

    indices: Ints
    weights: Floats
    is_old: Bools
    trend: Floats

    def predict(self, posterior: Posterior, *, with_variance: bool = True) -> tuple[Floats, Floats]:
        """The mean of every column at the points (m x columns), and the variance over s^2 (m; NaN if not wanted)."""
        base = posterior.smoothing
        total = self.weights.sum(axis=1) + base.eps
        shares = np.where(self.is_old[:, None], 0.0, self.weights / total[:, None])
        shares[self.is_old, 0] = 1.0
        m, k = self.indices.shape
        rows = np.repeat(np.arange(m), k)
        A = sp.csr_array((shares.ravel(), (rows, self.indices.ravel())), shape=(m, base.prior.n_nodes))
        offset = np.where(self.is_old[:, None], 0.0, self.trend - A @ base.H)
        mean = A @ posterior.mean + offset @ posterior.coefficients
        variance = np.full(m, np.nan)
        if with_variance:
            new = np.flatnonzero(~self.is_old)
            for block in row_blocks(len(new), POINTS):
                columns = A[new[block]].toarray().T
                variance[new[block]] = (columns * base.inverse.solve(columns)).sum(axis=0)
            variance[new] += 1 / total[new] + posterior.spread((A @ base.R + offset)[new])
            variance[self.is_old] = posterior.variance[self.indices[self.is_old, 0]]
        return mean, variance
