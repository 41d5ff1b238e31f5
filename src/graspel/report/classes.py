"""The known classes on the page: how far the clusters agree with them, which are mixed, which labels are doubtful."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from graspel.findings import Table, count_classes, find_doubtful_labels, find_mixtures
from graspel.findings.doubtful_labels import rows_of
from graspel.findings.given import check_classes, number_classes
from graspel.metrics import clustering_accuracy
from graspel.plot.canvas import clip_name
from graspel.report.groups import Group
from graspel.report.inputs import LONGEST_LABEL, Coloring, Inputs
from graspel.report.packing import Selection
from graspel.runtime.types import Ints

LISTED = (20, 0.03, 500)  # doubtful labels listed: at least, as a share of all points, and at most


@dataclass(frozen=True)
class Comparison:
    """Clusters against classes.

    Attributes
    ----------
    table : array (clusters x classes), numbers of points; None without clusters
    rows, columns : arrays, the order in which clusters and classes are shown, matched ones together
    sentences : list of str
    mixed : list of dict, a sentence for each class and each group that is mixed, with the number of either
    doubtful : Table, the labels that look wrong, worst first, as many as are listed
    n_doubtful : int, how many labels differ from most of the points near
    confident : array, the points among them whose label is clearly contradicted
    """

    table: Ints | None
    rows: Ints
    columns: Ints
    sentences: list[str]
    mixed: list[dict[str, Any]]
    doubtful: Table
    n_doubtful: int
    confident: Ints

    def pack(self, selection: Selection) -> dict[str, Any]:
        """The comparison in types that JSON knows; points are numbered among those that are drawn."""
        drawn = self.doubtful.take(np.isin(self.doubtful["point"], selection.nodes))
        return {
            "table": None if self.table is None else self.table.tolist(),
            "rows": self.rows.tolist(),
            "columns": self.columns.tolist(),
            "sentences": self.sentences,
            "mixed": self.mixed,
            "n_doubtful": self.n_doubtful,
            "doubtful": [
                {
                    "point": place,
                    "label": row["label"],
                    "suggested": row["suggested"],
                    "share": row["suggested_share"],
                    "confident": row["confident"],
                    "near": selection.places(np.array([row["witness"]])),
                }
                for place, row in zip(selection.places(drawn["point"]), drawn.rows(), strict=True)
            ],
        }


def compare_with_classes(inputs: Inputs, groups: list[Group]) -> Comparison | None:
    """Compare the clusters and the near points with the known classes."""
    classes, clusters = inputs.classes, inputs.clusters
    if classes is None:
        return None
    known, numbers = number_classes(check_classes(inputs.labels, inputs.n_points) or [])
    labels = find_doubtful_labels(inputs.near, inputs.graph, numbers, rows_of(inputs.index))
    named = {
        name: np.array([clip_name(one, LONGEST_LABEL) for one in known[labels[name]].tolist()], dtype=object)
        for name in ("label", "suggested")
    }
    labels = Table({**labels.columns, **named})
    least, share, most = LISTED
    n_doubtful = int((labels["score"] > 0).sum())
    confident = labels["point"][labels["confident"]]
    labels = labels.head(min(n_doubtful, most, max(least, int(share * inputs.n_points))))
    if clusters is None:
        nothing = np.zeros(0, dtype=np.int64)
        return Comparison(None, nothing, nothing, [], [], labels, n_doubtful, confident)
    table = count_classes(clusters.classes, classes.classes, (len(clusters.names), len(classes.names)))
    names = [*(group.name for group in groups), *clusters.names[len(groups) :]]
    return Comparison(
        table,
        *_match(table),
        sentences=_describe_agreement(clusters, classes),
        mixed=_describe_mixtures(table, names, classes.names, classes.n_described),
        doubtful=labels,
        n_doubtful=n_doubtful,
        confident=confident,
    )


def _match(table: Ints) -> tuple[Ints, Ints]:
    """Orders of rows and columns that bring the best match of clusters and classes to the diagonal."""
    row, column = linear_sum_assignment(-table)
    order = np.argsort(column)
    rest_rows = np.setdiff1d(np.arange(table.shape[0]), row)
    rest_columns = np.setdiff1d(np.arange(table.shape[1]), column)
    return np.concatenate([row[order], rest_rows]), np.concatenate([column[order], rest_columns])


def _describe_agreement(clusters: Coloring, classes: Coloring) -> list[str]:
    found, known = clusters.classes, classes.classes
    acc, ari = clustering_accuracy(known, found), adjusted_rand_score(known, found)
    nmi = normalized_mutual_info_score(known, found, average_method="geometric")
    if clusters.has_others or classes.has_others:
        rest = "The smallest are counted as one here, because there are more than 60."
    else:
        rest = ""
    words = "clusters and classes are nearly the same", "they agree in part", "they differ"
    return [
        f"{acc:.1%} of the points lie in the cluster that is matched to their class (ACC {acc:.4f}): "
        f"{_choose(acc, 0.9, 0.6, words)}.",
        f"Knowing the cluster of a point gives {nmi:.0%} of the information about its class, and vice versa "
        f"(NMI {nmi:.4f}).",
        f"On pairs of points the two partitions agree {_choose(ari, 0.8, 0.4, ('well', 'partly', 'little'))} (ARI "
        f"{ari:.4f}; 0 is chance, 1 complete agreement). {rest}".rstrip(),
    ]


def _choose(value: float, good: float, fair: float, words: tuple[str, str, str]) -> str:
    return words[0] if value >= good else words[1] if value >= fair else words[2]


def _describe_mixtures(table: Ints, groups: list[str], classes: list[str], n_described: int) -> list[dict[str, Any]]:
    """A sentence for every class of which a large part lies outside its main cluster, and for every mixed cluster."""
    spread, mixed = find_mixtures(table)
    sentences: list[dict[str, Any]] = []
    for k, rows in groupby(spread.rows(), key=lambda row: row["class"]):
        if k >= n_described:  # many small classes
            continue
        shares = ", ".join(f"{row['share']:.0%} in “{groups[row['group']]}”" for row in rows)
        words = f"Class {classes[k]} is spread over several groups: {shares}."
        sentences.append({"words": words, "known": k, "group": None})
    for g, rows in groupby(mixed.rows(), key=lambda row: row["group"]):
        shares = ", ".join(f"{row['share']:.0%} {classes[row['class']]}" for row in rows)
        words = f"Group “{groups[g]}” holds several classes: {shares}."
        sentences.append({"words": words, "known": None, "group": g})
    return sentences
