"""The field beside a twin of full matrices: means, variances, leave-one-out and likelihood agree to 1e-8."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from graspel.field import Field
from graspel.field.parameters import Given, Parameters
from graspel.field.posterior import Posterior, Prior, Smoothing
from graspel.field.values import group_columns
from graspel.graph import Graph, grid_graph
from graspel.runtime.types import Floats, Ints
from tests.toy_graphs import TOY_GRAPHS
from tests.twins import laplacian

N = 300


def ring_with_chords(rng: np.random.Generator) -> Graph:
    """A cycle and 60 random chords."""
    heads, tails = np.arange(N), (np.arange(N) + 1) % N
    chords = rng.integers(0, N, (2, 60))
    kept = np.abs(chords[0] - chords[1]) > 1
    return Graph(N, np.append(heads, chords[0][kept]), np.append(tails, chords[1][kept]), 1.0)


def tree(rng: np.random.Generator) -> Graph:
    """Every node is joined to an earlier one."""
    return Graph(N, rng.integers(0, np.arange(1, N)), np.arange(1, N), 1.0)


def neighbors(rng: np.random.Generator) -> Graph:
    """Points in the plane with their four nearest, each weight one over the squared distance."""
    X = rng.standard_normal((N, 2))
    D = ((X[:, None] - X) ** 2).sum(axis=2) + np.diag(np.full(N, np.inf))
    near = np.argsort(D, axis=1)[:, :4]
    pairs = np.unique(np.sort(np.stack([np.repeat(np.arange(N), 4), near.ravel()]), axis=0), axis=1)
    return Graph(N, *pairs, 1 / D[pairs[0], pairs[1]])


def two_parts(rng: np.random.Generator) -> Graph:
    """Two grids that nothing joins, and ten nodes without any edge."""
    grid = grid_graph(29, 5)
    heads, tails = (np.append(ends, ends + 145) for ends in (grid.heads, grid.tails))
    return Graph(N, heads, tails, 1.0)


def wide(rng: np.random.Generator) -> Graph:
    """A grid whose weights span nine decades."""
    grid = grid_graph(20, 15)
    return Graph(N, grid.heads, grid.tails, 10 ** rng.uniform(-5, 4, grid.n_edges))


KINDS = {
    "grid": lambda rng: grid_graph(20, 15),
    "ring": ring_with_chords,
    "tree": tree,
    "neighbors": neighbors,
    "parts": two_parts,
    "wide": wide,
}


class Twin(NamedTuple):
    """What full matrices say; the trend has a free mean and coefficients of variance b."""

    mean: Floats
    variance: Floats
    quadratic: Floats
    logdet: float
    left_out: Floats
    left_out_variance: Floats


def krige(K: Floats, H: Floats, nodes: Ints, Y: Floats, tau: Floats, at: Ints) -> tuple[Floats, Floats, Floats, float]:
    """Kriging with the covariance K and a mean that is estimated, at the rows `at`."""
    S = K[np.ix_(nodes, nodes)] + np.diag(tau)
    inverse, ones, k = np.linalg.inv(S), np.ones(len(nodes)), K[np.ix_(at, nodes)]
    total = ones @ inverse @ ones
    residual = Y - ones @ inverse @ Y / total
    mean = Y - residual
    mean = mean[:1] + k @ inverse @ residual
    variance = K[at, at] - np.einsum("ij,jk,ik->i", k, inverse, k) + (1 - k @ inverse @ ones) ** 2 / total
    quadratic = np.einsum("im,ij,jm->m", residual, inverse, residual)
    return mean, variance, quadratic, np.linalg.slogdet(S)[1] + np.log(total)


def twin_of(graph: Graph, nodes: Ints, Y: Floats, eps: float, tau: Floats, trend: Floats, b: float) -> Twin:
    K = np.linalg.inv(laplacian(graph) + eps * np.eye(graph.n_nodes)) + b * trend @ trend.T
    mean, variance, quadratic, logdet = krige(K, trend, nodes, Y, tau, np.arange(graph.n_nodes))
    left_out, left_variance = np.full(Y.shape, np.nan), np.full(len(nodes), np.nan)
    for i in range(0, len(nodes), 1 + len(nodes) // 8):
        others = np.delete(np.arange(len(nodes)), i)
        found = krige(K, trend, nodes[others], Y[others], tau[others], nodes[[i]])
        left_out[i], left_variance[i] = found[0][0], found[1][0] + tau[i]
    return Twin(mean, variance, quadratic, logdet, left_out, left_variance)


def compare(graph: Graph, eps: float, tau: float, share: float, n_trend: int, seed: int) -> None:
    """Everything a posterior says, to 1e-8 of its size."""
    rng = np.random.default_rng(seed)
    n = graph.n_nodes
    nodes = rng.permutation(n)[: max(2, int(share * n))]
    Y, taus = rng.standard_normal((len(nodes), 2)) + 5, tau * rng.uniform(0.5, 2, len(nodes))
    trend = rng.standard_normal((n, n_trend))
    b = 0.3 / eps**0.5
    smoothing = Smoothing(Prior(graph, 1), nodes, Y, eps, taus, np.column_stack([trend, np.ones(n)]))
    found = Posterior(smoothing, np.append(np.full(n_trend, 1 / b), 0.0))
    twin = twin_of(graph, nodes, Y, eps, taus, trend, b)
    size = np.abs(Y).max()
    assert np.abs(found.mean - twin.mean).max() <= 1e-8 * size
    assert np.abs(found.variance - twin.variance).max() <= 1e-8 * twin.variance.max()
    np.testing.assert_allclose(found.quadratic, twin.quadratic, rtol=1e-8, atol=1e-8)
    assert abs(found.logdet - twin.logdet) <= 1e-8 * n
    left_out, variance = found.leave_one_out()
    checked = np.isfinite(twin.left_out_variance)
    assert np.abs(left_out - twin.left_out)[checked].max() <= 1e-8 * size
    np.testing.assert_allclose(variance[checked], twin.left_out_variance[checked], rtol=1e-8)


@settings(max_examples=2, deadline=None)
@given(
    eps=st.sampled_from([1e-2, 0.1, 1.0]),
    tau=st.sampled_from([0.0, 0.01, 1.0]),
    n_measured=st.integers(2, 40),
    n_trend=st.sampled_from([0, 3]),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_full_matrices(kind: str, eps: float, tau: float, n_measured: int, n_trend: int, seed: int) -> None:
    compare(KINDS[kind](np.random.default_rng(seed)), eps, tau, n_measured / N, n_trend, seed)


def test_equals_full_matrices_when_all_are_measured_and_dissected() -> None:
    compare(grid_graph(18, 18), 1e-2, 0.1, 1.0, 2, 0)


@pytest.mark.parametrize("name", [name for name in TOY_GRAPHS if name != "single_node"])
def test_equals_full_matrices_on_small_graphs(name: str) -> None:
    compare(TOY_GRAPHS[name](), 0.1, 0.2, 0.6, 0, 1)


def test_likelihood_is_that_of_contrasts() -> None:
    """Restricted likelihood: the density of the n - 1 contrasts of an orthonormal basis, but for log(n) / 2."""
    graph, rng = TOY_GRAPHS["grid"](), np.random.default_rng(0)
    nodes, y = rng.permutation(20)[:8], rng.standard_normal(8)
    K = np.linalg.inv(laplacian(graph) + 0.25 * np.eye(20))[np.ix_(nodes, nodes)]
    S = 9 * K + 0.5**2 * np.eye(8)
    contrasts = np.linalg.qr(np.column_stack([np.ones(8), rng.standard_normal((8, 7))]))[0][:, 1:]
    expected = multivariate_normal(cov=contrasts.T @ S @ contrasts).logpdf(contrasts.T @ y)
    found = Field(graph, sigma=2, scale=3).log_likelihood(y, nodes, noise=0.5)
    assert found == pytest.approx(expected - 0.5 * np.log(8), abs=1e-9)


def test_samples_have_the_variances_and_the_precision() -> None:
    graph = TOY_GRAPHS["barbell"]()
    field = Field(graph, sigma=2, scale=3)
    samples = field.sample(20_000, random_state=0)
    covariance = 9 * np.linalg.inv(laplacian(graph) + 0.25 * np.eye(10))
    np.testing.assert_allclose(field.variances(), np.diag(covariance), rtol=1e-10)
    assert np.abs(np.cov(samples) - covariance).max() < 0.05 * covariance.max()


def test_maximum_likelihood_finds_the_parameters() -> None:
    graph = grid_graph(25, 25)
    v = Field(graph, sigma=20, scale=2.0).sample(3, random_state=0)
    rng = np.random.default_rng(1)
    nodes = rng.permutation(625)[:350]
    y = v[nodes] + 0.5 * rng.standard_normal((350, 3))
    found = Field(graph).condition(nodes, y)
    assert np.all(np.abs(found.scale / 2 - 1) < 0.4)
    assert np.all(np.abs(found.noise / 0.5 - 1) < 0.5)
    hidden = np.setdiff1d(np.arange(625), nodes)
    errors = np.abs(v - found.mean)[hidden] / found.deviation[hidden]
    assert 0.86 < (errors < 1.645).mean() < 0.94


def test_columns_with_gaps_are_those_measured_alone() -> None:
    graph, rng = grid_graph(8, 8), np.random.default_rng(0)
    Y = rng.standard_normal((64, 3)).cumsum(axis=0)
    Y[rng.random((64, 3)) < 0.4] = np.nan
    field = Field(graph)
    together, left = field.condition(None, Y), field.leave_one_out(Y)
    for column in range(3):
        known = np.flatnonzero(~np.isnan(Y[:, column]))
        alone = field.condition(known, Y[known, column])
        np.testing.assert_array_equal(together.mean[:, column], alone.mean)
        np.testing.assert_array_equal(together.deviation[:, column], alone.deviation)
        assert together.noise[column] == alone.noise
        np.testing.assert_array_equal(left.mean[known, column], field.leave_one_out(Y[known, column], known).mean)
    assert np.isnan(left.score[np.isnan(Y)]).all()


def test_exact_values_are_kept() -> None:
    found = Field(grid_graph(5, 5), sigma=10, scale=1).condition([0, 24], [1.0, 3.0], noise=0)
    assert found.mean[[0, 24]].tolist() == [1.0, 3.0]
    assert found.deviation[[0, 24]].tolist() == [0.0, 0.0]
    assert found.mean[12] == pytest.approx(2.0)


def test_noise_for_each_value() -> None:
    graph = TOY_GRAPHS["path"]()
    field = Field(graph, sigma=10, scale=1)
    found = field.condition([0, 9], [0.0, 1.0], noise=[0.0, 2.0])
    assert found.deviation[0] == 0
    assert found.deviation[9] > 1
    with pytest.raises(ValueError, match="noise has shape"):
        field.condition([0, 9], [0.0, 1.0], noise=[1.0, 2.0, 3.0])


def test_scaling_weights_or_values_changes_nothing_else() -> None:
    graph, rng = grid_graph(10, 10), np.random.default_rng(0)
    nodes, y = rng.permutation(100)[:40], rng.standard_normal(40)
    first = Field(graph).condition(nodes, y)
    for factor in (1e-30, 1e30):
        scaled = Field(graph.scaled(factor)).condition(nodes, 1e6 * y + 1e6)
        np.testing.assert_allclose(scaled.mean, 1e6 * first.mean + 1e6, rtol=1e-6)
        np.testing.assert_allclose(scaled.deviation, 1e6 * first.deviation, rtol=1e-6)


@pytest.mark.parametrize("name", ["single_node", "two_isolated_nodes", "isolated_last_node", "several_components"])
def test_degenerate_graphs(name: str) -> None:
    graph = TOY_GRAPHS[name]()
    found = Field(graph, scale=1.0).condition([0], [2.0], noise=0.1)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.deviation).all()
    assert found.mean == pytest.approx(2.0)
    with pytest.raises(ValueError, match="one value does not tell"):
        Field(graph).condition([0], [2.0])


def test_equal_values() -> None:
    found = Field(grid_graph(4, 4)).condition([0, 3, 9], [7.0, 7.0, 7.0])
    np.testing.assert_allclose(found.mean, 7.0)
    np.testing.assert_allclose(found.deviation, 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("nodes", "values", "match"),
    [
        ([], [], "no value is known"),
        (None, [np.nan] * 16, "no value is known"),
        ([0, 0], [1.0, 2.0], "node 0 occurs twice"),
        ([0, 16], [1.0, 2.0], "node 16"),
        ([0, 1], [1.0, np.inf], "infinite"),
        ([0, 1], [1.0], "shape"),
        ([0, 1], ["a", "b"], "real numbers"),
        ([0, 1], [1.0 + 1j, 2.0], "real numbers"),
    ],
)
def test_bad_values(nodes: object, values: object, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Field(grid_graph(4, 4)).condition(nodes, values)


@pytest.mark.parametrize("noise", [-1.0, np.nan, "much", [0.1, -0.2]])
def test_bad_noise(noise: object) -> None:
    with pytest.raises(ValueError, match="noise="):
        Field(grid_graph(4, 4)).condition([0, 1], [1.0, 2.0], noise=noise)


def test_result_does_not_depend_on_threads() -> None:
    graph, rng = grid_graph(20, 20), np.random.default_rng(0)
    nodes, y = rng.permutation(400)[:200], rng.standard_normal(200)
    one, three = (Field(graph, n_jobs=n).condition(nodes, y) for n in (1, 3))
    np.testing.assert_array_equal(one.mean, three.mean)
    np.testing.assert_array_equal(one.deviation, three.deviation)


def test_groups_share_factors() -> None:
    Y = np.array([[1.0, 2.0, np.nan], [1.0, 3.0, 4.0]])
    groups = group_columns(np.array([4, 7]), Y, None)
    assert [group.columns.tolist() for group in groups] == [[0, 1], [2]]
    assert groups[1].nodes.tolist() == [7]
    assert Given().noise is None
    assert Parameters(0.25, 4.0, (), 3.0).noise == 6.0


@pytest.mark.parametrize("heavy", [1e4, 1e8, 1e12, 1e20])
@pytest.mark.parametrize("noise", [0, 1e-3, 10.0])
def test_values_left_out_are_right_or_missing_however_heavy_some_edges_are(heavy, noise):
    """Every node of a path has a copy without a value: the copies change nothing but the prior, which is halved."""
    n, rng = 40, np.random.default_rng(1)
    path = Graph(n, np.arange(n - 1), np.arange(1, n), rng.uniform(0.5, 2, n - 1))
    ends = np.append(path.heads, np.arange(n)), np.append(path.tails, np.arange(n, 2 * n))
    doubled = Graph(2 * n, *ends, np.append(path.weights, np.full(n, heavy)))
    values = np.cumsum(rng.standard_normal(n))
    found = Field(doubled, sigma=10, scale=1).leave_one_out(values, np.arange(n), noise=noise)
    truth = Field(path, sigma=10 / np.sqrt(2), scale=1).leave_one_out(values, noise=noise)
    known = np.isfinite(found.mean)
    assert known.all() or (heavy > 1e10 and noise == 0)
    np.testing.assert_allclose(found.mean[known], truth.mean[known], atol=1e-5)
    np.testing.assert_allclose(found.deviation[known], truth.deviation[known], rtol=1e-5)


def test_values_that_a_graph_has_no_numbers_for_are_refused():
    with pytest.raises(ValueError, match="Give values, or weights, in another unit"):
        Field(Graph(3, [0, 1], [1, 2], 1e110)).condition(None, [0.0, 1e130, 3e130])


def test_exact_values_stay_to_the_last_bit():
    values = np.array([0.1, 1e16, -0.3, np.nan])
    found = Field(Graph(4, [0, 1, 2], [1, 2, 3], 1.0), sigma=1, scale=1).condition(None, values, noise=0)
    assert (found.mean[:3] == values[:3]).all()


def test_estimates_where_an_exact_factor_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means are accurate, deviations within their error, and what needs the factor is refused."""
    graph, rng = grid_graph(20, 20), np.random.default_rng(0)
    nodes, y = rng.permutation(400)[:150], rng.standard_normal(150)
    exact = Field(graph).condition(nodes, y)
    monkeypatch.setattr("graspel.field.posterior.MOST_WORK", 1e3)
    field = Field(graph, error=0.1)
    found = field.condition(nodes, y)
    np.testing.assert_allclose(found.mean, exact.mean, atol=1e-6)
    assert (found.noise, found.scale) == (pytest.approx(exact.noise), pytest.approx(exact.scale))
    assert (exact.error, found.error) == (0.0, 0.05)
    assert np.sqrt(((found.deviation / exact.deviation - 1) ** 2).mean()) < 1.3 * found.error
    for refused in (lambda: field.leave_one_out(y, nodes), lambda: field.next_measurements(1)):
        with pytest.raises(ValueError, match="needs an exact factor"):
            refused()
    with pytest.raises(ValueError, match="error="):
        Field(graph, error=2.0)


@pytest.mark.parametrize("heavy", [1e12, 1e15, 1e22])
def test_features_that_differ_along_heavy_edges_leave_digits(heavy):
    """Beside noise, edges far heavier than others make their ends one place, whatever their features are."""
    rng = np.random.default_rng(2)
    y, H = rng.standard_normal((30, 1)), np.c_[rng.standard_normal((30, 4)), np.ones(30)]
    given = np.arange(30), y, 0.04, np.ones(30), H
    found, expected = (
        Posterior(Smoothing(Prior(Graph(30, np.arange(29), np.arange(1, 30), w)), *given), np.array([1.0] * 4 + [0]))
        for w in (np.where(np.arange(29) % 3 == 0, weight, 1.0) for weight in (heavy, 1e8))
    )
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-6)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-6)
    np.testing.assert_allclose(found.quadratic, expected.quadratic, rtol=1e-6)
