"""GraspelClustering: learn a graph from data points and cluster on it, as a scikit-learn clusterer."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from graspel.cluster.assignment import ASSIGNMENTS
from graspel.cluster.clustering import give_copies_one_label, nearest_center, soft_memberships
from graspel.cluster.graph_clusters import check_n_clusters, cluster_graph
from graspel.graph_estimator import GraphEstimator, find_originals
from graspel.learner import GRASPEL
from graspel.neighbors.new_points import MEAN_NEIGHBORS
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class GraspelClustering(ClusterMixin, GraphEstimator):
    """Spectral clustering on a learned ultra-sparse graph.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" takes it from the largest gap between the first eigenvalues (see `eigengap_`).
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(max_iter=0)``: the graph of nearest neighbors, its components joined
        by their closest pairs. Critical edges make effective resistances more accurate, but they also connect clusters
        to each other (see docs/clustering.md).
    assign_labels : {"ward", "paper"}, default="ward"
        The assignment stage: how clusters are found from eigenvectors. "ward" merges nodes along the edges of the graph
        and needs no seed; "paper" is Algorithm 2 of the paper, k-means from random starts on the first eigenvectors.
    random_state : int, RandomState, Generator or None, default=None
        Same seed, same clusters, at any number of threads. It also seeds a learner that has no seed of its own.
    n_jobs : int, default=None
        Threads; None or -1 for all cores. Also used by the learner unless it sets its own.
    verbose : bool or int, default=False
        Print progress.

    Attributes
    ----------
    labels_ : array of N
        Cluster of every point. Clusters are numbered in the order of their first points.
    n_clusters_ : int
        Number of clusters.
    learner_ : GRASPEL
        The fitted learner, with history and certificate.
    graph_ : Graph
        The learned graph.
    embedding_ : array (N x r)
        Spectral embedding of the points: the rows that were clustered.
    cluster_centers_ : array (n_clusters_ x r)
        Mean of each cluster in the embedding.
    memberships_ : array (N x n_clusters_)
        Degree to which each point belongs to each cluster; rows sum to one.
    eigenvalues_ : array
        Nonzero eigenvalues of the eigenvectors used.
    eigengap_ : Eigengap or None
        The eigenvalues and gaps from which "auto" chose; None where the number of clusters was given.
    n_features_in_ : int
        Number of columns of X.

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

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        learner: GRASPEL | None = None,
        assign_labels: str = "ward",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.learner = learner
        self.assign_labels = assign_labels
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        check_choice("assign_labels", self.assign_labels, ASSIGNMENTS)
        values = self._check_data(X)
        if self.n_clusters != "auto":
            check_n_clusters(self.n_clusters, values.shape[0])
        with self._running():
            learned = self._learn_graph(self._copy_learner(), X, values)
            found = cluster_graph(
                self.graph_,
                self.n_clusters,
                assign_labels=self.assign_labels,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        found = give_copies_one_label(found, find_originals(learned))
        self.labels_, self.n_clusters_ = found.labels, found.n_clusters
        self.embedding_, self.cluster_centers_ = found.embedding, found.centers
        self.eigenvalues_, self.eigengap_ = found.eigenvalues, found.gap
        self._spread = found.spread
        return self

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
        ties = self._find_near_points(X, MEAN_NEIGHBORS)
        rows = self._near_points.means(ties, self.embedding_)
        return np.where(ties.is_old, self.labels_[ties.indices[:, 0]], nearest_center(rows, self.cluster_centers_))

    def predict_memberships(self, X: Any) -> Floats:
        """Degree to which new points belong to each cluster (m x n_clusters_); rows sum to one."""
        rows = self._near_points.means(self._find_near_points(X, MEAN_NEIGHBORS), self.embedding_)
        with one_thread_per_call():
            return soft_memberships(rows, self.cluster_centers_, self._spread)

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(max_iter=0)
