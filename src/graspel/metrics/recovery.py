r"""Recovery scores: how well a learned graph agrees with the true graph.

Every pair of nodes is an edge or not, in each of the two graphs. From the four counts, as in Dong et al. (2016),

    precision = shared / learned        recall = shared / true        F = 2 precision recall / (precision + recall)
    NMI = I(true, learned) / ((H(true) + H(learned)) / 2)             arithmetic mean of the two entropies

Many learners return edges of tiny weight, and the protocol counts weights under 1e-4 as absent (`threshold`).

Two more scores compare the weights of the whole learned graph: their relative error after both graphs are scaled to the
same total weight, because some methods do not determine the scale, and the rank correlation (Spearman) of the effective
resistances, which is 1 where both graphs order all pairs of nodes in the same way.

References
----------
X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from graspel.graph import Graph
from graspel.graph.edges import edge_keys
from graspel.linalg import resistance_between
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Floats

SAMPLED_NODES = 32  # largest number of nodes between which resistances are compared; 496 pairs
SOLVED = 1e-7  # relative residual of the solves for the resistances
DIGITS = 5  # decimals of a resistance, as a share of the largest; smaller differences are solver errors, and tie


@dataclass(frozen=True)
class EdgeScores:
    """Agreement of a learned graph with the truth.

    Attributes
    ----------
    precision, recall, f_measure : float
        Of the edges; 0 where there is nothing to divide by.
    nmi : float
        Mutual information of the labels "edge" and "no edge" of all pairs, divided by the arithmetic mean of their
        entropies (where both are zero: 1 if the graphs have the same edges, else 0).
    weight_error : float
        |w - w_true| / |w_true| over all pairs, both scaled to the same total weight (1 for a graph without edges).
    resistance_agreement : float
        Spearman's rank correlation of effective resistances (NaN where all are equal in one of the graphs).
    n_true, n_learned, n_shared : int
        Edges of the truth, edges learned, and those in both.
    """

    precision: float
    recall: float
    f_measure: float
    nmi: float
    weight_error: float
    resistance_agreement: float
    n_true: int
    n_learned: int
    n_shared: int


def edge_scores(truth: Graph, learned: Graph, *, threshold: float = 0.0, random_state: Any = 0) -> EdgeScores:
    """Compare a learned graph with the truth, on the same nodes.

    Parameters
    ----------
    truth, learned : Graph
        Of any size: time and memory do not grow with the square of the number of nodes.
    threshold : float
        Learned edges of a smaller weight count as absent in precision, recall, F and NMI. The protocol of Dong et al.
        uses 1e-4. Weights and resistances are compared on the whole learned graph.
    random_state : int, RandomState, Generator or None
        Seed that samples the 32 nodes between which resistances are compared in a larger graph.

    Returns
    -------
    EdgeScores

    Examples
    --------
    >>> truth = Graph(4, [0, 1, 2], [1, 2, 3], 1.0)
    >>> scores = edge_scores(truth, Graph(4, [0, 1, 0], [1, 2, 3], [1.0, 1.0, 1e-5]), threshold=1e-4)
    >>> scores.precision, round(scores.recall, 3), round(scores.f_measure, 3)
    (1.0, 0.667, 0.8)
    """
    check_number("threshold", threshold, "of at least 0", lambda v: 0 <= v < np.inf)
    _check_sizes(truth, learned)
    n_pairs = truth.n_nodes * (truth.n_nodes - 1) // 2
    kept = _keys(learned)[learned.weights >= threshold]
    n_true, n_learned = truth.n_edges, len(kept)
    n_shared = len(np.intersect1d(_keys(truth), kept, assume_unique=True))
    return EdgeScores(
        precision=n_shared / max(n_learned, 1),
        recall=n_shared / max(n_true, 1),
        f_measure=2 * n_shared / max(n_true + n_learned, 1),
        nmi=nmi_of_counts(n_shared, n_true, n_learned, n_pairs),
        weight_error=weight_error(truth, learned),
        resistance_agreement=resistance_agreement(truth, learned, random_state=random_state),
        n_true=n_true,
        n_learned=n_learned,
        n_shared=n_shared,
    )


def nmi_of_counts(n_shared: int, n_true: int, n_learned: int, n_pairs: int) -> float:
    """NMI of two labelings of all pairs as edge or no edge, from the counts.

    >>> nmi_of_counts(n_shared=3, n_true=3, n_learned=3, n_pairs=6)
    1.0
    """
    joint = np.array([[n_shared, n_true - n_shared], [n_learned - n_shared, 0]], dtype=np.float64)
    joint[1, 1] = n_pairs - joint.sum()
    by_truth, by_learned = _entropy(joint.sum(axis=0), n_pairs), _entropy(joint.sum(axis=1), n_pairs)
    if by_truth + by_learned == 0:
        return float(n_shared == n_true == n_learned)
    information = by_truth + by_learned - _entropy(joint.ravel(), n_pairs)
    return float(np.clip(2 * information / (by_truth + by_learned), 0.0, 1.0))


def _entropy(counts: Floats, total: int) -> float:
    shares = counts[counts > 0] / max(total, 1)
    # log1p is accurate for shares near 1: in a large sparse graph nearly all pairs are no edges.
    return float(-(shares * np.log1p(shares - 1)).sum()) + 0.0


def weight_error(truth: Graph, learned: Graph) -> float:
    """|w - w_true| / |w_true| over all pairs, both graphs scaled to the same total weight.

    >>> weight_error(Graph(3, [0, 1], [1, 2], 1.0), Graph(3, [0, 1], [1, 2], 7.0))
    0.0
    """
    _check_sizes(truth, learned)
    if truth.n_edges == 0:
        return 0.0 if learned.n_edges == 0 else float("inf")
    keys, index = np.unique(np.concatenate([_keys(truth), _keys(learned)]), return_inverse=True)
    w_true = np.bincount(index[: truth.n_edges], truth.weights / truth.weights.sum(), len(keys))
    share = learned.weights / learned.weights.sum() if learned.n_edges else learned.weights
    w = np.bincount(index[truth.n_edges :], share, len(keys))
    return float(np.linalg.norm(w - w_true) / np.linalg.norm(w_true))


def resistance_agreement(truth: Graph, learned: Graph, *, random_state: Any = 0) -> float:
    """Spearman's rank correlation of effective resistances, over all pairs of at most 32 random nodes.

    Pairs of different components have infinite resistance and rank last.

    >>> resistance_agreement(Graph(3, [0, 1], [1, 2], [1.0, 2.0]), Graph(3, [0, 1], [1, 2], [3.0, 4.0]))
    1.0
    """
    _check_sizes(truth, learned)
    rng = generator(random_state)
    nodes = np.sort(rng.choice(truth.n_nodes, min(SAMPLED_NODES, truth.n_nodes), replace=False))
    ranks = np.stack([_ranked_resistances(graph, nodes) for graph in (truth, learned)])
    if ranks.shape[1] < 2 or (np.ptp(ranks, axis=1) == 0).any():
        return float("nan")
    return 1.0 if np.array_equal(ranks[0], ranks[1]) else float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranked_resistances(graph: Graph, nodes: NDArray[np.int64]) -> Floats:
    R = resistance_between(graph, nodes, tol=SOLVED, random_state=0)[np.triu_indices(len(nodes), 1)]
    finite = np.isfinite(R)
    largest = R[finite].max(initial=0.0)
    R[finite] = np.round(R[finite] / largest, DIGITS) if largest > 0 else 0.0
    return rankdata(R)


def _keys(graph: Graph) -> NDArray[np.int64]:
    return edge_keys(graph.heads, graph.tails, graph.n_nodes)


def _check_sizes(truth: Graph, learned: Graph) -> None:
    if truth.n_nodes != learned.n_nodes:
        raise ValueError(
            f"a truth of {truth.n_nodes} nodes and a learned graph of {learned.n_nodes}: both need the same nodes. "
            "Was X passed with nodes as columns? Rows must be nodes."
        )
