"""SPADE: the eigenpairs, the bound, and a real classifier."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from graspel import GRASPEL, Graph, stability_scores
from graspel.linalg import resistance_between
from graspel.linalg.pencil import largest_generalized_pairs


def random_graphs(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return [GRASPEL(k, max_iter=0, random_state=0).fit(rows).graph_ for k, rows in ((6, X), (6, X**3))]


@pytest.mark.parametrize("n", [60, 600])
def test_the_largest_eigenpairs(seed, n):
    G, P = random_graphs(seed, n)
    L, M = G.laplacian.toarray(), P.laplacian.toarray()
    exact = scipy.linalg.eigh(L[1:, 1:], M[1:, 1:], eigvals_only=True)[::-1][:4]
    found = largest_generalized_pairs(G, P, 4, tol=1e-6)
    np.testing.assert_allclose(found.values, exact, rtol=1e-3)
    for value, v in zip(found.values, found.vectors.T, strict=True):
        assert v @ L @ v == pytest.approx(value * (v @ M @ v), rel=1e-3)


def test_it_bounds_the_distortion_of_every_pair(seed):
    G, P = random_graphs(seed, 80)
    scores = stability_scores(G, P)
    R_X, R_Y = (resistance_between(graph.adjacency, np.arange(80)) for graph in (G, P))
    off = ~np.eye(80, dtype=bool)
    assert (R_Y[off] / R_X[off]).max() <= scores.bound * (1 + 1e-3)


def test_a_stretched_region_has_large_scores():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2))
    inside = X[:, 0] > 1
    Y = X.copy()
    Y[inside] = [1, 0] + 100 * (X[inside] - [1, 0])
    scores = stability_scores(X, Y)
    assert np.median(scores.point_scores[inside]) > 5 * np.median(scores.point_scores[~inside])
    assert scores.bound > 10 * stability_scores(X, X).bound
    assert len(scores.edge_scores) == scores.input_graph.n_edges


def test_a_real_classifier():
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=200).fit(X[:900] / 16, y[:900])
    shares = model.predict_proba(X[900:] / 16)
    scores = stability_scores(X[900:] / 16, shares)
    margin = np.diff(np.sort(shares, axis=1)[:, -2:], axis=1).ravel()
    unstable = np.argsort(-scores.point_scores)[:90]
    assert np.mean(margin[unstable]) < np.mean(margin)  # it is least stable near the borders of the classes
    assert "least stable" in repr(scores)


def test_bad_input():
    with pytest.raises(ValueError, match="X has 20 points and Y has 10"):
        stability_scores(np.random.default_rng(0).random((20, 2)), np.random.default_rng(0).random((10, 2)))
    with pytest.raises(ValueError, match="must be connected"):
        stability_scores(Graph(4, [0, 2], [1, 3], 1.0), Graph(4, [0, 2], [1, 3], 1.0))
    with pytest.raises(ValueError, match=r"Y: .*NaN"):
        stability_scores(np.eye(5), np.full((5, 2), np.nan))
    with pytest.raises(ValueError, match="n_vectors=0"):
        stability_scores(np.eye(5), np.eye(5), n_vectors=0)
