"""The history of a run: one record for each round of densification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graspel.graph import Graph
from graspel.runtime.types import Floats


@dataclass(frozen=True, eq=False)
class Round:
    """One round: the graph that it started from, the distortion of its candidates, and the edges that it added.

    Attributes
    ----------
    round : int
        Counted from 1.
    max_eta, mean_eta : float
        Largest and mean distortion eta of the candidates.
    n_added : int
        Edges added in this round; 0 in the round that finds the graph stable.
    density : float
        Edges per node, before the round added its own.
    eigenvalues : array
        The first nontrivial eigenvalues, before the round added its edges, in the scale of the loop (not calibrated);
        upper bounds of them where the round embedded a smaller graph (:mod:`graspel.learning.coarse`).
    objective : float
        F over these eigenvalues only, as the paper plots it (`Certificate.objective` is F over all eigenvalues); NaN
        for a graph that was not connected.
    seconds : float
        Time of the round; the round that joins components includes the search for neighbors.
    gap : float or None
        With ``weights="optimal"``, the upper bound of F* - F in units of N - 1. The record is then about the graph with
        optimized weights: `objective` is F over all eigenvalues, `eigenvalues` is empty, and `max_eta` the largest
        R / (z_data + 4 beta) of any pair.
    """

    round: int
    max_eta: float
    mean_eta: float
    n_added: int
    density: float
    eigenvalues: Floats
    objective: float
    seconds: float
    gap: float | None = None

    @property
    def was_connected(self) -> bool:
        """Whether the graph was connected before the round: lambda_2 > 0."""
        return self.gap is not None or bool(self.eigenvalues[0] > 0)

    @property
    def summary(self) -> str:
        """The round in a few words, for a progress bar."""
        gap = "" if self.gap is None else f", gap {self.gap:.1e}"
        return f"round {self.round}, eta {self.max_eta:.3g}{gap}"


# Called after each round with its record and the graph so far; True ends the run.
Callback = Callable[[Round, Graph], bool | None]
