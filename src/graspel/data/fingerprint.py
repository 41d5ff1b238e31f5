"""The fingerprint of a data matrix: a number by which a checkpoint recognizes the data that it was made of.

Every row of a full matrix has a number of 64 bits (multilinear hashing of its bytes), and the fingerprint is the sum of
these numbers, each times an odd factor that belongs to its position, modulo 2^64. So blocks of rows can be summed in
any order and on any machine.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.runtime.parallel import row_blocks

BLOCK_VALUES = 1 << 20  # values that are hashed at a time
HASH_SEED = 20140401  # of the factors; any number will do, but it must always be the same


def fingerprint(X: Any) -> str:
    """The fingerprint of a full or CSR matrix, with its shape and type.

    >>> X = np.arange(6.0).reshape(3, 2)
    >>> fingerprint(X) == fingerprint(X.copy()), fingerprint(X) == fingerprint(X[::-1])
    (True, False)
    """
    if sp.issparse(X):
        digest = hashlib.blake2b(digest_size=8)
        for array in (X.data, X.indices, X.indptr):
            digest.update(np.ascontiguousarray(array).data)
        return f"{digest.hexdigest()} sparse {X.shape} {X.dtype}"
    total = np.uint64(0)
    for block in row_blocks(X.shape[0], max(1, BLOCK_VALUES // X.shape[1])):
        total = sum_hashes(np.asarray(X[block]), block.start, total)
    return describe_fingerprint(total, X.shape, X.dtype)


def sum_hashes(block: NDArray[Any], first_row: int, total: np.uint64) -> np.uint64:
    """Add the numbers of the rows of a block, the first of which is row `first_row` of the matrix, to a total."""
    positions = np.arange(first_row, first_row + len(block), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return np.uint64((int(total) + int((hash_rows(block) * positions).sum(dtype=np.uint64))) % 2**64)


def describe_fingerprint(total: np.uint64, shape: tuple[int, ...], dtype: Any) -> str:
    """The sum of the numbers of all rows, with the shape and the type of the matrix."""
    return f"{int(total):016x} {tuple(int(side) for side in shape)} {dtype}"


def hash_rows(block: NDArray[Any]) -> NDArray[np.uint64]:
    """One number for each row, from its bytes."""
    block = np.ascontiguousarray(block)
    octets = block.view(np.uint8).reshape(len(block), -1)
    octets = np.pad(octets, ((0, 0), (0, -octets.shape[1] % 4)))
    words = np.ascontiguousarray(octets).view(np.uint32).astype(np.uint64)
    factors = np.random.default_rng(HASH_SEED).integers(2**63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    mixed = (words * factors).sum(axis=1, dtype=np.uint64)
    return np.asarray(mixed ^ (mixed >> np.uint64(29)))
