"""GraspelClustering: learn graphs from data points and cluster on them, as a scikit-learn clusterer.

By default several graphs are made from one set of neighbor lists and clustered, the points are also clustered without a
graph, and the clusters are what all of these agree on
(:mod:`graspel.cluster.consensus`). With `consensus=1`, or with a learner of the user's own, one graph is clustered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from graspel.cluster.cluster_count import ClusterCount, Layer, count_clusters
from graspel.cluster.clustering import (
    ASSIGNMENTS,
    Clustering,
    check_n_clusters,
    cluster_graph,
    find_eigengap,
    give_copies_one_label,
    nearest_center,
    soft_memberships,
)
from graspel.cluster.confidence import find_confidence
from graspel.cluster.consensus import ConsensusClusters, consensus_clusters
from graspel.cluster.members import MEMBERS, THIN_MEMBERS, find_nodes
from graspel.cluster.outliers import AROUND, core_distances, distances_of, find_noise, score_outliers
from graspel.cluster.ward import cut_linkage, find_linkage, number_by_first_node
from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.graph import Graph
from graspel.learning.eigengap import Eigengap
from graspel.learning.fit import Fit
from graspel.learning.initial import CONSIDERED
from graspel.linalg.coarsen import group_means
from graspel.neighbors.index import MEAN_NEIGHBORS, NeighborIndex
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice, check_flag, check_number, generator
from graspel.runtime.types import Floats, Ints

UNN_NEIGHBORS = 3  # neighbors of the graph that initial="unn" sparsifies; densities of 1.05 to 1.21 as in the paper


class GraspelClustering(ClusterMixin, LearnerEstimator):
    """Spectral clustering by the consensus of several ultra-sparse graphs, or on one learned graph.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" takes the layer that explains most (see `layers_` and `cluster_count_`), and one
        cluster where the density of the points has one mode: then there are no groups. With one graph it is the number
        of the largest eigengap (see `eigengap_`).
    consensus : int, default=None
        Number of graphs, from 1 to 8, that are clustered and whose agreement is the result. They differ in the number
        of neighbors, in the rule by which these are chosen, and in their weights. 1 clusters the learned graph alone,
        any other number also the points without a graph, by Ward's method and k-means. None: 8, or 1 if you
        say which graph to cluster, by `learner`, `n_neighbors`, or an `initial` graph other than "knn" and "unn".
    n_neighbors : int, default=None
        Neighbors of each point in the learned graph. None: 2, or 3 with initial="unn".
    initial : {"knn", "mutual", "local-scale", "unn", "mst"}, Graph, sparse matrix or (indices, distances), \
