"""The groups on the page: a name for each, what sets it apart, what is typical of it, and which groups are near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.data.prepare import is_of_rows
from graspel.findings import Table, count_classes, find_effects, find_nearest_groups, find_representatives
from graspel.findings.groups import distances_to_centers
from graspel.plot.canvas import clip_name
from graspel.report.inputs import LONGEST_LABEL, NO_MEANS, NOISE, Inputs
from graspel.report.packing import Selection, finite_or_none
from graspel.report.pictures import picture_as_text
from graspel.report.values import Values
from graspel.runtime.types import Floats, Ints

N_FEATURES = 5  # features named for each group
N_POINTS = 6  # typical and outlying points shown for each group
N_NEAREST = 3  # nearest groups, and largest classes, named
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
    effects : Table, the features that set it apart, from `find_effects`, each with its `name`
    nearest : Table, the nearest groups, from `find_nearest_groups`
    central, outlying : arrays of points
    picture : str or None, the mean picture as PNG
    classes : list of (class, share), the largest classes in it, where classes are known
    """

    name: str
    size: int
    agreement: float | None
    graphs: int
    effects: Table
    nearest: Table
    central: Ints
    outlying: Ints
    picture: str | None
    classes: list[tuple[int, float]]

    def pack(self, selection: Selection, values: Values | None) -> dict[str, Any]:
        """The group in types that JSON knows; points are numbered among those that are drawn."""
        return {
            "agreement": self.agreement,
            "graphs": self.graphs,
            "features": [
                {
                    "effect": finite_or_none(row["effect"]),
                    "words": describe_effect(row),
                    "column": -1 if values is None else int(values.column_of[row["feature"]]),
                }
                for row in self.effects.rows()
            ],
            "nearest": [(row["other"], row["share"]) for row in self.nearest.rows()],
            "central": selection.places(self.central),
            "outlying": selection.places(self.outlying),
            "picture": self.picture,
            "classes": self.classes,
        }


def describe_effect(row: dict[str, Any]) -> str:
    """The effect of a feature in words.

    >>> describe_effect({"name": "alcohol", "effect": 1.9, "inside": 13.74, "outside": 12.61})
    'alcohol is high: 13.7 here, 12.6 elsewhere'
    >>> describe_effect({"name": "plan: gold", "effect": 1.2, "inside": 0.93, "outside": 0.1, "is_share": True})
    'plan: gold has a share of 93 % here, 10 % elsewhere'
    """
    if row.get("is_share"):
        return f"{row['name']} has a share of {row['inside']:.0%} here, {row['outside']:.0%} elsewhere".replace(
            "%", " %"
        )
    side = "high" if row["effect"] > 0 else "low"
    return f"{row['name']} is {side}: {format_value(row['inside'])} here, {format_value(row['outside'])} elsewhere"


def format_value(value: float) -> str:
    """A mean in the user's units, with three digits.

    >>> format_value(0.012345), format_value(45678.9), format_value(1.5e-7)
    ('0.0123', '45,700', '1.5e-07')
    """
    if not 1e3 <= abs(value) < 1e12:
        return f"{value:.3g}"
    return f"{float(f'{value:.3g}'):,.0f}"


def describe_groups(inputs: Inputs) -> list[Group]:
    """Describe every cluster; the remainder of more than 60 is not described."""
    clusters = inputs.clusters
    if clusters is None:
        return []
    groups, n_groups = clusters.classes, clusters.n_described
    effects = _find_named_effects(inputs)
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
            effects=effects.take(effects["group"] == g),
            nearest=nearest.take(nearest["group"] == g),
            central=central["point"][central["group"] == g],
            outlying=ranked[groups[ranked] == g][:N_POINTS],
            picture=_draw_mean(inputs, g),
            classes=[] if shares is None else _largest(shares[g]),
        )
        for g, name in enumerate(_name_groups(inputs, effects, shares))
    ]


def _find_named_effects(inputs: Inputs) -> Table:
    """The strongest features with their names; none of pixels and coordinates of embeddings, which say little."""
    values = inputs.values
    means = inputs.means if values is not None and values.is_read else NO_MEANS
    found = find_effects(means, N_FEATURES, only_high=values is not None and _holds_terms(values.X))
    named = [values.name(j) for j in found["feature"].tolist()] if values is not None else []
    is_share = np.zeros(0, dtype=bool) if values is None else values.is_share[found["feature"]]
    return Table({**found.columns, "name": np.array(named, dtype=object), "is_share": is_share})


def _holds_terms(X: Any) -> bool:
    """Whether the columns count something, such as words, that most points do not have."""
    return bool(sp.issparse(X) and (X.nnz == 0 or X.data.min() >= 0))


def _name_groups(inputs: Inputs, effects: Table, shares: Floats | None) -> list[str]:
    """A name for every group, each used once: after its classes, its strongest features, or its number."""
    clusters, classes = inputs.clusters, inputs.classes
    assert clusters is not None
    names: list[str] = []
    used: dict[str, int] = {}
    for g, label in enumerate(clusters.names[: clusters.n_described]):
        name = "in no group" if label == NOISE else f"group {label}"
        clear = effects.take((effects["group"] == g) & (np.abs(effects["effect"]) >= CLEAR_EFFECT))
        if label != NOISE and len(clear):
            assert inputs.values is not None
            name = _name_by_effects(clear, are_terms=_holds_terms(inputs.values.X))
        if label != NOISE and shares is not None and classes is not None:
            name = _name_by_classes(shares[g], classes.names) or name
        used[name] = used.get(name, 0) + 1
        names.append(clip_name(name if used[name] == 1 else f"{name} ({used[name]})", LONGEST_LABEL))
    return names


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


def _name_by_effects(effects: Table, *, are_terms: bool) -> str:
    if are_terms:
        return ", ".join(effects["name"][:3])
    sides = {(True, False): "high ", (False, False): "low ", (True, True): "", (False, True): "not "}
    named = [f"{sides[row['effect'] > 0, row['is_share']]}{row['name']}" for row in effects.head(2).rows()]
    return ", ".join(named)


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
