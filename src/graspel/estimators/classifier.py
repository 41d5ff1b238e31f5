"""GraspelClassifier: classes of all points from the labels of a few, as a scikit-learn semi-supervised classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.field.sharpness import find_power, sharpen
from graspel.linalg.harmonic import harmonic_function, normalize_class_mass
from graspel.neighbors.index import MEAN_NEIGHBORS
from graspel.runtime.parameters import check_flag
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

UNLABELED = -1  # what stands for no label, as in sklearn.semi_supervised
UNLABELED_TEXT = "-1"  # the same among labels of text


class GraspelClassifier(ClassifierMixin, LearnerEstimator):
    """Classify points by the labels of a few of them, along the learned graph of all.

    A class is a function on the graph: 1 on its labeled points, 0 on those of other classes, and harmonic elsewhere.
    Class mass normalization corrects the shares of the classes, and a power learned from each label left out in turn
    makes chances of them.

    Parameters
    ----------
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(3, max_iter=0)``: three nearest neighbors, the components joined by
        their closest pairs.
    normalize_mass : bool, default=True
        Whether the classes are brought to their shares among the labeled points. Leave it out if you labeled some
        classes more often than they occur.

    Attributes
    ----------
    classes_ : array
        The classes that occur among the labels.
    transduction_ : array of N
        The class of every point of the fit; labeled points keep theirs.
    label_distributions_ : array (N x classes)
        The chance of each class at every point of the fit; rows sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from graspel import GraspelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> few = np.full(len(y), -1)
    >>> few[:50] = y[:50]
    >>> model = GraspelClassifier(random_state=0).fit(X, few)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        metric: Any = "euclidean",
        learner: GRASPEL | None = None,
        normalize_mass: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.metric = metric
        self.learner = learner
        self.normalize_mass = normalize_mass
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> GraspelClassifier:
        """Learn the graph of the rows of X, and spread the labels along it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (N x M)
            Data points as rows, labeled and unlabeled.
        y : array of N
            Labels; -1 (or "-1" among text) for a point without one.

        Returns
        -------
        self
        """
        check_flag("normalize_mass", self.normalize_mass)
        learner, index = self._begin(X)
        codes = self._check_labels(y, index.n_points)
        with self._running():
            self._learn_graph(learner, index)
            announce("spreading labels")
            self.label_distributions_ = self._spread(codes, index.find_originals())
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of new points; points of the fit get their own."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class at new points: the weighted mean over their nearest points of the fit.

        Returns
        -------
        shares : array (m x classes), in the order of `classes_`; rows sum to one
        """
        links = self._find_near_points(X, MEAN_NEIGHBORS)
        return links.means(self.label_distributions_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of points whose class is predicted; points without a label are left out.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)
        y : array of m, the true classes; -1 (or "-1" among text) for a point without one
        sample_weight : array of m, default=None
        """
        labels, missing = _find_missing(y)
        known = np.flatnonzero(~missing)
        if not len(known):
            raise ValueError("y has no label: nothing can be scored where all are -1.")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels[known], self.predict(_safe_indexing(X, known)), sample_weight=weights))

    def _check_labels(self, y: Any, n_points: int) -> Ints:
        """Labels as numbers of classes, -1 for none; stores the classes."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        labels, missing = _find_missing(y)
        if len(labels) != n_points:
            raise ValueError(f"y has {len(labels)} labels for {n_points} points: inconsistent numbers of samples.")
        if missing.all():
            raise ValueError("y has no label: give at least one point of each class a label other than -1.")
        known = labels[~missing]
        if known.dtype == object:  # text with the number -1 among it, as scikit-learn's SelfTrainingClassifier takes
            known = np.array(known.tolist())
        check_classification_targets(known)
        classes, numbers = np.unique(known, return_inverse=True)
        if len(classes) == 1 and missing.any():
            raise ValueError(
                f"y has one class only, {classes[0].item()!r}, beside -1, which stands for no label. Label points of "
                "another class too; if -1 is a class of yours, give it another name, such as 0."
            )
        self.classes_ = classes
        codes = np.full(n_points, -1, dtype=np.int64)
        codes[~missing] = numbers
        return codes

    def _spread(self, codes: Ints, original: Ints) -> Floats:
        """The shares of the classes at all points; copies of a point share its value."""
        known = np.flatnonzero(codes >= 0)
        Y = np.eye(len(self.classes_))[codes[known]]
        f = np.clip(harmonic_function(self.graph_, known, Y, n_jobs=self.n_jobs), 0.0, 1.0)
        priors = Y.mean(axis=0)
        others = np.setdiff1d(np.arange(len(codes)), known)
        if self.normalize_mass:
            f[others] = normalize_class_mass(f[others], priors)
        else:
            total = f[others].sum(axis=1, keepdims=True)
            f[others] = np.where(total > 0, f[others] / np.where(total > 0, total, 1.0), priors)
        f[others] = sharpen(f[others], find_power(self.graph_, known, codes[known], self.n_jobs))
        free = others[codes[original[others]] < 0]
        f[free] = f[original[free]]
        return f

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(3, metric=self.metric, max_iter=0)


def _find_missing(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The labels as an array, and which points have none: -1, or "-1" among text."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(
            f"y is NaN at point {int(np.flatnonzero(np.isnan(labels))[0])}: use -1 where there is no label."
        )
    if labels.dtype.kind not in "OUS":
        return labels, labels == UNLABELED
    for at, label in enumerate(labels.tolist()):
        if label is None or label != label or label in ("", b""):
            raise ValueError(f"y is {label!r} at point {at}: use -1 where there is no label.")
    return labels, labels.astype(np.str_) == UNLABELED_TEXT
