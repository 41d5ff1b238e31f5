"""Verdicts: what the certificate means for these data, whether that is good, and what to do about it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graspel.cluster import ClusterCount
from graspel.learning.certificate import Certificate
from graspel.learning.eigengap import Eigengap
from graspel.learning.verdicts import judge as judge_entries

__all__ = ["Verdict", "judge"]

GOOD, DOUBTFUL, BAD = "good", "doubtful", "bad"
GOOD_AGREEMENT, BAD_AGREEMENT = 0.9, 0.7  # mean share of the members of a consensus that agree on a point
AT_OPTIMUM = (
    "The weights are the best there are, and resistance tells near distances. Take far ones from the data, or from the "
    "embedding by the first 50 eigenvectors (GraspelEmbedding)."
)


@dataclass(frozen=True)
class Verdict:
    """One question about the result.

    Attributes
    ----------
    question, answer : str
    rating : "good", "doubtful" or "bad", the same as in the table of the certificate
    advice : str, what to do; empty if nothing needs to be done
    """

    question: str
    rating: str
    answer: str
    advice: str = ""


def judge(
    certificate: Certificate, count: Eigengap | ClusterCount | None, agreement: float | None = None
) -> list[Verdict]:
    """Answer what a reader asks before trusting a result.

    Parameters
    ----------
    certificate : Certificate
    count : what the number of clusters rests on: an eigengap, or a count by several graphs; None without clusters
    agreement : float, mean share of a consensus that agrees on a point; None without a consensus
    """
    found = [_judge_connection(certificate), _judge_rounds(certificate), _judge_recall(certificate)]
    found += [_judge_count(count), _judge_agreement(agreement), _judge_distances(certificate)]
    return [verdict for verdict in found if verdict is not None]


def _judge_connection(c: Certificate) -> Verdict:
    question = "Is everything connected?"
    edges = f"{c.n_edges:,} edges connect {c.n_nodes:,} points, {c.density:.2f} for each point"
    if c.connected:
        return Verdict(question, GOOD, f"Yes: every point can be reached from every other. {edges}.")
    return Verdict(
        question, BAD, f"No: {edges}, but some points cannot be reached from others.", "Learn the graph again."
    )


def _judge_rounds(c: Certificate) -> Verdict | None:
    question = "Is the graph finished?"
    if c.n_rounds == 0:
        answer = "Yes: it is the graph of nearest neighbors, as asked for; no rounds were run to add edges."
        return Verdict(question, GOOD, answer)
    rounds = f"{c.n_rounds} {'round' if c.n_rounds == 1 else 'rounds'}"
    eta = "" if math.isnan(c.eta_max) else f" (largest distortion {c.eta_max:.3g})"
    if c.settled:
        return Verdict(question, GOOD, f"Yes: it settled after {rounds}; the last one found no edge to add{eta}.")
    return Verdict(
        question,
        DOUBTFUL,
        f"Not quite: it stopped after {rounds}, and further rounds would add edges{eta}.",
        "Allow more rounds (max_iter) or more edges in each round (edge_ratio). This hardly changes groups and map.",
    )


def _judge_recall(c: Certificate) -> Verdict | None:
    if math.isnan(c.neighbor_recall):
        return None
    question, share = "Were the nearest neighbors found?", f"{c.neighbor_recall:.1%} of the true ones"
    rating = judge_entries(c)["kNN recall"].word
    if rating == GOOD:
        return Verdict(question, GOOD, f"Yes: {share}.")
    return Verdict(
        question,
        rating,
        f"Only {share}: the points are spread evenly in many dimensions.",
        "Reduce the number of features first, for example by PCA, or pass exact lists as initial=(indices, distances).",
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
    if agreement >= GOOD_AGREEMENT:
        return Verdict(question, GOOD, f"Yes: on average {share} on the group of a point.")
    rating = DOUBTFUL if agreement >= BAD_AGREEMENT else BAD
    return Verdict(
        question,
        rating,
        f"In part: on average {share} on the group of a point.",
        "Rely on the groups that are sure, and look at the points of the others one by one.",
    )


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
    rating = BAD if math.isnan(r) else judge_entries(c)["R against z"].word
    if rating == GOOD:
        return Verdict(question, GOOD, f"Yes. {measured}")
    if rating == DOUBTFUL:
        return Verdict(
            question,
            DOUBTFUL,
            f"Roughly: which pairs are farther apart, but not how far. {measured}",
            "For distances, refine the weights (weights='refined')." if c.optimality_gap is None else AT_OPTIMUM,
        )
    return Verdict(
        question,
        BAD,
        f"No, not here: the graph keeps near points and groups, but distances between far points are lost. {measured}",
        "Use the graph for neighbors, groups and the map. Take distances from the data, or try weights='refined' and "
        "more "
        "neighbors, and look at this line again."
        if c.optimality_gap is None
        else AT_OPTIMUM,
    )
