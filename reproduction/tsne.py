"""The paper's figure of t-SNE pictures, measured again: ours beside openTSNE, scikit-learn, UMAP and PaCMAP.

A measurement is a dict with

    seconds, processor              from the points to the picture, learning the graph included; on the clock, and of
                                    all threads. A small fit before loads libraries and compiled code.
    points                          number of points in the picture
    preservation, preservation100   share of the 10 and 100 nearest neighbors that the picture keeps, on 2,000 points
    trustworthiness                 for 10 neighbors, on the same points
    accuracy                        share of the points whose 10 nearest points in the picture are mostly of their class
    triplets, centroids             the global order: of random triplets, and of the distances between class centers
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graspel import GRASPEL, GraspelTSNE
from graspel.io.atomic import write_atomically
from graspel.metrics import label_accuracy, neighbors_kept
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints
from reproduction.data import TITLES, load_data, load_labeled
from reproduction.global_order import centroid_correlation, triplet_accuracy
from reproduction.pages import join_page
from reproduction.request import Cell, Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table

__all__ = ["run"]

DATASETS = ("usps", "mnist")  # the paper's
MORE_SETS = ("digits", "mnist20k", "debian")  # run if named: 20,000 points of MNIST, and sentence embeddings
SET_TITLES = {**TITLES, "digits": "Digits", "mnist20k": "20,000 of MNIST", "debian": "Sentence embeddings"}
SMALL_SETS, SMALL_ONLY = ("usps", "digits"), ("sklearn",)  # methods that take too long on larger sets
FIGURE = "tsne.png"
PAPER = {"usps": "7X", "mnist": "12.8X"}  # printed factors over Barnes-Hut t-SNE, of the representatives
WARM_POINTS = 500  # of the first, small fit
SCORES = {
    "preservation": "preservation @10",
    "preservation100": "@100",
    "trustworthiness": "trustworthiness",
    "accuracy": "label accuracy",
    "triplets": "triplets",
    "centroids": "centers",
}

NOTES = """\
Seconds from the points to the picture, which includes learning the graph, on all cores; peers have their default
settings. Preservation and trustworthiness are measured on 2,000 points of the picture, each against all others in it.
Classes are used for scoring only, and no setting depends on the data set.

"graspel, representatives" is the paper's task: t-SNE of the representatives of a graph reduced 5 times, scored among
themselves. "graspel, all points" computes the coordinates of every point.\
"""


class Picture(NamedTuple):
    """Coordinates in the plane, and the numbers of the points that they belong to."""

    embedding: Floats
    points: Ints

    @classmethod
    def of_all(cls, embedding: Any) -> Picture:
        """A picture that has coordinates for every point."""
        coordinates = np.asarray(embedding, dtype=np.float64)
        return cls(coordinates, np.arange(len(coordinates)))


Draw = Callable[[Any], Picture]


class EmbeddingMethod(NamedTuple):
    """Name in tables, a function of seed and metric that prepares a `Draw`, package, whether a quick run omits it."""

    label: str
    prepare: Callable[[int, str], Draw]
    package: str = "graspel"
    is_slow: bool = False


def graspel(reduction: float) -> Callable[[int, str], Draw]:
    """Coordinates of every point, or with a reduction above 1 the paper's task: of the representatives only."""

    def prepare(seed: int, metric: str) -> Draw:
        def draw(X: Any) -> Picture:
            learner = GRASPEL(max_iter=0, metric=metric)
            model = GraspelTSNE(learner=learner, reduction=reduction, random_state=seed).fit(X)
            chosen = model.representatives_ if reduction > 1 else np.arange(len(X))
            return Picture(model.embedding_[chosen], chosen)

        return draw

    return prepare


def open_tsne(seed: int, metric: str) -> Draw:
    """Plain openTSNE, on all cores."""
    import openTSNE

    model = openTSNE.TSNE(n_jobs=-1, random_state=seed, metric=metric)
    return lambda X: Picture.of_all(model.fit(np.asarray(X, dtype=np.float32)))


