"""The cache of compiled kernels: damaged files are found, and the kernel is compiled anew."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

KERNELS = """
from graspel.kernels.compile import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def quadruple(x):
    return double(double(x))
"""
CALL = """
import sys, kernels_of_the_test as kernels
print(*[kernels.quadruple(x) for x in (3, 0.5)], sum(kernels.quadruple.stats.cache_hits.values()))
"""


@pytest.fixture
def call(tmp_path):
    """Call the kernels in a new process; returns what it prints."""
    (tmp_path / "kernels_of_the_test.py").write_text(KERNELS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run():
        done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return run


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_damaged_files_of_the_cache_are_compiled_anew(call, tmp_path, every):
    """Every file in every way, or each file in one of the three ways."""
    assert call() == ["12", "2.0", "0"]
    assert call() == ["12", "2.0", "2"]
    files = sorted((tmp_path / "__pycache__").glob("*quadruple*.nb*"))
    assert sorted(path.suffix for path in files) == [".nbc", ".nbc", ".nbi"]
    whole = {path: path.read_bytes() for path in files}
    rng = np.random.default_rng(0)
    for at, (path, content) in enumerate(whole.items()):
        ways = (content[: len(content) // 2], b"", flip(content, int(rng.integers(len(content)))))
        for damaged in ways if every else ways[at : at + 1]:
            path.write_bytes(damaged)
            assert call()[:2] == ["12", "2.0"]
            assert path.read_bytes() != damaged
            for other, bytes_of_it in whole.items():
                other.write_bytes(bytes_of_it)
    assert call() == ["12", "2.0", "2"]


def flip(content, place):
    changed = bytearray(content)
    changed[place] ^= 0xFF
    return bytes(changed)
