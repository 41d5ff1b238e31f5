"""The estimators of the field: regression, gaps, measurements; on data, and beside twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from graspel import GRASPEL, GraspelField, GraspelImputer, GraspelRegressor, NeighborIndex
from graspel.estimators.regressor import score_quantile
from graspel.field import Field
from graspel.field.gaps import NormalRows
from graspel.field.trees import Trees
from graspel.graph import grid_graph
from tests.toy_graphs import TOY_GRAPHS
from tests.twins import laplacian


def smooth(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in the square and a smooth function of them."""
    X = np.random.default_rng(seed).uniform(size=(n, 2))
    return X, np.sin(6 * X[:, 0]) * np.cos(4 * X[:, 1])


def test_regression_is_better_than_the_mean_and_knows_its_error():
    X, y = smooth(400, 0)
    noisy = y + 0.1 * np.random.default_rng(1).standard_normal(400)
    known = np.where(np.arange(400) < 200, noisy, np.nan)
    model = GraspelRegressor(random_state=0).fit(X, known)
    assert model.score(X[200:], y[200:]) > 0.95
    assert 0.05 < model.noise_ < 0.2
    low, high = model.predict_interval(X[200:], 0.9)
    assert 0.8 < ((low <= noisy[200:]) & (noisy[200:] <= high)).mean() < 0.98
    new, truth = smooth(100, 2)
    mean, deviation = model.predict(new, return_std=True)
    assert np.sqrt(((mean - truth) ** 2).mean()) < 0.1
    assert (deviation >= model.noise_).all()


def test_points_of_the_fit_keep_their_place_and_models_their_predictions(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], np.where(np.arange(150) < 100, y[:150], np.nan)
    model = GraspelRegressor(random_state=0).fit(X, y)
    mean, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, model.transduction_, rtol=1e-9)
    np.testing.assert_allclose(deviation, model.deviation_, rtol=1e-9)
    one = model.predict(X[:1] + 0.01)
    np.testing.assert_allclose(one, model.predict(np.vstack([X[:1] + 0.01, X[5:9]]))[:1], rtol=1e-9)
    model.save(tmp_path / "model.npz")
    again = GraspelRegressor.load(tmp_path / "model.npz")
    np.testing.assert_allclose(
        again.predict(X[:5] + 0.01, return_std=True), model.predict(X[:5] + 0.01, return_std=True)
    )


def test_a_new_point_is_a_leaf_of_the_graph():
    """Its field is that of a graph with one more node, given what the others have."""
    X, y = smooth(60, 3)
    model = GraspelField(learner=GRASPEL(3, max_iter=0), sigma=10, scale=1, random_state=0).fit(X)
    new = np.array([[0.4, 0.4]])
    found = model.predict_new(new, y, noise=0.1)
    posterior = model.condition(None, y, noise=0.1)
    w = model.learner_._fit.weigh_links(model.index_.find(new, 3).z)[0]
    near = model.index_.find(new, 3).indices[0]
    share = w / (w.sum() + 0.01)
    mu = (found.mean[0] - share @ posterior.mean[near]) / (1 - share.sum())
    assert abs(mu - y.mean()) < 0.6
    K = np.linalg.inv(laplacian(model.graph_) + 0.01 * np.eye(60) + 100 * np.eye(60))
    assert found.deviation[0] ** 2 == pytest.approx(
        1 / (w.sum() + 0.01) + share @ K[np.ix_(near, near)] @ share, rel=1e-2
    )


@pytest.mark.parametrize("y", [None, [1.0, np.nan, np.nan], [np.nan] * 3, [1.0, 2.0], [1.0, np.inf, 2.0]])
def test_targets_that_say_too_little(y):
    with pytest.raises(ValueError, match=r"y |value"):
        GraspelRegressor().fit([[0.0], [1.0], [2.0]], y)


def test_sparse_rows_and_an_index_are_taken():
    import scipy.sparse as sp

    X, y = smooth(80, 4)
    assert GraspelRegressor(random_state=0).fit(sp.csr_array(X), y).score(sp.csr_array(X), y) > 0.8
    index = NeighborIndex(X, random_state=0)
    a, b = GraspelRegressor(random_state=0).fit(index, y), GraspelField(random_state=0).fit(index)
    assert a.index_ is b.index_ is index
    assert index.n_searches == 1


def test_quantiles_of_few_scores_do_not_narrow_intervals():
    assert score_quantile(np.zeros(10), 0.9) == pytest.approx(1.645, abs=1e-3)
    assert score_quantile(np.full(100, 3.0), 0.9) == 3.0


