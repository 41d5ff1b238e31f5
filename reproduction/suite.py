"""The suite: many data sets with reference labels, ours beside what users run today.

Every cell is one method on one set with one seed. A cell that fails holds the reason. The page has the mean of every
method over the sets that all of them finished, the table of ARI per set, and a picture of our losses, worst first: the
ARI of the best other method minus ours.
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

OURS = "graspel"
SCORES = ("ari", "acc", "nmi")
SUITE_SEEDS = 1  # of every cell unless --seeds says otherwise: ours has no random start, and the sets are many
QUICK_SETS = 12  # small sets of a quick run
SLOW = ("umap-kmeans", "umap-hdbscan", "spectral")


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
    return join_page(results, "# The suite", _means_text(table, methods), picture, _sets_text(table, methods))


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
    return best


def _mean(measured: Mapping[str, Any], name: str, method: str, seeds: range) -> dict[str, float] | None:
    """The mean scores over the seeds; None where the method failed."""
    values = [measured[Cell(name, method, seed).key] for seed in seeds]
    if any("failed" in value for value in values):
        return None
    return {score: float(np.mean([value[score] for value in values])) for score in SCORES}


def _means_text(table: Mapping[str, Mapping[str, Any]], methods: list[str]) -> str:
    """The mean of each method over the sets that it finished, beside ours on the same sets."""
    rows = []
    for method in methods:
        done = [scores for scores in table.values() if scores[method] and scores.get(OURS, scores[method])]
        if not done:
            continue
        means = [f"{np.mean([scores[method][score] for scores in done]):.3f}" for score in SCORES]
        ours = f"{np.mean([scores[OURS]['ari'] for scores in done]):.3f}" if OURS in methods else ""
        rows.append([SUITE_METHODS[method].label, *means, str(len(done)), ours])
    return markdown_table(["method", "ARI", "ACC", "NMI", "sets", "our ARI on these"], rows)


def _sets_text(table: Mapping[str, Mapping[str, Any]], methods: list[str]) -> str:
    rows = []
    for name in sorted(table, key=lambda name: -_loss(table[name])):
        cells = [f"{scores['ari']:.3f}" if (scores := table[name][method]) else "-" for method in methods]
        rows.append([name, *cells])
    return "ARI of every set, our worst losses first:\n\n" + markdown_table(["set", *methods], rows)


def _loss(scores: Mapping[str, dict[str, float] | None]) -> float:
    """The ARI of the best other method minus ours; 0 where there is nothing to compare."""
    ours = scores.get(OURS)
    others = [value["ari"] for name, value in scores.items() if value and not name.startswith(OURS)]
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
