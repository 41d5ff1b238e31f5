r"""Step 4, stability: when to stop.

`distortion`, the paper's rule: no candidate has a distortion above the tolerance. `eigenvalues`, its naive rule: the first eigenvalues, up
to the largest gap, have moved by less than the tolerance (relatively) since the last round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from graspel.history import Round
from graspel.steps.candidates import number_of_clusters


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


class Stability(NamedTuple):
    """A rule, its tolerance where the user does not say, and how many eigenvalues it looks at."""

    is_stable: Callable[[Sequence[Round], float], bool]
    tol: float
    n_eigenvalues: int


STABILITY: dict[str, Stability] = {
    "distortion": Stability(distortion_is_small, 10.0, 3),
    "eigenvalues": Stability(eigenvalues_are_steady, 0.01, 10),
}
