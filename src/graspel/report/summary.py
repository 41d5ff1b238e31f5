"""The summary: what a reader should know of the graph, in plain sentences, and where its eigengap lies."""

from __future__ import annotations

import math

from graspel.graph import Graph, Origin
from graspel.learning.certificate import Certificate
from graspel.learning.eigengap import Eigengap

__all__ = ["describe_eigengap", "summarize", "without_critical_edges"]


def summarize(certificate: Certificate) -> list[str]:
    """The certificate as a few sentences that explain themselves, for the top of the page."""
    c = certificate
    joined = "It is connected: every point can be reached from every other." if c.connected else "It is not connected."
    sentences = [
        f"The graph joins {c.n_nodes:,} points by {c.n_edges:,} edges, {c.density:.2f} for each point. {joined}",
        _describe_rounds(c),
    ]
    if not math.isnan(c.resistance_ratio):
        correlation = (
            "" if math.isnan(c.resistance_correlation) else f", with correlation {c.resistance_correlation:.2f}"
        )
        sentences.append(
            f"Over {c.n_sampled_pairs:,} random pairs, effective resistance on the graph is {c.resistance_ratio:.2f} "
            f"times the squared distance in the data (median){correlation}. If both numbers are near 1, distances in "
            "the data can be computed from the graph."
        )
    if not math.isnan(c.neighbor_recall):
        sentences.append(f"{c.neighbor_recall:.1%} of the true nearest neighbors were found at the start.")
    return sentences


def _describe_rounds(c: Certificate) -> str:
    if c.n_rounds == 0:
        return "No edges were added to the start graph."
    rounds = "round" if c.n_rounds == 1 else "rounds"
    if c.settled:
        return (
            f"It settled after {c.n_rounds} {rounds}: no candidate of the last round needs a further edge (largest "
            f"distortion {c.eta_max:.3g})."
        )
    return (
        f"It stopped after {c.n_rounds} {rounds} without having settled (largest distortion {c.eta_max:.3g}): more "
        "rounds would add edges."
    )


def describe_eigengap(gap: Eigengap, n_critical: int, gap_without: Eigengap | None) -> str:
    """Where the eigengap is, and where it would be without the critical edges, if there are any.

    Parameters
    ----------
    gap : Eigengap of the graph
    n_critical : int, how many critical edges it has
    gap_without : Eigengap of the graph without them, or None if there are none
    """
    here = f"On this graph: {gap.sentence()}."
    if gap_without is None:
        return here
    edges = "edge" if n_critical == 1 else "edges"
    return (
        f"{here} Critical edges connect clusters, so GraspelClustering does not add them by default. Without the "
        f"{n_critical:,} critical {edges} of this graph: {gap_without.sentence()}."
    )


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
