"""The certificate in plain words, for the top of the page."""

from __future__ import annotations

import math

from graspel.learning.certificate import Certificate

__all__ = ["plain_words"]


def plain_words(certificate: Certificate) -> list[str]:
    """A few sentences that need no other page."""
    c = certificate
    joined = "It is connected: every point can be reached from every other." if c.connected else "It is not connected."
    words = [f"The graph joins {c.n_nodes:,} points by {c.n_edges:,} edges, {c.density:.2f} for each point. {joined}"]
    words.append(_rounds(c))
    if not math.isnan(c.resistance_ratio):
        correlation = (
            "" if math.isnan(c.resistance_correlation) else f", with correlation {c.resistance_correlation:.2f}"
        )
        words.append(
            f"Over {c.n_sampled_pairs:,} random pairs, effective resistance on the graph is {c.resistance_ratio:.2f} "
            f"times the squared distance in the data (median){correlation}. Near 1 and 1, distances can be read off it."
        )
    if not math.isnan(c.neighbor_recall):
        words.append(f"{c.neighbor_recall:.1%} of the true nearest neighbors were found at the start.")
    return words


def _rounds(c: Certificate) -> str:
    if c.n_rounds == 0:
        return "No edges were added to the start graph."
    rounds = "round" if c.n_rounds == 1 else "rounds"
    if c.settled:
        return (
            f"It settled after {c.n_rounds} {rounds}: among the candidates of the last one, no further edge is called "
            f"for (largest distortion {c.eta_max:.3g})."
        )
    return (
        f"It stopped after {c.n_rounds} {rounds} without having settled (largest distortion {c.eta_max:.3g}): more "
        "rounds would add edges."
    )
