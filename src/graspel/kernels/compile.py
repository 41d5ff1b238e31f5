"""How kernels are compiled: once, cached on disk, without the lock of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums and minima may be split over the lanes of a vector register. The split depends on the processor but not on the
# threads. Kernels are given finite numbers, and infinity as the start of a minimum.
VECTORIZED = {"reassoc", "contract", "nsz", "nnan"}


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
    options: dict[str, Any] = {"nogil": True, "fastmath": VECTORIZED, "error_model": "numpy"}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder for its cache
        compiled = numba.njit(**options)(function)
    return cast(Function, compiled)
