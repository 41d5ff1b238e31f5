"""Free memory: give what is no longer used back to the operating system.

The C library keeps freed blocks of up to 32 MB for later. Between two steps of a long run that allocate arrays of other
sizes this adds up to a third of the memory in use.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any


def return_free_memory() -> None:
    """Give free memory back where the C library has a function for it (glibc, on Linux); elsewhere do nothing."""
    trim = _find_trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _find_trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):
        return None
