"""The rounds: the graph after each, for the slider and the charts; the spectrum; and whether R tells distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.data.prepared import METRICS, Data
from graspel.graph import Graph, Origin
from graspel.learning.eigengap import Eigengap
from graspel.learning.history import Round
from graspel.plot.resistance import sample_pairs
from graspel.report.packing import finite_or_none, pack

__all__ = [
    "describe_convergence",
    "describe_spectrum",
    "list_pairs",
    "list_rounds",
    "list_states",
    "without_critical_edges",
]

SHOWN = 20  # eigenvalues drawn, as in the paper's figures
MEASURED = 100_000  # nodes up to which resistances are measured: half a minute of one processor


def list_states(graph: Graph, history: list[Round]) -> list[dict[str, Any]]:
    """The graph after 0, 1, 2, ... rounds: edges, density, and the largest distortion found on it.

    The distortion of a graph is found by the next round. A last round that adds no edge finds it for its own state too.
    """
    n_rounds = len(history)
    counts = np.cumsum(np.bincount(np.minimum(graph.round, n_rounds), minlength=n_rounds + 1))
    etas = [record.max_eta for record in history]
    etas.append(etas[-1] if history and history[-1].n_added == 0 else float("nan"))
    return [
        {"edges": int(n_edges), "density": int(n_edges) / graph.n_nodes, "eta": finite_or_none(eta)}
        for n_edges, eta in zip(counts, etas, strict=True)
    ]


def list_rounds(history: list[Round]) -> list[dict[str, Any]]:
    """What each round found and did."""
    return [
        {
            "round": record.round,
            "eta": finite_or_none(record.max_eta),
            "F": finite_or_none(record.objective),
            "gap": None if record.gap is None else finite_or_none(record.gap),
            "added": record.n_added,
        }
        for record in history
    ]


def describe_convergence(history: list[Round]) -> str:
    """What the charts of the rounds show, in a sentence."""
    if any(record.gap is not None for record in history):
        return "The upper bound of the gap to the best of all graphs, per node, and the objective F in each round."
    return "Largest distortion \N{GREEK SMALL LETTER ETA} and objective F (over the first eigenvalues) in each round."


def list_pairs(graph: Graph, learner: Any, X: Any) -> list[dict[str, Any]] | None:
    """Resistance and distance of random pairs, near pairs and edges; None without rows to measure, or with too many."""
    if X is None or learner.metric not in METRICS or not graph.n_edges or graph.n_nodes > MEASURED:
        return None
    rng = np.random.default_rng(0)
    groups = sample_pairs(graph, Data(X, metric=learner.metric, rng=rng), rng)
    shown = [(group, (group.z > 0) & (group.R > 0)) for group in groups]
    return [
        {"words": group.summary, "z": pack(group.z[some], "<f4"), "R": pack(group.R[some], "<f4")}
        for group, some in shown
    ]


def describe_spectrum(gap: Eigengap) -> dict[str, Any]:
    """The first eigenvalues, as many as are needed to show the gap, and how many lie before it (None without a gap)."""
    before = gap.n_clusters if len(gap.gaps) else None
    shown = max(SHOWN, (before or 0) + 2)
    return {"values": [0.0, *gap.values[: shown - 1].tolist()], "gap": before}


def without_critical_edges(graph: Graph) -> Graph:
    """The graph without the edges that were added for their distortion.

    Examples
    --------
    >>> triangle = Graph(3, [0, 1, 0], [1, 2, 2], 1.0, origin=[Origin.NEIGHBOR, Origin.JOIN, Origin.CRITICAL])
    >>> without_critical_edges(triangle)
    Graph(3 nodes, 2 edges, density 0.67, 1 component; 1 neighbor, 1 join)
    """
    kept = graph.origin != Origin.CRITICAL
    return Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], graph.weights[kept], origin=graph.origin[kept])
