"""Files of ours with one damaged byte: refused by one sentence, or read as what was written; never a signal.

A graph file in words may hold another number after that, as anyone may write one.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from fuzzing.cases import Case, find_fault
from fuzzing.damaged import ESTIMATORS, make_model, run_model
from fuzzing.files import run_graph_file
from graspel import GRASPEL

PLACES = 300  # of each file, in the long run
SAMPLE = 12  # of them that are always tried
GRAPHS = (".npz", ".csv", ".parquet", ".graphml", ".mtx")


@lru_cache
def graph_file(suffix: str, folder: Path) -> bytes:
    path = folder / f"graph{suffix}"
    graph = GRASPEL(random_state=0).fit(np.random.default_rng(0).standard_normal((40, 3))).graph_
    graph.save(path) if suffix == ".npz" else graph.export(path)
    return path.read_bytes()


def find_faults(good: bytes, run, settings: dict[str, str], seed: int, n_places: int) -> list[str]:
    """What is wrong with reading a file with another byte at each of some places."""
    rng, faults = np.random.default_rng(seed), []
    for place in rng.integers(len(good), size=n_places).tolist():
        data = bytearray(good)
        data[place] ^= int(rng.integers(1, 256))
        fault = find_fault(Case("file", bytes(data), settings, run, lambda *_: "", isolated=True))
        faults += [] if fault is None else [f"byte {place} is {data[place]}: {fault}"]
    return faults


NUMBERS = [pytest.param(SAMPLE, id="sample"), pytest.param(PLACES, id="all", marks=pytest.mark.long)]


@pytest.mark.parametrize("n_places", NUMBERS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_models(name, n_places):
    assert find_faults(make_model(name)[0], run_model, {"estimator": name}, 0, n_places) == []


@pytest.mark.parametrize("n_places", NUMBERS)
@pytest.mark.parametrize("suffix", GRAPHS)
def test_graphs(suffix, n_places, tmp_path_factory):
    good = graph_file(suffix, tmp_path_factory.getbasetemp())
    assert find_faults(good, run_graph_file, {"suffix": suffix}, 1, n_places) == []