default="knn"
        The initial graph of the learner, as in GRASPEL. With "unn" the graphs of the consensus are ultra-sparse as
        well, at most 1.15 edges per point, and those of ten neighbors are left out.
    learner : GRASPEL, default=None
        A learner with settings of its own, instead of the three parameters above. None learns the initial graph, its
        components joined by their closest pairs. Critical edges (`max_iter` of the learner) make effective resistances
        more accurate, but they also connect clusters to each other (see docs/clustering.md).
    noise : bool, default=False
        Give the label -1 to points that are far from all others for their cluster (see `outlier_scores_`).
    assign_labels : {"ward", "paper"}, default="ward"
        The assignment stage: how clusters are found from eigenvectors. "ward" merges nodes along the edges of the graph
        and needs no seed; "paper" is Algorithm 2 of the paper, k-means from random starts on the first eigenvectors.

    Attributes
    ----------
    labels_ : array of N
        Cluster of every point. Clusters are numbered in the order of their first points. -1 is noise.
    n_clusters_ : int
        Number of clusters.
    graph_ : Graph
        The graph that was clustered, with `consensus` 1. A consensus comes from several graphs, and has none;
        `learner_.graph_` is the learned one.
    embedding_ : array (N x r)
        Spectral embedding of the points: the rows that were clustered, by the heaviest member of a consensus.
    cluster_centers_ : array (n_clusters_ x r)
        Mean of each cluster in the embedding.
    agreement_ : array of N
        Share of the members, by weight, that have a point in its cluster; 1 with one graph.
    confidence_ : array of N
        How likely it is that a point lies in the cluster where most points of its class are: among points with .8 about
        80 % do (see docs/clustering.md). NaN with one graph or one cluster.
    cluster_confidence_ : array of n_clusters_
        The mean confidence of the points of every cluster.
    cluster_overlaps_ : array (n_clusters_ x n_clusters_)
        How often two clusters were one: the probability that a random member has a random point of each in one cluster.
    member_weights_ : dict
        Weight of every member of the consensus, by name: the graphs, and "Ward" and k-means on the points themselves,
        where these have coordinates. They sum to one; empty with one graph.
    outlier_scores_ : array of N
        Distance of a point to the points near it, compared with the distances that are usual around these: 1 is usual,
        3 is three times as far from others as is usual. They do not depend on the clusters.
    linkage_ : array (N - 1 x 4)
        The hierarchy in scipy's format, for `scipy.cluster.hierarchy.dendrogram`; computed when it is asked for.
    memberships_ : array (N x n_clusters_)
        Degree to which each point belongs to each cluster; rows sum to one.
    eigenvalues_ : array
        Nonzero eigenvalues of the eigenvectors used.
    layers_ : tuple of Layer
        The ways to divide the points that are stable, from coarse to fine: `labels`, `n_clusters`, `stability` and
        `separation` of each. The one of `n_clusters_` clusters is the result itself. Where the number was given, or
        could not be sought, it is the only one, and its stability and separation are NaN.
    cluster_count_ : ClusterCount or None
        How "auto" chose among the numbers of clusters, and whether there are groups: `has_groups`, `is_clear`,
        `sentence()`. None where the number was given, or where one graph was clustered.
    eigengap_ : Eigengap or None
        The first eigenvalues of the learned graph and their gaps, from which "auto" chooses if it clusters this graph
        alone; None where the number of clusters was given.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graspel import GraspelClustering
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = GraspelClustering(2, random_state=0).fit(X)
    >>> bool((model.labels_ == (y != y[0])).all())
    True
    >>> upper, lower = model.predict([[0.0, 1.0], [1.0, -0.5]])
    >>> bool(upper != lower)
    True
    """

    LEARNER_PARAMETERS: ClassVar[dict[str, Any]] = {"metric": "euclidean", "n_neighbors": None, "initial": "knn"}

    _linkage: Floats | None
    cluster_count_: ClusterCount | None
    layers_: tuple[Layer, ...]

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        consensus: int | None = None,
        metric: Any = "euclidean",
        n_neighbors: int | None = None,
        initial: Any = "knn",
        learner: GRASPEL | None = None,
        assign_labels: str = "ward",
        noise: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.consensus = consensus
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.initial = initial
        self.learner = learner
        self.assign_labels = assign_labels
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def graph_(self) -> Graph:
        """The graph that was clustered, where it was one."""
        check_is_fitted(self, "labels_")
        if self.member_weights_:
            raise AttributeError(
                f"graph_: these clusters are the consensus of {len(self.member_weights_)} clusterings (see "
                "member_weights_), not those of one graph. The learned graph is learner_.graph_; consensus=1 clusters "
                "it alone."
            )
        return super().graph_

    def fit(self, X: Any, y: Any = None) -> GraspelClustering:
        """Learn the graph of the rows of X, and cluster them.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (N x M)
            Data points as rows, N >= 2.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        learner, index = self._begin(X)
        if self.n_clusters != "auto":
            check_n_clusters(self.n_clusters, index.n_points)
        n_members = self._count_members()
        with self._running():
            fit = self._learn_graph(learner, index, n_listed=max(AROUND, CONSIDERED if n_members > 1 else 0))
            found = self._cluster(fit, n_members)
        self.labels_, self.n_clusters_ = found.labels, found.n_clusters
        self.embedding_, self.cluster_centers_ = found.embedding, found.centers
        self.eigenvalues_, self.eigengap_ = found.eigenvalues, found.gap
        self._spread, self._clusters, self._linkage = found.spread, found.labels, None
        self.layers_ = self._list_layers(index)
        self._score_outliers(index)
        return self

    def _check_parameters(self) -> None:
        check_choice("assign_labels", self.assign_labels, ASSIGNMENTS)
        check_flag("noise", self.noise)
        if self.consensus is not None:
            check_number(
                "consensus",
                self.consensus,
                f"from 1 to {len(MEMBERS)}, or None",
                lambda v: 1 <= v <= len(MEMBERS),
                whole=True,
                hint="1 clusters the learned graph alone.",
            )

    def _count_members(self) -> int:
        """The number of graphs to cluster; one where the user says which."""
        if self.consensus is not None:
            return int(self.consensus)
        says_which = self.learner is not None or self.n_neighbors is not None
        is_plain = isinstance(self.initial, str) and self.initial in ("knn", "unn")
        return 1 if says_which or not is_plain or self.assign_labels == "paper" else len(MEMBERS)

    def _cluster(self, fit: Fit, n_members: int) -> Clustering:
        """The clusters of the learned graph, or the consensus of several graphs; equal points share a cluster."""
        original = fit.index.find_originals()
        gap, k = self._choose_number(fit, n_members)
        n_distinct = len(np.unique(original))
        self.agreement_, self.cluster_overlaps_ = np.ones(len(original)), np.eye(k)
        self.confidence_ = np.full(len(original), np.nan)
        self.member_weights_ = {}
        if n_members == 1 or not 1 < k < n_distinct:
            options = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            found = cluster_graph(fit.graph, k, assign_labels=self.assign_labels, **options)
            found = give_copies_one_label(replace(found, gap=gap), original)
            self.cluster_overlaps_ = np.eye(found.n_clusters)
            return found
        consensus = self._find_consensus(fit, k, n_members)
        position = np.searchsorted(np.unique(original), original)
        labels, rows = consensus.labels[position], consensus.rows[position]
        self.agreement_ = consensus.consensus.agreement[position]
        lists = fit.index.lists(CONSIDERED)
        self.confidence_ = find_confidence(consensus.consensus.members, consensus.labels, lists)[position]
        self.cluster_overlaps_ = consensus.consensus.overlaps
        self.member_weights_ = dict(zip(consensus.names, consensus.consensus.weights.tolist(), strict=True))
        n_clusters = int(labels.max()) + 1
        centers = group_means(rows, labels, np.bincount(labels))
        return Clustering(labels, n_clusters, rows, centers, consensus.eigenvalues, gap)

    def _choose_number(self, fit: Fit, n_members: int) -> tuple[Eigengap | None, int]:
        """The eigengap, if the number of clusters is to be found, and the number."""
        self.cluster_count_ = None
        if self.n_clusters != "auto":
            return None, int(self.n_clusters)
        gap = find_eigengap(fit.graph, random_state=self.random_state, n_jobs=self.n_jobs)
        if n_members > 1:
            self.cluster_count_ = count_clusters(
                fit.index.lists(CONSIDERED),
                fit.weigh,
                MEMBERS[:n_members],
                ASSIGNMENTS[self.assign_labels],
                generator(self.random_state),
                n_jobs=self.n_jobs,
            )
        return gap, (self.cluster_count_ or gap).n_clusters

    def _list_layers(self, index: NeighborIndex) -> tuple[Layer, ...]:
        """The layers of all points; the chosen one has the labels of the result."""
        own = Layer(self._clusters, self.n_clusters_, np.nan, np.nan)
        if self.cluster_count_ is None:
            return (own,)
        original = index.find_originals()
        position = np.searchsorted(np.unique(original), original)
        chosen = self.cluster_count_.n_clusters
        return tuple(
            one._replace(**own._asdict() | {"stability": one.stability, "separation": one.separation})
            if one.n_clusters == chosen
            else one._replace(labels=number_by_first_node(one.labels[position])[1])
            for one in self.cluster_count_.layers
        )

    def _find_consensus(self, fit: Fit, n_clusters: int, n_members: int) -> ConsensusClusters:
        is_thin = isinstance(self.learner_.initial, str) and self.learner_.initial == "unn"
        members, rng = (THIN_MEMBERS if is_thin else MEMBERS)[:n_members], generator(self.random_state)
        nodes = find_nodes(fit.index.lists(CONSIDERED), fit.weigh, rng)
        return consensus_clusters(nodes, n_clusters, members, ASSIGNMENTS[self.assign_labels], rng, self.n_jobs)

    def _score_outliers(self, index: NeighborIndex) -> None:
        neighbors = index.lists(AROUND)
        core, scores = np.zeros(len(self.labels_)), np.zeros(len(self.labels_))
        scores[neighbors.distinct] = score_outliers(distances_of(neighbors))
        scores[neighbors.copies] = scores[neighbors.copy_of]
        self.outlier_scores_ = scores
        if self.noise:
            core[neighbors.distinct] = core_distances(neighbors)
            core[neighbors.copies] = core[neighbors.copy_of]
            self.labels_ = np.where(find_noise(core, self.labels_), -1, self.labels_)

    @property
    def linkage_(self) -> Floats:
        """The hierarchy in scipy's format ((N - 1) x 4), computed when it is asked for."""
        check_is_fitted(self, "labels_")
        if self._linkage is not None:
            return self._linkage
        with one_thread_per_call():
            self._linkage = find_linkage(self.embedding_, self.learner_.graph_.adjacency, self._clusters)
        return self._linkage

    @property
    def cluster_confidence_(self) -> Floats:
        """The mean confidence of the points of every cluster."""
        check_is_fitted(self, "labels_")
        return group_means(self.confidence_[:, None], self._clusters, np.bincount(self._clusters))[:, 0]

    def labels_at(self, n_clusters: int) -> Ints:
        """The labels for another number of clusters, from the same fit, by a cut of the hierarchy `linkage_`.

        Fewer clusters than `n_clusters_` are unions of those in `labels_`, and more are parts of them. Noise is not
        marked.
        """
        check_is_fitted(self, "labels_")
        return cut_linkage(self.linkage_, check_n_clusters(n_clusters, len(self._clusters)))

    @property
    def memberships_(self) -> Floats:
        """Degree to which each point belongs to each cluster; rows sum to one."""
        check_is_fitted(self, "labels_")
        with one_thread_per_call():
            return soft_memberships(self.embedding_, self.cluster_centers_, self._spread)

    def predict(self, X: Any) -> Ints:
        """Cluster of new points: the nearest center to the weighted mean of their neighbors in the embedding.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)

        Returns
        -------
        labels : array of m. Points of the training set get their own labels.
        """
        links = self._find_near_points(X, MEAN_NEIGHBORS)
        rows = links.means(self.embedding_)
        return np.where(links.is_old, self.labels_[links.indices[:, 0]], nearest_center(rows, self.cluster_centers_))

    def predict_memberships(self, X: Any) -> Floats:
        """Degree to which new points belong to each cluster (m x n_clusters_); rows sum to one."""
        rows = self._find_near_points(X, MEAN_NEIGHBORS).means(self.embedding_)
        with one_thread_per_call():
            return soft_memberships(rows, self.cluster_centers_, self._spread)

    def _default_learner(self) -> GRASPEL:
        usual = UNN_NEIGHBORS if isinstance(self.initial, str) and self.initial == "unn" else 2
        return GRASPEL(
            usual if self.n_neighbors is None else self.n_neighbors,
            metric=self.metric,
            initial=self.initial,
            max_iter=0,
        )
