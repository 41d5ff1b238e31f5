"""The groups: what sets each cluster apart, how sure it is, what is typical of it, and which groups are near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.findings.effects import Effects, measure_effects
from graspel.plot.palette import shorten
from graspel.report.coloring import LONGEST_LABEL, Coloring
from graspel.report.material import Material
from graspel.report.pictures import picture_as_text
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

__all__ = ["Feature", "Group", "describe_groups"]


N_FEATURES = 5  # features named for each group
N_POINTS = 6  # central and outlying points shown for each group
N_NEAREST = 3  # nearest groups named
NOISE = "-1"  # the label of points that belong to no cluster
CLEAR_EFFECT = 0.5  # smallest effect after which a group is named: medium by Cohen's rule
CLEAR_MAJORITY = 0.5  # smallest share of a class after which a group is named
BLOCK_VALUES = 1 << 21  # values of a block of rows: 16 MB


@dataclass(frozen=True)
class Feature:
    """A feature that sets a group apart: its effect d, and its mean inside the group and outside."""

    name: str
    effect: float
    inside: float
    outside: float

    def words(self) -> str:
        """The feature in words.

        >>> Feature("alcohol", 1.9, 13.74, 12.61).words()
        'alcohol is high: 13.7 here, 12.6 elsewhere'
        """
        side = "high" if self.effect > 0 else "low"
        return f"{self.name} is {side}: {self.inside:.3g} here, {self.outside:.3g} elsewhere"


@dataclass(frozen=True)
class Group:
    """What the page says of one cluster.

    Attributes
    ----------
    name : str, after the majority class or the strongest features
    size : int
    sure : float or None, mean agreement of a consensus about its points
    features : list of Feature, strongest first
    nearest : list of (group, share of the near points of its points that lie there)
    central, outlying : arrays of points
    picture : str or None, the mean picture as PNG
    classes : list of (class, share), the largest classes in it, where classes are known
    """

    name: str
    size: int
    sure: float | None
    features: list[Feature]
    nearest: list[tuple[int, float]]
    central: Ints
    outlying: Ints
    picture: str | None
    classes: list[tuple[int, float]]


def describe_groups(material: Material) -> list[Group]:
    """Describe every cluster; the remainder of more than 60 is not described."""
    clusters = material.clusters
    if clusters is None:
        return []
    groups, n_groups = clusters.classes, clusters.n_described
    members = [np.flatnonzero(groups == g) for g in range(n_groups)]
    effects = None if material.X is None else measure_effects(material.X, groups, n_groups)
    features = [_name_features(effects, g, material) for g in range(n_groups)]
    shares = _shares_of_classes(clusters, material.classes)
    centrality = _centrality(material, effects)
    nearness = _nearness(material, n_groups)
    agreement = material.agreement
    return [
        Group(
            name=name,
            size=clusters.sizes[g],
            sure=None if agreement is None else float(agreement[members[g]].mean()),
            features=features[g],
            nearest=_largest(nearness[g], N_NEAREST),
            central=_first(members[g], -centrality, N_POINTS),
            outlying=_first(members[g], material.outlier_scores, N_POINTS),
            picture=_mean_picture(material, effects, members[g], g),
            classes=[] if shares is None else _largest(shares[g], 3),
        )
        for g, name in enumerate(_name_groups(clusters, features, shares, material))
    ]


def _name_features(effects: Effects | None, group: int, material: Material) -> list[Feature]:
    """The strongest features; of terms, which most points lack, only those that are there."""
    if effects is None or (material.pictures is not None and material.pictures.shape is not None):
        return []
    terms = _holds_terms(material.X)
    names = material.features
    return [
        Feature(
            f"feature {j}" if names is None else names[j] or f"feature {j}",
            float(effects.d[group, j]),
            float(effects.inside[group, j]),
            float(effects.outside[group, j]),
        )
        for j in effects.strongest(group, N_FEATURES, only_high=terms).tolist()
    ]


def _holds_terms(X: Any) -> bool:
    """Whether the columns count something, such as words, that most points do not have."""
    return bool(sp.issparse(X) and (X.nnz == 0 or X.data.min() >= 0))


def _shares_of_classes(clusters: Coloring, classes: Coloring | None) -> Floats | None:
    """The share of every class in every cluster."""
    if classes is None:
        return None
    n = len(clusters.names), len(classes.names)
    table = np.bincount(clusters.classes * n[1] + classes.classes, minlength=n[0] * n[1]).reshape(n)
    shares: Floats = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    return shares


def _name_groups(
    clusters: Coloring, features: list[list[Feature]], shares: Floats | None, material: Material
) -> list[str]:
    """A name for every group, each used once: its majority class, its strongest features, or its number."""
    names: list[str] = []
    used: dict[str, int] = {}
    terms = material.X is not None and _holds_terms(material.X)
    for g, own in enumerate(features):
        name = "in no group" if clusters.names[g] == NOISE else f"group {clusters.names[g]}"
        clear = [one for one in own if abs(one.effect) >= CLEAR_EFFECT and clusters.names[g] != NOISE]
        if clear and terms:
            name = ", ".join(feature.name for feature in clear[:3])
        elif clear:
            name = ", ".join(f"{'high' if one.effect > 0 else 'low'} {one.name}" for one in clear[:2])
        is_clear = shares is not None and clusters.names[g] != NOISE and shares[g].max() >= CLEAR_MAJORITY
        if is_clear and shares is not None and material.classes is not None:
            name = material.classes.names[int(shares[g].argmax())]
        used[name] = used.get(name, 0) + 1
        names.append(shorten(name if used[name] == 1 else f"{name} ({used[name]})", LONGEST_LABEL))
    return names


def _centrality(material: Material, effects: Effects | None) -> Floats:
    """How far every point is from the mean of its group, squared; without data, minus the sum of its weights."""
    assert material.clusters is not None
    groups, n = material.clusters.classes, material.n_points
    points = material.near.points
    if points is None or effects is None:
        degree: Floats = material.graph.adjacency.sum(axis=1)
        return -degree
    n_groups = len(material.clusters.names)
    block = max(1, BLOCK_VALUES // points.n_features)
    sizes = np.bincount(groups, minlength=n_groups)
    means = np.zeros((n_groups, points.n_features))
    for rows in row_blocks(n, block):
        of = groups[rows]
        sums = sp.csr_array((np.ones(len(of)), (of, np.arange(len(of)))), shape=(n_groups, len(of)))
        means += sums @ points.rows(rows)
    means /= np.maximum(sizes, 1)[:, None]
    distance = np.zeros(n)
    for rows in row_blocks(n, block):
        off = points.rows(rows) - means[groups[rows]]
        distance[rows] = np.einsum("ij,ij->i", off, off)
    return distance


def _nearness(material: Material, n_groups: int) -> Floats:
    """Share of the points near each group that are in each other one; by edges of the graph where there are none."""
    assert material.clusters is not None
    groups = material.clusters.classes
    n = len(material.clusters.names)
    member = sp.csr_array((np.ones(len(groups)), groups, np.arange(len(groups) + 1)), shape=(len(groups), n))
    counts = (member.T @ material.near.pattern @ member).toarray()
    edges = (member.T @ material.graph.adjacency.astype(bool).astype(float) @ member).toarray()
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    np.fill_diagonal(shares, 0.0)
    np.fill_diagonal(edges, 0.0)
    alone = shares.sum(axis=1) == 0
    shares[alone] = 1e-9 * edges[alone]  # some edge leads to another group, since the graph is connected
    return shares[:n_groups, :n_groups]


def _mean_picture(material: Material, effects: Effects | None, members: Ints, group: int) -> str | None:
    pictures = material.pictures
    if pictures is None:
        return None
    if pictures.shape is not None and effects is not None and effects.inside.shape[1] == int(np.prod(pictures.shape)):
        return picture_as_text(pictures.from_row(effects.inside[group]))
    return None


def _largest(values: Floats, n_most: int) -> list[tuple[int, float]]:
    order = np.lexsort([np.arange(len(values)), -values])[:n_most]
    return [(int(k), float(values[k])) for k in order if values[k] > 0]


def _first(members: Ints, key: Floats, n_most: int) -> Ints:
    """The members of largest key."""
    return members[np.lexsort([members, -key[members]])[:n_most]]
