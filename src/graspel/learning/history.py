"""The history of a run: one record for each round of densification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Round:
    """One round: the graph it found, how distorted its candidates were, and how many edges it added.

    Attributes
    ----------
    round : int
        Counted from 1.
    max_eta, mean_eta : float
        Largest and mean distortion of the candidates.
    n_added : int
        Edges added in this round; 0 in the round that finds the graph stable.
    density : float
        Edges per node, before these were added.
    eigenvalues : array
        The first nontrivial eigenvalues, before these were added, in the scale of the loop (before calibration).
    objective : float
        F over these eigenvalues only, as the paper plots it (`Certificate.objective` is all of F); NaN for a graph that
        was not connected.
    seconds : float
        What the round took; for the round that joins the components, all that came before it too.
    """

    round: int
    max_eta: float
    mean_eta: float
    n_added: int
    density: float
    eigenvalues: Floats
    objective: float
    seconds: float

    @property
    def was_connected(self) -> bool:
        """Whether the graph was connected before the round: lambda_2 > 0."""
        return bool(self.eigenvalues[0] > 0)

    @property
    def in_short(self) -> str:
        """The round in a few words, for a progress bar."""
        return f"round {self.round}, eta {self.max_eta:.3g}"


Callback = Callable[[Round, Graph], bool | None]
