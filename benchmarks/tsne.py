"""Pictures in the plane beside those of other libraries: seconds, local grain and global order.

    python -m benchmarks.tsne                          # everything; continues where an earlier run stopped
    python -m benchmarks.tsne --sets usps,digits       # digits, usps, mnist20k, mnist, debian, growth
    python -m benchmarks.tsne --methods graspel,opentsne --seeds 1
    python -m benchmarks.tsne --file mine.npz          # points of your own: arrays X, y and perhaps metric
    python -m benchmarks.tsne --fresh                  # forget what earlier runs measured

Every cell runs in a process of its own, in which a small fit first loads libraries and compiled code; the seconds are
those from the points to the picture, on all cores. Peers have their default settings (the default start of openTSNE is
by principal components). Preservation and trustworthiness are measured on 2,000 points, each against all others; the
distances are those that the methods are given. "times" is openTSNE's mean seconds over those of the row. The
coordinates of every picture are kept beside the results, and drawn side by side into tsne-SET.png.

Needs openTSNE and umap-learn, and takes pacmap if it is there (pip install -e ".[bench]").
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scaling import manifold, peak_memory
from benchmarks.sections import FOLDER, Results, measure, titled_table
from benchmarks.world_data import debian
from graspel.cli.progress_bar import progress_bar
from graspel.datasets import load
from reproduction.fig_tsne import draw_side_by_side
from reproduction.processes import ProcessFailed, run_python
from reproduction.request import choose_names
from reproduction.results import current_commit, describe_machine

SEEDS = 3
PARTS = ("preservation", "preservation100", "trustworthiness", "accuracy", "triplets", "centroids")
NAMES = ("preservation @10", "@100", "trustworthiness", "label accuracy", "triplets", "centroids")
GROWTH = (100_000, 500_000, 1_000_000)  # points of the growth

Data = tuple[np.ndarray, np.ndarray, str]


def load_digits() -> Data:
    """1,797 digits of scikit-learn."""
    from sklearn.datasets import load_digits

    return *load_digits(return_X_y=True), "euclidean"


def load_set(name: str, n: int | None = None) -> Data:
    """A data set of the paper, or n of its points."""
    data = load(name)
    chosen = np.arange(len(data.y)) if n is None else np.sort(np.random.default_rng(0).permutation(len(data.y))[:n])
    return np.asarray(data.X)[chosen], np.asarray(data.y)[chosen], "euclidean"


def load_debian() -> Data:
    """Sentence embeddings of the descriptions of packages; the classes are the sections of the archive."""
    data = debian()
    rows = data["X"].astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), np.unique(data["y"], return_inverse=True)[1], "cosine"


SETS: dict[str, Callable[[], Data]] = {
    "digits": load_digits,
    "usps": lambda: load_set("usps"),
    "mnist20k": lambda: load_set("mnist", 20_000),
    "mnist": lambda: load_set("mnist"),
    "debian": load_debian,
}


def load_file(path: str) -> Data:
    """Points of one's own: the arrays X and y of an .npz file, with distances by its "metric" (default: euclidean)."""
    with np.load(path, allow_pickle=False) as kept:
        missing = [name for name in ("X", "y") if name not in kept]
        if missing:
            raise ValueError(f"{path} has no array {missing[0]!r}; it needs X (points as rows) and y (their classes).")
        metric = str(kept["metric"]) if "metric" in kept else "euclidean"
        return np.asarray(kept["X"], dtype=np.float32), np.unique(kept["y"], return_inverse=True)[1], metric


def use_file(path: str) -> str:
    """Add the points of a file to the sets, by the name of the file."""
    SETS[Path(path).stem] = lambda: load_file(path)
    return Path(path).stem


Draw = Callable[[np.ndarray], tuple[Any, Any]]  # from points to coordinates, and the numbers of the points they are of


def graspel_method(reduction: float) -> Callable[[int, str], Draw]:
    """GraspelTSNE: of all points, or the paper's task."""

    def prepare(seed: int, metric: str) -> Draw:
        from graspel import GRASPEL, GraspelTSNE

        def draw(X: np.ndarray) -> tuple[Any, Any]:
            learner = GRASPEL(max_iter=0, metric=metric)
            model = GraspelTSNE(learner=learner, reduction=reduction, random_state=seed).fit(X)
            if reduction > 1:
                return model.embedding_[model.representatives_], model.representatives_
            return model.embedding_, np.arange(len(X))

        return draw

    return prepare


