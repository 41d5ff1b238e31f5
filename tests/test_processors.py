"""Clusters, signals and embeddings do not depend on the make of the processor; another one is another process here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graspel import GraspelClustering
from processors import CAN_PLAY, variables_of
from reproduction import datasets

CLUSTERS = {"digits": 10, "coil20": 20, "pendigits": 10, "usps": 10}

PROCESSORS = ("Nehalem", "Sandybridge")  # before AVX; with AVX, before fused multiply-add
ONLY_ON = {"pendigits": "Nehalem", "usps": "Sandybridge"}  # the large data sets: each on one of them, to save time

RUN = """
import sys
import numpy as np
from graspel import GraspelClustering
from reproduction import datasets
path, *clusters = sys.argv[1:]
pairs = [pair.split("=") for pair in clusters]
labels = {name: GraspelClustering(int(k), random_state=0).fit(datasets.load(name).X).labels_ for name, k in pairs}
np.savez(path, **labels)
"""


@pytest.fixture(scope="module")
def at_hand():
    """The data sets that are there, with their numbers of clusters: all where GRASPEL_DATA names their folder."""
    folder = Path(os.environ.get("GRASPEL_DATA", "no folder"))
    return {name: k for name, k in CLUSTERS.items() if name == "digits" or (folder / f"{name}.npz").exists()}


@pytest.fixture(scope="module")
def labels_here(at_hand):
    return {
        name: GraspelClustering(k, random_state=0).fit(datasets.load(name).X).labels_ for name, k in at_hand.items()
    }


@pytest.mark.skipif(not CAN_PLAY, reason="these core types are of x86")
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.long
def test_clusters_are_the_same_on_other_processors(processor, at_hand, labels_here, tmp_path):
    """The same label for every point, though the weights of the graph differ in their last digits."""
    path = tmp_path / "labels.npz"
    chosen = {name: k for name, k in at_hand.items() if ONLY_ON.get(name, processor) == processor}
    command = [sys.executable, "-c", RUN, str(path), *(f"{name}={k}" for name, k in chosen.items())]
    subprocess.run(command, env={**os.environ, **variables_of(processor)}, check=True, timeout=600)
    with np.load(path) as labels_there:
        differing = {name: int((labels_there[name] != labels_here[name]).sum()) for name in chosen}
    assert not any(differing.values()), f"{processor}: points with another cluster in each data set: {differing}"


SYMMETRIC = """
import sys
import numpy as np
from graspel import datasets
from graspel.graph import grid_graph
from graspel.linalg import smallest_eigenpairs
from graspel.data.principal import principal_coordinates
grid = grid_graph(7, 7)
places = np.array([(row, column) for row in range(7) for column in range(7)], dtype=float)
np.savez(
    sys.argv[1],
    signals=datasets.smooth_signals(grid, 20, random_state=0),
    many_signals=datasets.smooth_signals(grid_graph(45, 45), 3, random_state=0),
    eigenvectors=smallest_eigenpairs(grid.laplacian, 12).vectors,
    eigenvectors_by_iteration=smallest_eigenpairs(grid_graph(25, 25).laplacian, 9, tol=1e-8).vectors,
    principal_coordinates=principal_coordinates(np.hstack([places, places**2]), 2),
)
"""


@pytest.mark.skipif(not CAN_PLAY, reason="these core types are of x86")
def test_equal_eigenvalues_give_the_same_results_on_other_processors(tmp_path):
    """A square grid has equal eigenvalues, whose eigenvectors another processor would turn."""
    found = {}
    for processor in ("", *PROCESSORS):
        variables = variables_of(processor) if processor else {}
        path = tmp_path / f"of-{processor}.npz"
        command = [sys.executable, "-c", SYMMETRIC, str(path)]
        subprocess.run(command, env={**os.environ, **variables}, check=True, timeout=600)
        with np.load(path) as arrays:
            found[processor] = dict(arrays)
    for processor in PROCESSORS:
        for name, here in found[""].items():
            assert found[processor][name] == pytest.approx(here, abs=1e-9), f"{name} on {processor}"
