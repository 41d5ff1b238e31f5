"""The base of both embeddings: a graph estimator that is a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from graspel.estimators.uses_learner import LearnerEstimator
from graspel.runtime.types import Floats


class GraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LearnerEstimator):
    """An embedding of the points of a learned graph. Subclasses define `fit` and `transform`."""

    embedding_: Floats

    def fit(self, X: Any, y: Any = None) -> Any:
        """Embed the rows of X."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X, and return their coordinates (N x n_components)."""
        coordinates: Floats = self.fit(X).embedding_
        return coordinates

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
