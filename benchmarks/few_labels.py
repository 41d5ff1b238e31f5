"""Classification from a few labels: GraspelClassifier beside its peers, with 1, 5 and 10 labels a class.

    GRASPEL_DATA=path/to/data python -m benchmarks.few_labels    # continues where an earlier run stopped

Peers: LabelSpreading and LabelPropagation of scikit-learn on their kNN graph, the nearest labeled points themselves
(kNN, with as many neighbors as there are labels a class, at most 5), and the same on UMAP coordinates of all points,
which uses the unlabeled points too. The accuracy is that on the unlabeled points, over several draws of the labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from benchmarks.sections import Run, run_sections, titled_table
from graspel import GraspelClassifier
from reproduction.data import PAPER_SETS, load_data

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


def measure_set(name: str, points: int, draws: int) -> dict[str, list[float]]:
    """Accuracies of every draw, by "method, labels"."""
    whole = load_data(name)
    X, y = np.asarray(whole.X, dtype=np.float32), np.unique(whole.y, return_inverse=True)[1]
    if len(X) > points:
        chosen = np.sort(np.random.default_rng(0).choice(len(X), points, replace=False))
        X, y = X[chosen], y[chosen]
    data: dict[str, Any] = {"X": X}
    found: dict[str, list[float]] = {}
    for per_class in LABELS:
        for draw in range(draws):
            few = draw_labels(y, per_class, draw)
            for method, classify in METHODS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    classes = classify(data, few, per_class)
                found.setdefault(f"{method}, {per_class}", []).append(float((classes == y)[few < 0].mean()))
    return found


def accuracy(results: Run) -> str:
    """Mean accuracy by set and number of labels, and the mean of all."""
    points, draws = results.options.points, results.options.draws
    found = {
        name: results.measure(f"{name}/{points}/{draws}", lambda name=name: measure_set(name, points, draws))
        for name in PAPER_SETS
    }
    rows = []
    for method in METHODS:
        means = {name: [float(np.mean(found[name][f"{method}, {k}"])) for k in LABELS] for name in found}
        cells = [" ".join(f"{mean:.3f}" for mean in of_set) for of_set in means.values()]
        rows.append([method, *cells, f"{np.mean(list(means.values())):.3f}"])
    counts = ", ".join(map(str, LABELS))
    return titled_table(f"Accuracy with {counts} labels a class", ["method", *PAPER_SETS, "mean"], rows)


OPTIONS = (
    ("--draws", {"type": int, "default": 5, "help": "draws of the labels"}),
    ("--points", {"type": int, "default": 12_000, "help": "larger sets are sampled down to so many points"}),
)

if __name__ == "__main__":
    run_sections("few_labels", __doc__, {"accuracy": accuracy}, more=OPTIONS)
