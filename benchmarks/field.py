"""Values that were not measured: errors, intervals and gaps of tables, beside the methods of scikit-learn.

    GRASPEL_DATA=path/to/data python -m benchmarks.field     # everything; continues where an earlier run stopped
    python -m benchmarks.field --only errors,intervals       # errors, intervals, gaps, large
    python -m benchmarks.field --fresh                       # forget what earlier runs measured

A few columns of a set are hidden one by one and predicted at the rows where they are not measured, from the other
columns of all rows. The columns are drawn from the half that varies most. Settings were chosen on the first sets
(CHOSEN_ON) and confirmed on the others. Seconds are of the processor, for fit and prediction together.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from scipy.stats import norm

from benchmarks.scaling import manifold, peak_memory
from benchmarks.sections import FOLDER, Run, run_sections, titled_table
from graspel import GRASPEL, GraspelImputer, GraspelRegressor
from graspel.field import Field
from reproduction.data import load_labeled
from reproduction.timing import call_apart, time_call

CHOSEN_ON = ("digits", "coil20", "pendigits", "world/segment")
SETS = (*CHOSEN_ON, "usps", "mnist", "world/drybean")
SHARES = (0.05, 0.2, 0.5)  # of the rows, where the column is measured
MISSING = (0.1, 0.3)  # of the cells
LEVELS = np.arange(0.05, 1.0, 0.05)  # of the reliability diagram
LEVEL = 0.9
TEN = 10  # columns of MNIST
WIDEST = 20  # columns of a set whose gaps are filled: IterativeImputer takes minutes for many


class Task(NamedTuple):
    """A column to predict: the other columns, its values, and where they are known."""

    X: np.ndarray
    y: np.ndarray
    known: np.ndarray


def points_of(name: str, n: int) -> np.ndarray:
    """At most n points of a set."""
    X = np.asarray(load_labeled(name).X, dtype=np.float64)
    return X[np.sort(np.random.default_rng(0).permutation(len(X))[:n])]


def varying_columns(X: np.ndarray) -> np.ndarray:
    """The half of the columns that varies most, in random order."""
    order = np.argsort(-X.std(axis=0), kind="stable")
    return np.random.default_rng(0).permutation(order[: max(4, int((X.std(axis=0) > 0).sum()) // 2)])


def make_task(name: str, column: int, share: float, n: int) -> Task:
    """The column of a set that comes at the place `column` in the random order."""
    X = points_of(name, n)
    chosen = varying_columns(X)[column]
    known = np.random.default_rng([column, round(100 * share)]).random(len(X)) < share
    return Task(np.delete(X, chosen, axis=1), X[:, chosen], known)


def ours(task: Task) -> tuple[np.ndarray, dict[str, Any]]:
    """The predictions, and the shares of values inside the intervals of each level."""
    model = GraspelRegressor(random_state=0).fit(task.X, np.where(task.known, task.y, np.nan))
    hidden = ~task.known
    covered = {}
    for level in (LEVEL, *LEVELS):
        low, high = model.predict_interval(task.X, float(level))
        covered[f"{level:.2f}"] = float(((low <= task.y) & (task.y <= high))[hidden].mean())
    return model.transduction_, {"covered": covered}


def gaussian_process(task: Task) -> tuple[np.ndarray, dict[str, Any]]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.preprocessing import StandardScaler

    X = StandardScaler().fit_transform(task.X)
    kernel = ConstantKernel() * RBF(X.shape[1] ** 0.5, (0.01, 1e3)) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X[task.known], task.y[task.known])
    mean, deviation = model.predict(X, return_std=True)
    inside = np.abs(task.y - mean) <= norm.ppf(0.5 + LEVEL / 2) * deviation
    return mean, {"covered": {f"{LEVEL:.2f}": float(inside[~task.known].mean())}}


def nearest(task: Task) -> tuple[np.ndarray, dict[str, Any]]:
    from sklearn.neighbors import KNeighborsRegressor

    model = KNeighborsRegressor(5, weights="distance").fit(task.X[task.known], task.y[task.known])
    return model.predict(task.X), {}


def boosting(task: Task) -> tuple[np.ndarray, dict[str, Any]]:
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(random_state=0).fit(task.X[task.known], task.y[task.known])
    return model.predict(task.X), {}


def spreading(task: Task) -> tuple[np.ndarray, dict[str, Any]]:
    """LabelSpreading's equation, (I - alpha S) F = Y on its graph of 7 neighbors, for values: F y / F 1."""
    from sklearn.neighbors import kneighbors_graph

    A = kneighbors_graph(task.X, 7, include_self=True)
    A = sp.csc_array(A + A.T)
    half = sp.diags_array(1 / np.sqrt(A.sum(axis=1)))
    system = sp.csc_array(sp.eye_array(len(task.y)) - 0.95 * (half @ A @ half))
    sums, counts = spsolve(system, np.column_stack([np.where(task.known, task.y, 0.0), task.known * 1.0])).T
    middle = task.y[task.known].mean()
    return np.where(counts > 1e-12, sums / np.maximum(counts, 1e-12), middle), {}


