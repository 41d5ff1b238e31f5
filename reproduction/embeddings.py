"""The t-SNE pictures that are compared, each made of one data set with one seed, and what is measured of them.

A measurement is a dict with

    seconds                         from the points to the picture, learning the graph included; imports are not
    core_seconds                    the same in time of the processor, over all threads: other work disturbs it less
    points                          how many are in the picture
    trustworthiness, preservation   of 10 neighbors, on a sample of 2,000 points of the picture
    accuracy                        share of the points whose 10 nearest in the picture are mostly of their class
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.manifold import MultilevelTSNE
from graspel.manifold.engine import require_engine
from graspel.metrics import label_accuracy, neighbors_kept

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DATASETS = ("usps", "mnist")


class Places(NamedTuple):
    """Places, and which of the points they are of."""

    embedding: Floats
    points: Ints

    @classmethod
    def of_all(cls, embedding: Any) -> Places:
        """Every point has its place."""
        places = np.asarray(embedding, dtype=np.float64)
        return cls(places, np.arange(len(places)))


@dataclass(frozen=True)
class Method:
    """One way to a picture.

    Attributes
    ----------
    label : str, as shown
    prepare : function of the seed that imports what is needed, and returns a function from points to places
    datasets : tuple of str
    is_slow : bool, whether a quick run leaves it out
    """

    label: str
    prepare: Callable[[int], Callable[[Any], Places]]
    datasets: tuple[str, ...] = DATASETS
    is_slow: bool = False


def representatives(seed: int) -> Callable[[Any], Places]:
    """The paper's task: representatives only."""
    require_engine()

    def draw(X: Any) -> Places:
        model = MultilevelTSNE(refine_iter=0, random_state=seed).fit(X)
        return Places(model.representative_embedding_, model.representatives_)

    return draw


def all_points(seed: int) -> Callable[[Any], Places]:
    """Every point, as MultilevelTSNE does by default."""
    require_engine()
    return lambda X: Places.of_all(MultilevelTSNE(random_state=seed).fit(X).embedding_)


def open_tsne(seed: int) -> Callable[[Any], Places]:
    """Plain openTSNE, on all cores."""
    engine = require_engine()
    return lambda X: Places.of_all(engine.TSNE(n_jobs=-1, random_state=seed).fit(np.asarray(X, dtype=np.float32)))


def scikit_learn(seed: int) -> Callable[[Any], Places]:
    """Plain Barnes-Hut t-SNE of scikit-learn, on all cores."""
    from sklearn.manifold import TSNE

    return lambda X: Places.of_all(TSNE(n_jobs=-1, random_state=seed).fit_transform(X))


METHODS: dict[str, Method] = {
    "representatives": Method("graspel, representatives", representatives),
    "graspel": Method("graspel, all points", all_points),
    "opentsne": Method("openTSNE", open_tsne),
    "sklearn": Method("scikit-learn", scikit_learn, datasets=("usps",), is_slow=True),
}


def measured(method: str, X: Any, y: Ints, seed: int) -> tuple[dict[str, Any], Places]:
    """Make a picture, and measure it."""
    draw = METHODS[method].prepare(seed)
    started, started_cores = time.perf_counter(), time.process_time()
    places = draw(X)
    seconds, core_seconds = time.perf_counter() - started, time.process_time() - started_cores
    kept = neighbors_kept(X[places.points], places.embedding)
    return {
        "seconds": seconds,
        "core_seconds": core_seconds,
        "points": len(places.points),
        "trustworthiness": kept.trustworthiness,
        "preservation": kept.preservation,
        "accuracy": label_accuracy(places.embedding, y[places.points]),
    }, places
