"""Distances: between listed rows, and the pairs that are farther apart along a graph than in the data."""

from __future__ import annotations

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices


@kernel
def listed_distances(Q, X, index, z):  # type: ignore[no-untyped-def]
    """z_ij = |Q_i - X_j'|^2 with j' = index[i, j], in the precision of the rows.

    From differences: no cancellation, and exactly zero for equal rows.
    """
    for i in range(len(index)):
        for j in range(index.shape[1]):
            row = index[i, j]
            total = Q[i, 0] * 0
            for c in range(Q.shape[1]):
                difference = Q[i, c] - X[row, c]
                total += difference * difference
            z[i, j] = total


@kernel
def find_far_pairs(
    M: Floats,
    diagonal: Floats,
    column_diagonal: Floats,
    z: Floats,
    floor: float,
    beta4: float,
    unit: float,
    rounding: float,
    at: Indices,
) -> int:
    """Positions (row, column) in M of the pairs with R > k, into `at` as far as it has room; returns their number.

    R = M_ii + M_jj - 2 M_ij plus its rounding error, a share of M_ii + M_jj, and k = (max(z, floor) + 4 beta) / unit.
    """
    found = 0
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            both = diagonal[i] + column_diagonal[j]
            R = both - 2 * M[i, j] + rounding * both
            if R * unit > max(z[i, j], floor) + beta4:
                if found < len(at):
                    at[found, 0] = i
                    at[found, 1] = j
                found += 1
    return found
