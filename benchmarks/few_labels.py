"""Classification from a few labels: GraspelClassifier beside its peers, with 1, 5 and 10 labels a class.

    GRASPEL_DATA=path/to/data python -m benchmarks.few_labels    # continues where an earlier run stopped

Peers: LabelSpreading and LabelPropagation of scikit-learn on their kNN graph, the nearest labeled points themselves
(kNN, with as many neighbors as there are labels a class, at most 5), and the same on UMAP coordinates of all points,
which uses the unlabeled points too; and logistic regression on the labeled points. Accuracy and expected calibration
error are those on the unlabeled points, over several draws of the labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from benchmarks.sections import Run, run_sections, titled_table
from graspel import GRASPEL, GraspelClassifier, GraspelField
from reproduction.data import PAPER_SETS, load_labeled

LABELS = (1, 5, 10)
COUNTS = ", ".join(map(str, LABELS))
OTHER_SETS = ("digits", *(f"world/{name}" for name in ("banking77", "tweet", "worm", "bladder", "drybean", "segment")))
BUDGETS = (20, 50, 100, 200, 400)
NEIGHBORS = 7  # of LabelSpreading and LabelPropagation, scikit-learn's default


def draw_labels(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Labels of a few points of each class, -1 for all others."""
    rng = np.random.default_rng(seed)
    few = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.choice(np.flatnonzero(y == c), per_class, replace=False)
        few[chosen] = y[chosen]
    return few


Shares = np.ndarray  # of the classes at every point


def fitted(model: Any, X: np.ndarray, few: np.ndarray) -> Shares:
    """The shares at all points that a classifier finds from the labeled ones alone."""
    known = few >= 0
    return np.asarray(model.fit(X[known], few[known]).predict_proba(X))


def nearest_labeled(X: np.ndarray, few: np.ndarray, per_class: int) -> Shares:
    return fitted(KNeighborsClassifier(min(per_class, 5)), X, few)


METHODS: dict[str, Callable[[Any, np.ndarray, int], Shares]] = {
    "graspel": lambda data, few, k: GraspelClassifier(random_state=0).fit(data["X"], few).label_distributions_,
    "label spreading": lambda data, few, k: (
        LabelSpreading(kernel="knn", n_neighbors=NEIGHBORS).fit(data["X"], few).label_distributions_
    ),
    "label propagation": lambda data, few, k: (
        LabelPropagation(kernel="knn", n_neighbors=NEIGHBORS, max_iter=2000).fit(data["X"], few).label_distributions_
    ),
    "kNN": lambda data, few, k: nearest_labeled(data["X"], few, k),
    "logistic regression": lambda data, few, k: fitted(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)), data["X"], few
    ),
    "UMAP + kNN": lambda data, few, k: nearest_labeled(coordinates(data), few, k),
}


def calibration_error(shares: Shares, y: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error: mean distance between the largest chance and how often its class is right."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    apart = [abs(sure[place == b].sum() - right[place == b].sum()) for b in range(n_bins)]
    return float(sum(apart) / len(y))


def coordinates(data: dict[str, Any]) -> np.ndarray:
    """UMAP coordinates of all points, computed once for each data set."""
    if "umap" not in data:
        import umap

        data["umap"] = umap.UMAP(random_state=0).fit_transform(data["X"])
    return data["umap"]


def points_of(name: str, points: int, per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """At most so many points of a set, and their classes; classes too small to draw labels from are left out."""
    whole = load_labeled(name)
    X, y = np.asarray(whole.X, dtype=np.float32), whole.labelings[0]
    chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:points])
    chosen = chosen[np.bincount(y[chosen])[y[chosen]] > per_class]
    return X[chosen], np.unique(y[chosen], return_inverse=True)[1]


