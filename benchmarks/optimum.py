"""The optimum of the paper's problem: how near we come, how long it takes, and what it is good for.

    python -m benchmarks.optimum                  # everything; continues where an earlier run stopped
    python -m benchmarks.optimum --only small     # small, peers, scale, dial, large_dial, distance
    python -m benchmarks.optimum --fresh          # forget what earlier runs measured

Needs the data sets (GRASPEL_DATA or the cache). `seconds` is time on the clock and `cpu` that of the processor, which
does not depend on what else the machine does; with two cores a quiet machine needs about half of the latter.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from benchmarks.sections import Run, run_sections, titled_table
from reproduction.data import load_data

SETS = ("digits", "coil20", "pendigits", "usps")
SMALL = 300  # points of each set on which all pairs are solved at once
PAIRS = 20_000  # random pairs of which R and z are compared


def sample(name: str, n: int) -> np.ndarray:
    """The first n points of a random order."""
    X = np.asarray(load_data(name).X, dtype=np.float64)
    return X[np.random.default_rng(0).permutation(len(X))[:n]]


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock and of the processor, and the result."""
    clock, cpu = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - clock, time.process_time() - cpu, result


def learn(X: np.ndarray, **parameters: Any) -> Any:
    """A fitted learner."""
    from graspel import GRASPEL

    return GRASPEL(random_state=0, **parameters).fit(X)


def solve_all_pairs(X: np.ndarray) -> tuple[float, np.ndarray]:
    """F at the optimum over all pairs, found on all of them at once to a gap below 1e-6, and R of all pairs."""
    from graspel.data.prepare import prepare_rows
    from graspel.optimum.oracles import ExactOracle
    from graspel.optimum.problem import WeightProblem

    n = len(X)
    i, j = (ends.astype(np.int64) for ends in np.triu_indices(n, 1))
    z = np.maximum(prepare_rows(X).squared_distances(i, j), 1e-30)
    unit = float(np.median(z))
    problem = WeightProblem(i, j, n, z / unit, ground=unit / 1e6)
    found = ExactOracle(problem).maximize(np.ones(len(z)), lambda now: problem.gap(now.u, now.R) <= 1e-6, 1000)
    return found.objective - n * float(np.log(unit)), found.R


def resistances(graph: Any) -> np.ndarray:
    """R of all pairs by the full inverse."""
    K = np.linalg.inv(graph.laplacian.toarray() + 1 / graph.n_nodes)
    i, j = np.triu_indices(graph.n_nodes, 1)
    d = np.diag(K)
    return np.asarray(d[i] + d[j] - 2 * K[i, j])


def measure_small(name: str) -> dict[str, float]:
    """One set of 300 points: our search beside one run on all pairs."""
    X = sample(name, SMALL)
    best, R_best = solve_all_pairs(X)
    seconds, cpu, model = timed(lambda: learn(X, weights="optimal"))
    z = pdist(X, "sqeuclidean")
    R, default = resistances(model.graph_), resistances(learn(X).graph_)
    found = model.certificate_
    return {
        "F": found.objective,
        "best": best,
        "gap": found.optimality_gap,
        "true_gap": (best - found.objective) / (SMALL - 1),
        "largest": 1 + found.largest_excess,
        "density": found.density,
        "spearman": float(spearmanr(R, z)[0]),
        "spearman_best": float(spearmanr(R_best, z)[0]),
        "spearman_default": float(spearmanr(default, z)[0]),
        "seconds": seconds,
        "cpu": cpu,
    }


def small(results: Run) -> str:
    """300 points of each set against the optimum over all pairs."""
    rows = []
    for name in SETS:
        m = results.measure(f"small/{name}", lambda name=name: measure_small(name))
        rows.append(
            [
                name,
                f"{m['F']:.4f}",
                f"{m['best']:.4f}",
                f"{abs(m['F'] / m['best'] - 1):.1e}",
                f"{m['true_gap']:.1e} <= {m['gap']:.1e}",
                f"{m['largest']:.4f}",
                f"{m['density']:.2f}",
                f"{m['spearman']:.3f} / {m['spearman_best']:.3f} / {m['spearman_default']:.3f}",
                f"{m['seconds']:.1f} ({m['cpu']:.1f})",
            ]
        )
    header = ["set", "F", "F of all pairs", "relative", "gap <= bound", "largest R/z", "density"]
    title = "300 points each. Spearman of R and z: ours / optimum over all pairs / default"
    return titled_table(title, [*header, "Spearman", "seconds (cpu)"], rows)


