"""The claims of the Discussion as experiments: noise, unbalanced classes and other disturbances.

The paper claims both and has no experiment. Here each data set is disturbed in several ways, and every way to cluster
is measured on the disturbed points with the classes of the points: ACC and NMI; the share of the graph's edges that the
undisturbed points have too; and, where the points are the same, how well resistances of random pairs agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.graph.edges import edge_keys
from graspel.linalg import effective_resistance
from graspel.runtime.types import Floats, Ints
from reproduction.clusterings import (
    SUITE_METHODS,
    FoundClusters,
    Problem,
    cluster_built,
    construct,
    learn_with,
    measure_clusters,
)
from reproduction.data import load_labeled
from reproduction.pages import join_page, measure_cells
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table, mean_and_spread

DATASETS = ("coil20", "pendigits", "usps", "mnist", "world/segment", "world/drybean")
QUICK_DATASETS = ("pendigits", "world/segment")
MAX_POINTS = 2000  # a sample of each set, so that every method can be measured for many seeds
SEEDS = 10
N_PAIRS = 1000  # random pairs whose resistances are compared


class Disturbed(NamedTuple):
    """Disturbed points: their coordinates, their classes, and which of the undisturbed points they are (-1: none)."""

    X: Floats
    y: Ints
    source: Ints


def add_noise(X: Floats, y: Ints, rng: np.random.Generator, *, share: float) -> Disturbed:
    """Gaussian noise of `share` standard deviations, over all columns."""
    return Disturbed(X + share * X.std() * rng.standard_normal(X.shape), y, np.arange(len(X)))


def thin_classes(X: Floats, y: Ints, rng: np.random.Generator, *, ratio: int) -> Disturbed:
    """Every second class keeps one point in `ratio`, two points at least."""
    kept = [
        rng.permutation(members)[: max(2, len(members) // ratio) if at % 2 else None]
        for at, members in enumerate(np.flatnonzero(y == label) for label in np.unique(y))
    ]
    rows = np.sort(np.concatenate(kept))
    return Disturbed(X[rows], y[rows], rows)


def add_outliers(X: Floats, y: Ints, rng: np.random.Generator, *, share: float) -> Disturbed:
    """`share` of new points, each of whose columns comes from another point; they are not scored (class -1)."""
    n = int(share * len(X))
    rows = rng.integers(len(X), size=(n, X.shape[1]))
    odd = X[rows, np.arange(X.shape[1])]
    return Disturbed(np.concatenate([X, odd]), np.append(y, np.full(n, -1)), np.append(np.arange(len(X)), [-1] * n))


def repeat_columns(X: Floats, y: Ints, rng: np.random.Generator, *, times: int) -> Disturbed:
    """A tenth of the columns stand `times` times."""
    chosen = rng.permutation(X.shape[1])[: max(1, X.shape[1] // 10)]
    return Disturbed(np.concatenate([X, *[X[:, chosen]] * (times - 1)], axis=1), y, np.arange(len(X)))


def drop_columns(X: Floats, y: Ints, rng: np.random.Generator, *, share: float) -> Disturbed:
    """`share` of the columns are missing."""
    kept = np.sort(rng.permutation(X.shape[1])[: X.shape[1] - int(share * X.shape[1])])
    return Disturbed(X[:, kept], y, np.arange(len(X)))


Disturb = Callable[[Floats, Ints, np.random.Generator], Disturbed]
DISTURBANCES: dict[str, Disturb] = {
    "none": partial(add_noise, share=0.0),
    "noise .25": partial(add_noise, share=0.25),
    "noise .5": partial(add_noise, share=0.5),
    "noise 1": partial(add_noise, share=1.0),
    "classes 1:10": partial(thin_classes, ratio=10),
    "classes 1:50": partial(thin_classes, ratio=50),
    "5 % outliers": partial(add_outliers, share=0.05),
    "columns repeated": partial(repeat_columns, times=10),
    "half of the columns": partial(drop_columns, share=0.5),
}
QUICK_DISTURBANCES = ("none", "noise .5", "classes 1:10")


class Way(NamedTuple):
    """A graph and an assignment stage, or (without a graph) a way of the suite."""

    label: str
    graph: str
    assignment: str = "ward"


WAYS: dict[str, Way] = {
    "knn+paper": Way("kNN10, Algorithm 2", "knn", "paper"),
    "knn": Way("kNN10, our assignment", "knn"),
    "cons-knn": Way("cons-kNN, our assignment", "cons-knn"),
    "2nn+paper": Way("2NN joined, Algorithm 2", "2nn", "paper"),
    "2nn": Way("2NN joined, our assignment", "2nn"),
    "optimal": Way("optimal weights, our assignment", "optimal"),
    "consensus": Way("consensus (default)", ""),
}
_OPTIMAL = learn_with(weights="optimal", tol=1e-2)


def run(request: Request, results: Results) -> str:
    """Measure what is missing, and return the page as Markdown."""
    only = QUICK_DATASETS if request.quick and request.only is None else request.only
    datasets = choose_names("only", only, DATASETS)
    ways = choose_names("methods", request.methods, WAYS)
    disturbances = list(QUICK_DISTURBANCES if request.quick else DISTURBANCES)
    seeds = range(request.seeds or (2 if request.quick else SEEDS))
    measure(results, datasets, disturbances, ways, seeds)
    sections = [_write_section(results, name, disturbances, ways, seeds) for name in datasets]
    means = _write_means(results, datasets, disturbances, ways, seeds)
    return join_page(results, "# Robustness", NOTES, means, *sections)


def measure(
    results: Results, datasets: Sequence[str], disturbances: Sequence[str], ways: Sequence[str], seeds: range
) -> None:
    """Measure the cells that are missing: one for each set, disturbance and seed, with all ways."""
    cells = {
        f"{name}/{kind}/{way}/{seed}": partial(measure_cell, name, kind, way, seed)
        for name in datasets
        for seed in seeds
        for kind in disturbances
        for way in ways
    }
    measure_cells(results, "robustness", cells)


def measure_cell(dataset: str, kind: str, way: str, seed: int) -> dict[str, Any]:
    """One way on one disturbed sample of a set; the sample depends on the seed."""
    rng = np.random.default_rng(seed)
    data = load_labeled(dataset)
    X = np.asarray(data.X, dtype=np.float64)
    rows = np.sort(rng.permutation(len(X))[:MAX_POINTS])
    X, y = X[rows], data.labelings[0][rows]
    found = DISTURBANCES[kind](X, y, rng)
    scored = found.y >= 0
    k = len(np.unique(found.y[scored]))
    graph = None if not WAYS[way].graph else _build(way, found.X, seed)

    def cluster() -> FoundClusters:
        if graph is None:
            labels = SUITE_METHODS["graspel"].run(found.X, k, data.metric, seed)
            return FoundClusters(np.asarray(labels)[scored])
        problem = Problem(dataset, found.X, np.arange(k), seed)
        return FoundClusters(np.asarray(cluster_built(graph, WAYS[way].assignment, problem).labels)[scored])

    scores = measure_clusters(cluster, found.y[scored])
    value = {"acc": scores["acc"], "nmi": scores["nmi"]}
    if graph is not None and kind != "none":
        value |= compare_graphs(_build(way, X, seed).graph, graph.graph, found.source, rng)
    return value


def _build(way: str, X: Floats, seed: int) -> Any:
    if way == "optimal":
        graph = _OPTIMAL(X, seed)
        return _Built(graph)
    return construct(WAYS[way].graph, Problem("", X, np.zeros(1, dtype=np.int64), seed))


class _Built(NamedTuple):
    graph: Graph
    seconds: float = 0.0
    n_components: int = 1


def compare_graphs(before: Graph, after: Graph, source: Ints, rng: np.random.Generator) -> dict[str, float]:
    """The share of the edges of `after` between known points that `before` has, and the correlation of resistances."""
    heads, tails = source[after.heads], source[after.tails]
    known = (heads >= 0) & (tails >= 0)
    keys = edge_keys(np.minimum(heads, tails)[known], np.maximum(heads, tails)[known], before.n_nodes)
    kept = float(np.isin(keys, edge_keys(before.heads, before.tails, before.n_nodes)).mean())
    mine = np.flatnonzero(source >= 0)
    pairs = rng.choice(mine, size=(N_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    ours, theirs = (effective_resistance(graph, at).values for graph, at in ((after, pairs), (before, source[pairs])))
    return {"kept": kept, "resistances": float(np.corrcoef(np.log(ours), np.log(theirs))[0, 1])}


def list_values(results: Results, dataset: str, kind: str, way: str, seeds: range, what: str) -> list[float]:
    """The values of one cell over the seeds; empty where the way has no graph."""
    cells = (results[f"{dataset}/{kind}/{way}/{seed}"] for seed in seeds)
    return [cell[what] for cell in cells if what in cell]


def _write_section(results: Results, dataset: str, kinds: Sequence[str], ways: Sequence[str], seeds: range) -> str:
    rows = []
    for way in ways:
        for kind in kinds:
            of = partial(list_values, results, dataset, kind, way, seeds)
            row = [mean_and_spread(of(what), 3) for what in ("acc", "nmi")]
            row += [f"{np.mean(of(what)):.2f}" if of(what) else "" for what in ("kept", "resistances")]
            rows.append([f"{WAYS[way].label}: {kind}", *row])
    header = ["", "ACC", "NMI", "edges kept", "resistances"]
    return f"## {dataset}\n\n{markdown_table(header, rows)}"


def _write_means(
    results: Results, datasets: Sequence[str], kinds: Sequence[str], ways: Sequence[str], seeds: range
) -> str:
    """NMI, the mean over the sets, and on how many sets it is above kNN10 by the same assignment."""
    rows = []
    for way in ways:
        cells = []
        for kind in kinds:
            of = {w: [np.mean(list_values(results, name, kind, w, seeds, "nmi")) for name in datasets] for w in ways}
            ahead = sum(mine > best for mine, best in zip(of[way], _best_knn(of), strict=True))
            cells.append(f"{np.mean(of[way]):.3f} ({ahead})")
        rows.append([WAYS[way].label, *cells])
    return f"## Mean NMI\n\n{markdown_table(['', *kinds], rows)}"


def _best_knn(of: Mapping[str, Sequence[Any]]) -> list[float]:
    """NMI of the better of the two ways with kNN10, on every set; -1 where neither was measured."""
    known = [of[way] for way in ("knn+paper", "knn") if way in of]
    return [max(values) for values in zip(*known, strict=True)] if known else [-1.0] * len(next(iter(of.values())))


NOTES = f"""\
Samples of at most {MAX_POINTS:,} points, another one for each seed; mean and standard deviation over the seeds. Noise
is in standard deviations of the whole table. *Classes 1:10*: every second class keeps a tenth of its points. *Outliers*
have each column from another point, and are not scored. *Edges kept*: the share of the graph's edges that the graph of
the undisturbed points has; *resistances*: correlation of log resistances with theirs over {N_PAIRS:,} random pairs. In
brackets: on how many sets NMI is above the better of the two ways with kNN10.\
"""
