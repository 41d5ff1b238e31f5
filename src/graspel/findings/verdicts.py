"""Verdicts: what the certificate and the clustering mean for these data, whether that is good, and what to do.

The limits are rules of thumb. They say when to look closer, and not whether a graph serves its purpose.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graspel.cluster import ClusterCount
from graspel.findings.table import Table
from graspel.learning.certificate import Certificate
from graspel.learning.eigengap import Eigengap

GOOD, DOUBTFUL, BAD = "good", "doubtful", "bad"
GOOD_RECALL, BAD_RECALL = 0.98, 0.9  # share of true neighbors; the search promises 0.99
GOOD_CORRELATION, BAD_CORRELATION = 0.9, 0.6  # of effective resistance and distance over random pairs: r^2 of 0.8, 0.4
RATIO = 3.0  # factor between resistance and distance up to which the scale of the weights is as promised
GOOD_GAP, BAD_GAP = 0.01, 0.3  # of the optimality condition on the edges, after refinement
DENSE = 5.0  # edges per node from which a graph is no longer ultra-sparse
GOOD_AGREEMENT, BAD_AGREEMENT = 0.9, 0.7  # mean share of the graphs of a consensus that agree on a point
AT_OPTIMUM = (
    "The weights are at their optimum: resistance agrees with small distances, not with large ones. Take large ones "
    "from the data, or from the embedding by the first 50 eigenvectors (GraspelEmbedding)."
)


class Verdict(NamedTuple):
    """One question about a result: its answer and rating, what to do unless that is good, and the certificate's entry.

    `rating` is "good", "doubtful" or "bad"; `entry` is a label of `Certificate.sentences`, or empty.
    """

    question: str
    rating: str
    answer: str
    advice: str = ""
    entry: str = ""


def judge(
    certificate: Certificate, count: Eigengap | ClusterCount | None = None, agreement: float | None = None
) -> Table:
    """Answer what a reader asks before trusting a result.

    Parameters
    ----------
    certificate : Certificate
    count : Eigengap or ClusterCount, optional
        What the number of clusters rests on: the eigenvalues of one graph, or a count by several.
    agreement : float, optional
        Mean share of the graphs of a consensus that agree on a point.

    Returns
    -------
    verdicts : Table
        With the `question`, the `rating` ("good", "doubtful" or "bad"), the `answer` with its numbers, the `advice`
        (empty if all is well) and the `entry` of the certificate that it is about. What was not measured is left out.
    """
    found = [
        _judge_connection(certificate),
        _judge_rounds(certificate),
        _judge_density(certificate),
        _judge_recall(certificate),
        _judge_count(count),
        _judge_agreement(agreement),
        _judge_weights(certificate),
        _judge_distances(certificate),
    ]
    rows = [verdict for verdict in found if verdict is not None]
    return Table({name: np.array([getattr(row, name) for row in rows], dtype=object) for name in Verdict._fields})


def _grade(value: float, good: float, bad: float) -> str:
    """Good from one limit up, bad below the other, or if it is not a number."""
    return GOOD if value >= good else DOUBTFUL if value >= bad else BAD


def _judge_connection(c: Certificate) -> Verdict:
    question = "Is everything connected?"
    edges = f"{c.n_edges:,} edges connect {c.n_nodes:,} points"
    if c.connected:
        return Verdict(question, GOOD, f"Yes: every point can be reached from every other. {edges}.", entry="connected")
    return Verdict(
        question,
        BAD,
        f"No: {edges}, but some points cannot be reached from others.",
        "Join the components by graspel.connect.",
        "connected",
    )


def _judge_rounds(c: Certificate) -> Verdict:
    question = "Is the graph finished?"
    if not c.settled and c.n_rounds <= 1:  # the first round may only join components
        answer = "Yes: it is the start graph in one component, as asked for; no rounds were run to add edges."
        return Verdict(question, GOOD, answer, entry="settled")
    rounds = f"{c.n_rounds} {'round' if c.n_rounds == 1 else 'rounds'}"
    eta = "" if math.isnan(c.eta_max) else f" (largest distortion {c.eta_max:.3g})"
    if c.settled:
        answer = f"Yes: it settled after {rounds}; the last one found no edge to add{eta}."
        return Verdict(question, GOOD, answer, entry="settled")
    return Verdict(
        question,
        DOUBTFUL,
        f"Not quite: it stopped after {rounds}, and further rounds would add edges{eta}.",
        "Allow more rounds (max_iter), more edges in each round (edge_ratio), or a larger tol. This hardly changes "
        "groups and map.",
        "settled",
    )


def _judge_density(c: Certificate) -> Verdict:
    question, density = "Is the graph ultra-sparse?", f"{c.density:.2f} edges for each point"
    if c.density <= DENSE:
        return Verdict(question, GOOD, f"Yes: {density}.", entry="edges")
    advice = "Take fewer neighbors (n_neighbors)." if c.optimality_gap is None else "A penalty (beta) drops edges."
    return Verdict(question, DOUBTFUL, f"No: {density}.", advice, "edges")


def _judge_recall(c: Certificate) -> Verdict | None:
    if math.isnan(c.neighbor_recall):
        return None
    question, share = "Were the nearest neighbors found?", f"{c.neighbor_recall:.1%} of the true ones"
    rating = _grade(c.neighbor_recall, GOOD_RECALL, BAD_RECALL)
    if rating == GOOD:
        return Verdict(question, GOOD, f"Yes: {share}.", entry="kNN recall")
    return Verdict(
        question,
        rating,
        f"Only {share}: the points are spread evenly in many dimensions.",
        "Reduce the number of features first, for example by PCA, or pass exact lists as initial=(indices, distances).",
        "kNN recall",
    )


def _judge_count(count: Eigengap | ClusterCount | None) -> Verdict | None:
    if count is None:
        return None
    of = "Eigenvalues of the graph: " if isinstance(count, Eigengap) else "By all graphs together: "
    question, sentence = "Is the number of groups clear?", f"{of}{count.sentence()}."
    if count.is_clear:
        return Verdict(question, GOOD, f"Yes. {sentence}")
    return Verdict(
        question,
        DOUBTFUL,
        f"No, the data do not say how many groups there are. {sentence}",
        "Try other numbers of clusters (-k), and keep the one whose groups you can explain.",
    )


def _judge_agreement(agreement: float | None) -> Verdict | None:
    if agreement is None:
        return None
    question, share = "Are the groups the same on other graphs of the data?", f"{agreement:.0%} of the votes agree"
    rating = _grade(agreement, GOOD_AGREEMENT, BAD_AGREEMENT)
    if rating == GOOD:
        return Verdict(question, GOOD, f"Yes: on average {share} on the group of a point.")
    return Verdict(
        question,
        rating,
        f"In part: on average {share} on the group of a point.",
        "Rely on the groups that the graphs agree on, and look at the points of the others one by one.",
    )


def _judge_weights(c: Certificate) -> Verdict | None:
    """Whether refined weights are at their optimum."""
    if c.support_gap is None:
        return None
    question, gap = (
        "Are the weights at their optimum?",
        f"on the edges R/z differs from 1 by at most {c.support_gap:.1e}",
    )
    rating = _grade(-c.support_gap, -GOOD_GAP, -BAD_GAP)
    if rating == GOOD:
        return Verdict(question, GOOD, f"Yes: {gap}.", entry="gap")
    return Verdict(question, rating, f"Not yet: {gap}.", "Allow more iterations or a larger tol.", "gap")


def _judge_distances(c: Certificate) -> Verdict | None:
    """Whether distances in the data can be read off the graph as effective resistances."""
    r, ratio = c.resistance_correlation, c.resistance_ratio
    if math.isnan(ratio):
        return None
    question = "Can distances be computed from the graph?"
    correlation = "unknown" if math.isnan(r) else f"{r:.2f}"
    measured = (
        f"Over {c.n_sampled_pairs:,} random pairs, effective resistance on the graph has correlation {correlation} "
        f"with squared distance in the data, and is {ratio:.2f} times as large (median); exact would be 1 and 1."
    )
    rating = _grade(r, GOOD_CORRELATION, BAD_CORRELATION)
    if rating == GOOD and not 1 / RATIO <= ratio <= RATIO:
        rating = DOUBTFUL
    answer, advice = {
        GOOD: ("Yes.", ""),
        DOUBTFUL: (
            "Roughly: which pairs are farther apart, but not how far.",
            'For distances, refine the weights (weights="refined").',
        ),
        BAD: (
            "No, not here: the graph keeps near points and groups, but distances between far points are lost.",
            "Use the graph for neighbors, groups and the map. Take distances from the data, or try "
            'weights="refined" and more neighbors, and look at this line again.',
        ),
    }[rating]
    if rating != GOOD and c.optimality_gap is not None:
        advice = AT_OPTIMUM
    return Verdict(question, rating, f"{answer} {measured}", advice, "R against z")
