r"""Doubtful labels: the points near a point have another label than the point itself.

Every point j votes for its label y_j at all points i near it, with the weight of their similarity,

    w_ij = exp(-d_ij^2 / (m_i m_j)),

where m is the mean distance of a point to the points near it. A point has no vote on itself. The vote of a point whose
own label looks wrong should not count, so there are two rounds: the share of votes that agree with a label in the first
round is the weight of this label in the second. The score of a label is the share of votes for the best other label
minus the share for the label itself; it lies between -1 and 1.

A score above zero says that a label may be wrong: where classes overlap, or where groups in the data are something else
than the classes, there are many such points and few wrong labels. A case is confident if its score is above
`CONFIDENT`, and if the labels of its class are usually confirmed, that is if more than half of the points of the class
have a share above one half. Of a class that the points near its points do not show, no single point can be doubted.

References
----------
X. Zhu and Z. Ghahramani. Learning from labeled and unlabeled data with label propagation. CMU-CALD-02-107, 2002.

L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. NIPS 2004. The local scale of similarities.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.graph import Graph
from graspel.runtime.types import Bools, Floats, Ints

CONFIDENT = 0.8  # score: nine of ten votes for another label. On six sets with 5 % false labels .92 of such are false


def find_doubtful_labels(near: NearPoints, graph: Graph, classes: Ints) -> Table:
    """All labels, the most doubtful one first, by the votes of the points near them in the data and in the graph.

    Parameters
    ----------
    near : NearPoints
    graph : Graph
    classes : array of N, the classes as numbers from 0; -1 for a point without a label, which has no vote

    Returns
    -------
    labels : Table
        Of the points with a label, with the `point`, its `label`, the `suggested` one, the share of the votes for each
        (`own_share`, `suggested_share`), their difference (`score`, from -1 to 1; doubtful if it is positive), whether
        the case is `confident`, and the point near it that has the suggested label and the largest vote (`witness`; the
        point itself if there is none).

    Examples
    --------
    >>> from graspel.findings import near_points_of_graph
    >>> clique = Graph(5, *np.triu_indices(5, 1), 1.0)
    >>> labels = find_doubtful_labels(near_points_of_graph(clique), clique, np.array([0, 0, 1, 0, 0]))
    >>> worst = next(labels.rows())
    >>> worst["point"], worst["label"], worst["suggested"], worst["score"], worst["witness"]
    (2, 1, 0, 1.0, 0)
    """
    W = _similarities(near, graph)
    n, labeled = len(classes), np.flatnonzero(classes >= 0)
    shape, points, known = (n, int(classes.max(initial=0)) + 1), np.arange(n), np.maximum(classes, 0)
    labels = sp.csr_array((np.ones(len(labeled)), (labeled, classes[labeled])), shape=shape)
    credit = _shares(W @ labels)[points, known]
    votes = sp.csr_array(sp.diags_array(np.asarray(credit) + 1e-6) @ labels)
    shares = _shares(W @ votes)
    own = np.asarray(shares[points, known]).ravel()
    others = sp.csr_array(shares - sp.csr_array((own, (points, known)), shape=shape))
    best = others.max(axis=1).toarray().ravel()
    suggested = np.asarray(others.argmax(axis=1)).ravel().astype(np.int64)
    suggested = np.where(best > 0, suggested, classes)
    score = np.where(best > 0, best, 0.0) - own
    columns = {
        "point": points,
        "label": classes,
        "suggested": suggested,
        "score": score,
        "own_share": own,
        "suggested_share": np.where(best > 0, best, own),
        "confident": (score > CONFIDENT) & _is_confirmed(own[labeled], classes[labeled], shape[1])[known],
        "witness": _witnesses(W, classes, suggested),
    }
    order = np.lexsort([points, -score])
    return Table(columns).take(order[classes[order] >= 0])


def _is_confirmed(own: Floats, classes: Ints, n_classes: int) -> Bools:
    """Whether the median share of the votes that agree with the labels of a class is above one half."""
    agrees = np.bincount(classes[own > 0.5], minlength=n_classes)
    confirmed: Bools = 2 * agrees > np.bincount(classes, minlength=n_classes)
    return confirmed


def _witnesses(W: sp.csr_array, classes: Ints, suggested: Ints) -> Ints:
    """For every point the most similar one that has the label suggested for it; the point itself if there is none."""
    W = W.tocoo()
    agrees = (classes[W.col] == suggested[W.row]) & (W.row != W.col)
    row, column, weight = W.row[agrees], W.col[agrees], W.data[agrees]
    order = np.lexsort([column, -weight, row])
    rows, first = np.unique(row[order], return_index=True)
    witness = np.arange(len(classes))
    witness[rows] = column[order][first]
    return witness


def _similarities(near: NearPoints, graph: Graph) -> sp.csr_array:
    """Similarities of near points, in both directions, and of the ends of edges."""
    edges = graph.adjacency.copy()
    edges.data = 1 / np.sqrt(edges.data)
    m = near.mean_distances()
    m = np.where(m > 0, m, float(m.mean()) or 1.0)  # points with nothing but copies near them
    D = near.D.tocoo()
    weights = np.exp(-np.minimum((D.data / m[D.row]) * (D.data / m[D.col]), 700.0))
    W = sp.csr_array((weights, (D.row, D.col)), shape=D.shape)
    W = sp.csr_array(W.maximum(W.T))
    # The ends of an edge that are not among the near points vote with the weight of the farthest near point.
    least = float(np.exp(-1.0))
    missing = graph.adjacency.astype(bool).astype(np.float64) * least
    return sp.csr_array(W.maximum(sp.csr_array(missing))) if graph.n_edges else W


def _shares(votes: sp.csr_array) -> sp.csr_array:
    """Votes divided by the sum of their row."""
    total = votes.sum(axis=1)
    return sp.csr_array(sp.diags_array(1 / np.where(total > 0, total, 1.0)) @ votes)
