"""The suite: many data sets with reference labels, ours beside what users run today.

Every cell is one method on one set with one seed. A cell that fails holds the reason. The page has the mean of every
method beside ours on the sets that it finished, every set, and a picture of our losses, worst first: the ARI of the
best other method minus ours. Methods that are given the number of clusters stand apart from those that find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from graspel.metrics import clustering_accuracy
from reproduction.clusterings import SUITE_METHODS, SuiteMethod, installed_methods
from reproduction.data import Labeled, list_sets, load_labeled
from reproduction.pages import join_page, measure_cells, save_picture
from reproduction.request import Cell, Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table
from reproduction.timing import time_call

OURS, AUTO = "graspel", "graspel-auto"
SCORES = ("ari", "acc", "nmi")
SUITE_SEEDS = 1  # of every cell unless --seeds says otherwise: ours has no random start, and the sets are many
QUICK_SETS = 12  # small sets of a quick run
SLOW = ("umap-kmeans", "umap-hdbscan", "umap-fast-hdbscan", "umap-plscan", "spectral")


def run(request: Request, results: Results) -> str:
    """Measure what is missing, and return the page as Markdown."""
    known = list_sets(large=True)
    sets = choose_names("only", request.only, known)
    if request.quick and request.only is None:
        sets = list_sets(large=False)[:QUICK_SETS]
    methods = choose_names("methods", request.methods, installed_methods())
    if request.quick and request.methods is None:
        methods = [name for name in methods if name not in SLOW]
    seeds = range(request.seeds or SUITE_SEEDS)
    cells = [Cell(name, method, seed) for name in sets for method in methods for seed in seeds]
    measured = measure_cells(results, "suite", {cell.key: partial(measure_cell, cell) for cell in cells})
    table = {name: {method: _mean(measured, name, method, seeds) for method in methods} for name in sets}
    picture = save_picture(results, "suite.png", draw_losses(table), "Our losses, worst first")
    given = [method for method in methods if not SUITE_METHODS[method].find_number]
    found = [method for method in methods if SUITE_METHODS[method].find_number]
    texts = [
        _kind_text(*kind) for kind in (("K given", table, given, OURS), ("K found", table, found, AUTO)) if kind[2]
    ]
    return join_page(results, "# The suite", *texts, picture)


def measure_cell(cell: Cell) -> dict[str, Any]:
    """The scores of a method on a set, or the reason why there are none."""
    method, data = SUITE_METHODS[cell.method], load_labeled(cell.dataset)
    if data.X.shape[0] > method.max_points:
        return {"failed": f"needs all distances of {data.X.shape[0]:,} points"}
    try:
        seconds, scores = time_call(lambda: _best_scores(method, data, cell.seed))
    except Exception as error:  # a peer may fail in any way: the table says so and goes on
        return {"failed": f"{type(error).__name__}: {error}"[:200]}
    return {**scores, "seconds": seconds}


def _best_scores(method: SuiteMethod, data: Labeled, seed: int) -> dict[str, float]:
    """The scores against the labeling with the highest ARI; each labeling gives its own number of clusters."""
    found: dict[int, NDArray[Any]] = {}
    best: dict[str, float] = {}
    for y in data.labelings:
        k, known = int(y.max()), y > 0
        if k not in found:
            found[k] = method.run(data.X, k, data.metric, seed)
        pair = y[known], found[k][known]
        nmi = normalized_mutual_info_score(*pair, average_method="geometric")
        scores = (adjusted_rand_score(*pair), clustering_accuracy(*pair), nmi)
        if not best or scores[0] > best["ari"]:
            best = dict(zip(SCORES, map(float, scores), strict=True))
            best |= {"clusters": len(np.unique(found[k][found[k] >= 0])), "k": k}
    return best


def _mean(measured: Mapping[str, Any], name: str, method: str, seeds: range) -> dict[str, float] | None:
    """The means over the seeds; None where the method failed."""
    values = [measured[Cell(name, method, seed).key] for seed in seeds]
    if any("failed" in value for value in values):
        return None
    return {what: float(np.mean([value[what] for value in values])) for what in values[0]}


def _kind_text(title: str, table: Mapping[str, Mapping[str, Any]], methods: list[str], ours: str) -> str:
    """The methods of one kind: the mean of each beside ours on the sets that it finished, and every set."""
    means = []
    for method in methods:
        done = [scores for scores in table.values() if scores[method] and scores.get(ours, scores[method])]
        if done:
            own = [_means_of(done, ours)] if ours in methods else []
            means.append([SUITE_METHODS[method].label, _means_of(done, method), *own, str(len(done))])
    order = sorted(table, key=lambda name: (name.count("."), name))  # the shapes last
    sets = [[name, *(_set_cell(table[name][method]) for method in methods)] for name in order]
    first = markdown_table(
        ["method", "ACC/NMI/ARI", *(["ours on these sets"] if ours in methods else []), "sets"], means
    )
    second = markdown_table(["ACC/NMI/ARI, clusters, seconds", *methods], sets)
    return (
        f"## {title}\n\nMeans of every method, beside ours on the same sets:\n\n{first}\n\n## {title}, sets\n\n{second}"
    )


def _means_of(done: list[Mapping[str, Any]], method: str) -> str:
    return "/".join(f"{np.mean([scores[method][score] for scores in done]):.3f}" for score in ("acc", "nmi", "ari"))


def _set_cell(value: Mapping[str, float] | None) -> str:
    if value is None:
        return "-"
    scores = "/".join(f"{value[score]:.3f}" for score in ("acc", "nmi", "ari"))
    return f"{scores}, {value['clusters']:.0f}, {value['seconds']:.1f} s"


def _loss(scores: Mapping[str, dict[str, float] | None]) -> float:
    """The ARI of the best other method minus ours; 0 where there is nothing to compare."""
    ours = scores.get(OURS)
    others = [
        value["ari"]
        for name, value in scores.items()
        if value and not name.startswith(OURS) and not (name in SUITE_METHODS and SUITE_METHODS[name].find_number)
    ]
    return max(others) - ours["ari"] if ours and others else 0.0


def draw_losses(table: Mapping[str, Mapping[str, Any]]) -> Any:
    """A bar for every set: how far the best other method is ahead of us in ARI (left of zero: how far we are ahead)."""
    from matplotlib.figure import Figure

    names = sorted(table, key=lambda name: _loss(table[name]))
    losses = [_loss(table[name]) for name in names]
    figure = Figure(figsize=(7, 1.2 + 0.18 * len(names)), layout="constrained")
    axes = figure.subplots()
    colors = ["#c0504d" if loss > 0.005 else "#5b8db8" for loss in losses]
    axes.barh(range(len(names)), losses, color=colors)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("ARI of the best other method minus ours")
    return figure