def measure_peer(name: str, n: int) -> dict[str, float]:
    """One method on n digits with its own solver; F of its graph in our objective, without sigma.

    `enough` are the processor seconds until F was within 1e-4 of the best, relative, where there is such a record.
    """
    X = sample("digits", n)
    X = (X - X.mean(axis=0)) / X.std()  # variances of order one, which the penalties of the peers are made for
    z = squareform(pdist(X, "sqeuclidean")) / X.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "ours":
            _learn_by(name, X)  # compiled functions are loaded
        seconds, cpu, (graph, values) = timed(lambda: _learn_by(name, X))
    F = np.linalg.slogdet(graph.laplacian.toarray() + 1 / n)[1] - graph.weights @ z[graph.heads, graph.tails]
    errors = np.asarray(values) - max(values, default=0.0) + 1e-4 * abs(F)
    share = (1 + int(np.argmax(errors >= 0))) / len(values) if len(values) else np.nan
    return {"F": float(F), "seconds": seconds, "cpu": cpu, "density": graph.density, "enough": cpu * share}


def _learn_by(name: str, X: np.ndarray) -> tuple[Any, list[float]]:
    """The graph, and F after each iteration (ours: each round)."""
    from reproduction.baselines import GLSC, GLLogDet, GraphicalLasso
    from reproduction.baselines.pairs import condensed_distances, graph_of_pairs

    if name == "ours":
        model = learn(X, weights="optimal", sigma=1e9)
        unit = np.linalg.norm(X - X.mean(axis=0), 2) ** 2 / X.shape[1]  # z_data is z / M in this unit
        return model.graph_.scaled(1 / unit), [record.objective for record in model.history_]
    if name.startswith("glsc"):
        k = condensed_distances(X) / X.shape[1]
        minimum = GLSC(tol=float(name.split()[1])).minimum(k, len(X))
        return graph_of_pairs(minimum.x / k, len(X)), [-value for value in minimum.values]
    if name == "gl-logdet":
        return GLLogDet(penalty=1e-6, tol=1e-3).learn(X), []
    return GraphicalLasso(alpha=0.2).learn(X), []


PEERS = ("ours", "glsc 1e-3", "glsc 1e-5", "gl-logdet", "graphical-lasso")


def peers(results: Run) -> str:
    """GLSC solves the same problem; the two others solve related ones, and their F is that of their graph in ours."""
    rows = []
    for n in (500, 1000):
        found = {name: results.measure(f"peers/{name}/{n}", lambda a=(name, n): measure_peer(*a)) for name in PEERS}
        for name, m in found.items():
            times, ratio = f"{m['seconds']:.2f} ({m['cpu']:.2f})", f"{m['cpu'] / found['ours']['cpu']:.1f}"
            enough = f"{m['enough']:.2f} ({m['enough'] / found['ours']['enough']:.1f})" if m["enough"] > 0 else ""
            rows.append([str(n), name, f"{m['F']:.3f}", f"{m['density']:.2f}", times, ratio, enough])
    header = ["points", "method, tol", "F", "density", "seconds (cpu)", "cpu / ours", "cpu to 1e-4 of F (/ ours)"]
    return titled_table("Digits, the same objective (beta 0, no sigma)", header, rows)


def make_points(name: str) -> np.ndarray:
    """The larger data: 26 classes of 16 columns, USPS twice with noise, and 50 classes of 32 columns."""
    rng = np.random.default_rng(0)
    if name.startswith("letters"):
        n = int(name.split("-")[1])
        kind = rng.integers(26, size=n)
        A, center = rng.normal(size=(26, 6, 16)) * rng.uniform(0.3, 1, size=(26, 6, 1)), 1.5 * rng.normal(size=(26, 16))
        inside = np.einsum("ni,nij->nj", rng.normal(size=(n, 6)), A[kind])
        return center[kind] + inside + 0.3 * rng.normal(size=(n, 16))
    if name == "usps-twice":
        X = np.asarray(load_data("usps").X, dtype=np.float64)
        return np.concatenate([X, X + 0.05 * X.std() * rng.normal(size=X.shape)])
    if name == "classes-100000":
        kind = rng.integers(50, size=100_000)
        A, center = 0.5 * rng.normal(size=(50, 8, 32)), rng.normal(size=(50, 32))
        noise = 0.2 * rng.normal(size=(len(kind), 32))
        return center[kind] + np.einsum("ni,nij->nj", rng.normal(size=(len(kind), 8)), A[kind]) + noise
    return np.asarray(load_data(name).X)


