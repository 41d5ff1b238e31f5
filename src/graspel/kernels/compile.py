"""How kernels are compiled: once, cached on disk, without the lock of the interpreter.

numba runs the machine code in its cache as it finds it: one wrong byte ends the process or changes results, and a
truncated file ends every later call in an error. So the files of the cache begin with a digest of their content and of
numba's version. One that does not agree with it counts as missing, and the kernel is compiled again.

Each kernel is compiled once more inside of every kernel that calls it. So what calls kernels only now and then is left
to the interpreter (``kernels.dissection.dissect``). And no kernel assigns arrays or tuples to slices (``a[:] = b``):
for the message of the error where shapes differ, numba compiles its strings, which takes more than a second.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums and minima may be split over the lanes of a vector register. The split depends on the processor but not on the
# threads. Kernels are given finite numbers, and infinity as the start of a minimum.
VECTORIZED = {"reassoc", "contract", "nsz", "nnan"}


DIGEST = 32  # bytes at the beginning of a file of the cache


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers on first use, and keep the machine code on disk.

    Where no folder can be written to, the code is kept in memory only.

    >>> @kernel
    ... def total(x):
    ...     s = 0.0
    ...     for i in range(len(x)):
    ...         s += x[i]
    ...     return s
    >>> import numpy as np
    >>> total(np.ones(3))
    3.0
    """
    compiled: Any = numba.njit(nogil=True, fastmath=VECTORIZED, error_model="numpy")(function)
    if hasattr(compiled, "enable_caching"):  # not with NUMBA_DISABLE_JIT
        with suppress(RuntimeError):  # numba found no folder for its cache
            compiled._cache = _CheckedCache(function)
    return cast(Function, compiled)


class _CheckedCache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel, in files that are checked before they are used."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        base, stamp = self._impl.filename_base, self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFiles(self._cache_path, base, stamp)


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The index of the compiled signatures of a kernel, and a file of machine code for each."""

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_index(self) -> dict[Any, str]:
        stamp, overloads = self._read(self._index_path) or (None, {})
        return overloads if stamp == self._source_stamp else {}

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _load_data(self, name: str) -> Any:
        data = self._read(self._data_path(name))
        if data is None:
            raise OSError(f"{name} is damaged")  # numba compiles again and replaces the file
        return data

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(self._digest(data) + data)

    def _read(self, path: str) -> Any:
        """The content of a file; None if it is missing, damaged or of another version of numba."""
        try:
            with open(path, "rb") as file:
                digest, data = file.read(DIGEST), file.read()
        except FileNotFoundError:
            return None
        return pickle.loads(data) if digest == self._digest(data) else None

    def _digest(self, data: bytes) -> bytes:
        return hashlib.blake2b(data, digest_size=DIGEST, key=self._version.encode()).digest()