METHODS: dict[str, Callable[[Task], tuple[np.ndarray, dict[str, Any]]]] = {
    "graspel": ours,
    "GaussianProcess": gaussian_process,
    "KNeighbors": nearest,
    "HistGradientBoosting": boosting,
    "LabelSpreading": spreading,
}


def measure_task(method: str, *about: Any) -> dict[str, Any]:
    """The error in standard deviations of the column, the seconds, and what the method says of its intervals."""
    task = make_task(*about)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, more = METHODS[method](task)
    seconds = time.process_time() - begun
    error = float(np.sqrt(((found - task.y)[~task.known] ** 2).mean()) / task.y.std())
    return {"error": error, "seconds": seconds, **more}


def measured_tasks(run: Run) -> dict[tuple[str, float, str], list[dict[str, Any]]]:
    """The results of every set, share and method, a list over the columns."""
    n, columns = run.options.points, run.options.columns
    return {
        (name, share, method): [
            run.measure(
                f"{name}/{column}/{share}/{n}/{method}",
                lambda a=(method, name, column, share, n): measure_task(*a),
            )
            for column in range(columns)
        ]
        for name in SETS
        for share in SHARES
        for method in METHODS
    }


def errors(run: Run) -> str:
    """Errors and seconds, by set and share."""
    found = measured_tasks(run)
    rows = []
    for name in SETS:
        for share in SHARES:
            cells = {method: found[name, share, method] for method in METHODS}
            means = {method: float(np.mean([one["error"] for one in of])) for method, of in cells.items()}
            seconds = {method: float(np.mean([one["seconds"] for one in of])) for method, of in cells.items()}
            best = min(means.values())
            shown = [
                f"{'**' * (means[m] <= 1.02 * best)}{means[m]:.3f}{'**' * (means[m] <= 1.02 * best)}" for m in means
            ]
            rows.append(
                [f"{name}, {share:.0%}", *(f"{text} ({seconds[m]:.1f})" for m, text in zip(means, shown, strict=True))]
            )
    title = (
        f"Error of hidden values in standard deviations of their column, mean of {run.options.columns} columns, at "
        f"most {run.options.points:,} rows; in brackets processor seconds. Bold: best, or within 2 % of it"
    )
    return titled_table(title, ["set, measured", *METHODS], rows)


def intervals(run: Run) -> str:
    """Shares of hidden values inside the intervals of 90 %, and the reliability diagram."""
    found = measured_tasks(run)
    methods = ("graspel", "GaussianProcess")
    rows = []
    for name in SETS:
        shares = {
            (method, share): float(np.mean([one["covered"][f"{LEVEL:.2f}"] for one in found[name, share, method]]))
            for method in methods
            for share in SHARES
        }
        rows.append([name, *(f"{100 * value:.1f}" for value in shares.values())])
    draw_reliability(found)
    title = f"Hidden values inside the intervals of {LEVEL:.0%}, per cent, by the share that is measured"
    return titled_table(title, ["set", *(f"{method}, {share:.0%}" for method in methods for share in SHARES)], rows)


def draw_reliability(found: dict[tuple[str, float, str], list[dict[str, Any]]]) -> None:
    """The share of hidden values inside intervals, by the level of the intervals: one line per set."""
    import matplotlib.pyplot as plt

    from graspel import plot

    _, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    axes.plot([0, 1], [0, 1], color="gray", linewidth=1, linestyle=":")
    for name in SETS:
        inside = [
            np.mean([one["covered"][f"{level:.2f}"] for share in SHARES for one in found[name, share, "graspel"]])
            for level in LEVELS
        ]
        axes.plot(LEVELS, inside, label=name.removeprefix("world/"), linewidth=1.5)
    axes.set(xlabel="level of the interval", ylabel="share of hidden values inside", aspect="equal")
    axes.legend(frameon=False)
    FOLDER.mkdir(exist_ok=True)
    plot.save(axes, FOLDER / "reliability.png")


def imputers() -> dict[str, Any]:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    return {
        "graspel": GraspelImputer(random_state=0),
        "KNNImputer": KNNImputer(),
        "IterativeImputer": IterativeImputer(random_state=0, max_iter=5),
        "median": SimpleImputer(strategy="median"),
    }


