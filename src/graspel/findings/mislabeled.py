r"""Labels that look wrong: the points near a point say otherwise than its own label.

Every point j votes for its label y_j at all points i near it, with the weight of their similarity,

    w_ij = exp(-d_ij^2 / (m_i m_j)),

where m is the mean distance of a point to the points near it. A point has no vote on itself. The vote of a point whose
own label looks wrong should not count, so there are two rounds: the share of votes that agree with a label in the first
round is the weight of this label in the second. The suspicion of a label is the share of votes for the best other label
minus the share for the label itself; it lies between -1 and 1.

References
----------
X. Zhu and Z. Ghahramani. Learning from labeled and unlabeled data with label propagation. CMU-CALD-02-107, 2002.

L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. NIPS 2004. The local scale of similarities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.findings.nearest import NearPoints
from graspel.graph import Graph
from graspel.runtime.types import Floats, Ints

__all__ = ["Suspicion", "suspect_labels"]


class Suspicion(NamedTuple):
    """How wrong each label looks (-1 to 1), and the label that the near points vote for instead."""

    score: Floats
    instead: Ints

    def order(self) -> Ints:
        """All points, the most suspicious first."""
        return np.lexsort([np.arange(len(self.score)), -self.score])


def suspect_labels(near: NearPoints, graph: Graph, classes: Ints) -> Suspicion:
    """Compare the label of every point with the votes of the points near it in the data and in the graph.

    Examples
    --------
    >>> from graspel import GRASPEL
    >>> from graspel.findings.nearest import near_points_of_graph
    >>> clique = Graph(5, *np.triu_indices(5, 1), 1.0)
    >>> int(suspect_labels(near_points_of_graph(clique), clique, np.array([0, 0, 1, 0, 0])).order()[0])
    2
    """
    W = _similarities(near, graph)
    n, n_classes = len(classes), int(classes.max()) + 1
    labels = sp.csr_array((np.ones(n), classes, np.arange(n + 1)), shape=(n, n_classes))
    credit = _shares(W @ labels)[np.arange(n), classes]
    shares = _shares(W @ sp.csr_array(sp.diags_array(np.asarray(credit) + 1e-6) @ labels))
    own = np.asarray(shares[np.arange(n), classes]).ravel()
    others = sp.csr_array(shares - sp.csr_array((own, classes, np.arange(n + 1)), shape=shares.shape))
    best = others.max(axis=1).toarray().ravel()
    instead = np.asarray(others.argmax(axis=1)).ravel().astype(np.int64)
    instead = np.where(best > 0, instead, classes)
    return Suspicion(np.where(best > 0, best, 0.0) - own, instead)


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
