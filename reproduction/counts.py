"""How many clusters: the number that ``n_clusters="auto"`` finds on sets with a known answer, beside other ways.

A set may have several reference labelings with different numbers of clusters; each of them is right. Every second set
of shapes.npz, and the sets of `LOOKED_AT`, were looked at when the rule was chosen. The others only confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graspel.estimators.learner import GRASPEL
from reproduction.data import Labeled, list_sets, load_labeled
from reproduction.pages import join_page, measure_cells
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table

LOOKED_AT = ("digits", "pendigits", "iris", "wine", "breast_cancer")
QUICK_SETS = 8
MOST = 25  # largest number of clusters that the silhouette tries
SAMPLED = 2_000  # points by which the silhouette is measured


class CountRule(NamedTuple):
    """A way to find the number of clusters: its name in the table, and the call (data, seed) -> number."""

    label: str
    count: Callable[[Labeled, int], int]


def by_graspel(data: Labeled, seed: int) -> int:
    """Ours, as it is by default."""
    from graspel import GraspelClustering

    return GraspelClustering(metric=data.metric, random_state=seed).fit(data.X).n_clusters_


def by_eigengap(data: Labeled, seed: int) -> int:
    """The largest eigengap of the 2NN graph."""
    from graspel.cluster import find_eigengap

    graph = GRASPEL(metric=data.metric, max_iter=0, random_state=seed).fit(data.X).graph_
    return find_eigengap(graph, random_state=seed).n_clusters


def by_silhouette(data: Labeled, seed: int) -> int:
    """The number for which k-means has the largest silhouette."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    numbers = range(2, min(MOST, data.X.shape[0] // 4) + 1)
    sample = min(SAMPLED, data.X.shape[0])
    scores = [
        silhouette_score(
            data.X, KMeans(k, n_init=3, random_state=seed).fit_predict(data.X), sample_size=sample, random_state=seed
        )
        for k in numbers
    ]
    return int(numbers[int(np.argmax(scores))])


def by_hdbscan(data: Labeled, seed: int) -> int:
    """The number of clusters that HDBSCAN finds; noise is none of them."""
    from sklearn.cluster import HDBSCAN

    return int(HDBSCAN(copy=True).fit_predict(data.X).max()) + 1


COUNT_RULES: dict[str, CountRule] = {
    "graspel": CountRule('graspel, "auto"', by_graspel),
    "eigengap": CountRule("eigengap of the 2NN graph", by_eigengap),
    "silhouette": CountRule("silhouette of k-means", by_silhouette),
    "hdbscan": CountRule("HDBSCAN", by_hdbscan),
}


def run(request: Request, results: Results) -> str:
    """Measure what is missing, and return the page as Markdown."""
    sets = choose_names("only", request.only, list_sets(large=False))
    if request.quick and request.only is None:
        sets = sets[:QUICK_SETS]
    rules = choose_names("methods", request.methods, COUNT_RULES)
    cells = {f"{name}/{rule}": partial(measure_count, name, rule) for name in sets for rule in rules}
    measured = measure_cells(results, "counts", cells)
    found = {name: {rule: int(measured[f"{name}/{rule}"]) for rule in rules} for name in sets}
    true = {name: count_references(load_labeled(name)) for name in sets}
    return join_page(results, "# How many clusters", write_means(found, true, rules), write_sets(found, true, rules))


def measure_count(name: str, rule: str) -> int:
    """The number that a rule finds on a set."""
    return COUNT_RULES[rule].count(load_labeled(name), 0)


def count_references(data: Labeled) -> list[int]:
    """The numbers of clusters of the reference labelings."""
    return sorted({int(y.max()) for y in data.labelings})


def was_looked_at(name: str) -> bool:
    """Whether a set was looked at when the rule was chosen."""
    shapes = [other for other in list_sets(large=False) if "." in other]
    return name in LOOKED_AT or name in shapes[::2]


def miss(number: int, true: Sequence[int]) -> int:
    """How far a number is from the nearest right one.

    Examples
    --------
    >>> miss(6, [3, 5])
    1
    """
    return min(abs(number - one) for one in true)


def write_means(found: Mapping[str, Any], true: Mapping[str, list[int]], rules: Sequence[str]) -> str:
    """Hits and mean distance of every rule, on the sets looked at and on the others."""
    halves = {
        "looked at": [name for name in found if was_looked_at(name)],
        "confirm": [name for name in found if not was_looked_at(name)],
        "all": list(found),
    }
    halves = {title: names for title, names in halves.items() if names}
    rows = []
    for rule in rules:
        cells = []
        for names in halves.values():
            misses = [miss(found[name][rule], true[name]) for name in names]
            cells.append(f"{sum(one == 0 for one in misses)} of {len(names)}, {np.mean(misses):.2f}")
        rows.append([COUNT_RULES[rule].label, *cells])
    return "Hits, and the mean distance from the right number:\n\n" + markdown_table(["", *halves], rows)


def write_sets(found: Mapping[str, Any], true: Mapping[str, list[int]], rules: Sequence[str]) -> str:
    """The numbers found on every set."""
    rows = [
        [name, ", ".join(map(str, true[name])), *(str(found[name][rule]) for rule in rules)]
        for name in sorted(found, key=lambda name: -miss(found[name][rules[0]], true[name]))
    ]
    return markdown_table(["set", "right", *rules], rows)
