"""Available memory: that of the machine, or what the control group leaves."""

from __future__ import annotations

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


def test_this_machine_has_some():
    found = memory.available_memory()
    assert found is None or found > 1e6


def test_memory_is_returned_where_that_is_possible_and_nothing_fails_elsewhere(monkeypatch):
    memory.return_free_memory()
    monkeypatch.setattr(memory.sys, "platform", "plan9")
    memory._find_trim.cache_clear()
    memory.return_free_memory()
    memory._find_trim.cache_clear()
