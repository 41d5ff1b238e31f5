"""A recovered graph, and its certificate: its size, and how far its weights are from the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from graspel.graph import Graph

CRITERIA: dict[str, Callable[[int], float]] = {
    "bic": np.log,
    "aic": lambda n_signals: 2.0,
}  # price of an edge in units of twice the log-likelihood, given the number of signals


class Recovered(NamedTuple):
    """A recovered graph, by whatever way.

    Attributes
    ----------
    graph : Graph
    gap : float, largest relative error of the optimality condition on its edges
    path : list of (int, float), number of edges and criterion, smallest loss or error of every graph on the way
    outside_gap : float, largest R / k - 1 of all other pairs; NaN where not all pairs were candidates
    is_exact : bool, whether resistances were computed exactly
    error : float or None, with currents the relative error |Y - L X| / |Y|
    """

    graph: Graph
    gap: float
    path: list[tuple[int, float]]
    outside_gap: float = float("nan")
    is_exact: bool = True
    error: float | None = None


@dataclass(frozen=True)
class RecoveryCertificate:
    """Size, noise and optimality of a recovered graph.

    Attributes
    ----------
    n_nodes, n_signals, n_edges : int
    connected : bool
    density : float
        Edges per node.
    noise : float
        Standard deviation of the noise that was subtracted, in the units of the signals.
    support_gap : float
        Largest relative error of the optimality condition over the edges, R = k: effective resistance equals the
        squared distance of the signals without noise. With all pairs as candidates the condition is R = k + rho w,
        because of the ridge rho. With currents it is the largest change of a weight, in units of the median weight,
        that would still lower the error.
    outside_gap : float
        Largest R / k - 1 over all other pairs. At the optimum over all graphs it is at most 0. It is positive where the
        information criterion left out an edge that would raise the likelihood by too little. NaN where not all pairs
        were candidates.
    exact : bool
        Whether resistances were computed exactly. Otherwise they are estimates with a standard error of 0.15, and
        `support_gap` is a root mean square.
    current_error : float or None
        With currents Y, the relative error |Y - L X| / |Y|.
    """

    n_nodes: int
    n_signals: int
    n_edges: int
    connected: bool
    density: float
    noise: float
    support_gap: float
    outside_gap: float
    exact: bool
    current_error: float | None = None

    @classmethod
    def of(cls, found: Recovered, n_signals: int, noise: float) -> RecoveryCertificate:
        """The certificate of a graph that was recovered from so many signals."""
        graph = found.graph
        return cls(
            n_nodes=graph.n_nodes,
            n_signals=n_signals,
            n_edges=graph.n_edges,
            connected=graph.is_connected,
            density=graph.density,
            noise=noise,
            support_gap=found.gap,
            outside_gap=found.outside_gap,
            exact=found.is_exact,
            current_error=found.error,
        )

    def as_dict(self) -> dict[str, float | int | bool | None]:
        """All entries by name."""
        return asdict(self)

    def sentences(self) -> list[tuple[str, str, str]]:
        """Label, value and meaning of every entry, for people."""
        outside = "unknown" if np.isnan(self.outside_gap) else f"{self.outside_gap:.2g}"
        how = "" if self.exact else "; root mean square of estimates with a standard error of 0.15"
        size = [
            ("nodes", f"{self.n_nodes:,}", f"{self.n_signals:,} signals at each"),
            ("edges", f"{self.n_edges:,}", f"{self.density:.3f} per node (density)"),
            ("connected", "yes" if self.connected else "no", "every node can be reached from every other"),
        ]
        if self.current_error is not None:
            return [
                *size,
                ("error", f"{self.current_error:.2g}", "what the network leaves unexplained of the currents"),
            ]
        return [
            *size,
            ("noise", f"{self.noise:.3g}", "standard deviation of the white noise that was subtracted"),
            ("gap on edges", f"{self.support_gap:.1e}", f"largest |R / k - 1|: 0 at the best weights{how}"),
            ("gap elsewhere", outside, "largest R / k - 1 of pairs that are no edges: none is worth its price"),
        ]
