"""Many fits in one process, as in a search over parameters: memory does not grow from one to the next."""

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

from graspel import GRASPEL, GraspelClustering, GraspelTSNE

FITS = (60, 140, 220, 300)  # when memory is read; before the first, caches and the allocator take what they will


def held_memory() -> int:
    """Bytes of this process, without mapped files."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: GRASPEL(random_state=seed),
        lambda seed: GRASPEL(weights="refined", random_state=seed),
        lambda seed: GraspelClustering(3, random_state=seed),
        lambda seed: GraspelTSNE(max_iter=20, random_state=seed),
    ],
    ids=["GRASPEL", "refined", "clustering", "t-SNE"],
)
def test_memory_does_not_grow_with_the_number_of_fits(make):
    """A leak of one array of N x 8 numbers a fit would be 2 MB in every stretch; a step of the allocator is in one."""
    rng = np.random.default_rng(0)
    after = []
    for number in range(1, FITS[-1] + 1):
        make(number).fit(rng.normal(size=(400, 8)) + 4 * rng.integers(3, size=(400, 1)))
        if number in FITS:
            after.append(held_memory())
    assert min(np.diff(after)) < 10_000 * np.diff(FITS)[0]
