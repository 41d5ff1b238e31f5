"""Under a limit of memory that is too low the command line says so, before the libraries hang or crash."""

from __future__ import annotations

import errno

import numpy as np
import pytest

from graspel.cli import memory_limit
from graspel.cli.errors import explain
from graspel.cli.memory_limit import check_memory_limit, needed_megabytes

resource = pytest.importorskip("resource")

LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_AS, ({0} << 20, {0} << 20))"


@pytest.mark.parametrize("megabytes", [100, *(pytest.param(size, marks=pytest.mark.long) for size in (200, 300)), 400])
def test_a_limit_below_what_the_libraries_need(graspel_process, data, tmp_path, megabytes):
    outcome = graspel_process("learn", data, "-o", tmp_path / "g.npz", before=LIMIT.format(megabytes))
    assert outcome.is_one_sentence(f"may use {megabytes} MB of memory (ulimit -v)", "raise the limit")
    assert not (tmp_path / "g.npz").exists()


def test_help_needs_no_memory(graspel_process):
    assert graspel_process("--help", before=LIMIT.format(200)).code == 0


def test_the_memory_that_is_asked_for_is_enough(graspel_process, data, tmp_path):
    before = LIMIT.format(needed_megabytes())
    assert graspel_process("learn", data, "-o", tmp_path / "g.npz", "-q", before=before).code == 0


@pytest.mark.parametrize("spare", [0, pytest.param(100, marks=pytest.mark.long)])
def test_too_little_for_the_data_is_one_sentence(graspel_process, tmp_path, spare):
    """A matrix that exceeds the memory that is left beside the libraries, whoever needs it: the plan, numpy or BLAS."""
    np.save(tmp_path / "wide.npy", np.zeros((40, 1_000_000), dtype=np.int8))
    before = LIMIT.format(needed_megabytes() + spare)
    outcome = graspel_process("learn", tmp_path / "wide.npy", "-o", tmp_path / "g.npz", before=before)
    assert outcome.is_one_sentence("there is not enough memory")
    assert not (tmp_path / "g.npz").exists()


def test_fewer_threads_need_less(monkeypatch):
    monkeypatch.setattr(memory_limit.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for variable in memory_limit.THREAD_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    with_eight = needed_megabytes()
    monkeypatch.setenv("OMP_NUM_THREADS", "rubbish")
    assert needed_megabytes() == with_eight
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with_two = needed_megabytes()
    assert with_two < with_eight
    limit = (with_two - 1) << 20
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    with pytest.raises(OSError, match="OPENBLAS_NUM_THREADS=1, with which") as caught:
        check_memory_limit()
    assert caught.value.errno == errno.ENOMEM


def test_no_limit_is_no_error(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    check_memory_limit()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 8.00 GiB"),
        RuntimeError("can't start new thread"),
        ImportError("libgomp.so.1: failed to map segment from shared object", name="_openmp_helpers"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_every_lack_of_memory_is_told_as_such(error):
    assert "there is not enough memory" in explain(error)
