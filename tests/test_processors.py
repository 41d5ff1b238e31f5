"""Clusters do not depend on the make of the processor.

OpenBLAS chooses its kernels by the processor, and they round differently. One machine can play several: the variable
OPENBLAS_CORETYPE names the kernels, NPY_DISABLE_CPU_FEATURES takes instructions away from numpy. Each is read when the
library is loaded, so another processor is another process.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from graspel import GraspelClustering, datasets

CLUSTERS = {"digits": 10, "coil20": 20, "pendigits": 10, "usps": 10}

PROCESSORS = {
    "Nehalem": "AVX2 FMA3 X86_V3",  # before AVX
    "Sandybridge": "AVX2 FMA3 X86_V3",  # before fused multiply-add
    "Haswell": "",
}

RUN = """
import sys
import numpy as np
from graspel import GraspelClustering, datasets
name, n_clusters, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
np.save(path, GraspelClustering(n_clusters, random_state=0).fit(datasets.load(name).X).labels_)
"""


def load_points(name):
    if name != "digits" and not os.path.exists(os.path.join(os.environ.get("GRASPEL_DATA", ""), f"{name}.npz")):
        pytest.skip(f"needs {name}.npz in the folder that GRASPEL_DATA names")
    return datasets.load(name).X


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these core types are of x86")
@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_are_the_same_on_other_processors(name, tmp_path):
    """The same label for every point, though the weights of the graph differ in their last digits."""
    labels = GraspelClustering(CLUSTERS[name], random_state=0).fit(load_points(name)).labels_
    for processor, without in PROCESSORS.items():
        path = tmp_path / f"{processor}.npy"
        environment = {**os.environ, "OPENBLAS_CORETYPE": processor, "NPY_DISABLE_CPU_FEATURES": without}
        command = [sys.executable, "-c", RUN, name, str(CLUSTERS[name]), str(path)]
        subprocess.run(command, env=environment, check=True, timeout=300)
        differing = int((np.load(path) != labels).sum())
        assert differing == 0, f"{processor}: {differing} of {len(labels)} points have another cluster"
