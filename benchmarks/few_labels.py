"""Classification from a few labels: GraspelClassifier beside its peers, with 1, 5 and 10 labels a class.

    GRASPEL_DATA=path/to/data python -m benchmarks.few_labels --output few_labels.json

Peers: LabelSpreading and LabelPropagation of scikit-learn on their kNN graph, the nearest labeled points themselves
(kNN, with as many neighbors as there are labels a class, at most 5), and the same on UMAP coordinates of all points,
which uses the unlabeled points too. The accuracy is that on the unlabeled points, over several draws of the labels.
Every number is written as soon as it is known, and a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from graspel import GraspelClassifier
from graspel.datasets import load

SETS = ("coil20", "pendigits", "usps", "mnist")
LABELS = (1, 5, 10)
NEIGHBORS = 7  # of LabelSpreading and LabelPropagation, scikit-learn's default


def draw_labels(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Labels of a few points of each class, -1 for all others."""
    rng = np.random.default_rng(seed)
    few = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.choice(np.flatnonzero(y == c), per_class, replace=False)
        few[chosen] = y[chosen]
    return few


def nearest_labeled(X: np.ndarray, few: np.ndarray, per_class: int) -> np.ndarray:
    known = few >= 0
    return KNeighborsClassifier(min(per_class, 5)).fit(X[known], few[known]).predict(X)


METHODS: dict[str, Callable[[Any, np.ndarray, int], np.ndarray]] = {
    "graspel": lambda data, few, k: GraspelClassifier(random_state=0).fit(data["X"], few).transduction_,
    "label spreading": lambda data, few, k: (
        LabelSpreading(kernel="knn", n_neighbors=NEIGHBORS).fit(data["X"], few).transduction_
    ),
    "label propagation": lambda data, few, k: (
        LabelPropagation(kernel="knn", n_neighbors=NEIGHBORS, max_iter=2000).fit(data["X"], few).transduction_
    ),
    "kNN": lambda data, few, k: nearest_labeled(data["X"], few, k),
    "UMAP + kNN": lambda data, few, k: nearest_labeled(coordinates(data), few, k),
}


def coordinates(data: dict[str, Any]) -> np.ndarray:
    """UMAP coordinates of all points, computed once for each data set."""
    if "umap" not in data:
        import umap

        data["umap"] = umap.UMAP(random_state=0).fit_transform(data["X"])
    return data["umap"]


def measure(path: Path, sets: list[str], draws: int, points: int) -> dict[str, float]:
    """Accuracies by "set, method, labels, draw"; those in the file are not measured again."""
    found: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    for name in sets:
        whole = load(name)
        X, y = np.asarray(whole.X, dtype=np.float32), np.unique(whole.y, return_inverse=True)[1]
        if len(X) > points:
            chosen = np.sort(np.random.default_rng(0).choice(len(X), points, replace=False))
            X, y = X[chosen], y[chosen]
        data: dict[str, Any] = {"X": X}
        for per_class in LABELS:
            for draw in range(draws):
                few = draw_labels(y, per_class, draw)
                for method, classify in METHODS.items():
                    key = f"{name}, {method}, {per_class}, {draw}"
                    if key in found:
                        continue
                    began = time.perf_counter()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        classes = classify(data, few, per_class)
                    found[key] = float((classes == y)[few < 0].mean())
                    print(f"{key}: {found[key]:.4f} in {time.perf_counter() - began:.1f} s", flush=True)
                    path.write_text(json.dumps(found, indent=1))
    return found


def show(found: dict[str, float]) -> None:
    """Print the table: mean accuracy by set and number of labels, and the mean of all."""
    cells = [key.split(", ") for key in found]
    columns = [(name, k) for name in SETS for k in LABELS if [name, str(k)] in [[c[0], c[2]] for c in cells]]
    print("method".ljust(18), *(f"{name} {k}".rjust(13) for name, k in columns), "mean".rjust(8))
    for method in METHODS:
        means = [
            np.mean([value for key, value in found.items() if key.startswith(f"{name}, {method}, {k}, ")])
            for name, k in columns
        ]
        print(method.ljust(18), *(f"{mean:13.3f}" for mean in means), f"{np.mean(means):8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("few_labels.json"), help="file of the results")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--draws", type=int, default=5, help="draws of the labels")
    parser.add_argument("--points", type=int, default=12_000, help="larger sets are sampled down to so many points")
    options = parser.parse_args()
    show(measure(options.output, options.sets, options.draws, options.points))


if __name__ == "__main__":
    main()
