"""The kernels against what a user would pick: scipy's eigsh, pyamg with LOBPCG, sampling by leverage scores.

    python benchmarks/kernels.py                 # everything; goes on where an earlier run stopped
    python benchmarks/kernels.py --only eigsh    # eigsh, pyamg, sparsifier
    python benchmarks/kernels.py --fresh         # forget earlier results

Needs MNIST and USPS (GRASPEL_DATA or the cache) and pyamg: pip install -e ".[bench]". A peer that is not done after
LIMIT seconds is stopped, and its time is a lower bound.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from results_file import Results, print_table, run_sections
from scaling import knn_graph, manifold

LIMIT = 240  # seconds that a peer is given


def seconds_of(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one run, and its result."""
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def limited(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a peer's run in a process of its own, and its result; LIMIT and None if it was stopped."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=lambda: theirs.send(seconds_of(run)))
    process.start()
    answer = ours.recv() if ours.poll(LIMIT) else (float(LIMIT), None)
    process.kill()
    process.join()
    return answer


def residual(L: sp.csr_array, values: np.ndarray, vectors: np.ndarray) -> float:
    """Largest |L u - lambda u| / lambda over the nonzero eigenvalues."""
    nonzero = values > 1e-9 * values.max()
    R = L @ vectors[:, nonzero] - vectors[:, nonzero] * values[nonzero]
    return float((np.linalg.norm(R, axis=0) / values[nonzero]).max())


def connected(A: sp.csr_array) -> sp.csr_array:
    """The largest component."""
    _, label = sp.csgraph.connected_components(A, directed=False)
    inside = label == np.bincount(label).argmax()
    return sp.csr_array(A[inside][:, inside])


def data_graph(name: str, k: int) -> sp.csr_array:
    """The kNN graph of a data set, its largest component, with weights of order one."""
    from graspel import datasets

    A = connected(knn_graph(datasets.load(name).X, k))
    return sp.csr_array(A / np.median(A.data))


def laplacian(A: sp.csr_array) -> sp.csr_array:
    """L = D - A."""
    return sp.csr_array(sp.diags_array(A.sum(axis=1)) - A)


def eigsh_run() -> dict[str, float]:
    """11 eigenpairs of the 3NN graph of MNIST."""
    from scipy.sparse.linalg import eigsh

    from graspel.linalg import smallest_eigenpairs

    L = laplacian(data_graph("mnist", 3))
    ours, pairs = min((seconds_of(lambda: smallest_eigenpairs(L, 11, tol=1e-5)) for _ in range(2)), key=lambda r: r[0])
    theirs, answer = limited(lambda: eigsh(L.tocsc(), k=11, sigma=-1e-6, which="LM"))
    run = {"ours": ours, "theirs": theirs, "our_residual": float(pairs.residuals.max())}
    if answer is not None:
        values, vectors = answer
        order = np.argsort(values)
        run["their_residual"] = residual(L, values[order][1:], vectors[:, order][:, 1:])
        run["difference"] = float(np.abs(pairs.values[1:] / values[order][1:] - 1).max())
    return run


def peer_row(name: str, run: dict[str, float]) -> list[str]:
    """What the peer needed, or that it was stopped."""
    if "their_residual" not in run:
        return [name, f"> {run['theirs']:.0f} s", "stopped"]
    return [name, f"{run['theirs']:.1f} s", f"residual {run['their_residual']:.1e}"]


def eigsh(results: Results) -> None:
    """Against shift-invert Lanczos."""
    run = results.get("eigsh", eigsh_run)
    rows = [
        ["ours", f"{run['ours']:.2f} s", f"residual {run['our_residual']:.1e}"],
        peer_row("scipy eigsh, shift-invert", run),
        ["times faster", f"{run['theirs'] / run['ours']:.1f}", ">= 8"],
    ]
    if "difference" in run:
        rows.append(["largest relative difference of eigenvalues", f"{run['difference']:.1e}", "<= 1e-4"])
    print_table("11 eigenpairs, MNIST, 3NN graph", ["what", "measured", ""], rows)


def pyamg_run(n: int = 1_000_000, k: int = 13) -> dict[str, float]:
    """13 eigenpairs of a learned graph of a million points, to the same residual."""
    import pyamg
    from scipy.sparse.linalg import lobpcg

    from graspel import GRASPEL
    from graspel.linalg import smallest_eigenpairs

    A = GRASPEL(max_iter=0, random_state=0).fit(manifold(n)).graph_.adjacency
    L = laplacian(sp.csr_array(A / np.median(A.data)))
    ours, pairs = seconds_of(lambda: smallest_eigenpairs(L, k, tol=1e-3))
    target = float(pairs.residuals.max())

    def theirs() -> tuple[np.ndarray, np.ndarray]:
        hierarchy = pyamg.ruge_stuben_solver(sp.csr_matrix(L), max_coarse=500)
        X = np.random.default_rng(0).normal(size=(n, k - 1))
        constant = np.ones((n, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lobpcg(
                L,
                X,
                M=hierarchy.aspreconditioner(),
                Y=constant,
                tol=target * pairs.values[1],
                maxiter=200,
                largest=False,
            )

    seconds, answer = limited(theirs)
    run = {"ours": ours, "theirs": seconds, "our_residual": target}
    return run if answer is None else run | {"their_residual": residual(L, *answer)}


def pyamg(results: Results) -> None:
    """Against algebraic multigrid with LOBPCG."""
    run = results.get("pyamg", pyamg_run)
    rows = [
        ["ours", f"{run['ours']:.1f} s", f"residual {run['our_residual']:.1e}"],
        peer_row("pyamg Ruge-Stuben + LOBPCG", run),
        ["times faster", f"{run['theirs'] / run['ours']:.1f}", ">= 3"],
    ]
    print_table("13 eigenpairs, a million points, 2NN graph joined", ["what", "measured", ""], rows)


def sparsifier_run(name: str, density: float = 1.2) -> dict[str, Any]:
    """Sparsify the 5NN graph; the same number of off-tree edges drawn by leverage scores for comparison."""
    from graspel.graph import Origin
    from graspel.linalg import LaplacianSolver, effective_resistance, sparsify
    from graspel.linalg.pencil import relative_condition

    A = data_graph(name, 5)
    seconds, ours = seconds_of(lambda: sparsify(A, density=density))
    tree = ours.graph.origin == Origin.TREE
    R = effective_resistance(A, error=0.1)
    n = A.shape[0]
    is_tree = np.isin(R.heads * n + R.tails, ours.graph.heads[tree] * n + ours.graph.tails[tree])
    w = np.asarray(sp.triu(A, 1, format="csr").data)
    leverage = np.where(is_tree, 0.0, w * R.values)
    sampled = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(w), ours.graph.n_edges - tree.sum(), replace=False, p=leverage / leverage.sum())
        kept = is_tree.copy()
        kept[drawn] = True
        half = sp.coo_array((w[kept], (R.heads[kept], R.tails[kept])), shape=A.shape).tocsr()
        P = LaplacianSolver(sp.csr_array(half + half.T))
        sampled.append(relative_condition(LaplacianSolver(A), P, rng))
    return {
        "seconds": seconds,
        "density": ours.graph.density,
        "before": A.nnz / 2 / n,
        "condition": ours.condition,
        "sampled": sampled,
    }


def sparsifier(results: Results) -> None:
    """Against random sampling by leverage scores on top of the same tree."""
    rows = []
    for name in ("usps", "mnist"):
        run = results.get(f"sparsifier/{name}", lambda name=name: sparsifier_run(name))
        rows.append(
            [
                name,
                f"{run['before']:.2f} -> {run['density']:.3f} (<= 1.2)",
                f"{run['condition']:.1f}",
                ", ".join(f"{c:.0f}" for c in run["sampled"]),
                f"{run['seconds']:.1f}",
            ]
        )
    header = ["5NN graph of", "density", "condition", "by leverage scores, 3 draws", "seconds"]
    print_table("Sparsifier at density 1.2", header, rows)


if __name__ == "__main__":
    run_sections("kernels", __doc__, {"eigsh": eigsh, "pyamg": pyamg, "sparsifier": sparsifier})
