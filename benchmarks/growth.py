"""Graphs that grow: ten batches beside one fit, and the seconds of a batch of one size as the graph gets larger.

    GRASPEL_DATA=path/to/data python -m benchmarks.growth

F is the objective of the certificate, ACC the accuracy of `cluster_graph` on the graph without critical edges. The last
columns are the seconds of one fit of all points, of the first and of the last batch of partial_fit, and of `transform`
of 10,000 points, or as many as there are.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from graspel import GRASPEL, cluster_graph
from graspel.datasets import load
from graspel.metrics import clustering_accuracy

BATCHES = 10


def grow(X: np.ndarray, **options: object) -> tuple[GRASPEL, list[float]]:
    model, seconds = GRASPEL(random_state=0, **options), []
    for part in np.array_split(np.arange(len(X)), BATCHES):
        began = time.perf_counter()
        model.partial_fit(X[part])
        seconds.append(time.perf_counter() - began)
    return model, seconds


def measure(name: str, limit: int) -> str:
    data = load(name)
    order = np.random.default_rng(0).permutation(len(data.y))[:limit]
    X, y = np.asarray(data.X, dtype=np.float32)[order], data.y[order]
    began = time.perf_counter()
    one = GRASPEL(random_state=0).fit(X)
    whole = time.perf_counter() - began
    ten, seconds = grow(X)
    scores = [
        clustering_accuracy(y, cluster_graph(model.graph_, len(np.unique(y)), random_state=0).labels)
        for model in (GRASPEL(max_iter=0, random_state=0).fit(X), grow(X, max_iter=0)[0])
    ]
    began = time.perf_counter()
    ten.transform(X[:10_000] + np.float32(0.01) * X.std())
    placing = time.perf_counter() - began
    F = [model.certificate_.objective for model in (one, ten)]
    return (
        f"{name:10}{len(X):8}{F[0]:14.1f}{F[1]:14.1f}{F[1] / F[0] - 1:9.2%}{scores[0]:8.3f}{scores[1]:8.3f}"
        f"{whole:9.1f}{seconds[1]:9.2f}{seconds[-1]:9.2f}{placing:9.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["coil20", "pendigits", "usps", "mnist"])
    parser.add_argument("--points", type=int, default=70_000)
    options = parser.parse_args()
    columns = ("set", "points", "F one", "F ten", "change", "ACC one", "ten", "fit s", "batch 2", "last", "transform")
    widths = (10, 8, 14, 14, 9, 8, 8, 9, 9, 9, 10)
    print("".join(f"{column:>{width}}" for column, width in zip(columns, widths, strict=True)))
    for name in options.sets:
        print(measure(name, options.points), flush=True)


if __name__ == "__main__":
    main()
