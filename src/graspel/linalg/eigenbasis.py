r"""A basis of equal eigenvalues that does not depend on the processor.

The eigenvectors of an eigenvalue that occurs m times span a space V, and every orthonormal basis of V is as good as any
other: LAPACK returns the one that its rounding errors lead to. A square grid has such eigenvalues, and then the same
seed would give another embedding on another processor. Here the basis is derived from V alone. With fixed directions R
and the QR factorization V'R = Q T, T with a positive diagonal,

    V Q

is the same for every basis of V: where V is replaced by V O with an orthogonal O, Q becomes O'Q.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from graspel.runtime.types import Floats

EQUAL = 1e-8  # relative difference of eigenvalues up to which they count as equal: far above the rounding errors


def fix_basis(values: Floats, vectors: Floats, wanted: int) -> Floats:
    """The first `wanted` eigenvectors, in a basis that depends on the eigenspaces only.

    Parameters
    ----------
    values : array, eigenvalues in ascending or descending order
    vectors : array, orthonormal eigenvectors as columns
        More than `wanted`, where an eigenvalue may occur among the wanted ones and beyond them.
    wanted : int

    Returns
    -------
    vectors : array (N x wanted)

    Examples
    --------
    >>> values, e = np.array([1.0, 1.0, 2.0]), np.eye(3)
    >>> turned = e[:, [1, 0, 2]] * [-1, 1, -1]
    >>> np.allclose(fix_basis(values, turned, 3), fix_basis(values, e, 3))
    True
    """
    differ = np.abs(np.diff(values)) > EQUAL * np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    bounds = np.concatenate([[0], 1 + np.flatnonzero(differ), [len(values)]])
    fixed = vectors[:, :wanted].copy()
    rng = np.random.default_rng(0)
    for first, end in pairwise(bounds):
        if first >= wanted:
            break
        V = vectors[:, first:end]
        Q, T = np.linalg.qr(V.T @ rng.standard_normal(V.shape))
        last = min(end, wanted)
        fixed[:, first:last] = (V @ (Q * np.where(np.diag(T) < 0, -1.0, 1.0)))[:, : last - first]
    return fixed
