"""Clustering from points to labels: MNIST beside UMAP and k-means, a million points beside the learner's fit, and
"auto" on data without groups and on draws of MNIST.

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
from graspel.cluster.modes import NEIGHBORS, find_modes, search_tree
from reproduction.clusterings import SUITE_METHODS
from reproduction.data import load_labeled
from reproduction.timing import time_call

METHODS = ("graspel", "umap-kmeans")
WARM_POINTS = 15_000  # points of the first run: enough that each method takes the way it takes on large sets
LARGE = 1_000_000
CLUSTERS = 10
BINS = ("points", "confidence", "right")
CONFIDENCE_SETS = {
    "nine sets of the fit": (
        *("digits", "coil20", "pendigits", "usps"),
        *("banking77", "tweet", "worm", "bladder", "segment"),
    ),
    "eleven others": (
        *("iris", "wine", "breast_cancer"),
        *(f"fcps.{name}" for name in ("atom", "chainlink", "engytime", "hepta", "lsun", "target", "tetra", "wingnut")),
    ),
}
ONE_MODE = ("even", "Gaussian", "curved sheet", "blob with a tail")
ONE_MODE_POINTS, ONE_MODE_DRAWS = 300, 100
DRAWN = 4_000  # rows of MNIST in a draw


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


def draw_one_mode(kind: str, seed: int) -> np.ndarray:
    """Points of one mode, whose number of dimensions changes with the seed."""
    rng = np.random.default_rng(seed)
    n, d = ONE_MODE_POINTS, 2 + seed % 9
    if kind == "even":
        return rng.random((n, d))
    X = rng.standard_normal((n, d))
    if kind == "blob with a tail":
        X[:, 0] = rng.exponential(3.0, n)
    if kind == "curved sheet":
        t = 1.5 * np.pi * (1 + 2 * rng.random(n))
        return np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)]) + 0.05 * rng.standard_normal((n, 3))
    return X


def count_claims(kind: str) -> int:
    """On how many draws the test by which "auto" decides claims groups."""
    claims = 0
    for seed in range(ONE_MODE_DRAWS):
        lists = search_tree(draw_one_mode(kind, seed), max(NEIGHBORS))
        claims += find_modes(*lists, np.random.default_rng(seed)).finds_groups
    return claims


def none(results: Run) -> str:
    """Data of one mode, in 2 to 10 dimensions: how often groups are claimed."""
    claims = {kind: results.measure(f"none/{kind}", lambda kind=kind: count_claims(kind)) for kind in ONE_MODE}
    rows = [[kind, f"{number} of {ONE_MODE_DRAWS}"] for kind, number in claims.items()]
    return titled_table("No groups", [f"{ONE_MODE_POINTS} points, 2 to 10 dimensions", "groups claimed"], rows)


def measure_draw(seed: int) -> dict[str, float]:
    """The number of groups that "auto" finds in 4,000 rows of MNIST: the first ones, or a random choice."""
    from sklearn.metrics import adjusted_rand_score

    from graspel import GraspelClustering

    data = load_labeled("mnist")
    rows = np.random.default_rng(seed).choice(len(data.X), DRAWN, replace=False) if seed else np.arange(DRAWN)
    labels = GraspelClustering(random_state=0).fit(np.asarray(data.X[rows], dtype=np.float32)).labels_
    return {"clusters": int(labels.max()) + 1, "ari": float(adjusted_rand_score(data.labelings[0][rows], labels))}


def draws(results: Run) -> str:
    """Ten draws of MNIST, the first rows among them."""
    found = [results.measure(f"draws/{seed}", lambda seed=seed: measure_draw(seed)) for seed in range(10)]
    rows = [
        ["first rows" if not at else f"draw {at}", str(one["clusters"]), f"{one['ari']:.3f}"]
        for at, one in enumerate(found)
    ]
    return titled_table(f"Draws of {DRAWN:,} rows of MNIST", ["", "groups", "ARI"], rows)


def measure_confidence(name: str) -> dict[str, list[float]]:
    """Of every tenth of confidence: the points, the sum of their confidence, and how many lie in their class's cluster.

    Clusters and classes are matched one to one; sets count alike.
    """
    from scipy.optimize import linear_sum_assignment

    from graspel import GraspelClustering
    from graspel.cluster.consensus import contingency

    data = load_labeled(name)
    y, known = data.labelings[0] - 1, data.labelings[0] > 0
    k = int(y.max()) + 1
    model = GraspelClustering(k, metric=data.metric, random_state=0).fit(data.X)
    y, labels, confidence = y[known], model.labels_[known], model.confidence_[known]
    matched = linear_sum_assignment(-contingency(labels, y, k, k))[1]
    tenth = np.minimum((10 * confidence).astype(int), 9)
    parts = (np.ones(len(y)), confidence, (matched[labels] == y).astype(float))
    return {what: (np.bincount(tenth, part, 10) / len(y)).tolist() for what, part in zip(BINS, parts, strict=True)}


def confidence(results: Run) -> str:
    """Reliability: of the points of a confidence, how many are right, on sets of the fit and on others."""
    columns = {}
    for kind, names in CONFIDENCE_SETS.items():
        cells = [results.measure(f"confidence/{name}", lambda name=name: measure_confidence(name)) for name in names]
        columns[kind] = {what: np.sum([cell[what] for cell in cells], axis=0) / len(cells) for what in BINS}
    rows = []
    for at in range(10):
        cells = [_reliability(*(float(column[what][at]) for what in BINS)) for column in columns.values()]
        rows.append([f".{at} to {(at + 1) / 10:g}", *cells])
    return titled_table("Reliability: confidence, right, share of the points", ["confidence", *columns], rows)


def _reliability(share: float, confidence: float, right: float) -> str:
    return f"{confidence / share:.2f}, {right / share:.2f}, {share:.1%}" if share else "-"


if __name__ == "__main__":
    run_sections(
        "clustering", __doc__, {"mnist": mnist, "large": large, "none": none, "draws": draws, "confidence": confidence}
    )
