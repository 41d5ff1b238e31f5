"""The material: what a report is made of, after a check of all that the user gave."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from graspel.cluster import ClusterCount, cluster_graph, find_eigengap
from graspel.data.validation import check_data
from graspel.findings.nearest import NearPoints, find_near_points, near_points_of_graph
from graspel.findings.outliers import outlier_scores
from graspel.graph import Graph
from graspel.learning.eigengap import Eigengap
from graspel.plot.fitted import get_graph, get_learner
from graspel.plot.palette import shorten
from graspel.report.clusterer import make_clusterer, settings_of
from graspel.report.coloring import LONGEST_LABEL, Coloring, make_coloring
from graspel.report.pictures import Pictures, open_pictures
from graspel.report.rounds import without_critical_edges
from graspel.runtime.types import Floats

__all__ = ["Material", "check_material"]


SMALLEST_CLUSTERED = 8  # points; fewer are not clustered unless the user gives clusters
TEXT_BUDGET = 5_000_000  # characters of all texts together; the page stays below 15 MB
LONGEST_TEXT = 600  # characters of a text; longer ones are cut


@dataclass(frozen=True)
class Material:
    """What a report is made of.

    Attributes
    ----------
    model, learner, graph : the fitted model, its learner and its graph
    X : array or CSR array, the data; None if they were not given
    clusters, classes : Coloring or None
    clusterer : the fitted clusterer that found the clusters, if there is one
    gap : Eigengap of the graph, from which a number of clusters would be chosen if it were clustered alone
    names, texts : lists of str, or None
    features : list of str, or None if nothing is known about the columns
    pictures : Pictures or None
    source : str or None
    """

    model: Any
    learner: Any
    graph: Graph
    X: Any
    clusters: Coloring | None
    classes: Coloring | None
    clusterer: Any
    gap: Eigengap
    names: list[str] | None
    texts: list[str] | None
    features: list[str] | None
    pictures: Pictures | None
    source: str | None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.graph.n_nodes

    @cached_property
    def near(self) -> NearPoints:
        """The points near each point."""
        return near_points_of_graph(self.graph) if self.X is None else find_near_points(self.X, self.learner)

    @cached_property
    def outlier_scores(self) -> Floats:
        """How many times farther each point is from others than usual; without data as the clusterer says, if it does.

        The scores of a clusterer go from 0, usual, towards 1: one minus the usual distance over that of the point.
        """
        known = getattr(self.clusterer, "outlier_scores_", None)
        if self.X is None and known is not None:
            return 1 / np.maximum(1 - np.asarray(known, dtype=np.float64), 1e-9)
        groups = np.zeros(self.n_points, dtype=np.int64) if self.clusters is None else self.clusters.classes
        return outlier_scores(self.near, groups)

    @property
    def count(self) -> Eigengap | ClusterCount:
        """What the number of clusters rests on: the count by several graphs if there was one, else the eigengap."""
        return getattr(self.clusterer, "cluster_count_", None) or self.gap

    @property
    def agreement(self) -> Floats | None:
        """For every point the share of the clusterings of a consensus that agree on it, where there was a consensus."""
        known = (
            getattr(self.clusterer, "agreement_", None) if getattr(self.clusterer, "member_weights_", None) else None
        )
        return None if known is None else np.asarray(known, dtype=np.float64)


def check_material(
    model: Any,
    *,
    X: Any,
    labels: Any,
    clusters: Any,
    names: Any,
    texts: Any,
    images: Any,
    features: Any,
    source: str | None,
) -> Material:
    """Check what the user gave, and find clusters where there are none."""
    learner, graph = get_learner(model), get_graph(model)
    n = graph.n_nodes
    X = None if X is None else _check_X(learner, X, n)
    clusterer = next((one for one in (clusters, model) if hasattr(one, "labels_")), None)
    if clusters is None and clusterer is None and n >= SMALLEST_CLUSTERED:
        clusterer = _find_clusters(learner, graph, X)
    if clusters is not None and clusters is not clusterer:
        given, clusterer = clusters, None
    else:
        given = getattr(clusterer, "labels_", None)
    gap = getattr(clusterer, "eigengap_", None)
    return Material(
        model=model,
        learner=learner,
        graph=graph,
        X=X,
        clusters=None if given is None else make_coloring("cluster", given, n),
        classes=None if labels is None else make_coloring("class", labels, n),
        clusterer=clusterer,
        gap=find_eigengap(without_critical_edges(graph), random_state=0, n_jobs=learner.n_jobs) if gap is None else gap,
        names=_check_strings("names", names, n, "point", LONGEST_LABEL),
        texts=_check_strings("texts", texts, n, "point", min(LONGEST_TEXT, max(40, TEXT_BUDGET // n))),
        features=_find_features(learner, features),
        pictures=None if images is None else open_pictures(images, X, n),
        source=source,
    )


def _find_clusters(learner: Any, graph: Graph, X: Any) -> Any:
    """Cluster by default settings; on the graph alone without its critical edges, since these connect clusters."""
    if X is not None:
        run = {"random_state": learner.random_state, "n_jobs": learner.n_jobs}
        clusterer = make_clusterer("auto", settings_of(learner), **run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the learner has already warned about the data
            return clusterer.fit(X)
    found = cluster_graph(without_critical_edges(graph), "auto", random_state=0, n_jobs=learner.n_jobs)
    return SimpleNamespace(labels_=found.labels, eigengap_=found.gap)


def _check_X(learner: Any, X: Any, n_points: int) -> Any:
    checked = check_data(learner, X)
    if checked.shape[0] != n_points:
        raise ValueError(
            f"X has {checked.shape[0]:,} rows, but the graph has {n_points:,} nodes; give the data that the model was "
            "fitted to."
        )
    return checked


def _find_features(learner: Any, features: Any) -> list[str] | None:
    """The names of the columns: as given, or as the learner saw them."""
    if features is None:
        features = getattr(learner, "feature_names_in_", None)
    return _check_strings("features", features, learner.n_features_in_, "column", LONGEST_LABEL)


def _check_strings(what: str, given: Any, number: int, of: str, longest: int) -> list[str] | None:
    """One short text for each point or column; None stays None."""
    if given is None:
        return None
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(f"{what}={shorten(repr(given))}: must be a list with one text for each {of}.")
    if len(given) != number:
        raise ValueError(f"{what} holds {len(given):,} texts, but there are {number:,} {of}s; give one for each.")
    return [shorten(one, longest) for one in given]
