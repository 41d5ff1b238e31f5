"""Threads: results come in order and do not depend on the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from graspel.runtime import parallel
from graspel.runtime.parallel import count_threads, map_blocks, one_thread_per_call, row_blocks


def test_libraries_get_one_thread_inside_and_their_own_number_outside():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = [library["num_threads"] for library in threadpool_info()]
    with one_thread_per_call():
        assert {library["num_threads"] for library in threadpool_info()} == {1}
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_libraries_are_looked_for_again_after_an_import(monkeypatch):
    n_searches = []
    search = parallel.ThreadpoolController
    monkeypatch.setattr(parallel, "ThreadpoolController", lambda: n_searches.append(1) or search())
    parallel._find_libraries.cache_clear()
    for _ in range(2):
        with one_thread_per_call():
            pass
    assert len(n_searches) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_was_not_there", parallel)
    with one_thread_per_call():
        pass
    assert len(n_searches) == 2


def test_blas_has_its_threads_back_when_the_last_python_thread_is_done():
    """A block that ends gives BLAS no threads while another one runs, and none stays limited for good."""

    def blas_threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    np.ones((2, 2)) @ np.ones((2, 2))
    before, inside = blas_threads(), []
    entered, left = threading.Event(), threading.Event()

    def outlive() -> None:
        with one_thread_per_call():
            entered.set()
            left.wait(10)
            inside.append(blas_threads())

    thread = threading.Thread(target=outlive)
    with one_thread_per_call():
        thread.start()
        entered.wait(10)
    left.set()
    thread.join()
    assert inside == [{1}]
    assert blas_threads() == before


IN_THREADS = """
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from graspel import GRASPEL
X = np.random.default_rng(0).standard_normal((600, 8))
fit = lambda _=None: GRASPEL(random_state=0).fit(X).graph_
names = ("heads", "tails", "weights", "origin", "round", "eta", "gradient")
bits = lambda graph: [getattr(graph, name).tobytes() for name in names]
alone = bits(fit())
with ThreadPoolExecutor(4) as pool:
    print(sum(bits(graph) == alone for graph in pool.map(fit, range(12))))
"""


def test_fits_in_threads_are_those_of_a_fit_alone():
    """Web servers and joblib's threads do this: every bit is that of a fit alone, its provenance included."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    found = subprocess.run([sys.executable, "-c", IN_THREADS], capture_output=True, text=True, env=environment)
    assert found.stdout.strip() == "12", found.stderr


def test_counting_threads():
    cores = count_threads(None)
    assert cores >= 1
    assert count_threads(-1) == cores
    assert count_threads(-2) == max(1, cores - 1)
    assert count_threads(-1000) == 1
    assert count_threads(7) == 7
    assert type(count_threads(np.int64(2))) is int
    with pytest.raises(ValueError, match="n_jobs=0: must be a positive number of threads"):
        count_threads(0)


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_results_come_in_order(n_threads):
    def work(block: slice) -> int:
        time.sleep(0.002 * (7 - block.start))
        return block.start

    assert list(map_blocks(work, row_blocks(7, 1), n_threads)) == list(range(7))
    assert list(map_blocks(work, [], n_threads)) == []


def test_work_is_spread_over_threads():
    meet = threading.Barrier(2, timeout=10)  # two blocks wait for each other: one thread alone would never get past
    assert list(map_blocks(lambda block: meet.wait() >= 0, range(2), 2)) == [True, True]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_ends_the_work(n_threads):
    done = []

    def work(block: int) -> None:
        if block == 2:
            raise ZeroDivisionError
        time.sleep(0.001)
        done.append(block)

    with pytest.raises(ZeroDivisionError):
        list(map_blocks(work, range(1000), n_threads))
    assert len(done) < 100


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3), (5, 100)])
def test_blocks_cover_every_row_once(n, size):
    blocks = row_blocks(n, size)
    assert [i for block in blocks for i in range(n)[block]] == list(range(n))
    assert all(0 < block.stop - block.start <= size for block in blocks)
