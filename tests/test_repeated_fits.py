"""Many fits in one process, as in a search over parameters: memory does not grow from one to the next."""

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

from graspel import GRASPEL, GraspelClustering, GraspelTSNE

FITS, FIRST = 300, 60  # fits, and those after which caches and the allocator have taken what they will


def held_memory() -> int:
    """Bytes of this process, without mapped files."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("make", "n_fits"),
    [
        (lambda seed: GRASPEL(random_state=seed), FITS),
        (lambda seed: GRASPEL(weights="refined", random_state=seed), FITS // 3),
        (lambda seed: GraspelClustering(3, random_state=seed), FITS // 3),
        (lambda seed: GraspelTSNE(max_iter=20, random_state=seed), FITS // 3),
    ],
    ids=["GRASPEL", "refined", "clustering", "t-SNE"],
)
def test_memory_does_not_grow_with_the_number_of_fits(make, n_fits):
    """A leak of one array of N x 8 numbers a fit would be 6 MB after 240 fits; the points alone are 26 kB."""
    rng = np.random.default_rng(0)
    after = []
    for seed in range(n_fits):
        make(seed).fit(rng.normal(size=(400, 8)) + 4 * rng.integers(3, size=(400, 1)))
        if seed + 1 in (FIRST, n_fits):
            after.append(held_memory())
    assert after[1] - after[0] < 10_000 * (n_fits - FIRST)
