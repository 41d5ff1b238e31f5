"""What both embeddings share: a learner, checks, and places for new points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.learner import GRASPEL, fresh_learner
from graspel.new_points import NearPoints
from graspel.parallel import one_thread_per_call
from graspel.progress import listening, print_progress

Floats = NDArray[np.float64]


class GraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An embedding of the points of a learned graph. Subclasses fit, and say how new points are placed."""

    learner: GRASPEL | None
    random_state: Any
    n_jobs: int | None
    verbose: bool | int
    embedding_: Floats
    learner_: GRASPEL
    _near_points: NearPoints

    def fit(self, X: Any, y: Any = None) -> Any:
        """Embed the rows of X."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X, and return their places (N x n_components)."""
        places: Floats = self.fit(X).embedding_
        return places

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _rows(self, X: Any) -> Any:
        """New points, checked against those of the fit."""
        check_is_fitted(self, "embedding_")
        return validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)

    def _remember(self, X: Any, values: Any) -> None:
        """Keep what new points are compared with."""
        validate_data(self, X, skip_check_array=True)  # takes down the number and the names of the features
        self._near_points = NearPoints(values, metric=self.learner_.metric, center=self.learner_.center)

    def _fresh_learner(self) -> GRASPEL:
        return fresh_learner(self.learner, self._default_learner(), self.random_state, self.n_jobs)

    def _default_learner(self) -> GRASPEL:
        raise NotImplementedError

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Threads that do not change the result, and progress in print where it is wanted."""
        with one_thread_per_call(), listening(print_progress) if self.verbose else nullcontext():
            yield

    def __sklearn_tags__(self) -> Any:
        """Sparse input is fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