def test_greedy_measurements_are_the_best_one_by_one():
    graph = TOY_GRAPHS["barbell"]()
    design = Field(graph, sigma=3, scale=2).next_measurements(3, [0], noise=0.5)
    T = laplacian(graph) + np.eye(10) / 9
    T[0, 0] += 16.0

    def total(nodes):
        return 4 * np.linalg.inv(T + np.diag(16.0 * np.isin(np.arange(10), nodes))).trace()

    taken = []
    for step, node in enumerate(design.nodes):
        best = min(total([*taken, j]) for j in range(1, 10) if j not in taken)
        taken.append(int(node))
        assert total(taken) == pytest.approx(best)
        assert design.total_variance[step + 1] == pytest.approx(best)
    optimum = min(total(list(nodes)) for nodes in combinations(range(1, 10), 3))
    assert design.bound <= optimum <= design.total_variance[-1] * (1 + 1e-12)


def test_estimated_gains_find_what_exact_ones_find(monkeypatch):
    exact = Field(grid_graph(15, 15)).next_measurements(5)
    monkeypatch.setattr("graspel.field.design.DENSE_NODES", 10)
    estimated = Field(grid_graph(15, 15)).next_measurements(5)
    assert estimated.total_variance[-1] < 1.05 * exact.total_variance[-1]


def test_gaps_are_filled_better_than_by_the_median_and_keep_what_is_known():
    X, rng = load_iris().data, np.random.default_rng(0)
    gaps = rng.random(X.shape) < 0.2
    holed = np.where(gaps, np.nan, X)
    imputer = GraspelImputer(random_state=0).fit(holed)
    filled = imputer.transform(holed)
    np.testing.assert_array_equal(filled[~gaps], X[~gaps])
    np.testing.assert_allclose(filled, imputer.imputed_)
    error, median = (
        np.abs(found - X)[gaps].mean() for found in (filled, SimpleImputer(strategy="median").fit_transform(holed))
    )
    assert error < 0.5 * median
    assert (imputer.deviation_[gaps] > 0).all()
    assert not imputer.deviation_[~gaps].any()
    assert np.isfinite(imputer.transform(np.full((1, 4), np.nan))).all()


def test_an_imputer_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    pipeline = make_pipeline(GraspelImputer(random_state=0), LogisticRegression(max_iter=500)).fit(holed, y)
    assert pipeline.score(holed, y) > 0.9


def test_residuals_are_those_of_each_cell_left_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 3))
    rows = NormalRows(X)
    holed = X.copy()
    holed[5, 1] = np.nan
    assert rows.residuals(X)[5, 1] == pytest.approx(X[5, 1] - rows.fill(holed)[0][5, 1])


def test_a_column_without_any_value_is_named():
    with pytest.raises(ValueError, match="column 1 of X has no known cell"):
        GraspelImputer().fit([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]])


