"""The t-SNE pictures that are compared, each made from one data set with one seed, and what is measured of them.

A measurement is a dict with

    seconds                         from the points to the picture; includes learning the graph, but not imports
    core_seconds                    processor time of the same, over all threads; other work disturbs it less
    points                          number of points in the picture
    trustworthiness, preservation   for 10 neighbors, on a sample of 2,000 points of the picture
    accuracy                        share of the points whose 10 nearest points in the picture are mostly of their class
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graspel import GraspelTSNE
from graspel.metrics import label_accuracy, neighbors_kept
from graspel.runtime.types import Floats, Ints
from reproduction.timing import time_call

DATASETS = ("usps", "mnist")


class Picture(NamedTuple):
    """Coordinates in the plane, and the numbers of the points that they belong to."""

    embedding: Floats
    points: Ints

    @classmethod
    def of_all(cls, embedding: Any) -> Picture:
        """A picture that has coordinates for every point."""
        coordinates = np.asarray(embedding, dtype=np.float64)
        return cls(coordinates, np.arange(len(coordinates)))


@dataclass(frozen=True)
class EmbeddingMethod:
    """One way to compute a picture.

    Attributes
    ----------
    label : str
        Name in tables and figures.
    prepare : function
        Takes the seed, imports what is needed, and returns a function from points to a picture.
    datasets : tuple of str
        Data sets it runs on.
    is_slow : bool
        Whether a quick run leaves it out.
    """

    label: str
    prepare: Callable[[int], Callable[[Any], Picture]]
    datasets: tuple[str, ...] = DATASETS
    is_slow: bool = False


def representatives(seed: int) -> Callable[[Any], Picture]:
    """The paper's task: coordinates of the representatives only."""

    def draw(X: Any) -> Picture:
        model = GraspelTSNE(reduction=5, random_state=seed).fit(X)
        return Picture(model.embedding_[model.representatives_], model.representatives_)

    return draw


def all_points(seed: int) -> Callable[[Any], Picture]:
    """Coordinates of every point, the default of GraspelTSNE."""
    return lambda X: Picture.of_all(GraspelTSNE(random_state=seed).fit(X).embedding_)


def open_tsne(seed: int) -> Callable[[Any], Picture]:
    """Plain openTSNE, on all cores."""
    import openTSNE

    return lambda X: Picture.of_all(openTSNE.TSNE(n_jobs=-1, random_state=seed).fit(np.asarray(X, dtype=np.float32)))


def scikit_learn(seed: int) -> Callable[[Any], Picture]:
    """Plain Barnes-Hut t-SNE of scikit-learn, on all cores."""
    from sklearn.manifold import TSNE

    return lambda X: Picture.of_all(TSNE(n_jobs=-1, random_state=seed).fit_transform(X))


METHODS: dict[str, EmbeddingMethod] = {
    "representatives": EmbeddingMethod("graspel, representatives", representatives),
    "graspel": EmbeddingMethod("graspel, all points", all_points),
    "opentsne": EmbeddingMethod("openTSNE", open_tsne),
    "sklearn": EmbeddingMethod("scikit-learn", scikit_learn, datasets=("usps",), is_slow=True),
}


def measure_picture(method: str, X: Any, y: Ints, seed: int) -> tuple[dict[str, Any], Picture]:
    """Compute a picture, and measure it."""
    draw = METHODS[method].prepare(seed)
    started_cores = time.process_time()
    seconds, picture = time_call(lambda: draw(X))
    core_seconds = time.process_time() - started_cores
    kept = neighbors_kept(X[picture.points], picture.embedding)
    return {
        "seconds": seconds,
        "core_seconds": core_seconds,
        "points": len(picture.points),
        "trustworthiness": kept.trustworthiness,
        "preservation": kept.preservation,
        "accuracy": label_accuracy(picture.embedding, y[picture.points]),
    }, picture