def scikit_learn(seed: int, metric: str) -> Draw:
    """Plain Barnes-Hut t-SNE of scikit-learn, on all cores."""
    from sklearn.manifold import TSNE

    return lambda X: Picture.of_all(TSNE(n_jobs=-1, random_state=seed, metric=metric).fit_transform(X))


def umap(seed: int, metric: str) -> Draw:
    """UMAP; with a seed it uses one core in its last part."""
    from umap import UMAP

    return lambda X: Picture.of_all(UMAP(random_state=seed, metric=metric).fit_transform(X))


def pacmap(seed: int, metric: str) -> Draw:
    """PaCMAP."""
    from pacmap import PaCMAP

    model = PaCMAP(random_state=seed, distance="angular" if metric == "cosine" else metric)
    return lambda X: Picture.of_all(model.fit_transform(np.asarray(X, dtype=np.float32)))


METHODS: dict[str, EmbeddingMethod] = {
    "representatives": EmbeddingMethod("graspel, representatives", graspel(5)),
    "graspel": EmbeddingMethod("graspel, all points", graspel(1)),
    "opentsne": EmbeddingMethod("openTSNE", open_tsne, "openTSNE"),
    "sklearn": EmbeddingMethod("scikit-learn", scikit_learn, "sklearn", is_slow=True),
    "umap": EmbeddingMethod("UMAP", umap, "umap", is_slow=True),
    "pacmap": EmbeddingMethod("PaCMAP", pacmap, "pacmap", is_slow=True),
}


@lru_cache(maxsize=1)
def load_points(name: str) -> tuple[Any, Ints, str]:
    """Points, their classes and the metric of a data set."""
    if name == "debian":
        data = load_labeled(name)
        return data.X / np.linalg.norm(data.X, axis=1, keepdims=True), data.labelings[0], data.metric
    X, y = load_data(name.removesuffix("20k"))
    if name.endswith("20k"):
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:20_000])
        X, y = X[chosen], y[chosen]
    return X, y, "euclidean"


def run(request: Request, results: Results) -> str:
    """Measure the pictures that are missing, draw the figure, and return the page as Markdown."""
    known = (*DATASETS, *MORE_SETS)
    datasets = choose_names("only", request.only, known) if request.only is not None else list(DATASETS)
    methods = choose_names("methods", request.methods, METHODS)
    if request.quick and request.only is None:
        datasets = list(DATASETS[:1])
    if request.methods is None:
        methods = [name for name in methods if find_spec(METHODS[name].package) is not None]
        methods = [name for name in methods if not (request.quick and METHODS[name].is_slow)]
    seeds = range(request.seeds or 1)
    cells = [
        Cell(dataset, method, seed)
        for dataset in datasets
        for method in methods
        for seed in seeds
        if dataset in SMALL_SETS or method not in SMALL_ONLY
    ]
    if not cells:
        raise ValueError(
            f"{', '.join(methods)} is not run on {', '.join(datasets)}; ask for another method or data set."
        )
    measure_pictures(cells, results)
    draw_figure(cells, results)
    return write_page(results, cells)


def measure_pictures(cells: Sequence[Cell], results: Results) -> None:
    """Compute the pictures that are missing, and announce the progress."""
    for cell in cells:
        if not _coordinates_file(results, cell).exists():
            results.forget(cell.key)
    todo = [cell for cell in cells if cell.key not in results]
    for name in dict.fromkeys(cell.dataset for cell in todo):
        load_points(name)  # a missing file shows now and not after an hour
    for at, cell in enumerate(todo):
        number = len(cells) - len(todo) + at + 1
        detail = f"cell {number} of {len(cells)}: {METHODS[cell.method].label}, seed {cell.seed}"
        announce(f"drawing {SET_TITLES[cell.dataset]}", (number - 1) / len(cells), detail)
        path = _coordinates_file(results, cell)
        results.get(cell.key, lambda cell=cell, path=path: measure_picture(cell, path))  # type: ignore[misc]