@pytest.mark.parametrize("shape", [(200, 2), (60, 120)], ids=["few columns", "more columns than rows"])
def test_the_deviations_of_gaps_are_right_where_nothing_can_be_said(shape):
    """Columns of noise: a filled cell is off by the standard deviation of its column, however small the field is."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape)
    gaps = rng.random(shape) < 0.2
    gaps[:2] = True  # rows without any known cell
    model = GraspelImputer(random_state=0).fit(np.where(gaps, np.nan, X))
    covered = np.abs(model.imputed_ - X)[gaps] < 1.645 * model.deviation_[gaps]
    assert 0.8 < covered.mean() <= 1


def test_gaps_in_equal_columns_and_rows_are_as_uncertain_as_in_one():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((100, 3))
    X[:, 1] += 2 * X[:, 0]
    gaps = rng.random(X.shape) < 0.15
    for table, holes in ((np.c_[X, X], np.c_[gaps, gaps]), (np.vstack([X, X]), np.vstack([gaps, gaps]))):
        model = GraspelImputer(random_state=0).fit(np.where(holes, np.nan, table))
        assert (np.abs(model.imputed_ - table)[holes] < 1.645 * model.deviation_[holes]).mean() > 0.75


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_gaps_are_filled_in_any_unit(unit):
    X = load_iris().data[::3].copy()
    X[::7, 2] = np.nan
    one, other = (GraspelImputer(random_state=0).fit(X * factor) for factor in (1, unit))
    np.testing.assert_allclose(other.imputed_ / unit, one.imputed_, rtol=1e-6)
    np.testing.assert_allclose(other.deviation_ / unit, one.deviation_, rtol=1e-6)


def test_masked_cells_are_gaps_and_a_column_of_one_value_has_no_deviation():
    X = load_iris().data
    mask = np.random.default_rng(0).random(X.shape) < 0.1
    masked = GraspelImputer(random_state=0).fit_transform(np.ma.masked_array(X, mask))
    np.testing.assert_array_equal(masked, GraspelImputer(random_state=0).fit_transform(np.where(mask, np.nan, X)))
    once = np.where(np.arange(150) == 7, 2.5, np.nan)
    model = GraspelImputer(random_state=0).fit(np.column_stack([X, once]))
    assert (model.imputed_[:, 4] == 2.5).all()
    assert np.isnan(np.delete(model.deviation_[:, 4], 7)).all()
    with pytest.raises(ValueError, match=r"column 'kind' holds 'x' \(row 0\)"):
        GraspelImputer().fit(pd.DataFrame({"size": X[:, 0], "kind": ["x", "y"] * 75}))


@pytest.mark.parametrize("copies", [2, 5])
def test_copies_of_all_points_change_no_prediction_of_new_ones(copies):
    """Their edges are far heavier than all others, and would set the scale of the field."""
    X, y = smooth(150, 5)
    new, truth = smooth(150, 6)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    y = y + 0.05 * np.random.default_rng(7).standard_normal(len(y))
    found = GraspelField(random_state=0).fit(X).predict_new(new, y)
    assert 1 - ((found.mean - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum() > 0.95
    assert 0.03 < found.noise < 0.08
    model = GraspelRegressor(trend=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), model.transduction_, atol=1e-4)


def test_digits_of_a_large_mean_are_not_lost():
    X, y = smooth(80, 8)
    y = np.round(64 * y) / 64  # whole multiples, so that adding the mean rounds nothing
    plain, far = (GraspelRegressor(random_state=0).fit(X, y + shift) for shift in (0, 1e12))
    assert far.noise_ == pytest.approx(plain.noise_, rel=1e-6)
    np.testing.assert_allclose(far.predict(X + 0.01) - 1e12, plain.predict(X + 0.01), atol=1e-3)


def test_the_trend_is_the_same_in_any_unit():
    X, y = smooth(80, 9)
    plain, far = (GraspelRegressor(random_state=0).fit(X * unit, y) for unit in (1, 1e160))
    np.testing.assert_allclose(far.predict(X[:9] * 1e160), plain.predict(X[:9]), rtol=1e-6)
    assert far.noise_ == pytest.approx(plain.noise_, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_values_whose_squares_are_no_numbers_are_refused(unit):
    X, y = smooth(30, 10)
    with pytest.raises(ValueError, match="Give values in another unit, of sizes from 1e-140 to"):
        GraspelRegressor().fit(X, y * unit)
    with pytest.raises(ValueError, match="y must hold real numbers"):
        GraspelRegressor().fit(X, y + 1j)


def test_an_interval_of_more_chance_is_not_narrower():
    X, y = smooth(80, 11)
    y[3] = 50.0
    model = GraspelRegressor(random_state=0).fit(X, y)
    widths = [np.diff(model.predict_interval(X[:1] + 0.01, level), axis=0)[0, 0] for level in (0.5, 0.9, 0.985, 0.999)]
    assert (np.diff(widths) >= 0).all()


def test_trees_find_the_one_column_that_matters_and_models_grow_them_again(tmp_path):
    """With 40 columns of noise, distances say little of y = |x_0|."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 41))
    y = np.abs(X[:, 0])
    known = np.where(np.arange(500) < 300, y, np.nan)
    model = GraspelRegressor(random_state=0).fit(X, known)
    assert model.score(X[300:], y[300:]) > 0.8
    model.save(tmp_path / "model.npz")
    new = rng.standard_normal((5, 41))
    np.testing.assert_allclose(GraspelRegressor.load(tmp_path / "model.npz").predict(new), model.predict(new))


def test_values_that_trees_cannot_tell_apart_leave_them_out():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) == 7, 5.0, 1.0)
    model = GraspelRegressor(random_state=0).fit(rng.standard_normal((80, 2)), y)
    assert np.isfinite(model.predict(rng.standard_normal((3, 2)), return_std=True)).all()
    assert np.isfinite(
        GraspelRegressor(random_state=0).fit(rng.standard_normal((80, 2)), np.ones(80)).transduction_
    ).all()


def test_copies_are_no_evidence_for_the_trees_of_their_twins():
    """Every row four times, with nearly the same value: left out alone, its copies would tell it to the trees."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (120, 6))
    y = np.sign(X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.standard_normal(120)
    y = np.repeat(y, 4) + 0.02 * rng.standard_normal(480)
    nodes, X4 = np.arange(480), np.repeat(X, 4, axis=0)
    trees = Trees(X4, nodes, y, np.repeat(np.arange(120), 4), 0)
    once = Trees(X, np.arange(120), y[::4], np.arange(120), 0)
    left, left_once = (np.corrcoef(found.feature, values)[0, 1] for found, values in ((trees, y), (once, y[::4])))
    assert left < left_once + 0.05
    assert np.ptp(trees.feature.reshape(120, 4), axis=1).max() < 1e-12
