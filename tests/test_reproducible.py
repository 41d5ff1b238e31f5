"""What must hold, 4: same random_state, same graph to the bit, with 1, 2 or 4 threads, in a new process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import graspel.neighbors.exact as exact
from graspel import GRASPEL

FINGERPRINTS = """
import hashlib, sys
import numpy as np
import graspel.neighbors.exact as exact_search
from graspel import GRASPEL

def points(n, m):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, m)) + 3 * rng.standard_normal((20, m))[rng.integers(20, size=n)]

def fingerprint(model):
    graph, digest = model.graph_, hashlib.sha256()
    for column in (graph.heads, graph.tails, graph.weights, graph.origin, graph.round, graph.eta, graph.gradient):
        digest.update(column.tobytes())
    for record in model.history_:
        digest.update(record.eigenvalues.tobytes())
    digest.update(repr(model.certificate_).encode())
    return digest.hexdigest()

def fingerprints(n_jobs):
    # Sizes are such that every loop over blocks has several blocks, which threads can take in any order.
    settings = {"random_state": 7, "edge_ratio": 0.005, "window": 0.5, "tol": 5.0, "max_iter": 3, "n_jobs": n_jobs}
    exact = points(600, 12)
    yield fingerprint(GRASPEL(**settings).fit(exact))
    yield fingerprint(GRASPEL(candidates="clusters", **settings).fit(exact))
    yield fingerprint(GRASPEL(initial="mst", **settings).fit(exact.astype(np.float32)))
    # From here on the search that is meant for very many points.
    exact_search.EXACT_WORK = 0.0
    yield fingerprint(GRASPEL(**settings).fit(points(1500, 140)))
"""


def in_a_new_process(n_jobs: int | None, threads: int, hash_seed: int) -> list[str]:
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(variables, str(threads)), "PYTHONHASHSEED": str(hash_seed)}
    code = FINGERPRINTS + f"print(*fingerprints({n_jobs}))"
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_same_seed_same_bits_at_any_number_of_threads_in_any_process(monkeypatch):
    monkeypatch.setattr(exact, "EXACT_WORK", exact.EXACT_WORK)  # what the code changes is restored
    names = {}
    exec(FINGERPRINTS, names)
    first = list(names["fingerprints"](1))
    assert len(set(first)) == 4
    assert in_a_new_process(n_jobs=4, threads=2, hash_seed=1) == first  # two threads: see below


@pytest.fixture(params=["exact", "landmarks"])
def search(request, monkeypatch):
    """Both ways to search for neighbors."""
    if request.param == "landmarks":
        monkeypatch.setattr(exact, "EXACT_WORK", 0.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("candidates", ["fiedler", "clusters"])
def test_fitting_again_gives_the_same_graph(search, candidates):
    X = np.random.default_rng(0).standard_normal((600, 6))
    settings = {"candidates": candidates, "random_state": 3, "max_iter": 3}
    one = GRASPEL(n_jobs=1, **settings).fit(X)
    graph, certificate = one.graph_, one.certificate_
    np.random.default_rng().random()
    np.random.seed(1)  # noqa: NPY002  the global state must not matter
    for n_jobs in (2, 4, None):
        other = GRASPEL(n_jobs=n_jobs, **settings).fit(X)
        assert other.graph_ == graph
        assert other.certificate_ == certificate
    assert one.fit(X).graph_ == graph


def test_the_global_state_of_numpy_is_left_alone():
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    GRASPEL().fit(np.random.default_rng(0).standard_normal((50, 3)))
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_on_small_data_the_seed_does_not_matter(rng):
    """Up to 300 points nothing is drawn at random but the sample of the certificate."""
    X = rng.standard_normal((200, 5))
    graphs = [GRASPEL(random_state=seed).fit(X).graph_ for seed in (0, 1, None, np.random.RandomState(4))]
    assert all(graph == graphs[0] for graph in graphs)


def test_a_random_state_moves_on_and_a_generator_is_welcome(rng):
    X = rng.standard_normal((400, 3))  # enough for a random start of the eigensolver
    state = np.random.default_rng(0)
    GRASPEL(random_state=state).fit(X)
    assert state.bit_generator.state != np.random.default_rng(0).bit_generator.state
