"""Graphs that grow: ten batches beside one fit, and the seconds of a batch of one size as the graph gets larger.

    GRASPEL_DATA=path/to/data python -m benchmarks.growth    # continues where an earlier run stopped

F is the objective of the certificate, ACC the accuracy of `cluster_graph` on the graph without critical edges. The last
columns are the seconds of one fit of all points, of the first and of the last batch of partial_fit, and of `transform`
of 10,000 points, or as many as there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.sections import Run, run_sections, titled_table
from graspel import GRASPEL, cluster_graph
from graspel.metrics import clustering_accuracy
from reproduction.data import PAPER_SETS, load_data
from reproduction.timing import time_call

BATCHES = 10


def grow(X: np.ndarray, **options: object) -> tuple[GRASPEL, list[float]]:
    """A graph that grew in batches, and the seconds of each."""
    model = GRASPEL(random_state=0, **options)
    batches = np.array_split(np.arange(len(X)), BATCHES)
    return model, [time_call(lambda rows=rows: model.partial_fit(X[rows])).seconds for rows in batches]


def measure_set(name: str, limit: int) -> dict[str, Any]:
    """Objective, accuracy and seconds of one fit and of ten batches."""
    data = load_data(name)
    order = np.random.default_rng(0).permutation(len(data.y))[:limit]
    X, y = np.asarray(data.X, dtype=np.float32)[order], data.y[order]
    whole, one = time_call(lambda: GRASPEL(random_state=0).fit(X))
    ten, seconds = grow(X)
    graphs = [model.graph_ for model in (GRASPEL(max_iter=0, random_state=0).fit(X), grow(X, max_iter=0)[0])]
    labels = [cluster_graph(graph, len(np.unique(y)), random_state=0).labels for graph in graphs]
    placing = time_call(lambda: ten.transform(X[:10_000] + np.float32(0.01) * X.std())).seconds
    return {
        "points": len(X),
        "F": [model.certificate_.objective for model in (one, ten)],
        "acc": [clustering_accuracy(y, found) for found in labels],
        "seconds": [whole, seconds[1], seconds[-1], placing],
    }


def sets(results: Run) -> str:
    """All data sets."""
    rows, limit = [], results.options.points
    for name in PAPER_SETS:
        run = results.measure(f"{name}/{limit}", lambda name=name: measure_set(name, limit))
        F, acc = run["F"], [f"{value:.3f}" for value in run["acc"]]
        scores = [*(f"{value:.1f}" for value in F), f"{F[1] / F[0] - 1:.2%}", *acc]
        rows.append([name, f"{run['points']:,}", *scores, *(f"{value:.2f}" for value in run["seconds"])])
    scores = ("F, one fit", "F, ten", "change", "ACC, one", "ACC, ten")
    header = ["set", "points", *scores, "fit", "batch 2", "last batch", "transform"]
    return titled_table("Graphs that grow", header, rows)


OPTIONS = (("--points", {"type": int, "default": 70_000, "help": "larger sets are sampled down to so many points"}),)

if __name__ == "__main__":
    run_sections("growth", __doc__, {"sets": sets}, more=OPTIONS)
