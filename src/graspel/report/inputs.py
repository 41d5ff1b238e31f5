"""The inputs of a report: a fitted model and what the user gave with it, checked, and clusters if there are none."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np

from graspel.cluster import ClusterCount, cluster_graph, find_eigengap
from graspel.data.validation import check_data
from graspel.estimators.clustering import GraspelClustering
from graspel.estimators.learner import GRASPEL
from graspel.estimators.tsne import GraspelTSNE
from graspel.findings import NearPoints, Table, find_outliers, near_points, near_points_of_graph
from graspel.findings.doubtful_labels import rows_of
from graspel.findings.effects import Means, measure_means
from graspel.findings.near_points import NEAR
from graspel.findings.shown import Shown, make_shown
from graspel.graph import Graph, Origin
from graspel.learning.eigengap import Eigengap
from graspel.neighbors.index import NeighborIndex
from graspel.plot.canvas import clip_name
from graspel.plot.fitted import get_graph, get_learner
from graspel.report.pictures import Pictures, open_pictures
from graspel.runtime.types import Floats, Ints

SMALLEST_CLUSTERED = 8  # points; fewer are not clustered unless the user gives clusters
NOISE = "-1"  # the label of points that belong to no cluster
EMPTY = "(empty)"  # the name of the points without a label
MAX_CLASSES = 60  # classes with a color and a name of their own: ten colors and six symbols
TEXT_BUDGET = 5_000_000  # characters of all texts together; the page stays below 15 MB
LONGEST_TEXT = 600  # characters of a text; longer ones are cut
MOST_LAYERED = 20_000  # points up to which other ways to divide them are described, which takes time for each
MOST_LAYERS = 6
NO_MEANS = Means(*np.zeros((3, 0, 0)))
LONGEST_LABEL = 60  # characters of the name of a class, point or feature; longer ones are cut


@dataclass(frozen=True)
class Source:
    """Where the points come from.

    Attributes
    ----------
    name : str, such as the name of a file
    command : str, the command line that learns the same graph
    reading : str, Python code that makes X from the file as it was made here
    """

    name: str
    command: str
    reading: str


@dataclass(frozen=True)
class Coloring:
    """One way to color the points: by clusters or by known classes.

    Attributes
    ----------
    kind : "class" or "cluster"
    names : list of str
    sizes : list of int, number of points in each class
    classes : array of N, the class of each point
    has_others : bool, whether the last class holds all those that are too many to be shown
    """

    kind: str
    names: list[str]
    sizes: list[int]
    classes: Ints
    has_others: bool = False

    @property
    def n_described(self) -> int:
        """Number of classes that are one class."""
        return len(self.names) - self.has_others


def make_coloring(kind: str, labels: Any, n_points: int) -> Coloring:
    """Names, sizes and classes from labels; if there are more than 60 classes, the smallest become one."""
    values = np.asarray(labels)
    if values.shape != (n_points,):
        raise ValueError(
            f"{kind} labels of shape {values.shape}: the graph has {n_points} nodes, so it must be ({n_points},)."
        )
    if values.dtype.kind == "O":
        values = values.astype(str)
    distinct, classes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    names = [clip_name(value, LONGEST_LABEL) or EMPTY for value in distinct]
    if len(names) <= MAX_CLASSES:
        return Coloring(kind, names, sizes.tolist(), classes.astype(np.int64))
    largest = np.sort(np.argsort(-sizes, kind="stable")[: MAX_CLASSES - 1])
    place = np.full(len(names), MAX_CLASSES - 1)
    place[largest] = np.arange(MAX_CLASSES - 1)
    others = f"{len(names) - len(largest):,} others"
    classes = place[classes]
    sizes = np.bincount(classes, minlength=MAX_CLASSES)
    return Coloring(kind, [*(names[k] for k in largest), others], sizes.tolist(), classes, has_others=True)


@dataclass(frozen=True)
class Inputs:
    """What a report is made of.

    Attributes
    ----------
    model, learner, graph, index : the fitted model, its learner, its graph and the index of its data
    values : Shown, by which groups are described; None if there are none
    is_read : bool, whether its columns are read one by one; those of pictures and embeddings are not
    clusters, classes : Coloring or None
    labels : array of N, the known classes as given, or None
    clusterer : the fitted clusterer that found the clusters, if there is one
    gap : Eigengap of the graph, from which a number of clusters would be chosen if it were clustered alone
    names, texts : lists of str, or None
    pictures : Pictures or None
    source : str, Source or None
    """

    model: Any
    learner: Any
    graph: Graph
    index: NeighborIndex
    values: Shown | None
    is_read: bool
    clusters: Coloring | None
    classes: Coloring | None
    labels: Any
    clusterer: Any
    gap: Eigengap
    names: list[str] | None
    texts: list[str] | None
    pictures: Pictures | None
    source: str | Source | None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.graph.n_nodes

    @property
    def groups(self) -> Ints:
        """The cluster of every point, from 0; all points are one where there are no clusters."""
        return np.zeros(self.n_points, dtype=np.int64) if self.clusters is None else self.clusters.classes

    @cached_property
    def near(self) -> NearPoints:
        """The points near each point; those along the graph if the data stay on other machines."""
        return near_points_of_graph(self.graph) if self.index.is_remote else near_points(self.index)

    @cached_property
    def means(self) -> Means:
        """Means and effects of all columns for every group that is described."""
        if self.values is None or self.clusters is None:
            return NO_MEANS
        return measure_means(self.values.values, self.groups, self.clusters.n_described)

    @cached_property
    def outliers(self) -> Table:
        """All points, the farthest from others first."""
        return find_outliers(self.near, rows_of(self.index))

    @cached_property
    def outlier_scores(self) -> Floats:
        """How many times farther than usual each point is from others."""
        scores = np.empty(self.n_points)
        scores[self.outliers["point"]] = self.outliers["score"]
        return scores

    @property
    def count(self) -> Eigengap | ClusterCount:
        """What the number of clusters rests on: the count by several graphs if there was one, else the eigengap."""
        return getattr(self.clusterer, "cluster_count_", None) or self.gap

    @property
    def n_groups(self) -> int:
        """Number of groups; points that are in none are no group."""
        return 1 if self.clusters is None else len(self.clusters.names) - (NOISE in self.clusters.names)

    @property
    def layers(self) -> list[Inputs]:
        """The same with the other stable ways to divide the points, from coarse to fine, that the clusterer found."""
        found = getattr(self.clusterer, "layers_", ()) if self.n_points <= MOST_LAYERED else ()
        others = [one for one in found if not np.array_equal(one.labels, self.clusterer.labels_)][:MOST_LAYERS]
        colorings = [make_coloring("cluster", one.labels, self.n_points) for one in others]
        return [replace(self, clusters=one, clusterer=None) for one in colorings]

    @property
    def agreement(self) -> Floats | None:
        """For every point the share of the clusterings of a consensus that agree on it, where there was a consensus."""
        return np.asarray(self.clusterer.agreement_, dtype=np.float64) if self.n_clustered_graphs > 1 else None

    @property
    def n_clustered_graphs(self) -> int:
        """How many graphs of the points were clustered; their agreement counts as one more, and is left out here."""
        return sum(name != "agreed" for name in getattr(self.clusterer, "member_weights_", ())) or 1


def check_inputs(
    model: Any,
    *,
    X: Any = None,
    labels: Any = None,
    clusters: Any = "auto",
    names: Any = None,
    texts: Any = None,
    images: Any = None,
    features: Any = None,
    source: str | Source | None = None,
) -> Inputs:
    """Check what the user gave, and find clusters where there are none."""
    learner, graph = get_learner(model), get_graph(model)
    n, index = graph.n_nodes, model.index_
    index.expect(count_listed())  # what clusters, near points and map ask for, in one search
    values = _find_values(learner, index, X, features)
    is_named = isinstance(X, Shown) or features is not None or hasattr(learner, "feature_names_in_")
    given: dict[str, Any] = {
        "names": _check_strings("names", names, n, "point", LONGEST_LABEL),
        "texts": _check_strings("texts", texts, n, "point", min(LONGEST_TEXT, max(40, TEXT_BUDGET // n))),
        "pictures": None if images is None else open_pictures(images, None if values is None else values.values, n),
        "classes": None if labels is None else make_coloring("class", labels, n),
        "labels": labels,
    }
    clusterer, found = _find_clusters(model, learner, graph, index, clusters)
    gap = getattr(clusterer, "eigengap_", None)
    return Inputs(
        model=model,
        learner=learner,
        graph=graph,
        index=index,
        values=values,
        is_read=is_named or (images is None and texts is None),
        clusters=None if found is None else make_coloring("cluster", found, n),
        clusterer=clusterer,
        gap=find_eigengap(without_critical_edges(graph), random_state=0, n_jobs=learner.n_jobs) if gap is None else gap,
        source=source,
        **given,
    )


def count_listed() -> int:
    """How many neighbors of each point a report asks the index for: one search for as many serves all of it."""
    return max(NEAR, GraspelTSNE().n_listed)


def without_critical_edges(graph: Graph) -> Graph:
    """The graph without the edges that were added for their distortion.

    Examples
    --------
    >>> triangle = Graph(3, [0, 1, 0], [1, 2, 2], 1.0, origin=[Origin.NEIGHBOR, Origin.JOIN, Origin.CRITICAL])
    >>> without_critical_edges(triangle)
    Graph(3 nodes, 2 edges, density 0.67, 1 component; 1 neighbor, 1 join)
    """
    kept = graph.origin != Origin.CRITICAL
    return Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], graph.weights[kept], origin=graph.origin[kept])


def _find_clusters(model: Any, learner: Any, graph: Graph, index: NeighborIndex, clusters: Any) -> tuple[Any, Any]:
    """The clusterer, if there is one, and the cluster of every point; None of too few points.

    Critical edges are left out, since they connect clusters. Where the points stay on other machines, the graph alone
    is clustered.
    """
    if hasattr(clusters, "labels_"):
        return clusters, clusters.labels_
    is_number = isinstance(clusters, str | int | np.integer)
    if not is_number:
        return None, clusters
    if clusters == "auto" and hasattr(model, "labels_"):
        return model, model.labels_
    if clusters == "auto" and graph.n_nodes < SMALLEST_CLUSTERED:
        return None, None
    if index.is_remote:
        found = cluster_graph(without_critical_edges(graph), clusters, random_state=0, n_jobs=learner.n_jobs)
        return SimpleNamespace(eigengap_=found.gap), found.labels
    clusterer = _make_clusterer(clusters, learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the learner has already warned about the data
        return clusterer, clusterer.fit(index).labels_


def _make_clusterer(n_clusters: Any, learner: GRASPEL) -> GraspelClustering:
    """A clusterer with those settings of the learner that both have and that are not the default."""
    parameters, shared = signature(GRASPEL).parameters, signature(GraspelClustering).parameters
    run = {"random_state": learner.random_state, "n_jobs": learner.n_jobs}
    settings = {name: getattr(learner, name) for name in parameters if name in shared and name not in (*run, "verbose")}
    changed = {name: value for name, value in settings.items() if repr(value) != repr(parameters[name].default)}
    return GraspelClustering(n_clusters, **changed, **run)


def _find_values(learner: Any, index: NeighborIndex, X: Any, features: Any) -> Shown | None:
    """The values by which groups are described: those that are given, or those of the fit."""
    names = features
    if isinstance(X, Shown) or (features is None and hasattr(X, "columns")):
        shown = make_shown(X)
        _check_rows(shown.values, index.n_points)
        return shown
    if X is None:
        names = getattr(learner, "feature_names_in_", None) if features is None else features
    X = index.features if X is None else _check_rows(check_data(learner, X), index.n_points)
    names = _check_strings("features", names, 0 if X is None else X.shape[1], "column", LONGEST_LABEL)
    return None if X is None else make_shown(X, names if names is not None else [""] * X.shape[1])


def _check_rows(X: Any, n_points: int) -> Any:
    if X.shape[0] != n_points:
        raise ValueError(
            f"X has {X.shape[0]:,} rows, but the graph has {n_points:,} nodes; give one row for each point that the "
            "model was fitted to, or leave X out."
        )
    return X


def _check_strings(what: str, given: Any, number: int, of: str, longest: int) -> list[str] | None:
    """One short text for each point or column; None stays None."""
    if given is None:
        return None
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(f"{what}={clip_name(repr(given))}: must be a list with one text for each {of}.")
    if len(given) != number:
        raise ValueError(f"{what} holds {len(given):,} texts, but there are {number:,} {of}s; give one for each.")
    return [clip_name(one, longest) for one in given]