def measure_set(name: str, points: int, draws: int) -> dict[str, list[tuple[float, float]]]:
    """Accuracy and calibration error of every draw, by "method, labels"."""
    X, y = points_of(name, points, max(LABELS))
    data: dict[str, Any] = {"X": X}
    found: dict[str, list[tuple[float, float]]] = {}
    for per_class in LABELS:
        for draw in range(draws):
            few = draw_labels(y, per_class, draw)
            for method, classify in METHODS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    shares = np.nan_to_num(classify(data, few, per_class))[few < 0]
                right = float((shares.argmax(axis=1) == y[few < 0]).mean())
                found.setdefault(f"{method}, {per_class}", []).append((right, calibration_error(shares, y[few < 0])))
    return found


def table_of(results: Run, title: str, at: int, names: tuple[str, ...]) -> str:
    """Means over the draws, by set and number of labels, and the mean of all; `at`: 0 accuracies, 1 their errors."""
    points, draws = results.options.points, results.options.draws
    found = {
        name: results.measure(f"{name}/{points}/{draws}/shares", lambda name=name: measure_set(name, points, draws))
        for name in names
    }
    rows = []
    for method in METHODS:
        means = {
            name: [float(np.mean([pair[at] for pair in of[f"{method}, {k}"]])) for k in LABELS]
            for name, of in found.items()
        }
        cells = [" ".join(f"{mean:.3f}".removeprefix("0") for mean in of_set) for of_set in means.values()]
        rows.append([method, *cells, f"{np.mean(list(means.values())):.3f}".removeprefix("0")])
    return titled_table(title, ["method", *names, "mean"], rows)


def accuracy(results: Run) -> str:
    """Mean accuracy on the paper's sets."""
    return table_of(results, f"Accuracy with {COUNTS} labels a class", 0, PAPER_SETS)


def others(results: Run) -> str:
    """Mean accuracy on other sets."""
    return table_of(results, f"Accuracy with {COUNTS} labels a class", 0, OTHER_SETS)


def calibration(results: Run) -> str:
    """How far chances are from how often they are right."""
    title = f"Expected calibration error with {COUNTS} labels a class"
    return table_of(results, title, 1, (*PAPER_SETS, *OTHER_SETS))


def measure_choice(points: int, seed: int) -> dict[str, list[float]]:
    """Accuracies on MNIST with more and more labels, at nodes that are chosen and at random ones."""
    X, y = points_of("mnist", points, 0)
    model = GraspelField(learner=GRASPEL(3, max_iter=0), random_state=seed).fit(X)
    orders = {
        "next_measurements": model.next_measurements(max(BUDGETS), noise=0.03).nodes,
        "random": np.random.default_rng(seed).permutation(len(X)),
    }
    found: dict[str, list[float]] = {}
    for way, order in orders.items():
        for budget in BUDGETS:
            few = np.full(len(y), -1)
            few[order[:budget]] = y[order[:budget]]
            classes = GraspelClassifier(normalize_mass=False, random_state=seed).fit(model.index_, few).transduction_
            found.setdefault(way, []).append(float((classes == y)[few < 0].mean()))
    return found


def choice(results: Run) -> str:
    """Which points to label."""
    points = results.options.points
    found = [
        results.measure(f"choice/{points}/{seed}", lambda seed=seed: measure_choice(points, seed)) for seed in (0, 1)
    ]
    rows = [[way, *(f"{np.mean(of):.3f}" for of in zip(*(one[way] for one in found), strict=True))] for way in found[0]]
    title = f"{points:,} points of MNIST: accuracy by the number of labels, chosen or at random"
    return titled_table(title, ["labels", *map(str, BUDGETS)], rows)


OPTIONS = (
    ("--draws", {"type": int, "default": 5, "help": "draws of the labels"}),
    ("--points", {"type": int, "default": 12_000, "help": "larger sets are sampled down to so many points"}),
)

if __name__ == "__main__":
    run_sections(
        "few_labels",
        __doc__,
        {"accuracy": accuracy, "others": others, "calibration": calibration, "choice": choice},
        more=OPTIONS,
    )