def open_tsne(seed: int, metric: str) -> Draw:
    """openTSNE on all cores."""
    import openTSNE

    model = openTSNE.TSNE(n_jobs=-1, random_state=seed, metric=metric)
    return lambda X: (np.asarray(model.fit(np.asarray(X, dtype=np.float32))), np.arange(len(X)))


def scikit_learn(seed: int, metric: str) -> Draw:
    """Barnes-Hut t-SNE of scikit-learn on all cores."""
    from sklearn.manifold import TSNE

    model = TSNE(n_jobs=-1, random_state=seed, metric=metric)
    return lambda X: (model.fit_transform(X), np.arange(len(X)))


def umap(seed: int, metric: str) -> Draw:
    """UMAP; with a seed it uses one core in its last part."""
    from umap import UMAP

    model = UMAP(random_state=seed, metric=metric)
    return lambda X: (model.fit_transform(X), np.arange(len(X)))


def pacmap(seed: int, metric: str) -> Draw:
    """PaCMAP."""
    from pacmap import PaCMAP

    model = PaCMAP(random_state=seed, distance="angular" if metric == "cosine" else metric)
    return lambda X: (model.fit_transform(np.asarray(X, dtype=np.float32)), np.arange(len(X)))


# Label, how it is prepared, the package it needs, and the largest number of points.
METHODS: dict[str, tuple[str, Callable[[int, str], Draw], str, float]] = {
    "representatives": ("graspel, representatives", graspel_method(5), "graspel", np.inf),
    "graspel": ("graspel, all points", graspel_method(1), "graspel", np.inf),
    "opentsne": ("openTSNE", open_tsne, "openTSNE", np.inf),
    "sklearn": ("scikit-learn", scikit_learn, "sklearn", 12_000),
    "umap": ("UMAP", umap, "umap", np.inf),
    "pacmap": ("PaCMAP", pacmap, "pacmap", np.inf),
}


