"""GraspelEmbedding: the spectral embedding of a learned graph, as a scikit-learn transformer.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3.1, equation (10).

M. Belkin and P. Niyogi. Laplacian eigenmaps for dimensionality reduction and data representation. Neural Computation
15, 2003.
"""

from __future__ import annotations

from typing import Any

from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import GraphEmbedding
from graspel.learning.embed import spectral_coordinates
from graspel.neighbors.index import MEAN_NEIGHBORS
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats


class GraspelEmbedding(GraphEmbedding):
    r"""Spectral embedding: rows of the first nontrivial eigenvectors of the learned graph's Laplacian.

    This is the paper's embedding, U = [u_i / sqrt(lambda_i + 1/sigma^2)]. As n_components grows, squared distances in
    it approach the effective resistances of the graph, which estimate the squared distances in the data.

    Parameters
    ----------
    n_components : int, default=2
        Number of eigenvectors (the paper's r - 1), from 1 to one less than the number of points.
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL()``, with critical edges: these make distances in the embedding
        agree with those in the data.

    Attributes
    ----------
    embedding_ : array (N x n_components)
        Coordinates of every point. The sign of each column is such that its longer tail is positive.
    eigenvalues_ : array of n_components
        Eigenvalues of the eigenvectors used, ascending.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from graspel import GraspelEmbedding
    >>> X, y = make_blobs(200, centers=2, random_state=0, cluster_std=0.5)
    >>> model = GraspelEmbedding(1, random_state=0).fit(X)
    >>> side = model.embedding_[:, 0] > 0
    >>> bool((side == side[0]).all() or (side == (y == y[side][0])).all())
    True
    >>> model.transform(X[:3]).shape
    (3, 1)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        learner: GRASPEL | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.learner = learner
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GraspelEmbedding:
        """Learn the graph of the rows of X, and embed them.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (N x M)
            Data points as rows, N >= 2.
        y : ignored

        Returns
        -------
        self
        """
        learner, index = self._begin(X)
        n_points = index.n_points
        check_number(
            "n_components",
            self.n_components,
            f"from 1 to {n_points - 1}, one less than the number of points",
            lambda v: 1 <= v < n_points,
            whole=True,
        )
        rng = generator(self.random_state)
        with self._running():
            self._learn_graph(learner, index)
            announce("embedding")
            found = spectral_coordinates(self.graph_, self.n_components, learner.sigma, rng, self.n_jobs)
        self.embedding_, self.eigenvalues_ = found.U[index.find_originals()], found.values
        return self

    def transform(self, X: Any) -> Floats:
        """Embed new points, each at the weighted mean of its nearest training points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)

        Returns
        -------
        coordinates : array (m x n_components). Points of the training set get their own coordinates.
        """
        links = self._find_near_points(X, MEAN_NEIGHBORS)
        return links.means(self.embedding_)

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(metric=self.metric)
