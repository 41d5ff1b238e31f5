"""The engine of t-SNE: forces and divergence against all pairs in double precision, in two and three dimensions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graspel.tsne.engine import Descent, Iterations, optimize
from graspel.tsne.repulsion import SPACING, Grid

DIMENSIONS = pytest.mark.parametrize("d", [2, 3])


def clusters(rng, d, scale, n=300):
    """Some clusters in a box; `scale` is half of its width."""
    centers = rng.uniform(-scale, scale, (6, d))
    return centers[rng.integers(6, size=n)] + 0.1 * scale * rng.standard_normal((n, d))


def random_affinities(rng, n):
    P = sp.random_array((n, n), density=0.05, rng=rng, format="csr")
    P = sp.csr_array(P + P.T)
    P.setdiag(0)
    P.eliminate_zeros()
    return sp.csr_array(P / P.sum())


def slow_repulsion(Y):
    """The repulsion and Z by all pairs: the slow twin."""
    difference = Y[:, None] - Y[None]
    close = 1 / (1 + (difference**2).sum(axis=2))
    return ((close**2)[:, :, None] * difference).sum(axis=1), close.sum() - len(Y)


def relative(found, truth):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


@pytest.mark.parametrize(("d", "scale"), [(2, 1e-4), (2, 0.1), (2, 3.0), (2, 30.0), (3, 1e-4), (3, 0.1), (3, 8.0)])
def test_repulsion_is_that_of_all_pairs(rng, d, scale):
    Y = clusters(rng, d, scale)
    descent = Descent(sp.csr_array((len(Y), len(Y))), Y, None)
    Z = descent._repel()
    forces, true_Z = slow_repulsion(descent.Y.astype(np.float64))
    assert_allclose(Z, true_Z, rtol=0.02)
    assert relative(-0.5 * descent.repulsion, forces) < 0.06


def test_a_finer_grid_is_more_accurate(rng, monkeypatch):
    Y = clusters(rng, 2, 20.0)
    errors = []
    for spacing in (1.0, 0.5, 0.25):
        monkeypatch.setitem(SPACING, 2, spacing)
        descent = Descent(sp.csr_array((len(Y), len(Y))), Y, None)
        descent._repel()
        errors.append(relative(-0.5 * descent.repulsion, slow_repulsion(descent.Y.astype(np.float64))[0]))
    assert errors[0] > errors[1] > errors[2]
    assert errors[0] > 8 * errors[2]  # slopes of a cubic spline: of third order, but for points in one cell


def test_forces_are_no_worse_than_those_of_opentsne(rng):
    engine = pytest.importorskip("openTSNE._tsne", reason="compares with openTSNE: pip install openTSNE")
    Y = clusters(rng, 2, 30.0)
    truth, _ = slow_repulsion(Y)
    theirs = np.zeros_like(Y)
    Z = engine.estimate_negative_gradient_fft_2d(Y, theirs)
    descent = Descent(sp.csr_array((len(Y), len(Y))), Y, None)
    descent._repel()
    assert relative(-0.5 * descent.repulsion, truth) < relative(-Z * theirs, truth)


@DIMENSIONS
def test_attraction_and_divergence_are_those_of_the_formula(rng, d):
    Y, P = clusters(rng, d, 20.0), random_affinities(rng, 300)
    descent = Descent(P, Y, None)
    Y = descent.Y.astype(np.float64)
    descent.kernels.attract(*descent.entries, descent.Y, 0, len(Y), descent.attraction)
    close = 1 / (1 + ((Y[:, None] - Y[None]) ** 2).sum(axis=2))
    W = P.toarray() * close
    assert_allclose(descent.attraction, W.sum(axis=1)[:, None] * Y - W @ Y, atol=1e-6 * np.abs(W).sum())
    Q = close / (close.sum() - len(Y))
    heads, tails = P.nonzero()
    p = P.toarray()[heads, tails]
    assert descent.divergence() == pytest.approx((p * np.log(p / Q[heads, tails])).sum(), abs=0.01)


@DIMENSIONS
@pytest.mark.long_seeds
def test_steps_go_down_the_divergence(rng, d):
    P, start = random_affinities(rng, 300), clusters(rng, d, 5.0)
    layouts = [optimize(P, start, [Iterations(n)], phase="test", n_threads=1) for n in (1, 20, 100)]
    assert layouts[0].divergence > layouts[1].divergence > layouts[2].divergence
    assert [layout.n_iter for layout in layouts] == [1, 20, 100]
    assert np.isfinite(layouts[2].coordinates).all()


def test_the_grid_grows_with_the_points_and_holds_them(rng):
    descent = Descent(random_affinities(rng, 100), clusters(rng, 2, 0.01, n=100), None)
    for _ in range(200):
        descent.step(Iterations(1))
        low, high = descent.Y.min(axis=0), descent.Y.max(axis=0)
        assert_allclose(np.array([descent.bounds[:, 0].min(axis=0), descent.bounds[:, 1].max(axis=0)]), [low, high])
    assert isinstance(descent.grid, Grid)
    assert descent.grid.spacing > 0.1


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_points(n):
    P = sp.csr_array(np.full((n, n), 0.5) - 0.5 * np.eye(n))
    layout = optimize(P, np.arange(2.0 * n).reshape(n, 2), [Iterations(20)], phase="test", n_threads=1)
    assert np.isfinite(layout.coordinates).all()


def test_a_picture_is_widened_without_its_outliers(rng):
    """Without far points all distances keep their ratio; far ones come near, in the direction in which they were."""
    Y = np.vstack([rng.uniform(-1, 1, (400, 2)), np.zeros((3, 2))])
    P = sp.csr_array((len(Y), len(Y)))
    descent = Descent(P, Y, None)
    descent.widen(20.0)
    assert_allclose(descent.Y.std(axis=0).max(), 20.0, rtol=1e-4)
    assert_allclose(descent.Y, (Y - Y.mean(axis=0)) * 20.0 / Y.std(axis=0).max(), rtol=1e-3, atol=1e-3)
    Y[-3:] = [[0.0, 20.0], [0.0, 150.0], [-100.0, 0.0]]
    descent = Descent(P, Y, None)
    descent.widen(20.0)
    r = np.linalg.norm(descent.Y, axis=1)
    assert r.max() <= 6 * 20.0
    assert r[-2] > r[-3] > r[:-3].max(), "the order of the distances is kept"
    assert 10.0 < descent.Y[:-3].std() <= 20.0, "the others fill the picture"
    assert abs(descent.Y[-2, 0]) < 0.1 * descent.Y[-2, 1]
