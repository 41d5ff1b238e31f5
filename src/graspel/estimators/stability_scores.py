r"""SPADE: how much a model can stretch distances, measured on the graphs of its inputs X and its outputs Y.

With effective resistances as distances, d_X = R on the learned graph of the inputs and d_Y = R on that of the outputs,
the *distance mapping distortion* of a pair is d_Y(p, q) / d_X(p, q). Since R(p, q) = e_pq' L^+ e_pq, its maximum over
all pairs, and over all differences of distributions, is bounded by the largest eigenvalue of L_Y^+ L_X:

    d_Y(p, q) / d_X(p, q)  <=  max over x of  (x'L_Y^+ x) / (x'L_X^+ x)  =  lambda_max(L_Y^+ L_X).

So lambda_max bounds the Lipschitz constant of the model in these distances. With its first eigenvectors v_i, L_X v =
lambda L_Y v, scaled as V = [v_1 sqrt(lambda_1), ...], the score of an edge (p, q) of the input graph is
|V'e_pq|^2: large where the model stretches most. The score of a point is the mean over its edges.

References
----------
W. Cheng, C. Deng, Z. Zhao, Y. Cai, Z. Zhang and Z. Feng. SPADE: A spectral method for black-box adversarial robustness
evaluation. ICML, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph
from graspel.linalg.pencil import largest_generalized_pairs
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats

NEIGHBORS = 10  # neighbors in both graphs; with few, lambda_max is decided by single edges


@dataclass(frozen=True)
class StabilityScores:
    """What :func:`stability_scores` returns.

    Attributes
    ----------
    bound : float, lambda_max: an upper bound of d_Y / d_X over all pairs, in resistance distances
    eigenvalues : array, the largest generalized eigenvalues, descending
    point_scores : array of N; points with large scores are those where the model is least stable
    edge_scores : array, one for each edge of `input_graph`, in the order of its `heads`
    input_graph, output_graph : Graph
    """

    bound: float
    eigenvalues: Floats
    point_scores: Floats
    edge_scores: Floats
    input_graph: Graph
    output_graph: Graph

    def __repr__(self) -> str:
        worst = int(self.point_scores.argmax())
        return f"StabilityScores(bound={self.bound:.4g}, {len(self.point_scores)} points, least stable: point {worst})"


def stability_scores(
    X: Any,
    Y: Any,
    *,
    n_vectors: int = 10,
    learner: GRASPEL | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> StabilityScores:
    """Measure how stable a model is at its inputs, from its outputs alone.

    Parameters
    ----------
    X : array (N x M), Graph
        Inputs of the model, or a connected graph of them.
    Y : array (N x K), Graph
        Its outputs: class probabilities, logits or embeddings of the same points.
    n_vectors : int, default=10
        Number of eigenvectors that the scores use.
    learner : GRASPEL, default=None
        How both graphs are learned. None is ``GRASPEL(10, max_iter=0)``.
    random_state : int, default=0
        Seed.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    StabilityScores

    Examples
    --------
    >>> import numpy as np
    >>> from graspel import stability_scores
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> calm, wild = X * 1.0, np.where(X[:, :1] > 1, 50 * X, X)
    >>> stability_scores(X, calm).bound < stability_scores(X, wild).bound
    True
    """
    check_number("n_vectors", n_vectors, ">= 1", lambda v: v >= 1, whole=True, hint="10 are usual.")
    source, target = (_graph_of(values, name, learner, random_state, n_jobs) for values, name in ((X, "X"), (Y, "Y")))
    if source.n_nodes != target.n_nodes:
        raise ValueError(f"X has {source.n_nodes} points and Y has {target.n_nodes}: give the outputs of these inputs.")
    pairs = largest_generalized_pairs(source, target, n_vectors, random_state=random_state, n_jobs=n_jobs)
    V = pairs.vectors * np.sqrt(pairs.values)
    difference = V[source.heads] - V[source.tails]
    edges = np.einsum("ij,ij->i", difference, difference)
    total, count = np.zeros(source.n_nodes), np.zeros(source.n_nodes)
    for ends in (source.heads, source.tails):
        total += np.bincount(ends, edges, source.n_nodes)
        count += np.bincount(ends, minlength=source.n_nodes)
    return StabilityScores(float(pairs.values[0]), pairs.values, total / np.maximum(count, 1), edges, source, target)


def _graph_of(values: Any, name: str, learner: GRASPEL | None, random_state: int, n_jobs: int | None) -> Graph:
    if isinstance(values, Graph):
        return values
    if learner is not None and not isinstance(learner, GRASPEL):
        raise ValueError(f"learner={learner!r}: must be a GRASPEL, or None.")
    n_points = len(values) if not hasattr(values, "shape") else values.shape[0]
    default = GRASPEL(min(NEIGHBORS, max(1, n_points - 1)), max_iter=0)
    model: GRASPEL = clone(default if learner is None else learner)
    model.random_state = random_state if model.random_state is None else model.random_state
    model.n_jobs = n_jobs if model.n_jobs is None else model.n_jobs
    try:
        return model.fit(values).graph_
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
