"""Numbers of rows, by which equal rows are found, and fingerprints of matrices, by which a checkpoint knows its data.

Every row has a number of 64 bits: the sum of its bytes times fixed random factors modulo 2^64 (multilinear hashing).
The fingerprint of a full matrix is the sum of these numbers, each times an odd factor that belongs to its position. So
blocks of rows can be summed in any order and on any machine.

References
----------
D. Lemire and O. Kaser. Strongly universal string hashing is fast. The Computer Journal 57, 2014.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.validation import is_dask_array
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Bools, Ints

BLOCK_VALUES = 1 << 20  # values that are hashed at a time
CHUNK_VALUES = 1 << 23  # values of a block of a dask array that one worker hashes
HASH_SEED = 20140401  # of the factors; any number will do, but it must always be the same


def fingerprint(X: Any) -> str:
    """The fingerprint of a full, CSR or dask matrix, with its shape and type; chunks do not change it.

    >>> X = np.arange(6.0).reshape(3, 2)
    >>> fingerprint(X) == fingerprint(X.copy()), fingerprint(X) == fingerprint(X[::-1])
    (True, False)
    """
    if sp.issparse(X):
        digest = hashlib.blake2b(digest_size=8)
        for array in (X.data, X.indices, X.indptr):
            digest.update(np.ascontiguousarray(array).data)
        return f"{digest.hexdigest()} sparse {X.shape} {X.dtype}"
    if is_dask_array(X):
        total = _sum_on_workers(X)
    else:
        blocks = row_blocks(X.shape[0], max(1, BLOCK_VALUES // X.shape[1]))
        total = sum(sum_hashes(np.asarray(X[block]), block.start) for block in blocks)
    return f"{total % 2**64:016x} {tuple(int(side) for side in X.shape)} {X.dtype}"


def sum_hashes(block: NDArray[Any], first_row: int) -> int:
    """The sum of the numbers of the rows of a block, the first of which is row `first_row` of the matrix."""
    positions = np.arange(first_row, first_row + len(block), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return int((hash_rows(block) * positions).sum(dtype=np.uint64))


def _sum_on_workers(X: Any) -> int:
    """The sum of the numbers of the rows of a dask array."""
    import dask

    X = X.rechunk((max(1, CHUNK_VALUES // max(1, X.shape[1])), -1))
    blocks, starts = X.to_delayed().ravel().tolist(), np.cumsum([0, *X.chunks[0]]).tolist()
    task = dask.delayed(sum_hashes, pure=True)
    return sum(dask.compute(*(task(rows, start) for rows, start in zip(blocks, starts, strict=False))))


def hash_rows(block: NDArray[Any]) -> NDArray[np.uint64]:
    """One number for each row, from its bytes."""
    octets = np.ascontiguousarray(block).view(np.uint8).reshape(len(block), -1)
    if octets.shape[1] % 4:
        octets = np.pad(octets, ((0, 0), (0, -octets.shape[1] % 4)))
    words = octets.view(np.uint32).astype(np.uint64)
    mixed = (words * _factors(words.shape[1])).sum(axis=1, dtype=np.uint64)
    return np.asarray(mixed ^ (mixed >> np.uint64(29)))


def hash_values(block: NDArray[Any]) -> NDArray[np.uint64]:
    """One number for each row of floats; equal rows have equal numbers.

    >>> a, b, c = hash_values(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    return hash_rows(block + block.dtype.type(0))  # turns -0.0 into 0.0, whose bytes differ


def hash_sparse_rows(A: sp.csr_array) -> NDArray[np.uint64]:
    """One number for each sparse row without stored zeros, equal for equal rows: a sum over the stored values only.

    >>> a, b, c = hash_sparse_rows(sp.csr_array(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    words = A.data.view(np.uint32).reshape(len(A.data), A.data.itemsize // 4).astype(np.uint64)
    factors = _factors((A.shape[1], words.shape[1]))
    total = np.append(np.uint64(0), np.cumsum((words * factors[A.indices]).sum(axis=1, dtype=np.uint64)))
    mixed = total[A.indptr[1:]] - total[A.indptr[:-1]]  # modulo 2^64, in which the sums over all rows wrap around
    return np.asarray(mixed ^ (mixed >> np.uint64(29)))


def rows_differ(rows: Callable[[Ints], NDArray[Any]], p: Ints, q: Ints, block: int) -> Bools:
    """Whether the rows p_i and q_i, which a function returns, differ in any value; so many are read at a time."""
    parts = [(rows(p[part]) != rows(q[part])).any(axis=1) for part in row_blocks(len(p), block)]
    return np.concatenate([np.empty(0, dtype=bool), *parts])


def _factors(shape: Any) -> NDArray[np.uint64]:
    """Odd factors, always the same."""
    return np.random.default_rng(HASH_SEED).integers(2**63, size=shape, dtype=np.uint64) * 2 + 1
