"""The history of a run: one record per round of densification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Round:
    """One round: the graph it found, how distorted its candidates were, and how many edges it added.

    Attributes
    ----------
    round : int, from 1
    max_eta, mean_eta : float, largest and mean distortion of the candidates
    n_added : int, edges added in this round (0 in the round that finds the graph stable)
    density : float, edges per node before they were added
    eigenvalues : array, the first nontrivial eigenvalues before they were added, in the scale of the loop
    objective : float, F over these eigenvalues only, as the paper plots it (`Certificate.objective` is all of F); NaN for a
        graph that is not connected
    seconds : float
    """

    round: int
    max_eta: float
    mean_eta: float
    n_added: int
    density: float
    eigenvalues: Floats
    objective: float
    seconds: float


Callback = Callable[[Round, Graph], bool | None]


def share_done(history: Sequence[Round], tol: float) -> float | None:
    """How far the largest distortion has come on its way to the tolerance, on a logarithmic scale; None if unknown.

    The joining round is left out: it ends the distortion of a disconnected graph at one blow.
    """
    etas = np.array([record.max_eta for record in history if np.isfinite(record.objective)])
    if not len(etas) or etas[0] <= tol:
        return None
    return float(np.clip(np.log(etas[0] / etas.min()) / np.log(etas[0] / tol), 0.0, 1.0))