def measure_cell(dataset: str, method: str, seed: int) -> dict[str, Any]:
    """Seconds and scores of one picture; its coordinates are kept in a file."""
    from graspel.metrics import centroid_correlation, label_accuracy, neighbors_kept, triplet_accuracy

    X, y, metric = SETS[dataset]()
    prepare = METHODS[method][1]
    prepare(seed, metric)(X[:: max(1, len(X) // 500)])  # loads libraries and compiled code
    draw = prepare(seed, metric)
    before, began = time.process_time(), time.perf_counter()
    places, points = draw(X)
    seconds, processor = time.perf_counter() - began, time.process_time() - before
    path = FOLDER / "tsne" / f"{dataset}-{method}-{seed}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, places=np.asarray(places, dtype=np.float32), classes=y[points])
    X, y = np.asarray(X[points]), y[points]
    near, far = neighbors_kept(X, places), neighbors_kept(X, places, n_neighbors=min(100, (len(X) - 1) // 2))
    return {
        "seconds": seconds,
        "processor": processor,
        "points": len(points),
        "trustworthiness": near.trustworthiness,
        "preservation": near.preservation,
        "preservation100": far.preservation,
        "accuracy": label_accuracy(places, y),
        "triplets": triplet_accuracy(X, places),
        "centroids": centroid_correlation(X, places, y),
    }


def measure_growth(n: int) -> dict[str, Any]:
    """Seconds, iterations and memory of the fit of n points on sheets in 32 dimensions."""
    from graspel import GraspelTSNE
    from graspel.metrics import neighbors_kept

    X = manifold(n)
    before, began, used = peak_memory(), time.perf_counter(), time.process_time()
    model = GraspelTSNE(random_state=0).fit(X)
    seconds, memory = time.perf_counter() - began, peak_memory() - before
    processor = time.process_time() - used
    kept = neighbors_kept(X, model.embedding_, sample=500)
    foretold = GraspelTSNE().plan(X).memory
    return {
        "seconds": seconds,
        "processor": processor,
        "memory": memory,
        "foretold": foretold,
        "iterations": model.n_iter_,
        **kept._asdict(),
    }


def compare(results: Results, dataset: str, methods: list[str], seeds: int, more: Sequence[str] = ()) -> str:
    """The table of one data set, and its pictures side by side; `more` options go to the process of each cell."""
    found: dict[str, list[dict[str, Any]]] = {}
    n_points = len(SETS[dataset]()[1])
    for method in methods:
        label, _, package, largest = METHODS[method]
        if find_spec(package) is None or n_points > largest:
            continue
        for seed in range(seeds):
            run = ("-W", "ignore", "-m", "benchmarks.tsne", "--measure", f"{dataset},{method},{seed}", *more)
            try:
                value = measure(results, f"{dataset}/{method}/{seed}", lambda run=run: run_python(*run))
            except ProcessFailed as error:
                print(f"{dataset}, {label}: {error}", flush=True)
                break
            found.setdefault(method, []).append(value)
    rows = []
    for method, values in found.items():
        mean = {name: float(np.mean([value[name] for value in values])) for name in values[0]}
        peer = found.get("opentsne")
        times = f"{np.mean([value['seconds'] for value in peer]) / mean['seconds']:.1f}" if peer else ""
        scores = [f"{mean[name]:.4f}" for name in PARTS]
        cost = [f"{mean['seconds']:.1f} s", f"{mean['processor']:.1f} s", "" if method == "opentsne" else times]
        rows.append([METHODS[method][0], f"{int(mean['points']):,}", str(len(values)), *cost, *scores])
    _draw(results, dataset, found)
    header = ["", "points", "seeds", "clock", "processor", "times", *NAMES]
    return titled_table(f"{dataset}, {n_points:,} points", header, rows)


def growth(results: Results) -> str:
    """Seconds and memory against the number of points."""
    rows = []
    for n in GROWTH:
        run = measure(
            results, f"growth/{n}", lambda n=n: run_python("-W", "ignore", "-m", "benchmarks.tsne", "--grow", str(n))
        )
        rows.append(
            [f"{n:,} x 32", f"{run['seconds']:.0f} s", f"{run['processor']:.0f} s", f"{run['memory'] / 1e9:.2f} GB",
             f"{run['foretold'] / 1e9:.2f} GB", str(run["iterations"]),
             f"{run['trustworthiness']:.4f}", f"{run['preservation']:.3f}"]
        )  # fmt: skip
    return titled_table(
        "Growth", ["points", "clock", "processor", "memory", "foretold", "iterations", "trustworthiness", "@10"], rows
    )


def _draw(results: Results, dataset: str, found: dict[str, list[dict[str, Any]]]) -> None:
    panels = []
    for method, values in found.items():
        with np.load(FOLDER / "tsne" / f"{dataset}-{method}-0.npz") as kept:
            panels.append((METHODS[method][0], values[0], kept["places"].astype(np.float64), kept["classes"]))
    draw_side_by_side({dataset: panels}, FOLDER / f"tsne-{dataset}.png")


def main() -> None:
    """Run the sets and methods asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help=f"with commas: {', '.join(SETS)}, growth (default: all)", metavar="NAMES")
    parser.add_argument("--methods", help=f"with commas: {', '.join(METHODS)} (default: all)", metavar="NAMES")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds of every method (default: 3)")
    parser.add_argument("--file", help="points of your own: .npz with X, y and perhaps metric; only these run")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs measured")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--grow", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    own = use_file(options.file) if options.file else None
    if options.measure:
        dataset, method, seed = options.measure.split(",")
        print(json.dumps(measure_cell(dataset, method, int(seed))))
        return
    if options.grow:
        print(json.dumps(measure_growth(options.grow)))
        return
    try:
        sets = [own] if own else choose_names("--sets", options.sets and options.sets.split(","), [*SETS, "growth"])
        methods = choose_names("--methods", options.methods and options.methods.split(","), METHODS)
    except ValueError as error:
        parser.error(str(error))
    results = Results(FOLDER, "tsne", fresh=options.fresh)
    print(f"graspel {current_commit()}, {describe_machine()}", flush=True)
    more = ("--file", str(Path(options.file).resolve())) if own else ()
    for name in sets:
        with progress_bar():
            text = growth(results) if name == "growth" else compare(results, name, methods, options.seeds, more)
        print(f"\n{text}", flush=True)


if __name__ == "__main__":
    main()
