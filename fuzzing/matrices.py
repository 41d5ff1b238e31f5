"""Hostile matrices: points, signals and adjacency matrices that break careless code."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

DTYPES = (np.float64, np.float64, np.float64, np.float32, np.float16, np.int8, np.uint8, np.int64, np.bool_)
SCALES = (1e-300, 1e-160, 1e-150, 1e-30, 1e-6, 1.0, 1e6, 1e20, 1e37, 1e100, 1e150, 1e155, 1e300)
WEIGHTS = (1e-300, 1e-100, 1e-20, 1e-10, 1e-3, 1.0, 1e3, 1e10, 1e20, 1e100, 1e300)


WITHIN = (1e-25, 1e-18, 1e-12, 1.0, 1e7, 1e15, 1e24)  # weights whose ratio the kernels still take


def draw_points(rng: np.random.Generator) -> Any:
    """A matrix of points, dense or sparse, with a few of the troubles that real files have."""
    n = int(rng.choice([1, 2, 3, 4, 5, 8, 13, 30, 60, 120, 250, 600]))
    m = int(rng.choice([1, 2, 3, 5, 12, 40]))
    X = _draw_base(rng, n, m)
    with np.errstate(all="ignore"):
        for trouble in rng.choice(len(TROUBLES), size=rng.integers(0, 4), replace=False):
            X = TROUBLES[trouble](rng, X)
        if rng.random() < 0.3:
            X = X.astype(DTYPES[rng.integers(len(DTYPES))])
    if rng.random() < 0.15 and X.dtype != np.float16:  # scipy has no sparse matrices of half precision
        return [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix][rng.integers(4)](X)
    return np.asfortranarray(X) if rng.random() < 0.1 else X


def _draw_base(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    kind = rng.integers(5)
    if kind == 0:
        return rng.standard_normal((n, m))
    if kind == 1:
        return rng.standard_normal((n, m)) * 0.1 + 5 * rng.standard_normal((3, m))[rng.integers(3, size=n)]
    if kind == 2:
        return rng.integers(0, 3, size=(n, m)).astype(float)
    if kind == 3:
        return np.linspace(0, 1, n)[:, None] * rng.standard_normal(m)
    return (rng.random((n, m)) < 0.1) * rng.standard_normal((n, m))


def _scale(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    return X * SCALES[rng.integers(len(SCALES))]


def _scale_columns(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    return X * np.array(SCALES)[rng.integers(len(SCALES), size=X.shape[1])]


def _offset(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    return X + 10.0 ** rng.integers(-3, 15)


def _repeat_rows(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[rng.random(len(X)) < rng.choice([0.3, 0.9, 1.0])] = X[0]
    return X


def _nearly_repeat_rows(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    near = rng.random(len(X)) < 0.6
    X = X.copy()
    X[near] = X[0] + 10.0 ** rng.integers(-12, -3) * rng.standard_normal((int(near.sum()), X.shape[1]))
    return X


def _outlier(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[rng.integers(len(X))] *= SCALES[rng.integers(len(SCALES))]
    return X


def _fill_value(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X = X.copy()
    values = [1e37, -9999.0, 1e300, -1e300, np.finfo(float).max, np.finfo(float).tiny, 5e-324]
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = values[rng.integers(len(values))]
    return X


def _not_finite(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = [np.nan, np.inf, -np.inf][rng.integers(3)]
    return X


def _constant_column(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[:, rng.integers(X.shape[1])] = 10.0 ** rng.integers(-5, 12)
    return X


TROUBLES = (
    _scale,
    _scale_columns,
    _offset,
    _repeat_rows,
    _nearly_repeat_rows,
    _outlier,
    _fill_value,
    _not_finite,
    _constant_column,
)


def draw_adjacency(rng: np.random.Generator) -> Any:
    """A weighted graph as a sparse matrix: trees, stars, barbells, twins, components, weights over many decades."""
    n = int(rng.choice([1, 2, 3, 5, 10, 40, 120, 310, 310, 700]))
    kind = rng.integers(6)
    if kind == 0:
        heads, tails = np.zeros(n - 1, dtype=int), np.arange(1, n)  # star
    elif kind == 1:
        heads, tails = np.arange(n - 1), np.arange(1, n)  # path
    elif kind == 2:
        heads = np.array([int(rng.integers(i)) for i in range(1, n)], dtype=int)  # tree
        tails = np.arange(1, n)
    elif kind == 3:  # barbell
        half = n // 2
        pairs = [
            (i, j)
            for a, b in ((0, min(half, 30)), (half, min(n, half + 30)))
            for i in range(a, b)
            for j in range(i + 1, b)
        ]
        pairs += [(i, i + 1) for i in range(n - 1)]
        heads, tails = np.array(sorted(set(pairs)) or np.zeros((0, 2)), dtype=int).T
    elif kind == 4:  # twins: pairs of nodes with the same neighbors
        m = max(1, n // 2)
        a, b = rng.integers(m, size=2 * m), rng.integers(m, size=2 * m)
        heads, tails = np.concatenate([a, a + m, a]), np.concatenate([b, b, b + m])
        keep = (heads % m != tails % m) & (heads < n) & (tails < n)
        heads, tails = heads[keep], tails[keep]
    else:
        heads, tails = rng.integers(n, size=3 * n), rng.integers(n, size=3 * n)
    choice = rng.integers(6)
    weights = (
        np.ones(len(heads))
        if choice == 0
        else rng.uniform(0.1, 10, len(heads))
        if choice == 1
        else np.array([1e-10, 1.0, 1e10])[rng.integers(3, size=len(heads))]
        if choice == 2
        else np.array(WITHIN)[rng.integers(len(WITHIN), size=len(heads))]
        if choice == 3
        else 10.0 ** rng.integers(-200, 200) * 10.0 ** rng.uniform(-6, 6, len(heads))
        if choice == 4
        else np.array(WEIGHTS)[rng.integers(len(WEIGHTS), size=len(heads))]
    )
    A = sp.coo_array((weights, (heads, tails)), shape=(n, n)).tolil()
    A.setdiag(0)
    A = A.tocsr()
    A = A.maximum(A.T).tocsr()
    A.eliminate_zeros()
    return A
