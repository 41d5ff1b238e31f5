"""Available memory: that of the machine, or what the control group leaves."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graspel.runtime import memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "cgroup").mkdir()

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    return write


def test_nothing_is_known_on_other_systems(system):
    assert memory.available_memory() is None


def test_without_limits_it_is_what_the_kernel_says(system):
    system("proc/meminfo", "MemTotal: 99 kB\nMemAvailable:      2000 kB\n")
    system("proc/self/cgroup", "0::/user/run\n")
    system("cgroup/user/run/memory.max", "max\n")
    assert memory.available_memory() == 2000 * 1024


def test_the_tightest_group_decides(system):
    system("proc/meminfo", "MemAvailable: 1000000 kB\n")
    system("proc/self/cgroup", "0::/user/run\n")
    system("cgroup/user/run/memory.max", "900\n")
    system("cgroup/user/run/memory.current", "100\n")
    system("cgroup/user/memory.max", "700\n")
    system("cgroup/user/memory.current", "600\n")
    system("cgroup/user/memory.stat", "anon 5\ninactive_file 50\n")
    assert memory.available_memory() == 150
    system("cgroup/memory/memory.limit_in_bytes", "120")
    system("cgroup/memory/memory.usage_in_bytes", "100")
    assert memory.available_memory() == 20


def test_a_limit_of_the_address_space_leaves_what_is_not_taken(system, monkeypatch):
    resource = pytest.importorskip("resource")
    system("proc/meminfo", "MemAvailable: 1000000 kB\n")
    system("proc/self/statm", "7 3 2 1 0 2 0\n")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10 * resource.getpagesize(),) * 2)
    assert memory.available_memory() == 3 * resource.getpagesize()
    memory.reserve_blas_buffers.cache_clear()
    with pytest.raises(MemoryError, match=r"n_jobs=3 threads need .* MB, but the limit of memory .* leaves 0 MB"):
        memory.reserve_blas_buffers(3)


# The buffers of one thread are there before this; those of two more must not be missing when memory has run out.
STARVED = """
import resource
from threading import Barrier, Thread
import numpy as np, scipy.linalg.blas
from graspel.runtime import memory
from graspel.runtime.parallel import one_thread_per_call
with one_thread_per_call():
    def limit(free):
        pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (pages + free, resource.RLIM_INFINITY))
    limit(2 << 30)
    if {reserve}: memory.reserve_blas_buffers(3)
    factor, together, results = np.ones((700, 700), order="F"), Barrier(3), [np.ones((700, 700)).T for _ in range(3)]
    limit(8 << 20)
    def multiply(result):
        together.wait(), np.dot(factor, factor, out=result.T)
        together.wait(), scipy.linalg.blas.dgemm(1.0, factor, factor, c=result, overwrite_c=True)
    threads = [Thread(target=multiply, args=[result]) for result in results]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print("done")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_reserved_buffers_are_there_when_memory_has_run_out():
    done = subprocess.run(
        [sys.executable, "-c", STARVED.format(reserve=True)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "done\n", done.stderr


def test_this_machine_has_some():
    found = memory.available_memory()
    assert found is None or found > 1e6


def test_memory_is_returned_where_that_is_possible_and_nothing_fails_elsewhere(monkeypatch):
    memory.return_free_memory()
    monkeypatch.setattr(memory.sys, "platform", "plan9")
    memory._find_trim.cache_clear()
    memory.return_free_memory()
    memory._find_trim.cache_clear()
