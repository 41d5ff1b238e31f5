"""Estimates: values on the graph, gaps of tables, findings and neighbor lists, beside what must hold of them.

The precision of the field has no positive entry off the diagonal. So its mean, given values, is a weighted mean of
them: it lies between the smallest and the largest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import graspel
from fuzzing.cases import Case, require
from fuzzing.limits import with_low_limits
from fuzzing.matrices import draw_adjacency, draw_points
from fuzzing.targets import Draw, Settings, choose, find_allowance, write_call
from fuzzing.twins import pairwise_distances
from graspel.field import Field

SHIFTS = (0.0, 0.0, 1.0, -1e8, 1e12)  # of values
UNITS = (1.0, 1.0, 1e-30, 1e30, 1e-120, 1e120)
OUTSIDE = 1e-6  # share of the range of values by which rounding may take a mean out of it
MAX_ROWS = 120
LEVELS = (0.1, 0.5, 0.9, 0.99, 0.9999)


def draw_values(rng: np.random.Generator, n: int) -> np.ndarray:
    """One value for each of n places, unknown for some; equal ones, and of any size."""
    values = rng.standard_normal(n) if rng.random() < 0.8 else np.ones(n)
    values = values * UNITS[rng.integers(len(UNITS))]
    values = values + SHIFTS[rng.integers(len(SHIFTS))] * np.abs(values).max()
    return np.where(rng.random(n) < rng.choice([0.0, 0.3, 0.9]), np.nan, values)


def require_between(mean: np.ndarray, values: np.ndarray) -> None:
    """A weighted mean of values lies between them."""
    low, high = np.nanmin(values), np.nanmax(values)
    margin = OUTSIDE * max(high - low, 1e-9 * max(abs(low), abs(high)))
    require(np.isfinite(mean).all(), "a mean is not finite")
    require(((mean >= low - margin) & (mean <= high + margin)).all(), f"a mean is outside of {low} to {high}")


def draw_field(rng: np.random.Generator) -> Case:
    """Field: values at some nodes of a graph."""
    A = sp.csr_array(draw_adjacency(rng))
    settings = {
        **choose(rng, sigma=[0.1, 1e3], scale=[1.0], noise=[0, 0.1]),
        "values": draw_values(rng, A.shape[0]).tolist(),
    }
    return Case("Field", A, settings, run_field, lambda A, s: f"fuzzing.estimates.run_field({A}, {s!r})")


def run_field(A: Any, settings: Settings) -> None:
    """Means are between the values, exact values stay, deviations are finite, new information lowers them."""
    values = np.resize(np.array(settings.get("values", [0.0, 1.0])), A.shape[0])
    field, noise = Field(A, sigma=settings.get("sigma"), scale=settings.get("scale")), settings.get("noise")
    found = field.condition(None, values, noise=noise)
    require_between(found.mean, values)
    require(np.isfinite(found.deviation).all() and (found.deviation >= 0).all(), "a deviation is not finite")
    known = ~np.isnan(values)
    if noise == 0:
        require((found.mean[known] == values[known]).all(), "an exact value has changed")
        require(not found.deviation[known].any(), "an exact value has a deviation")
    require(np.isfinite(field.log_likelihood(values, noise=noise)), "the likelihood is not finite")
    left = field.leave_one_out(values, noise=noise)
    require(np.isnan(left.mean[~known]).all(), "a value that is not known was left out")
    if np.isfinite(left.mean).any():
        require_between(left.mean[np.isfinite(left.mean)], values)


def draw_regressor(rng: np.random.Generator) -> Case:
    """GraspelRegressor, predict and predict_interval."""
    X = draw_points(rng)[:MAX_ROWS] if rng.random() < 0.8 else draw_points(rng)
    X = sp.csr_array(X)[:MAX_ROWS] if sp.issparse(X) else X[:MAX_ROWS]
    settings = {**choose(rng, trend=[False]), "random_state": 0, "values": draw_values(rng, X.shape[0]).tolist()}
    return Case(
        "GraspelRegressor", X, settings, run_regressor, lambda X, s: f"fuzzing.estimates.run_regressor({X}, {s!r})"
    )


def run_regressor(X: Any, settings: Settings) -> None:
    """Predictions are finite and the same for points of the fit; intervals of more chance are wider."""
    values = np.resize(np.array(settings.get("values", [0.0, 1.0])), X.shape[0])
    parameters = {name: value for name, value in settings.items() if name != "values"}
    model = graspel.GraspelRegressor(**parameters).fit(X, values)
    mean, deviation = model.predict(X, return_std=True)
    require(np.isfinite(mean).all() and np.isfinite(deviation).all(), "a prediction is not finite")
    originals = model.index_.find_originals()
    require(np.allclose(mean, model.transduction_[originals], rtol=1e-6), "predict moves a training point")
    require_between(mean, values) if not parameters.get("trend", True) else None
    low, high = np.array([model.predict_interval(X, level) for level in LEVELS]).transpose(1, 0, 2)
    require((np.diff(high - low, axis=0) >= 0).all(), "an interval of more chance is narrower")


def draw_imputer(rng: np.random.Generator) -> Case:
    """GraspelImputer on a table with gaps."""
    X = draw_points(rng)
    X = np.asarray(X.toarray() if sp.issparse(X) else X)[:MAX_ROWS].astype(np.float64)
    X[rng.random(X.shape) < rng.choice([0.02, 0.2, 0.6])] = np.nan
    return Case("GraspelImputer", X, {"random_state": 0}, run_imputer, write_call("GraspelImputer"))


def run_imputer(X: Any, settings: Settings) -> None:
    """What is known stays, what is filled is finite and has a deviation, and rows are filled the same alone."""
    model, gaps = graspel.GraspelImputer(**settings).fit(X), np.isnan(X)
    require(np.array_equal(model.imputed_[~gaps], X[~gaps]), "a known cell has changed")
    require(np.isfinite(model.imputed_).all(), "a filled cell is not finite")
    require(not model.deviation_[~gaps].any(), "a known cell has a deviation")
    varies = gaps & ((~gaps).sum(axis=0) > 1)
    require(np.isfinite(model.deviation_[varies]).all(), "a deviation is not finite")
    span = np.nanmax(X, axis=0) / 2 - np.nanmin(X, axis=0) / 2
    alone = np.vstack([model.transform(X[[row]]) for row in range(min(3, len(X)))])
    close = np.abs(alone / 2 - model.imputed_[: len(alone)] / 2) <= 1e-6 * span + 1e-12 * np.abs(alone)
    require(close.all(), "a row alone is filled in another way")


def draw_audit(rng: np.random.Generator) -> Case:
    """Audit with labels, some of them unknown, and parts."""
    X = draw_points(rng)
    settings = choose(
        rng, clusters=[1, 3], metric=["cosine"], y=[["a", "b"], ["a", None, "b"], [1, 1, 2]], split=["ab"]
    )
    return Case("audit", X, settings, run_audit, lambda X, s: f"fuzzing.estimates.run_audit({X}, {s!r})")


def run_audit(X: Any, settings: Settings) -> None:
    """Findings name points that there are; equal rows are copies, and only they; no unknown label is doubted."""
    n, known = X.shape[0], dict(settings)
    if "y" in known:
        known["y"] = (known["y"] * n)[:n]
    if "split" in known:
        known["split"] = (list(known["split"]) * n)[:n]
    found = graspel.audit(X, **known)
    for name, table in found.tables.items():
        points = table["point"] if "point" in table.columns else np.zeros(0, dtype=int)
        require(((points >= 0) & (points < n)).all(), f"{name} name a point that there is not")
    if "y" in known:
        require(all(known["y"][p] is not None for p in found.tables["labels"]["point"]), "an unknown label is doubted")
    require(found.tables["groups"]["size"].sum() == n, "the groups do not hold all points")
    require(all(found.sentences), "a sentence is empty")


def draw_index(rng: np.random.Generator) -> Case:
    """NeighborIndex: lists, lengthened, and queries."""
    settings = choose(rng, metric=["cosine"], k=[1, 3, 10])
    return Case("NeighborIndex", draw_points(rng), settings, run_index, _write_index, None)


def _write_index(data: str, settings: Settings) -> str:
    return f"fuzzing.estimates.run_index({data}, {settings!r})"


def run_index(X: Any, settings: Settings) -> None:
    """A graph on the index is the one without it, and rows of the fit are found as such; no list holds a farther point.

    Lists that were lengthened begin as they were, up to ties.
    """
    metric, k = settings.get("metric", "euclidean"), min(settings.get("k", 2), X.shape[0] - 1)
    index = graspel.NeighborIndex(X, metric=metric, random_state=0)
    short = index.lists(1)
    lists = index.lists(k)
    require(len(lists.indices) == len(short.indices), "lists that were lengthened are of other points")
    require((lists.z[:, 1:] >= lists.z[:, :-1]).all(), "a list is not in the order of distances")
    allowed = find_allowance(index.recall)
    farther = lists.z[:, :1] > short.z[:, :1] * (1 + 1e-5)
    require(farther.sum() <= allowed * len(farther), "a longer list begins with a farther point")
    links = index.query(X, 1)
    own = pairwise_distances(X, metric)[np.arange(X.shape[0]), links.indices[:, 0]] if X.shape[0] <= 250 else 0
    require(np.all(own <= 1e-6 * (1 if metric == "cosine" else abs(X).max())), "a point is not found")
    if X.shape[0] > 2:
        on_index = graspel.GRASPEL(metric=metric, random_state=0).fit(graspel.NeighborIndex(X, metric=metric))
        require(on_index.graph_.is_connected, "the graph on an index is not connected")


ESTIMATES: dict[str, Draw] = {
    "field": draw_field,
    "regressor": draw_regressor,
    "imputer": draw_imputer,
    "audit": draw_audit,
    "index": draw_index,
}
ESTIMATES |= {f"{name}_low": with_low_limits(draw) for name, draw in ESTIMATES.items()}