def measure_gaps(method: str, name: str, share: float, n: int) -> dict[str, float]:
    """The error of filled cells in standard deviations of their columns, and the seconds."""
    X = points_of(name, n)
    X = X[:, np.sort(varying_columns(X)[:WIDEST] if X.shape[1] > WIDEST else np.flatnonzero(X.std(axis=0) > 0))]
    gaps = np.random.default_rng(round(100 * share)).random(X.shape) < share
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled = imputers()[method].fit_transform(np.where(gaps, np.nan, X))
    seconds = time.process_time() - begun
    return {"error": float(np.sqrt(((((filled - X) / X.std(axis=0)) ** 2)[gaps]).mean())), "seconds": seconds}


def gaps(run: Run) -> str:
    """Gaps of tables."""
    n, rows = run.options.points, []
    for name in SETS:
        for share in MISSING:
            found = {
                method: run.measure(
                    f"gaps/{name}/{share}/{n}/{method}", lambda a=(method, name, share, n): measure_gaps(*a)
                )
                for method in imputers()
            }
            rows.append([f"{name}, {share:.0%}", *(f"{m['error']:.3f} ({m['seconds']:.1f})" for m in found.values())])
    title = (
        f"Error of filled cells in standard deviations of their columns, at most {n:,} rows and {WIDEST} columns; in "
        "brackets processor seconds"
    )
    return titled_table(title, ["set, missing", *imputers()], rows)


def measure_mnist() -> dict[str, float]:
    """Ten columns of all of MNIST, a tenth of the points measured, with given parameters."""
    X = np.asarray(load_labeled("mnist").X, dtype=np.float64)
    columns = varying_columns(X)[:TEN]
    known = np.flatnonzero(np.random.default_rng(0).random(len(X)) < 0.1)
    graph, seconds = timed(lambda: GRASPEL(5, max_iter=0, random_state=0).fit(np.delete(X, columns, axis=1)).graph_)
    scale = float(X[:, columns].std() * np.median(graph.degrees) ** 0.5)
    field = Field(graph, sigma=1e3 / np.median(graph.degrees) ** 0.5, scale=scale)
    found, more = timed(lambda: field.condition(known, X[np.ix_(known, columns)], noise=20.0))
    hidden = np.setdiff1d(np.arange(len(X)), known)
    error = np.sqrt(((found.mean - X[:, columns])[hidden] ** 2).mean(axis=0)) / X[:, columns].std(axis=0)
    return {"graph": seconds, "ten columns": more, "GB": peak_memory() / 1e9, "error": float(error.mean())}


def measure_many(n: int) -> dict[str, float]:
    """Points on sheets: one column, a tenth of the points measured, with estimated deviations."""
    X = manifold(n)
    known = np.flatnonzero(np.random.default_rng(0).random(n) < 0.1)
    graph, seconds = timed(lambda: GRASPEL(5, max_iter=0, random_state=0).fit(X[:, 1:]).graph_)
    y = X[:, 0].astype(np.float64)
    found, more = timed(lambda: Field(graph, error=0.2).condition(known, y[known]))
    hidden = np.setdiff1d(np.arange(n), known)
    deviation = np.hypot(found.deviation, found.noise)[hidden]
    off = np.abs(found.mean - y)[hidden]
    covered = float((off <= norm.ppf(0.5 + LEVEL / 2) * deviation).mean())
    error = float(np.sqrt((off**2).mean()) / y.std())
    stated = float(found.error)
    return {
        "graph": seconds,
        "field": more,
        "GB": peak_memory() / 1e9,
        "error": error,
        "covered": covered,
        "stated": stated,
    }


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """A value, and the seconds that it took."""
    seconds, value = time_call(run)
    return value, seconds


def large(run: Run) -> str:
    """MNIST exactly, and more points by estimates."""
    n = run.options.largest
    mnist = run.measure("large/mnist", lambda: call_apart(measure_mnist))
    many = run.measure(f"large/{n}", lambda: call_apart(measure_many, n))
    rows = [
        ["MNIST, ten columns", f"{mnist['graph']:.0f}", f"{mnist['ten columns']:.0f}", f"{mnist['GB']:.1f}", "0"],
        [
            f"{n:,} points, one column with its parameters",
            f"{many['graph']:.0f}", f"{many['field']:.0f}", f"{many['GB']:.1f}", f"{many['stated']:.2f}",
        ],
    ]  # fmt: skip
    title = "Mean and deviation at all points, a tenth measured"
    return titled_table(title, ["", "graph, s", "field, s", "GB at most", "error of deviations"], rows)


OPTIONS = (
    ("--largest", {"type": int, "default": 1_000_000, "help": "points of the largest field"}),
    ("--points", {"type": int, "default": 2000, "help": "larger sets are sampled down to so many points"}),
    ("--columns", {"type": int, "default": 2, "help": "columns of each set that are predicted"}),
)

if __name__ == "__main__":
    run_sections(
        "field", __doc__, {"errors": errors, "intervals": intervals, "gaps": gaps, "large": large}, more=OPTIONS
    )
