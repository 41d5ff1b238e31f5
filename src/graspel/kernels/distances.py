"""Squared distances between listed rows, from differences: no cancellation, and exactly zero for equal rows."""

from __future__ import annotations

from graspel.kernels.compile import kernel


@kernel
def listed_distances(Q, X, index, z):  # type: ignore[no-untyped-def]
    """z_ij = |Q_i - X_j'|^2 with j' = index[i, j], in the precision of the rows."""
    for i in range(len(index)):
        for j in range(index.shape[1]):
            row = index[i, j]
            total = Q[i, 0] * 0
            for c in range(Q.shape[1]):
                difference = Q[i, c] - X[row, c]
                total += difference * difference
            z[i, j] = total
