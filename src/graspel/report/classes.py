"""The clusters against the known classes: how far they agree, which classes are mixed, which labels look wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from graspel.findings.mislabeled import Suspicion, suspect_labels
from graspel.metrics import adjusted_rand_index, clustering_accuracy, normalized_mutual_information
from graspel.report.coloring import Coloring
from graspel.report.groups import Group
from graspel.report.material import Material
from graspel.runtime.types import Ints

__all__ = ["Comparison", "compare_with_classes"]


MIXED = 0.8  # a class is mixed if a smaller share of it lies in one cluster
SUSPECTS = (20, 0.03, 500)  # labels to check: at least, as a share of all points, and at most


@dataclass(frozen=True)
class Comparison:
    """Clusters against classes.

    Attributes
    ----------
    table : array (clusters x classes), numbers of points; None without clusters
    rows, columns : arrays, the order in which clusters and classes are shown, matched ones together
    sentences : list of str
    mixed : list of str, a sentence for each class that is mixed
    suspicion : Suspicion
    suspects : array, the points whose label looks wrong, worst first, as many as are listed
    n_suspicious : int, how many labels look wrong
    """

    table: Ints | None
    rows: Ints
    columns: Ints
    sentences: list[str]
    mixed: list[str]
    suspicion: Suspicion
    suspects: Ints
    n_suspicious: int


def compare_with_classes(material: Material, groups: list[Group]) -> Comparison | None:
    """Compare the clusters and the near points with the known classes."""
    classes, clusters = material.classes, material.clusters
    if classes is None:
        return None
    suspicion = suspect_labels(material.near, material.graph, classes.classes)
    least, share, most = SUSPECTS
    order = suspicion.order()[: min(most, max(least, int(share * material.n_points)))]
    suspects, n_suspicious = order[suspicion.score[order] > 0], int((suspicion.score > 0).sum())
    if clusters is None:
        nothing = np.zeros(0, dtype=np.int64)
        return Comparison(None, nothing, nothing, [], [], suspicion, suspects, n_suspicious)
    n = len(clusters.names), len(classes.names)
    table = np.bincount(clusters.classes * n[1] + classes.classes, minlength=n[0] * n[1]).reshape(n)
    rows, columns = _match(table)
    names = [*(group.name for group in groups), *clusters.names[len(groups) :]]
    sentences, mixed = _score(clusters, classes), _find_mixed(table, names, classes)
    return Comparison(table, rows, columns, sentences, mixed, suspicion, suspects, n_suspicious)


def _match(table: Ints) -> tuple[Ints, Ints]:
    """Orders of rows and columns that bring the best match of clusters and classes to the diagonal."""
    row, column = linear_sum_assignment(-table)
    order = np.argsort(column)
    rest_rows = np.setdiff1d(np.arange(table.shape[0]), row)
    rest_columns = np.setdiff1d(np.arange(table.shape[1]), column)
    return np.concatenate([row[order], rest_rows]), np.concatenate([column[order], rest_columns])


def _score(clusters: Coloring, classes: Coloring) -> list[str]:
    found, known = clusters.classes, classes.classes
    acc, nmi = clustering_accuracy(known, found), normalized_mutual_information(known, found)
    ari = adjusted_rand_index(known, found)
    if clusters.has_others or classes.has_others:
        rest = "The smallest are counted as one here, because there are more than 60."
    else:
        rest = ""
    return [
        f"{acc:.1%} of the points lie in the cluster that is matched to their class (ACC {acc:.4f}): "
        f"{_judge(acc, 0.9, 0.6, 'clusters and classes are nearly the same', 'they agree in part', 'they differ')}.",
        f"To know the cluster of a point tells {nmi:.0%} of what there is to know about its class, and the other way "
        f"round (NMI {nmi:.4f}).",
        f"On pairs of points the two partitions agree {_judge(ari, 0.8, 0.4, 'well', 'partly', 'little')} (ARI "
        f"{ari:.4f}; 0 is chance, 1 complete agreement). {rest}".rstrip(),
    ]


def _judge(value: float, good: float, fair: float, *words: str) -> str:
    return words[0] if value >= good else words[1] if value >= fair else words[2]


def _find_mixed(table: Ints, names: list[str], classes: Coloring) -> list[str]:
    """A sentence for every class of which a large part lies outside its main cluster, worst first."""
    totals = np.maximum(table.sum(axis=0), 1)
    shares = table / totals
    found = []
    for k in np.argsort(shares.max(axis=0), kind="stable").tolist():
        order = np.argsort(-shares[:, k], kind="stable")[:3]
        if shares[order[0], k] >= MIXED:
            break
        parts = ", ".join(f"{shares[g, k]:.0%} in “{names[g]}”" for g in order if shares[g, k] >= 0.05)
        found.append(f"Class {classes.names[k]} is spread over several clusters: {parts}.")
    for g in range(len(table)):
        inside = table[g] / max(table[g].sum(), 1)
        order = np.argsort(-inside, kind="stable")[:3]
        if len(order) > 1 and inside[order[1]] >= 1 - MIXED:
            parts = ", ".join(f"{inside[k]:.0%} {classes.names[k]}" for k in order if inside[k] >= 0.05)
            found.append(f"Cluster “{names[g]}” holds several classes: {parts}.")
    return found
