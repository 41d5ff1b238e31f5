r"""Step 4, stability: when to stop.

`distortion`, the paper's rule: no candidate has a distortion above the tolerance. `eigenvalues`, its naive rule: the first eigenvalues, up
to the largest gap, have moved by less than the tolerance (relatively) since the last round.

Where no tolerance is given, `distortion` stops when no candidate would raise the objective any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.history import Round
from graspel.objective import best_scale
from graspel.steps.candidates import number_of_clusters
from graspel.steps.weights import Weights


def distortion_is_small(history: Sequence[Round], tol: float) -> bool:
    """The largest eta of any candidate is under `tol`."""
    return history[-1].max_eta < tol


def eigenvalues_are_steady(history: Sequence[Round], tol: float) -> bool:
    """No eigenvalue before the largest gap has moved by `tol` or more, relatively, since the last connected round."""
    connected = [record.eigenvalues for record in history if np.isfinite(record.objective)]
    if len(connected) < 2:
        return False
    before, now = connected[-2:]
    k = number_of_clusters(now) - 1
    return bool((np.abs(now[:k] - before[:k]) < tol * now[:k]).all())


def gain_threshold(graph: Graph, weigh: Weights, beta: float) -> float:
    """The eta above which an edge raises F: the scale c* that calibration will multiply all weights by.

    Calibrated weights divide z_emb by c*, so the gradient of F there is z_emb / c* - z (beta aside): positive if eta > c*.
    """
    return best_scale(graph, weigh.distances(graph), beta)


def one_percent(graph: Graph, weigh: Weights, beta: float) -> float:
    """Eigenvalues may still move by one percent."""
    return 0.01


class Stability(NamedTuple):
    """A rule, its tolerance where the user does not say, and how many eigenvalues it looks at."""

    is_stable: Callable[[Sequence[Round], float], bool]
    default_tol: Callable[[Graph, Weights, float], float]
    n_eigenvalues: int


STABILITY: dict[str, Stability] = {
    "distortion": Stability(distortion_is_small, gain_threshold, 3),
    "eigenvalues": Stability(eigenvalues_are_steady, one_percent, 10),
}
