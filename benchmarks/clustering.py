"""Clustering from points to labels: MNIST beside UMAP and k-means, and a million points beside the learner's fit.

    GRASPEL_DATA=path/to/data python -m benchmarks.clustering           # everything; continues where a run stopped
    python -m benchmarks.clustering --only large                        # one section
    python -m benchmarks.clustering --fresh                             # forget what earlier runs measured

Every method runs once on a small set first, so that compiling is not counted. Numbers are for a quiet machine. Writes
benchmarks/results/clustering.json.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.scaling import manifold
from benchmarks.sections import Run, run_sections, titled_table
from reproduction.clusterings import SUITE_METHODS
from reproduction.data import load_labeled
from reproduction.timing import time_call

METHODS = ("graspel", "umap-kmeans")
WARM_POINTS = 15_000  # points of the first run: enough that each method takes the way it takes on large sets
LARGE = 1_000_000
CLUSTERS = 10


def measure_method(name: str) -> dict[str, float]:
    """Seconds and scores of a method on MNIST."""
    from sklearn.metrics import normalized_mutual_info_score

    from graspel.metrics import clustering_accuracy

    data = load_labeled("mnist")
    X, y = np.asarray(data.X, dtype=np.float32), data.labelings[0]
    run = SUITE_METHODS[name].run
    run(X[:WARM_POINTS], CLUSTERS, data.metric, 0)
    seconds, labels = time_call(lambda: run(X, CLUSTERS, data.metric, 0))
    scores = clustering_accuracy(y, labels), normalized_mutual_info_score(y, labels, average_method="geometric")
    return {"seconds": seconds, "acc": float(scores[0]), "nmi": float(scores[1])}


def mnist(results: Run) -> str:
    """MNIST end to end, ours beside UMAP (10 dimensions) and k-means."""
    cells = {name: results.measure(f"mnist/{name}", lambda name=name: measure_method(name)) for name in METHODS}
    ours = cells["graspel"]["seconds"]
    rows = [
        [
            SUITE_METHODS[name].label,
            f"{c['seconds']:.1f}",
            f"{c['seconds'] / ours:.1f}",
            f"{c['acc']:.3f}/{c['nmi']:.3f}",
        ]
        for name, c in cells.items()
    ]
    return titled_table("MNIST, points to labels", ["", "seconds", "times ours", "ACC/NMI"], rows)


def measure_large(what: str) -> float:
    """Seconds of the learner's fit, or of the clustering, of a million points."""
    from graspel import GRASPEL, GraspelClustering

    models: dict[str, Any] = {
        "fit": lambda: GRASPEL(random_state=0),
        "cluster": lambda: GraspelClustering(CLUSTERS, random_state=0),
    }
    X = manifold(LARGE)
    models[what]().fit(X[:WARM_POINTS])
    return time_call(lambda: models[what]().fit(X))[0]


def large(results: Run) -> str:
    """A million points of 32 features: the clustering, its graphs and its search included, beside the learner's fit."""
    seconds = {
        what: results.measure(f"large/{what}", lambda what=what: measure_large(what)) for what in ("fit", "cluster")
    }
    rows = [[what, f"{value:.1f}", f"{value / seconds['fit']:.2f}"] for what, value in seconds.items()]
    return titled_table(f"{LARGE:,} points x 32", ["", "seconds", "times fit"], rows)


if __name__ == "__main__":
    run_sections("clustering", __doc__, {"mnist": mnist, "large": large})
