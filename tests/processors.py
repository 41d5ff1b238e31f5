"""This machine as an older processor: environment variables that libraries read when they are loaded.

OpenBLAS chooses its kernels by OPENBLAS_CORETYPE. numpy leaves out the instructions in NPY_DISABLE_CPU_FEATURES: its
sums, exponentials and logarithms then round differently, and its sorts put equal numbers in another order. The oldest
processors have two BLAS threads, so that sums are split elsewhere too. ``python tests/processors.py Nehalem`` prints
the variables for a shell.
"""

from __future__ import annotations

import platform
import sys

import numpy as np

BEFORE_AVX2 = ("Prescott", "Nehalem", "Sandybridge")
WITHOUT_AVX512 = ("Haswell", "Zen")
TWO_THREADS = ("Prescott", "Nehalem")

CAN_PLAY = platform.machine() in ("x86_64", "AMD64")  # these core types are of x86


def variables_of(processor: str) -> dict[str, str]:
    """The environment variables of a processor. A name of no list above keeps all instructions of numpy."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    without: list[str] = []
    if processor in BEFORE_AVX2:
        without = found
    elif processor in WITHOUT_AVX512:
        without = [name for name in found if name.startswith("AVX512") or name == "X86_V4"]
    return {
        "OPENBLAS_CORETYPE": processor,
        "NPY_DISABLE_CPU_FEATURES": " ".join(without),
        "OPENBLAS_NUM_THREADS": "2" if processor in TWO_THREADS else "1",
    }


if __name__ == "__main__":
    print(" ".join(f'{name}="{value}"' for name, value in variables_of(sys.argv[1]).items()))