def measure_scale(name: str, tol: float | None = None) -> dict[str, Any]:
    """One large set."""
    X = make_points(name)
    try:
        seconds, cpu, model = timed(lambda: learn(X, weights="optimal", tol=tol))
    except ValueError as error:
        return {"error": str(error)}
    found = model.certificate_
    return {
        "n": len(X),
        "F": found.objective / (len(X) - 1),
        "gap": found.optimality_gap,
        "pairs": found.optimality_pairs,
        "largest": 1 + found.largest_excess,
        "density": found.density,
        "rounds": found.n_rounds,
        "seconds": seconds,
        "cpu": cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def scale(results: Run) -> str:
    """Gap, time and memory of larger sets."""
    rows = []
    for name in ("letters-5000", "letters-10000", "letters-20000", "usps-twice", "classes-100000", "mnist"):
        m = results.measure(f"scale/{name}", lambda name=name: measure_scale(name))
        if "error" in m:
            rows.append([name, "", m["error"], "", "", "", "", ""])
            continue
        times = f"{m['seconds']:.0f} ({m['cpu']:.0f})"
        bound = f"{m['gap']:.1e}, {m['pairs']}"
        sizes = [f"{m['largest']:.4f}", f"{m['density']:.2f}", str(m["rounds"]), times, f"{m['memory']:.1f}"]
        rows.append([name, f"{m['n']:,}", bound, *sizes])
    header = ["set", "points", "bound of the gap", "largest R/z", "density", "rounds", "seconds (cpu)", "GB"]
    return titled_table("Larger sets", header, rows)


TOLERANCES = (0.1, 0.02, 1e-3, 1e-4)


def dial(results: Run, names: tuple[str, ...] = ("pendigits", "letters-10000")) -> str:
    """What a coarser bound saves, and what is really missing then, beside the smallest tolerance measured."""
    rows, tolerances = [], TOLERANCES
    for name in names:
        found = [results.measure(f"dial/{name}/{tol:g}", lambda a=(name, tol): measure_scale(*a)) for tol in tolerances]
        best = found[-1]["F"]
        for tol, m in zip(tolerances, found, strict=True):
            start = [f"{name}, {m['n']:,}" if tol == tolerances[0] else "", f"{tol:g}", f"{m['gap']:.1e}"]
            lost = "" if m is found[-1] else f"{best - m['F']:.1e}"
            rows.append([*start, lost, str(m["rounds"]), f"{m['cpu']:.1f}"])
    header = ["", "tol", "bound", "missing", "rounds", "processor seconds"]
    return titled_table("Dial", header, rows)


def large_dial(results: Run) -> str:
    """The same of larger sets; this takes an hour."""
    return dial(results, ("usps", "classes-100000", "mnist"))


def measure_distance(name: str) -> dict[str, float]:
    """Spearman of R, and of distances in the embedding, with z on random pairs of a whole set."""
    from graspel.linalg import resistance_between, smallest_eigenpairs

    X = np.asarray(load_data(name).X, dtype=np.float64)
    nodes = np.random.default_rng(1).choice(len(X), int(np.sqrt(2 * PAIRS)), replace=False)
    z, (i, j) = pdist(X[nodes], "sqeuclidean"), np.triu_indices(len(nodes), 1)
    near = z <= np.quantile(z, 0.1)
    found = {}
    for kind, parameters in KINDS.items():
        graph = learn(X, **parameters).graph_
        pairs = smallest_eigenpairs(graph.laplacian, 51, tol=1e-4, random_state=0)
        U = pairs.vectors[nodes, 1:] / np.sqrt(pairs.values[1:])
        distances = {
            "R": resistance_between(graph, nodes, tol=1e-4)[i, j],
            "10": pdist(U[:, :10], "sqeuclidean"),
            "50": pdist(U, "sqeuclidean"),
        }
        for label, d in distances.items():
            found[f"{kind}/{label}"] = float(spearmanr(d, z)[0])
            found[f"{kind}/{label}/near"] = float(spearmanr(d[near], z[near])[0])
    return found


KINDS: dict[str, dict[str, Any]] = {"default": {}, "refined": {"weights": "refined"}, "optimal": {"weights": "optimal"}}


def distance(results: Run) -> str:
    """How well R, and the first 10 and 50 vectors of the embedding, tell distance on whole sets."""
    rows = []
    for name in SETS:
        m = results.measure(f"distance/{name}", lambda name=name: measure_distance(name))
        for label in ("R", "10", "50"):
            cells = [f"{m[f'{kind}/{label}']:.3f} ({m[f'{kind}/{label}/near']:.3f})" for kind in KINDS]
            rows.append([name, label if label == "R" else f"first {label} vectors", *cells])
    title = "Whole sets: Spearman of a distance on the graph and z on random pairs (on the nearest tenth of them)"
    return titled_table(title, ["set", "distance", *KINDS], rows)


SECTIONS = {
    "small": small,
    "peers": peers,
    "scale": scale,
    "dial": dial,
    "large_dial": large_dial,
    "distance": distance,
}

if __name__ == "__main__":
    run_sections("optimum", __doc__, SECTIONS)
