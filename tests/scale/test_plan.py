"""The plan: memory near what is measured, and a sentence at the start of a run that cannot fit."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.scale import plan as planning
from graspel.scale.plan import TOLERANCE

MEASURE = """
import json, sys, threading, time
import numpy as np
from graspel import GRASPEL

def held():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])

n, m, k = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = np.sin(rng.random((n, 2)) @ rng.normal(size=(2, m))).astype(np.float32)
X += 0.02 * rng.standard_normal((n, m), dtype=np.float32)
base = peak = held()
running = True

def look():
    global peak
    while running:
        peak = max(peak, held())
        time.sleep(0.005)

watch = threading.Thread(target=look)
watch.start()
model = GRASPEL(k, random_state=0, n_jobs=2, max_iter=3)
predicted = model.plan(X).memory
model.fit(X)
running = False
watch.join()
print(json.dumps([predicted, peak - base]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("n", "m", "k"), [(60_000, 16, 2), (40_000, 64, 5)])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_the_peak_is_within_a_factor_of_the_predicted_one(n, m, k):
    command = [sys.executable, "-W", "ignore", "-c", MEASURE, str(n), str(m), str(k)]
    predicted, measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert predicted / TOLERANCE < measured < predicted * TOLERANCE


def test_larger_runs_take_more():
    small, wide, long = (GRASPEL().plan(shape) for shape in ((10_000, 8), (10_000, 100), (10**7, 8)))
    assert small.memory <= wide.memory < long.memory
    assert small.seconds < wide.seconds < long.seconds
    assert GRASPEL(candidates="clusters").plan((10**6, 8)).memory > GRASPEL().plan((10**6, 8)).memory
    assert GRASPEL(n_jobs=4).plan((10**6, 8)).seconds < GRASPEL(n_jobs=1).plan((10**6, 8)).seconds


def test_data_in_memory_count_and_data_in_files_do_not(tmp_path):
    X = np.zeros((100, 4), dtype=np.float32)
    np.save(tmp_path / "x.npy", X)
    assert GRASPEL().plan(X).data == 1600
    assert GRASPEL().plan(np.load(tmp_path / "x.npy", mmap_mode="r")).data == 0
    assert GRASPEL().plan(X.tolist()).n_features == 4
    with pytest.raises(ValueError, match="must be a matrix"):
        GRASPEL().plan(np.zeros(3))


def test_a_run_that_cannot_fit_says_so_at_the_start(monkeypatch):
    monkeypatch.setattr(planning, "available_memory", lambda: 10**6)
    plan = GRASPEL().plan((50, 3))
    assert plan.fits is False
    with pytest.raises(MemoryError, match=r"50 points of 3 features need about 0.1 GB .*but 0.0 GB are available"):
        GRASPEL().fit(np.zeros((50, 3)))
    monkeypatch.setattr(planning, "available_memory", lambda: None)
    assert GRASPEL().plan((50, 3)).fits is None
    GRASPEL(random_state=0).fit(np.arange(150.0).reshape(50, 3))
