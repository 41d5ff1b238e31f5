"""How each kernel grows with the number of points: N = 10,000 to 1,000,000, M = 32, and the fitted exponents.

    python -m benchmarks.scaling                       # everything; continues where an earlier run stopped
    python -m benchmarks.scaling --sizes 10000,100000  # some sizes
    python -m benchmarks.scaling --kernels knn,eigen   # some kernels
    python -m benchmarks.scaling --fresh               # forget what earlier runs measured

Data: points on a curved manifold in ten clusters. Every size runs in a process of its own, and every kernel twice; the
faster run counts. Writes benchmarks/results/scaling.json and scaling.png.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.sections import FOLDER, Run, run_sections, titled_table
from reproduction.request import choose_names
from reproduction.timing import call_apart, time_best

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
KERNELS = ("knn", "fit", "eigen", "solve", "resistance", "sparsify", "coarsen")
LARGEST_EXPONENT = 1.15  # wanted: nearly linear time
LARGE = 100_000  # points; exponents are fitted to sizes of at least this, where fixed costs no longer matter


def manifold(n: int, n_features: int = 32, seed: int = 0) -> np.ndarray:
    """Points on ten curved three-dimensional sheets, with a little noise."""
    rng, shape = np.random.default_rng(seed), np.random.default_rng(1)
    position, cluster = rng.random((n, 3)), rng.integers(0, 10, n)
    directions, centers = 2 * shape.normal(size=(3, n_features)), 1.5 * shape.normal(size=(10, n_features))
    X = np.sin(position @ directions + centers[cluster]) + centers[cluster]
    return (X + 0.02 * rng.normal(size=X.shape)).astype(np.float32)


def search_neighbors(X: np.ndarray, k: int) -> Any:
    """The learner's own search for k neighbors, preparation included."""
    from graspel.data.prepare import prepare_rows
    from graspel.neighbors.search import nearest_neighbors
    from graspel.runtime.parallel import count_threads, one_thread_per_call

    rng = np.random.default_rng(0)
    with one_thread_per_call():
        return nearest_neighbors(prepare_rows(X, rng=rng, n_threads=count_threads(None)), k, rng)


def measure_size(n: int, kernels: list[str]) -> dict[str, Any]:
    """Seconds of every kernel for n points, and the peak memory of the fit."""
    from graspel import GRASPEL
    from graspel.linalg import LaplacianSolver, coarsen, effective_resistance, smallest_eigenpairs, sparsify
    from graspel.runtime.parallel import one_thread_per_call

    X, repeats = manifold(n), 2
    seconds: dict[str, Any] = {}
    if "knn" in kernels:
        seconds["knn"], _ = time_best(lambda: search_neighbors(X, 2), repeats)
    seconds["fit"], model = time_best(lambda: GRASPEL(random_state=0).fit(X), repeats if "fit" in kernels else 1)
    seconds["fit_memory"] = peak_memory()
    graph = model.graph_
    with one_thread_per_call():
        if "eigen" in kernels:
            seconds["eigen"], pairs = time_best(lambda: smallest_eigenpairs(graph.laplacian, 6, tol=1e-4), repeats)
            seconds["eigen_residual"] = float(pairs.residuals.max())
        if "solve" in kernels:
            b = np.random.default_rng(0).normal(size=(n, 4))
            seconds["solve"], _ = time_best(lambda: LaplacianSolver(graph).solve(b), repeats)
        if "resistance" in kernels:
            seconds["resistance"], R = time_best(lambda: effective_resistance(graph), repeats)
            seconds["resistance_error"] = R.error
        if "sparsify" in kernels:
            dense = knn_graph(X, 5)
            seconds["sparsify"], sparse = time_best(lambda: sparsify(dense, density=1.1), repeats)
            seconds["sparsify_condition"] = sparse.condition
        if "coarsen" in kernels:
            seconds["coarsen"], coarse = time_best(lambda: coarsen(graph, 5), repeats)
            seconds["coarsen_ratios"] = coarse.eigenvalue_ratios.tolist()
    seconds["memory"] = peak_memory()
    return seconds


