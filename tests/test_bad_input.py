"""Bad input gets one clear sentence, and leaves nothing half-fitted; odd input that makes sense is handled."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from graspel import GRASPEL, Graph
from graspel.data.prepare import prepare_rows
from twins import pairs_of

GOOD = np.random.default_rng(0).standard_normal((40, 3))


def refuses(model: GRASPEL, X, *parts: str) -> None:
    """The fit fails with all these parts in the message, in order, and leaves the model as it was."""
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=r"[\s\S]*".join(parts)):
        model.fit(X)
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def with_value(value, row: int = 7, column: int = 2) -> np.ndarray:
    X = GOOD.copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    ("X", "parts"),
    [
        (with_value(np.nan), ["NaN", "row 7, column 2", "finite", "SimpleImputer"]),
        (with_value(np.inf), ["infinity", "row 7, column 2"]),
        (with_value(-np.inf).astype(np.float32), ["infinity", "row 7, column 2"]),
        (sp.csr_array(with_value(np.nan)), ["NaN", "row 7, column 2"]),
        (sp.coo_matrix(with_value(np.inf)), ["infinity", "row 7, column 2"]),
        (pd.DataFrame(with_value(np.nan)), ["NaN", "row 7, column 2"]),
        (GOOD + 1j, ["Complex", "real numbers"]),
        (sp.csr_array(GOOD + 1j), ["Complex", "real numbers"]),
        (pd.DataFrame(GOOD + 1j), ["Complex", "real numbers"]),
        (GOOD.astype(str), ["<U", "must be numbers", "Encode"]),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[:, None], ["datetime64", "must be numbers"]),
        ([["a", "b"], ["c", "d"]], ["'?a'?"]),
        (pd.DataFrame({"x": ["red", "blue", "red"], "y": [1, 2, 3]}), ["red"]),
        (np.array([[{}, 1], [2, 3]], dtype=object), ["number"]),
        (np.empty((0, 3)), ["0 sample"]),
        (np.empty((5, 0)), ["0 feature"]),
        (GOOD[:1], ["1 sample", "minimum of 2"]),
        (GOOD[:, 0], ["1D array", "[Rr]eshape"]),
        (GOOD[None], ["dim 3"]),
        (3.0, ["float", "must be a matrix"]),
        (None, ["None|NoneType|float"]),
        (GOOD[:2], ["n_neighbors=2: must be smaller than the number of points, 2"]),
    ],
    ids=lambda value: None if isinstance(value, list) else type(value).__name__,
)
def test_data_that_cannot_be_used(X, parts):
    refuses(GRASPEL(), X, *parts)


WRONG = {
    "n_neighbors": ([0, -1, 2.0, "2", None, True], "must be a whole number >= 1"),
    "metric": (["manhatan", None, 1], "must be 'euclidean', 'cosine'"),
    "initial": (["KNN", "", None, 5, GOOD], "must be"),
    "candidates": (["multi", None, 1], "must be one of 'fiedler', 'clusters'"),
    "window": ([0, 0.51, -0.1, np.nan, "0.1", None, True], r"must be a number in \(0, 0.5\].*the paper uses 0.05"),
    "edge_ratio": ([0, 1.5, -1, np.nan, "1", None], r"must be a number in \(0, 1\]"),
    "sigma": ([0, -1, np.inf, np.nan, 1e-200, 1e200, "1", None], "must be a number from 1e-50 to 1e50"),
    "beta": ([-1e-9, np.inf, np.nan, "0", None], "must be a number from 0 to 1e50"),
    "tol": ([0, -1, np.nan, "10"], "must be a number > 0, or None"),
    "stability": (["eta", None, 1], "must be one of 'distortion', 'eigenvalues'"),
    "max_iter": ([-1, 1.0, "1", None, True], "must be a whole number >= 0"),
    "weights": (["best", 1, True, None], "must be one of 'calibrated', 'refined', 'optimal'"),
    "random_state": ([-1, 2**32, 0.5, "0", True], "must be a whole number from 0"),
    "n_jobs": ([0, 1.5, "2", True], "must be a whole number other than 0, or None"),
    "verbose": ([-1, 0.5, "yes", None], "must be a whole number >= 0, or True or False"),
}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [("checkpoint", 1, "must be None or the path of a folder"), ("callback", "print", "must be None or a function")],
)
def test_keywords_of_fit_that_cannot_be_used(name, value, allowed):
    with pytest.raises(ValueError, match=f"^{name}={value!r}: {allowed}"):
        GRASPEL().fit(GOOD, **{name: value})


def test_every_parameter_has_its_wrong_values():
    assert set(WRONG) == set(GRASPEL().get_params())


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [(name, value, allowed) for name, (values, allowed) in WRONG.items() for value in values],
    ids=lambda value: str(value)[:12],
)
def test_parameters_that_cannot_be_used(name, value, allowed):
    shown = "initial=a ndarray" if value is GOOD else f"{name}={value!r}"
    refuses(GRASPEL(**{name: value}), GOOD, f"^{re.escape(shown)}: ", allowed)


@pytest.mark.parametrize(
    "initial", [Graph(39, [0], [1], 1.0), sp.eye_array(41).tocsr(), (np.zeros((39, 2), dtype=int), np.zeros((39, 2)))]
)
def test_a_graph_of_another_size(initial):
    refuses(GRASPEL(initial=initial), GOOD, "initial has (39|41) nodes but X has 40 points: bring the graph")


def test_parameters_are_looked_at_before_the_data():
    refuses(GRASPEL(window=7), with_value(np.nan), "window=7")


def test_a_failed_fit_does_not_spoil_an_earlier_one():
    model = GRASPEL(random_state=0).fit(GOOD)
    graph, certificate = model.graph_, model.certificate_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 2), np.nan))
    with pytest.raises(ValueError, match="40 nodes but X has 5 points"):
        model.set_params(initial=graph).fit(np.ones((5, 2)))
    assert model.graph_ is graph
    assert model.certificate_ is certificate
    assert model.n_features_in_ == 3


# Odd, but fine


def equal_to(one: Graph, other: Graph, rel: float = 1e-5) -> bool:
    return pairs_of(one) == pairs_of(other) and other.weights == pytest.approx(one.weights, rel=rel)


WHOLE = np.random.default_rng(1).integers(-100, 100, (60, 12)).astype(np.float64)  # exact in every type below


def read_only_memory_map(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


FORMS = {
    "float32": lambda X, _: X.astype(np.float32),
    "float16": lambda X, _: X.astype(np.float16),
    "longdouble": lambda X, _: X.astype(np.longdouble),
    "int8": lambda X, _: X.astype(np.int8),
    "int64": lambda X, _: X.astype(np.int64),
    "big-endian": lambda X, _: X.astype(">f8"),
    "object": lambda X, _: X.astype(object),
    "list": lambda X, _: X.tolist(),
    "Fortran": lambda X, _: np.asfortranarray(X),
    "strided": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only memory map": read_only_memory_map,
    "DataFrame": lambda X, _: pd.DataFrame(X),
    "DataFrame of mixed types": lambda X, _: pd.DataFrame(X).astype({0: np.int8, 1: np.float32}),
    "csr": lambda X, _: sp.csr_array(X),
    "csr matrix": lambda X, _: sp.csr_matrix(X.astype(np.float32)),
    "csc": lambda X, _: sp.csc_array(X),
    "coo": lambda X, _: sp.coo_array(X),
    "lil": lambda X, _: sp.lil_array(X),
    "dok": lambda X, _: sp.dok_matrix(X),
    "int csr": lambda X, _: sp.csr_array(X.astype(np.int64)),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_the_form_of_the_data_does_not_matter(form, tmp_path):
    X = FORMS[form](WHOLE, tmp_path)
    graph = GRASPEL(random_state=0).fit(X).graph_
    assert equal_to(GRASPEL(random_state=0).fit(WHOLE).graph_, graph)


def test_booleans():
    X = np.random.default_rng(0).random((80, 40)) < 0.3
    assert equal_to(GRASPEL(random_state=0).fit(X * 1.0).graph_, GRASPEL(random_state=0).fit(X).graph_)


def test_data_are_not_written_to():
    X = GOOD.copy()
    GRASPEL(metric="cosine").fit(X)
    assert (X == GOOD).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_very_small_and_very_large_values(scale):
    model = GRASPEL(random_state=0).fit(GOOD * scale)
    assert equal_to(GRASPEL(random_state=0).fit(GOOD).graph_, model.graph_)
    assert all(np.isfinite(value) for value in model.certificate_.as_dict().values() if value is not None)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_very_small_and_very_large_values_in_single_precision(scale):
    X = (GOOD * scale).astype(np.float32)
    assert equal_to(GRASPEL(random_state=0).fit(GOOD).graph_, GRASPEL(random_state=0).fit(X).graph_, rel=1e-3)


def test_values_of_very_different_size():
    X = GOOD.copy()
    X[:10] *= 1e-30
    X[10:20] *= 1e30
    model = GRASPEL(random_state=0).fit(X)
    assert model.graph_.is_connected
    assert np.isfinite(model.graph_.weights).all()


@pytest.mark.parametrize("settings", [{}, {"initial": "mst"}, {"candidates": "clusters"}, {"metric": "cosine"}])
@pytest.mark.parametrize("n", [3, 41, 400])
def test_all_points_equal(n, settings):
    model = GRASPEL(random_state=0, **settings).fit(np.full((n, 2), 7.0))
    assert model.graph_.is_connected
    assert model.graph_.n_edges == n - 1
    assert np.isfinite(model.graph_.weights).all()
    assert np.isfinite(model.certificate_.objective)
    assert model.certificate_.settled


@pytest.mark.parametrize("settings", [{}, {"initial": "mst"}, {"candidates": "clusters"}])
def test_exact_duplicates(settings):
    X = np.repeat(GOOD, [1, 2, 3, 50] * 10, axis=0)
    model = GRASPEL(random_state=0, **settings).fit(X)
    assert model.graph_.is_connected
    assert np.isfinite(model.graph_.weights).all()
    assert np.isfinite(model.certificate_.objective)
    # Copies take no neighbor's place: without them the graph of the others is what it would have been.
    first = np.flatnonzero(np.r_[True, (np.diff(X, axis=0) != 0).any(axis=1)])
    alone = GRASPEL(random_state=0, max_iter=0, **settings).fit(X[first]).graph_
    assert pairs_of(Graph(len(X), first[alone.heads], first[alone.tails], 1.0)) <= pairs_of(model.graph_)


def test_constant_columns_change_nothing():
    X = np.hstack([np.full((40, 2), 3.0), GOOD, np.zeros((40, 1))])
    one, other = GRASPEL(random_state=0).fit(GOOD), GRASPEL(random_state=0).fit(X)
    assert pairs_of(one.graph_) == pairs_of(other.graph_)
    assert other.graph_.weights == pytest.approx(one.graph_.weights)


@pytest.mark.parametrize("n", [60, 700])
@pytest.mark.parametrize("distance", [1e6, 1e9])
def test_a_cluster_far_away(distance, n, rng):
    X = rng.standard_normal((n, 4))
    X[: n // 3] += distance
    model = GRASPEL(random_state=0).fit(X)
    assert model.graph_.is_connected
    assert np.isfinite(model.graph_.weights).all()
    near, far = (GRASPEL(random_state=0, max_iter=0).fit(part).graph_ for part in (X[n // 3 :], X[: n // 3]))
    assert len(pairs_of(near)) + len(pairs_of(far)) <= model.graph_.n_edges
    assert {(p + n // 3, q + n // 3) for p, q in pairs_of(near)} <= pairs_of(model.graph_)
    between = (model.graph_.heads < n // 3) & (model.graph_.tails >= n // 3)
    assert between.any()


@pytest.mark.parametrize("X", [[[0.0], [1.0]], [[3.0, 4.0], [3.0, 4.0]], [[1e300, 0], [-1e300, 0]]])
def test_two_points(X):
    for settings in ({"n_neighbors": 1}, {"initial": "mst"}, {"n_neighbors": 1, "candidates": "clusters"}):
        model = GRASPEL(random_state=0, **settings).fit(X)
        assert pairs_of(model.graph_) == {(0, 1)}
        assert model.certificate_.connected


def test_as_many_neighbors_as_there_can_be():
    graph = GRASPEL(39, random_state=0).fit(GOOD).graph_
    assert graph.n_edges == 40 * 39 // 2
    assert prepare_rows(GOOD).squared_distances(graph.heads, graph.tails) @ graph.weights == pytest.approx(39)


@pytest.mark.parametrize(
    "settings", [{"sigma": 1e-50}, {"sigma": 1e50}, {"beta": 1e50}, {"tol": np.inf}, {"edge_ratio": 1}]
)
def test_the_ends_of_the_ranges(settings):
    model = GRASPEL(random_state=0, **settings).fit(GOOD)
    assert model.graph_.is_connected
    assert np.isfinite(model.certificate_.objective)


def test_zero_rows_under_the_cosine():
    X = GOOD.copy()
    X[:5] = 0
    assert GRASPEL(metric="cosine", random_state=0).fit(X).graph_.is_connected
