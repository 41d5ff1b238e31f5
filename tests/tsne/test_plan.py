"""The plan of t-SNE: memory near what is measured, and a sentence before a fit that cannot be held in memory."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from graspel import GRASPEL, GraspelTSNE
from graspel.scale import plan as planning
from graspel.scale.plan import TOLERANCE

MEASURE = """
import json, sys
import numpy as np
from graspel import GraspelTSNE

def peak():  # that of getrusage would begin with the memory of the process that started this one
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

n, m = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
GraspelTSNE(random_state=0, max_iter=10).fit(rng.random((50, 3)))
X = np.sin(rng.random((n, 2)) @ rng.normal(size=(2, m))).astype(np.float32)
X += 0.02 * rng.standard_normal((n, m), dtype=np.float32)
before = peak()
model = GraspelTSNE(random_state=0, n_jobs=2, max_iter=10)
predicted = model.plan(X).memory
model.fit(X)
print(json.dumps([predicted, peak() - before]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.long
def test_the_peak_is_within_a_factor_of_the_predicted_one():
    command = [sys.executable, "-W", "ignore", "-c", MEASURE, "60000", "16"]
    predicted, measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert predicted / TOLERANCE < measured < predicted * TOLERANCE


def test_larger_fits_take_more():
    few, many = GraspelTSNE().plan((10**4, 8)), GraspelTSNE().plan((10**6, 8))
    assert few.memory < many.memory
    assert few.seconds < many.seconds
    assert many.memory > GRASPEL(max_iter=0).plan((10**6, 8)).memory
    assert GraspelTSNE(perplexity=60).plan((10**6, 8)).memory > many.memory
    assert GraspelTSNE(reduction=5).plan((10**6, 8)).seconds < many.seconds


def test_a_fit_that_cannot_be_held_in_memory_does_not_begin(monkeypatch):
    monkeypatch.setattr(planning, "available_memory", lambda: 10**6)
    model = GraspelTSNE()
    with pytest.raises(MemoryError, match=r"100 points of 3 features need about 0.\d GB"):
        model.fit(np.random.default_rng(0).random((100, 3)))
    assert not hasattr(model, "embedding_")
