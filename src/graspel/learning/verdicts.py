"""Verdicts on a certificate: good, doubtful or bad, in words, and what to do.

The limits are rules of thumb. They say when to look closer, and not whether a graph serves its purpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.learning.certificate import Certificate

GOOD_RECALL, BAD_RECALL = 0.98, 0.9  # share of true neighbors; the search promises 0.99
GOOD_CORRELATION, BAD_CORRELATION = 0.9, 0.6  # of effective resistance and distance over random pairs: r^2 of 0.8, 0.4
RATIO = 3.0  # factor between resistance and distance up to which the scale of the weights is as promised
GOOD_GAP, BAD_GAP = 0.01, 0.3  # of the optimality condition on the edges, after refinement
DENSE = 5.0  # edges per node from which a graph is no longer ultra-sparse


class Verdict(NamedTuple):
    """A word, "good", "doubtful" or "bad", and what to do unless it is good."""

    word: str
    advice: str = ""


def judge(certificate: Certificate) -> dict[str, Verdict]:
    """Verdicts by the labels of `Certificate.sentences`; entries that cannot be judged have none."""
    c = certificate
    found = {
        "connected": Verdict("good") if c.connected else Verdict("bad", "Join its components by graspel.connect."),
        "settled": Verdict("good")
        if c.settled or c.n_rounds <= 1
        else Verdict("doubtful", "Raise max_iter or edge_ratio, or accept a larger tol."),
        "edges": Verdict("good")
        if c.density <= DENSE
        else Verdict("doubtful", f"The graph is not ultra-sparse; {_make_sparser(c)}"),
    }
    if not np.isnan(c.neighbor_recall):
        found["kNN recall"] = _grade(
            c.neighbor_recall, GOOD_RECALL, BAD_RECALL, "Pass exact lists as initial=(indices, distances)."
        )
    if not np.isnan(c.resistance_correlation):
        advice = "Distances along the graph tell little about those in the data; try refined or optimal weights."
        if c.optimality_gap is not None:
            advice = "Resistance tells near distances only; take far ones from the embedding (GraspelEmbedding)."
        found["R against z"] = _grade(c.resistance_correlation, GOOD_CORRELATION, BAD_CORRELATION, advice)
        if found["R against z"].word == "good" and not 1 / RATIO <= c.resistance_ratio <= RATIO:
            found["R against z"] = Verdict(
                "doubtful", "Resistances are in another scale than distances; try refined weights."
            )
    if c.support_gap is not None:
        found["gap"] = _grade(-c.support_gap, -GOOD_GAP, -BAD_GAP, "The weights are not at their optimum yet.")
    return found


def _make_sparser(c: Certificate) -> str:
    return "a penalty (beta) drops edges." if c.optimality_gap is not None else "take fewer neighbors (n_neighbors)."


def _grade(value: float, good: float, bad: float, advice: str) -> Verdict:
    """Good from one limit up, bad below the other."""
    if value >= good:
        return Verdict("good")
    return Verdict("doubtful" if value >= bad else "bad", advice)
