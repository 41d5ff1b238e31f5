r"""Step 4, stability: when to stop.

There are two rules. `distortion`, the paper's choice, is met when no candidate has a distortion eta above the
tolerance. `eigenvalues`, which the paper calls naive, is met when the first eigenvalues, up to the largest gap, have
changed by less than the tolerance (relatively) since the last round.

If no tolerance is given, `distortion` stops when no candidate would raise the objective F any more.

With candidates along the Fiedler vector, `eigenvalues` hardly ever settles before the rounds run out (digits: not in
100). By Theorem 1 an edge of weight 1 / (M z) changes lambda_2 by the share eta / M, as eta is measured along u_2. A
tolerance of .01 asks for eta < .01 M, which is below 1 for fewer than 100 columns: such edges do not raise F any more.
With candidates from clusters it settles, since the edges of a round then move many eigenvalues a little.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 4, spectral stability checking;
equation (12) defines eta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.learning.eigengap import largest_relative_gap
from graspel.learning.history import Round
from graspel.learning.objective import best_scale
from graspel.learning.weights import Weights
from graspel.runtime.types import Floats


def distortion_is_small(max_eta: float, eigenvalues: Floats, history: Sequence[Round], tol: float) -> bool:
    """Whether the largest eta of any candidate is below `tol`."""
    return max_eta < tol


def eigenvalues_are_steady(max_eta: float, eigenvalues: Floats, history: Sequence[Round], tol: float) -> bool:
    """Whether each eigenvalue before the largest gap has changed by less than `tol`, relatively, since the last round.

    The graph must have been connected in that round: joining components moves lambda_2 away from zero.
    """
    if not history or not history[-1].was_connected:
        return False
    k = largest_relative_gap(eigenvalues) - 1
    moved = np.abs(eigenvalues[:k] - history[-1].eigenvalues[:k])
    return bool((moved < tol * eigenvalues[:k]).all())


def gain_threshold(graph: Graph, weigh: Weights, beta: float) -> float:
    """The eta above which an edge raises F: the scale c* by which calibration will multiply all weights.

    Calibration divides z_emb by c*. So F's gradient there is z_emb / c* - z (beta aside), positive if eta > c*.
    """
    return best_scale(graph, weigh.distances(graph), beta)


def one_percent(graph: Graph, weigh: Weights, beta: float) -> float:
    """Eigenvalues may still change by one percent."""
    return 0.01


def distortion_removed(history: Sequence[Round], tol: float) -> float | None:
    """How far the largest eta has fallen towards the tolerance, from 0 to 1 on a logarithmic scale; None if unknown.

    The round that joins components is left out: the distortion of a disconnected graph is of another order.
    """
    etas = np.array([record.max_eta for record in history if record.was_connected])
    if not len(etas) or not etas[0] > tol:
        return None
    smallest = max(float(etas.min()), tol)
    return float(np.log(etas[0] / smallest) / np.log(etas[0] / tol))


def share_unknown(history: Sequence[Round], tol: float) -> None:
    """None: eigenvalues do not tell how long they will keep changing."""


class Stability(NamedTuple):
    """A rule, its default tolerance, the number of eigenvalues that it needs, and the share of the work done."""

    is_stable: Callable[[float, Floats, Sequence[Round], float], bool]
    default_tol: Callable[[Graph, Weights, float], float]
    n_eigenvalues: int
    share_done: Callable[[Sequence[Round], float], float | None]


STABILITY: dict[str, Stability] = {
    "distortion": Stability(distortion_is_small, gain_threshold, 3, distortion_removed),
    "eigenvalues": Stability(eigenvalues_are_steady, one_percent, 10, share_unknown),
}