def measure_picture(cell: Cell, path: Path) -> dict[str, Any]:
    """Compute a picture, keep its coordinates in a file, and measure it."""
    X, y, metric = load_points(cell.dataset)
    prepare = METHODS[cell.method].prepare
    if len(X) > 2 * WARM_POINTS:
        prepare(cell.seed, metric)(X[:: len(X) // WARM_POINTS])
    draw = prepare(cell.seed, metric)
    processor, clock = time.process_time(), time.perf_counter()
    places, points = draw(X)
    seconds, processor = time.perf_counter() - clock, time.process_time() - processor
    X, y = X[points], y[points]
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, places=places.astype(np.float32), classes=y)
    near, far = neighbors_kept(X, places), neighbors_kept(X, places, n_neighbors=min(100, (len(X) - 1) // 2))
    return {
        "seconds": seconds,
        "processor": processor,
        "points": len(points),
        "preservation": near.preservation,
        "preservation100": far.preservation,
        "trustworthiness": near.trustworthiness,
        "accuracy": label_accuracy(places, y),
        "triplets": triplet_accuracy(X, places),
        "centroids": centroid_correlation(X, places, y),
    }


def _coordinates_file(results: Results, cell: Cell) -> Path:
    return results.path.parent / "tsne" / f"{cell.dataset}-{cell.method}-{cell.seed}.npz"


def draw_figure(cells: Sequence[Cell], results: Results) -> None:
    """Draw the first seed's pictures side by side, a row for each data set."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from graspel.plot import embedding

    announce("drawing the figure")
    rows: dict[str, list[Cell]] = {}
    for cell in (cell for cell in cells if cell.seed == 0):
        rows.setdefault(cell.dataset, []).append(cell)
    n_columns = max(len(row) for row in rows.values())
    figure = Figure(figsize=(4.2 * n_columns, 4.6 * len(rows)), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    for axes, (dataset, row) in zip(figure.subplots(len(rows), n_columns, squeeze=False), rows.items(), strict=True):
        for ax in axes[len(row) :]:
            ax.set_axis_off()
        for ax, cell in zip(axes, row, strict=False):
            value = results[cell.key]
            with np.load(_coordinates_file(results, cell)) as kept:
                places, classes = kept["places"].astype(np.float64), kept["classes"]
            title = f"{SET_TITLES[dataset]}: {METHODS[cell.method].label}"
            subtitle = f"{len(places):,} points, {value['seconds']:.0f} s, label accuracy {value['accuracy']:.3f}"
            embedding(places, classes, ax, title=title, subtitle=subtitle, key=False)
            ax.title.set_fontsize(12)
    figure.tight_layout()
    with write_atomically(results.path.parent / FIGURE) as temporary:
        figure.savefig(temporary, format="png")


def write_page(results: Results, cells: Sequence[Cell]) -> str:
    """A table for each data set."""
    paragraphs = ["# Multilevel t-SNE"]
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        values: dict[str, list[dict[str, Any]]] = {}
        for cell in (cell for cell in cells if cell.dataset == dataset):
            values.setdefault(cell.method, []).append(results[cell.key])
        paragraphs += [f"## {SET_TITLES[dataset]}", _write_rows(values)]
        if dataset in PAPER:
            paragraphs.append(f"The paper prints {PAPER[dataset]} for its representatives, against Barnes-Hut t-SNE.")
    return join_page(results, *paragraphs, NOTES, f"![All pictures]({FIGURE})")


def _write_rows(values: Mapping[str, list[dict[str, Any]]]) -> str:
    rows = []
    for method, found in values.items():
        mean = {name: float(np.mean([value[name] for value in found])) for name in found[0]}
        peer = [] if method == "opentsne" else values.get("opentsne", [])
        times = f"{np.mean([value['seconds'] for value in peer]) / mean['seconds']:.1f}" if peer else ""
        cost = [f"{mean['seconds']:.1f}", f"{mean['processor']:.1f}", times]
        scores = [f"{mean[name]:.4f}" for name in SCORES]
        rows.append([METHODS[method].label, f"{int(mean['points']):,}", str(len(found)), *cost, *scores])
    header = ["", "points", "seeds", "seconds", "processor", "times faster than openTSNE", *SCORES.values()]
    return markdown_table(header, rows)
