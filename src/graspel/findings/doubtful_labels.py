r"""Doubtful labels: the points near a point have another label than the point itself.

Every point j votes for its label y_j at all points i near it, with the weight of their similarity,

    w_ij = exp(-d_ij^2 / (m_i m_j)),

where m is the mean distance of a point to the points near it. A point has no vote on itself. The vote of a point whose
own label looks wrong should not count, so there are two rounds: the share of votes that agree with a label in the first
round is the weight of this label in the second. The score of a label is the share of votes for the best other label
minus the share for the label itself; it lies between -1 and 1.

Near points say nothing about what a whole class has in common. So where the rows of the data are at hand, a linear
model votes too, with half of all votes: ridge regression of the classes on the columns, in which every point is
predicted by a fit without it. That takes one fit (Allen's PRESS): with the hat matrix H = X (X'X + c I)^-1 X',

    prediction without point i = (prediction - H_ii y_i) / (1 - H_ii),

cut off at zero and divided by the sum over the classes.

A score above zero says that a label may be wrong: where classes overlap, or where groups in the data are something else
than the classes, there are many such points and few wrong labels. As in confident learning, votes are compared with
what is usual in a class. A case is confident if its share for the other class is at least `USUAL` of the mean share
that points with this label have for it, its share for its own label at most `CONTRADICTED` of the mean in its class,
and if both classes are confirmed, that is if their label has the most votes at more than half of their points. Of a
class that the data do not show, no single point can be doubted.

References
----------
D. M. Allen. The relationship between variable selection and data augmentation and a method for prediction.
Technometrics 16, 1974.

C. Northcutt, L. Jiang and I. Chuang. Confident learning: estimating uncertainty in dataset labels. Journal of
Artificial Intelligence Research 70, 2021.

X. Zhu and Z. Ghahramani. Learning from labeled and unlabeled data with label propagation. CMU-CALD-02-107, 2002.

L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. NIPS 2004. The local scale of similarities.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.data.prepare import is_of_rows
from graspel.data.protocol import Data
from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.graph import Graph
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Bools, Floats, Ints

USUAL, CONTRADICTED = 0.8, 0.2  # of mean shares; chosen on ten sets with 5 % false labels: .92 of such cases are false
WIDE = 2_000  # columns from which no linear model is fitted
PENALTY = 0.01  # of the ridge, in mean eigenvalues of X'X
BLOCK_VALUES = 1 << 22  # values of a block of rows in single precision: 16 MB


def find_doubtful_labels(near: NearPoints, graph: Graph, classes: Ints, rows: Data | None = None) -> Table:
    """All labels, the most doubtful one first, by the votes of the points near them and of a linear model.

    Parameters
    ----------
    near : NearPoints
    graph : Graph
    classes : array of N, the classes as numbers from 0; -1 for a point without a label, which has no vote
    rows : Data, optional
        The rows of the data, for the linear model; without them near points alone vote.

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
    own, best, suggested = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    for block, voted in _both_votes(shares, classes, rows):
        at = np.arange(len(voted)), known[block]
        own[block], voted[at] = voted[at], -1.0
        suggested[block] = voted.argmax(axis=1)
        best[block] = voted[at[0], suggested[block]]
    suggested = np.where(best > 0, suggested, classes)
    score = np.maximum(best, 0.0) - own
    columns = {
        "point": points,
        "label": classes,
        "suggested": suggested,
        "score": score,
        "own_share": own,
        "suggested_share": np.where(best > 0, best, own),
        "confident": _is_confident(own, best, known, suggested, labeled),
        "witness": _witnesses(W, classes, suggested),
    }
    order = np.lexsort([points, -score])
    return Table(columns).take(order[classes[order] >= 0])


def rows_of(index: NeighborIndex) -> Data | None:
    """The rows of an index for `find_doubtful_labels`; None where distances are not those between rows."""
    return index.points if is_of_rows(index.metric) and not index.is_remote else None


def _both_votes(shares: sp.csr_array, classes: Ints, rows: Data | None) -> Iterator[tuple[slice, Floats]]:
    """The shares of the votes for all classes, for a block of points after the other."""
    n, n_classes = shares.shape
    if rows is None or rows.n_features > WIDE or n_classes < 2:
        for block in row_blocks(n, max(1, BLOCK_VALUES // n_classes)):
            yield block, shares[block].toarray()
        return
    for block, predicted in _predict_left_out(rows, classes, n_classes):
        predicted = np.maximum(predicted, 0.0)
        yield block, (shares[block].toarray() + predicted / np.maximum(predicted.sum(axis=1, keepdims=True), 1e-9)) / 2


def _predict_left_out(rows: Data, classes: Ints, n_classes: int) -> Iterator[tuple[slice, Floats]]:
    """The predictions of the ridge regression for every point, by fits without it."""
    n, m = len(classes), rows.n_features
    blocks = row_blocks(n, max(1, BLOCK_VALUES // max(m, n_classes)))
    has_label = classes >= 0
    n_labeled = max(int(has_label.sum()), 1)
    sums = np.zeros((n_classes, m))
    for block in blocks:
        sums += _members(classes[block], n_classes) @ _rows(rows, block)
    sizes = np.bincount(classes[has_label], minlength=n_classes)
    middle = sums.sum(axis=0) / n_labeled
    sums -= sizes[:, None] * middle
    gram = np.zeros((m, m))
    for block in blocks:
        X = (_rows(rows, block) - middle.astype(np.float32))[has_label[block]]
        gram += X.T @ X
    gram[np.diag_indices(m)] += PENALTY * (float(np.trace(gram)) / m or 1.0)
    whitening = np.linalg.inv(np.linalg.cholesky(gram)).T.astype(np.float32)
    weights = np.linalg.solve(gram, sums.T)
    for block in blocks:
        X = _rows(rows, block) - middle.astype(np.float32)
        leverage = 1 / n_labeled + ((X @ whitening) ** 2).sum(axis=1, dtype=np.float64)
        leverage = np.where(has_label[block], np.minimum(leverage, 1 - 1e-6), 0.0)
        predicted = sizes / n_labeled + X @ weights
        predicted[np.arange(len(X)), np.maximum(classes[block], 0)] -= leverage
        yield block, predicted / (1 - leverage)[:, None]


def _members(classes: Ints, n_classes: int) -> sp.csr_array:
    """One for each class (row) and the points in it."""
    labeled = np.flatnonzero(classes >= 0)
    shape = (n_classes, len(classes))
    return sp.csr_array((np.ones(len(labeled), dtype=np.float32), (classes[labeled], labeled)), shape=shape)


def _rows(rows: Data, block: slice) -> Any:
    some: Any = rows.rows(block)
    dense = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float32)
    return dense


def _is_confident(own: Floats, best: Floats, classes: Ints, suggested: Ints, labeled: Ints) -> Bools:
    """Whether the votes contradict a label clearly, beside what is usual in both classes."""
    n_classes = int(max(classes.max(initial=0), suggested.max(initial=0))) + 1
    sizes = np.bincount(classes[labeled], minlength=n_classes)
    usual = np.bincount(classes[labeled], own[labeled], n_classes) / np.maximum(sizes, 1)
    agrees = labeled[own[labeled] > best[labeled]]
    is_confirmed = 2 * np.bincount(classes[agrees], minlength=n_classes) > sizes
    contradicted = (best >= USUAL * usual[suggested]) & (own <= CONTRADICTED * usual[classes]) & (suggested != classes)
    confident: Bools = contradicted & is_confirmed[classes] & is_confirmed[suggested]
    return confident


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
