"""The findings of `graspel.audit` beside cleanlab's Datalab, scikit-learn's and pyod's detectors, on planted faults.

    GRASPEL_DATA=path/to/data python -m benchmarks.audit      # continues where an earlier run stopped
    python -m benchmarks.audit --only sets --points 500  # each set in a row; fewer points

Faults are planted one kind at a time in twelve sets, of which the equal rows were removed: six of data/world, the four
of the paper, and two tables (wine and breast cancer, standardized). In 5 % of the points for labels, else 2 %:

- labels: another class, at random
- copies: 2 % equal to another point, and 2 % nearly so, moved by a twentieth of the median distance to a neighbor
- leakage: the same, from a training part of 70 % into the rest
- outliers: every column from another row (shuffled); the middle of two points of different classes (between); a point
  moved away from the mean to three times its distance (far)

A ranking is judged by its average precision, which needs no threshold; what a tool flags by default by precision,
recall and F1, their harmonic mean. Means of all sets and of two draws. Needs pip install -e ".[test-ecosystem]".
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_fscore_support

from benchmarks.sections import Run, run_sections, titled_table
from graspel import GRASPEL, NeighborIndex
from graspel.findings import find_doubtful_labels, find_leaks, find_near_copies, find_outliers, near_points
from graspel.findings.copies import find_copies
from reproduction.data import load_labeled

WORLD = ("banking77", "tweet", "worm", "bladder", "drybean", "segment")
SETS = (*(f"world/{name}" for name in WORLD), "coil20", "pendigits", "usps", "mnist", "wine", "breast_cancer")
EMBEDDINGS = ("world/banking77", "world/tweet")  # only their directions mean something
FLIPPED, PLANTED = 0.05, 0.02  # shares of the points
TRAINING = 0.7  # share of the points
NEARLY = 0.05  # of the median distance to a neighbor, by which near copies are moved
DRAWS = 2

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Case(NamedTuple):
    """Points with planted faults."""

    X: Floats
    y: NDArray[np.int64]
    is_test: Bools
    truth: Bools
    metric: str


class Found(NamedTuple):
    """How suspicious each point is, and which are flagged."""

    score: Floats
    flagged: Bools


Tool = Callable[[Case], Found]


# --- the faults


@cache
def load_clean(name: str, points: int) -> tuple[Floats, NDArray[np.int64]]:
    """A set without equal rows and without constant columns, sampled down."""
    whole = load_labeled(name)
    X, first = np.unique(np.asarray(whole.X, dtype=np.float64), axis=0, return_index=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:points]
    X = X[chosen]
    y = np.unique(whole.labelings[0][first][chosen], return_inverse=True)[1]
    return X[:, X.std(axis=0) > 0], y


def plant(fault: str, name: str, points: int, draw: int) -> Case:
    """A set with faults of one kind."""
    X, y = (values.copy() for values in load_clean(name, points))
    rng = np.random.default_rng(draw)
    n, count = len(X), max(4, round(PLANTED * len(X)))
    truth, is_test = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    metric = "cosine" if name in EMBEDDINGS else "euclidean"
    if fault == "labels":
        wrong = rng.choice(n, round(FLIPPED * n), replace=False)
        y[wrong] = (y[wrong] + rng.integers(1, y.max() + 1, len(wrong))) % (y.max() + 1)
        truth[wrong] = True
    elif fault in ("copies", "leakage"):
        order = rng.permutation(n)
        of, originals = order[: 2 * count], order[-2 * count :]
        is_test[order[: round((1 - TRAINING) * n)]] = True
        moved = rng.standard_normal((count, X.shape[1]))
        length = NEARLY * float(np.median(nearest_distances(X)))
        moved *= length / np.linalg.norm(moved, axis=1, keepdims=True)
        X[of] = X[originals]
        X[of[count:]] += moved
        truth[of] = True
        truth[originals] |= fault == "copies"
    else:
        at = rng.choice(n, count, replace=False)
        X[at], truth[at] = OUTLIERS[fault](X, y, at, rng), True
    return Case(X, y, is_test, truth, metric)


def nearest_distances(X: Floats) -> Floats:
    """The distance of every point to its nearest neighbor."""
    from sklearn.neighbors import NearestNeighbors

    nearest: Floats = NearestNeighbors(n_neighbors=1).fit(X).kneighbors()[0][:, 0]
    return nearest


def _shuffled(X: Floats, y: Any, at: Any, rng: np.random.Generator) -> Floats:
    return X[rng.integers(len(X), size=(len(at), X.shape[1])), np.arange(X.shape[1])]


def _between(X: Floats, y: Any, at: Any, rng: np.random.Generator) -> Floats:
    one = rng.integers(len(X), size=len(at))
    other = np.array([rng.choice(np.flatnonzero(y != y[i])) for i in one])
    return (X[one] + X[other]) / 2


def _far(X: Floats, y: Any, at: Any, rng: np.random.Generator) -> Floats:
    middle = X.mean(axis=0)
    return middle + 3 * (X[at] - middle)


OUTLIERS: dict[str, Callable[..., Floats]] = {"shuffled": _shuffled, "between": _between, "far": _far}


# --- the tools


def audit_labels(case: Case) -> Found:
    index = NeighborIndex(case.X, metric=case.metric, random_state=0)
    graph = GRASPEL(metric=case.metric, random_state=0).fit(index).graph_
    return _scatter(
        find_doubtful_labels(near_points(index), graph, case.y, index.points), len(case.y), "score", "confident"
    )


def _scatter(table: Any, n: int, score: str, flag: str) -> Found:
    found = Found(np.full(n, -np.inf), np.zeros(n, dtype=bool))
    found.score[table["point"]], found.flagged[table["point"]] = table[score], table[flag]
    return found


def _near(case: Case) -> Any:
    return near_points(NeighborIndex(case.X, metric=case.metric, random_state=0))


def audit_copies(case: Case) -> Found:
    near = _near(case)
    equal, nearly = find_copies(near.original), find_near_copies(near)
    score = np.full(len(case.X), -np.inf)
    for name in ("copy_of", "point"):
        np.maximum.at(score, nearly[name], -nearly["ratio"])
        score[equal[name]] = 0.0
    return Found(np.maximum(score, -1e9), np.isfinite(score))


def audit_leaks(case: Case) -> Found:
    leaks = find_leaks(_near(case), np.where(case.is_test, "test", "train"))
    score = np.full(len(case.X), -1e9)
    score[leaks["point"]] = -leaks["ratio"]
    return Found(score, score > -1e9)


def audit_outliers(case: Case) -> Found:
    index = NeighborIndex(case.X, metric=case.metric, random_state=0)
    return _scatter(find_outliers(near_points(index), index.points), len(case.X), "surprise", "striking")


def _datalab(case: Case, issue: str, **given: Any) -> Any:
    from cleanlab import Datalab

    lab = Datalab({"y": case.y}, label_name="y", verbosity=0)
    lab.find_issues(features=case.X, issue_types={issue: given.pop("settings", {})}, **given)
    return lab.get_issues(issue)


def datalab_labels(case: Case) -> Found:
    found = _datalab(case, "label")
    return Found(-found.label_score.to_numpy(), found.is_label_issue.to_numpy())


def datalab_labels_by_model(case: Case) -> Found:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    few = np.bincount(case.y)[case.y] < 5  # of no class in every fold: their points cannot be judged
    score, flagged = np.full(len(case.y), -1.0), np.zeros(len(case.y), dtype=bool)
    kept = np.flatnonzero(~few)
    X, y = case.X[kept], np.unique(case.y[kept], return_inverse=True)[1]
    model = make_pipeline(StandardScaler(), PCA(min(50, *X.shape)), LogisticRegression(max_iter=200))
    shares = cross_val_predict(model, X, y, cv=5, method="predict_proba")
    from cleanlab import Datalab

    lab = Datalab({"y": y}, label_name="y", verbosity=0)
    lab.find_issues(pred_probs=shares, issue_types={"label": {}})
    found = lab.get_issues("label")
    score[kept], flagged[kept] = -found.label_score.to_numpy(), found.is_label_issue.to_numpy()
    return Found(score, flagged)


def datalab_copies(case: Case) -> Found:
    found = _datalab(case, "near_duplicate")
    return Found(-found.near_duplicate_score.to_numpy(), found.is_near_duplicate_issue.to_numpy())


def datalab_leaks(case: Case) -> Found:
    """Points of the test part in a set of near duplicates that holds a point of the training part."""
    found = _datalab(case, "near_duplicate")
    sets = found.near_duplicate_sets.tolist()
    leaks = np.array(
        [t and bool(len(s)) and not case.is_test[s].all() for t, s in zip(case.is_test, sets, strict=True)]
    )
    return Found(np.where(leaks, -found.near_duplicate_score.to_numpy(), -1e9), leaks)


def datalab_outliers(case: Case) -> Found:
    found = _datalab(case, "outlier")
    return Found(-found.outlier_score.to_numpy(), found.is_outlier_issue.to_numpy())


def scikit_learn(name: str) -> Tool:
    def tool(case: Case) -> Found:
        from sklearn.ensemble import IsolationForest
        from sklearn.neighbors import LocalOutlierFactor

        model: Any = LocalOutlierFactor() if name == "LOF" else IsolationForest(random_state=0)
        flagged = model.fit_predict(case.X) < 0
        score = -model.negative_outlier_factor_ if name == "LOF" else -model.score_samples(case.X)
        return Found(score if name != "LOF" else -model.negative_outlier_factor_, flagged)

    return tool


def pyod(name: str) -> Tool:
    def tool(case: Case) -> Found:
        from pyod.models.ecod import ECOD
        from pyod.models.knn import KNN

        model = {"ECOD": ECOD, "KNN": KNN}[name]().fit(case.X)
        return Found(model.decision_scores_, model.labels_ == 1)

    return tool


OURS = "graspel.audit"
TOOLS: dict[str, Mapping[str, Tool]] = {
    "labels": {
        OURS: audit_labels,
        "Datalab": datalab_labels,
        "Datalab, PCA and logistic regression": datalab_labels_by_model,
    },
    "copies": {OURS: audit_copies, "Datalab": datalab_copies},
    "leakage": {OURS: audit_leaks, "Datalab": datalab_leaks},
    **{
        kind: {
            OURS: audit_outliers,
            "Datalab": datalab_outliers,
            "LOF": scikit_learn("LOF"),
            "IsolationForest": scikit_learn("IsolationForest"),
            "pyod KNN": pyod("KNN"),
            "pyod ECOD": pyod("ECOD"),
        }
        for kind in OUTLIERS
    },
}


# --- the tables


def judge(fault: str, tool: str, name: str, points: int) -> list[float]:
    """Average precision of the ranking, and precision, recall and F1 of what is flagged: means of the draws."""
    scores = []
    for draw in range(DRAWS):
        case = plant(fault, name, points, draw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = TOOLS[fault][tool](case)
        flags = precision_recall_fscore_support(case.truth, found.flagged, average="binary", zero_division=0.0)[:3]
        score = np.nan_to_num(found.score, nan=-1e9, posinf=1e300, neginf=-1e300)
        scores.append([average_precision_score(case.truth, score), *map(float, flags)])
    return np.mean(scores, axis=0).tolist()  # type: ignore[no-any-return]


class Scores(NamedTuple):
    """What each tool reaches on each set, for one fault."""

    sets: tuple[str, ...]
    of: dict[str, NDArray[np.float64]]  # sets x (average precision, precision, recall, F1)

    @property
    def others(self) -> list[str]:
        return [tool for tool in self.of if tool != OURS]


def measure(results: Run, fault: str) -> Scores:
    points = results.options.points
    sets = tuple(results.options.sets.split(",")) if results.options.sets else SETS

    def score(tool: str, name: str) -> list[float]:
        key = f"{fault}/{tool}/{name}/{points}"
        found: list[float] = results.measure(key, lambda: judge(fault, tool, name, points))
        return found

    return Scores(sets, {tool: np.array([score(tool, name) for name in sets]) for tool in TOOLS[fault]})


def compare(results: Run) -> str:
    """One row for each fault and tool: means over the sets."""
    rows = []
    for fault in TOOLS:
        for tool, scores in measure(results, fault).of.items():
            rows.append([fault, tool, *(f"{mean:.3f}" for mean in scores.mean(axis=0))])
    header = ["fault", "tool", "average precision", "precision", "recall", "F1"]
    return titled_table("Planted faults: means of all sets", header, rows)


def list_sets(results: Run) -> str:
    """One row for each set: average precision and F1 of ours, and of the best of the others."""
    found = {fault: measure(results, fault) for fault in TOOLS}
    rows = []
    for at, name in enumerate(next(iter(found.values())).sets):
        cells = []
        for scores in found.values():
            for column in (0, 3):
                best = max(scores.of[tool][at, column] for tool in scores.others)
                cells.append(f"{scores.of[OURS][at, column]:.2f} ({best:.2f})")
        rows.append([name.rpartition("/")[2], *cells])
    header = ["set", *(f"{fault} {what}" for fault in TOOLS for what in ("AP", "F1"))]
    return titled_table("Each set: ours, and in brackets the best of the other tools", header, rows)


OPTIONS = (
    ("--points", {"type": int, "default": 1000, "help": "larger sets are sampled down to so many points"}),
    ("--sets", {"help": "some of the sets, with commas"}),
)

if __name__ == "__main__":
    run_sections("audit", __doc__, {"faults": compare, "sets": list_sets}, more=OPTIONS)