def knn_graph(X: np.ndarray, k: int) -> sp.csr_array:
    """The kNN graph with weights 1/z."""
    lists = search_neighbors(X, k)
    heads = np.repeat(np.arange(len(X)), k)
    A = sp.csr_array((1 / lists.z[:, :k].ravel(), (heads, lists.indices[:, :k].ravel())), shape=(len(X),) * 2)
    return sp.csr_array(A.maximum(A.T))


def peak_memory() -> float:
    """Peak memory of this process so far, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def write_tables(sizes: list[int], runs: list[dict[str, Any]], kernels: list[str]) -> str:
    """The tables as Markdown."""
    from reproduction.scaling_plot import exponent

    rows = []
    for kernel in kernels:
        seconds = [run.get(kernel, float("nan")) for run in runs]
        slope = exponent(sizes, seconds, smallest=LARGE)
        rows.append([kernel, *(f"{s:.2f}" for s in seconds), f"{slope:.2f}", f"<= {LARGEST_EXPONENT}"])
    header = ["kernel", *(f"{n:,}" for n in sizes), "exponent", "wanted"]
    text = titled_table("Seconds, and the exponent from 100,000 points on", header, rows)
    if set(kernels) == set(KERNELS):
        last = runs[-1]
        rows = [
            ["5 eigenpairs / kNN search", f"{last['eigen'] / last['knn']:.2f}", "<= 1"],
            ["whole fit / kNN search", f"{last['fit'] / last['knn']:.2f}", "<= 3"],
            ["resistances of all edges / kNN search", f"{last['resistance'] / last['knn']:.2f}", "<= 3"],
            ["peak memory of the fit", f"{last['fit_memory'] / 1e9:.2f} GB", "< 8 GB"],
            ["residual of the eigenpairs", f"{last['eigen_residual']:.1e}", "1e-4 asked for"],
            ["relative error of the resistances", f"{last['resistance_error']:.3f}", "<= 0.1"],
            ["condition number of the sparsifier, density 1.1", f"{last['sparsify_condition']:.1f}", ""],
            ["coarse / fine eigenvalues", ", ".join(f"{r:.2f}" for r in last["coarsen_ratios"]), "1"],
        ]
        text += "\n\n" + titled_table(f"At {sizes[-1]:,} points", ["what", "measured", "wanted"], rows)
    return text


def draw(sizes: list[int], runs: list[dict[str, Any]], kernels: list[str]) -> None:
    """Seconds against N on logarithmic axes."""
    from graspel.plot import save
    from reproduction.scaling_plot import scaling

    FOLDER.mkdir(parents=True, exist_ok=True)
    seconds = {kernel: [run.get(kernel) for run in runs] for kernel in kernels}
    title = f"Every kernel is nearly linear (exponents from {LARGE:,} points on)"
    save(scaling(sizes, seconds, smallest=LARGE, title=title), FOLDER / "scaling.png")


def sizes(results: Run) -> str:
    """Measure the sizes that are missing, and draw the figure; every size runs in a process of its own."""
    kernels = choose_names("--kernels", results.options.kernels.split(","), KERNELS)
    numbers = [int(size) for size in results.options.sizes.split(",")]
    suffix = "" if set(kernels) == set(KERNELS) else "/" + ",".join(kernels)
    runs = [results.measure(f"{n}{suffix}", lambda n=n: call_apart(measure_size, n, kernels)) for n in numbers]
    draw(numbers, runs, kernels)
    return write_tables(numbers, runs, kernels)


OPTIONS = (
    ("--sizes", {"default": ",".join(map(str, SIZES)), "help": "numbers of points, with commas"}),
    ("--kernels", {"default": ",".join(KERNELS), "help": f"with commas: {', '.join(KERNELS)}"}),
)

if __name__ == "__main__":
    run_sections("scaling", __doc__, {"sizes": sizes}, more=OPTIONS)
