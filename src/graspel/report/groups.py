"""The groups on the page: a name for each, what sets it apart, what is typical of it, and which groups are near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.data.prepare import is_of_rows
from graspel.findings import Table, count_classes, find_nearest_groups, find_representatives, find_words
from graspel.findings.differences import find_differences
from graspel.findings.effects import holds_terms
from graspel.findings.groups import distances_to_centers
from graspel.findings.shown import SIDES
from graspel.io.columns import CATEGORY
from graspel.io.csv_files import is_number
from graspel.plot.canvas import clip_name
from graspel.report.inputs import LONGEST_LABEL, NOISE, Inputs
from graspel.report.packing import Selection, finite_or_none
from graspel.report.pictures import picture_as_text
from graspel.runtime.types import Floats, Ints

N_FEATURES = 5  # features named for each group
N_NAMING = 3  # words in the name of a group
N_WORDS = 8  # words listed for each group
N_POINTS = 6  # typical and outlying points shown for each group
N_NEAREST = 3  # nearest groups, and largest classes, named
SMALL_EFFECT = 0.2  # smallest effect that is listed: small by Cohen's rule
CLEAR_EFFECT = 0.5  # smallest effect after which a group is named: medium by Cohen's rule
CLEAR_MAJORITY = 0.5  # smallest share of a class after which a group is named
CLEAR_PAIR = 0.75  # smallest share of two classes after which a group is named


@dataclass(frozen=True)
class Group:
    """What the page says of one cluster.

    Attributes
    ----------
    name : str, after the majority class or the strongest features
    size : int
    agreement : float or None, mean share of the graphs of a consensus that agree on its points
    graphs : int, number of these graphs
    differences : Table, the columns that set it apart, from `find_differences`
    words : list of str, the words of its texts that others lack
    nearest : Table, the nearest groups, from `find_nearest_groups`
    central, outlying : arrays of points
    picture : str or None, the mean picture as PNG
    classes : list of (class, share), the largest classes in it, where classes are known
    """

    name: str
    size: int
    agreement: float | None
    graphs: int
    differences: Table
    words: list[str]
    nearest: Table
    central: Ints
    outlying: Ints
    picture: str | None
    classes: list[tuple[int, float]]

    def pack(self, selection: Selection, place: dict[str, int]) -> dict[str, Any]:
        """The group in types that JSON knows; points are numbered among those drawn, columns as `place` says."""
        rows = list(self.differences.rows())
        return {
            "agreement": self.agreement,
            "graphs": self.graphs,
            "words": self.words,
            "features": [
                {
                    "effect": finite_or_none(row["effect"]),
                    "words": row["words"],
                    "column": place.get(row["source"], -1),
                }
                for row in rows[:N_FEATURES]
                if abs(row["effect"]) >= SMALL_EFFECT
            ],
            "nearest": [(row["other"], row["share"]) for row in self.nearest.rows()],
            "central": selection.places(self.central),
            "outlying": selection.places(self.outlying),
            "picture": self.picture,
            "classes": self.classes,
        }


def describe_groups(inputs: Inputs) -> list[Group]:
    """Describe every cluster; the remainder of more than 60 is not described."""
    clusters = inputs.clusters
    if clusters is None:
        return []
    groups, n_groups = clusters.classes, clusters.n_described
    shown = inputs.values if inputs.is_read else None
    differences = find_differences(groups, n_groups, shown, None, inputs.means)
    words = _find_words(inputs, n_groups)
    nearest = find_nearest_groups(inputs.near, inputs.graph, groups, N_NEAREST)
    nearest = nearest.take((nearest["group"] < n_groups) & (nearest["other"] < n_groups))
    central = find_representatives(groups, _distances_to_centers(inputs), N_POINTS)
    ranked = inputs.outliers["point"]
    shares = None
    if inputs.classes is not None:
        counts = count_classes(groups, inputs.classes.classes, (len(clusters.names), len(inputs.classes.names)))
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return [
        Group(
            name=name,
            size=clusters.sizes[g],
            agreement=None if inputs.agreement is None else float(inputs.agreement[groups == g].mean()),
            graphs=inputs.n_clustered_graphs,
            differences=differences.take(differences["group"] == g),
            words=words[g],
            nearest=nearest.take(nearest["group"] == g),
            central=central["point"][central["group"] == g],
            outlying=ranked[groups[ranked] == g][:N_POINTS],
            picture=_draw_mean(inputs, g),
            classes=[] if shares is None else _largest(shares[g]),
        )
        for g, name in enumerate(_name_groups(inputs, differences, words, shares))
    ]


def _name_groups(inputs: Inputs, differences: Table, words: list[list[str]], shares: Floats | None) -> list[str]:
    """A name for every group, each used once: after its classes, its words, its strongest features, or its number."""
    clusters, classes = inputs.clusters, inputs.classes
    assert clusters is not None
    names: list[str] = []
    used: dict[str, int] = {}
    for g, label in enumerate(clusters.names[: clusters.n_described]):
        name = "in no group" if label == NOISE else f"group {label}"
        of = differences.take(differences["group"] == g)
        if label != NOISE:
            name = ", ".join(words[g][:N_NAMING]) or _name_by_columns(inputs, of) or name
        says_more = classes is not None and not (words[g] and all(is_number(one) for one in classes.names[:2]))
        if label != NOISE and shares is not None and classes is not None and says_more:
            name = _name_by_classes(shares[g], classes.names) or name
        used[name] = used.get(name, 0) + 1
        names.append(clip_name(name if used[name] == 1 else f"{name} ({used[name]})", LONGEST_LABEL))
    return names


def _find_words(inputs: Inputs, n_groups: int) -> list[list[str]]:
    """For each group the words of its texts that others lack."""
    if inputs.texts is None:
        return [[] for _ in range(n_groups)]
    found = find_words(inputs.texts, inputs.groups, n_groups, N_WORDS)
    return [found["word"][found["group"] == g].tolist() for g in range(n_groups)]


def _name_by_classes(shares: Floats, names: list[str]) -> str | None:
    """A name after the classes in a group, which is not the name of a class itself; None without a clear one.

    >>> _name_by_classes(np.array([0.8, 0.2]), ["8", "1"])
    'mostly 8'
    >>> _name_by_classes(np.array([0.4, 0.45, 0.15]), ["8", "1", "3"])
    '1 and 8'
    """
    first, *rest = np.argsort(-shares, kind="stable")[:2].tolist()
    if shares[first] >= CLEAR_MAJORITY:
        return f"mostly {names[first]}"
    if rest and shares[first] + shares[rest[0]] >= CLEAR_PAIR:
        return f"{names[first]} and {names[rest[0]]}"
    return None


def _name_by_columns(inputs: Inputs, differences: Table) -> str:
    """A name after the columns in which a group differs clearly; the first two, each column of the table once."""
    clear = differences.take(np.abs(differences["effect"]) >= CLEAR_EFFECT)
    if inputs.values is not None and holds_terms(inputs.values.values):
        return ", ".join(clear["column"][:N_NAMING])
    sides: list[str] = []
    seen: set[str] = set()
    for row in clear.rows():
        high, low = ("", "not ") if row["kind"] == CATEGORY else (f"{side} " for side in SIDES[row["kind"]])
        if row["source"] not in seen and (high or row["effect"] > 0):
            sides.append(f"{high if row['effect'] > 0 else low}{row['column']}")
        seen.add(row["source"])
    return ", ".join(sides[:2])


def _distances_to_centers(inputs: Inputs) -> Floats:
    """How far every point is from the center of its group: from the mean of the data, or by the graph alone."""
    if is_of_rows(inputs.index.metric) and not inputs.index.is_remote:
        return distances_to_centers(inputs.index.points, inputs.groups)
    degree: Floats = inputs.graph.adjacency.sum(axis=1)
    return 1 / np.maximum(degree, np.finfo(float).tiny)


def _draw_mean(inputs: Inputs, group: int) -> str | None:
    """The mean picture of a group, where the rows of X are pictures."""
    pictures = inputs.pictures
    if pictures is None or pictures.shape is None:
        return None
    if inputs.means.inside.shape[1] != int(np.prod(pictures.shape)):
        return None
    return picture_as_text(pictures.from_row(inputs.means.inside[group]))


def _largest(values: Floats) -> list[tuple[int, float]]:
    order = np.argsort(-values, kind="stable")[:N_NEAREST]
    return [(int(k), float(values[k])) for k in order if values[k] > 0]
