"""The Laplacian kernels beside what a user would pick: scipy's eigsh, pyamg with LOBPCG, sampling by leverage scores.

Also what is written by hand here beside the library that does the same: LOBPCG (scipy), nested dissection (pymetis).

    python -m benchmarks.kernels                 # everything; continues where an earlier run stopped
    python -m benchmarks.kernels --only eigsh    # eigsh, pyamg, sparsifier, grid, lobpcg, dissection
    python -m benchmarks.kernels --fresh         # forget what earlier runs measured

Needs MNIST and USPS (GRASPEL_DATA or the cache) and the peers: pip install -e ".[bench]". A peer that has not
finished after LIMIT seconds is stopped; its time is then a lower bound.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.scaling import knn_graph, manifold
from benchmarks.sections import Run, run_sections, titled_table
from reproduction.data import load_data
from reproduction.timing import time_best, time_call, time_call_within

LIMIT = 240  # seconds after which a peer is stopped


def largest_residual(L: sp.csr_array, values: np.ndarray, vectors: np.ndarray) -> float:
    """Largest |L u - lambda u| / lambda over the nonzero eigenvalues."""
    nonzero = values > 1e-9 * values.max()
    R = L @ vectors[:, nonzero] - vectors[:, nonzero] * values[nonzero]
    return float((np.linalg.norm(R, axis=0) / values[nonzero]).max())


def largest_component(A: sp.csr_array) -> sp.csr_array:
    """The largest component."""
    _, label = sp.csgraph.connected_components(A, directed=False)
    inside = label == np.bincount(label).argmax()
    return sp.csr_array(A[inside][:, inside])


def data_graph(name: str, k: int) -> sp.csr_array:
    """The kNN graph of a data set, its largest component, with weights of order one."""
    A = largest_component(knn_graph(load_data(name).X, k))
    return sp.csr_array(A / np.median(A.data))


def laplacian(A: sp.csr_array) -> sp.csr_array:
    """L = D - A."""
    return sp.csr_array(sp.diags_array(A.sum(axis=1)) - A)


def measure_eigsh() -> dict[str, float]:
    """11 eigenpairs of the 3NN graph of MNIST."""
    from scipy.sparse.linalg import eigsh

    from graspel.linalg import smallest_eigenpairs

    L = laplacian(data_graph("mnist", 3))
    ours, pairs = time_best(lambda: smallest_eigenpairs(L, 11, tol=1e-5), 2)
    theirs, answer = time_call_within(LIMIT, lambda: eigsh(L.tocsc(), k=11, sigma=-1e-6, which="LM"))
    run = {"ours": ours, "theirs": theirs, "our_residual": float(pairs.residuals.max())}
    if answer is not None:
        values, vectors = answer
        order = np.argsort(values)
        run["their_residual"] = largest_residual(L, values[order][1:], vectors[:, order][:, 1:])
        run["difference"] = float(np.abs(pairs.values[1:] / values[order][1:] - 1).max())
    return run


def peer_row(name: str, run: dict[str, float]) -> list[str]:
    """The row of a peer: its seconds, or that it was stopped."""
    if "their_residual" not in run:
        return [name, f"> {run['theirs']:.0f} s", "stopped"]
    return [name, f"{run['theirs']:.1f} s", f"residual {run['their_residual']:.1e}"]


def eigsh(results: Run) -> str:
    """Beside shift-invert Lanczos."""
    run = results.measure("eigsh", measure_eigsh)
    rows = [
        ["ours", f"{run['ours']:.2f} s", f"residual {run['our_residual']:.1e}"],
        peer_row("scipy eigsh, shift-invert", run),
        ["times faster", f"{run['theirs'] / run['ours']:.1f}", ">= 8"],
    ]
    if "difference" in run:
        rows.append(["largest relative difference of eigenvalues", f"{run['difference']:.1e}", "<= 1e-4"])
    return titled_table("11 eigenpairs, MNIST, 3NN graph", ["what", "measured", ""], rows)


def measure_pyamg(n: int = 1_000_000, k: int = 13) -> dict[str, float]:
    """13 eigenpairs of a learned graph of a million points, to the same residual."""
    import pyamg
    from scipy.sparse.linalg import lobpcg

    from graspel import GRASPEL
    from graspel.linalg import smallest_eigenpairs

    A = GRASPEL(max_iter=0, random_state=0).fit(manifold(n)).graph_.adjacency
    L = laplacian(sp.csr_array(A / np.median(A.data)))
    ours, pairs = time_call(lambda: smallest_eigenpairs(L, k, tol=1e-3))
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

    seconds, answer = time_call_within(LIMIT, theirs)
    run = {"ours": ours, "theirs": seconds, "our_residual": target}
    return run if answer is None else run | {"their_residual": largest_residual(L, *answer)}


def pyamg(results: Run) -> str:
    """Beside algebraic multigrid with LOBPCG."""
    run = results.measure("pyamg", measure_pyamg)
    rows = [
        ["ours", f"{run['ours']:.1f} s", f"residual {run['our_residual']:.1e}"],
        peer_row("pyamg Ruge-Stuben + LOBPCG", run),
        ["times faster", f"{run['theirs'] / run['ours']:.1f}", ">= 3"],
    ]
    return titled_table("13 eigenpairs, a million points, 2NN graph joined", ["what", "measured", ""], rows)


def measure_sparsifier(name: str, density: float = 1.2) -> dict[str, Any]:
    """Sparsify the 5NN graph, and sample as many off-tree edges by leverage scores for comparison."""
    from graspel.graph import Origin
    from graspel.linalg import LaplacianSolver, effective_resistance, sparsify
    from graspel.linalg.pencil import relative_condition

    A = data_graph(name, 5)
    seconds, ours = time_call(lambda: sparsify(A, density=density))
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


def measure_grid() -> dict[str, Any]:
    """Sparsify the grid of the README, to a density and to a condition number."""
    from graspel.graph import grid_graph
    from graspel.linalg import sparsify

    grid, run = grid_graph(200, 200), {}
    for target, value in (("density", 1.2), ("condition", 30.0)):
        seconds, sparse = time_best(lambda target=target, value=value: sparsify(grid, **{target: value}), 2)
        run[target] = {"seconds": seconds, "density": sparse.graph.density, "condition": sparse.condition}
    return run


def grid(results: Run) -> str:
    """The sparsifier on a grid of 40,000 nodes, once the compiled loops are loaded."""
    wanted = {"density": "1.5 s", "condition": "4 s"}
    rows = [
        [f"to a {name}", f"{run['density']:.3f}", f"{run['condition']:.1f}", f"{run['seconds']:.2f} s", wanted[name]]
        for name, run in results.measure("grid", measure_grid).items()
    ]
    header = ["target", "density", "condition", "measured", "wanted"]
    return titled_table("Sparsifier on a grid of 200 x 200", header, rows)


def sparsifier(results: Run) -> str:
    """Beside random sampling by leverage scores on top of the same tree."""
    rows = []
    for name in ("usps", "mnist"):
        run = results.measure(f"sparsifier/{name}", lambda name=name: measure_sparsifier(name))
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
    return titled_table("Sparsifier at density 1.2", header, rows)


GRAPHS = ("usps 3NN", "usps learned", "mnist 3NN", "mnist learned", "grid 300 x 300")


def named_graph(name: str) -> sp.csr_array:
    """One of GRAPHS, with weights of order one."""
    from graspel import GRASPEL
    from graspel.graph import grid_graph

    data, kind = name.split()[:2]
    if data == "grid":
        return grid_graph(300, 300).adjacency
    if kind == "3NN":
        return data_graph(data, 3)
    A = GRASPEL(random_state=0).fit(load_data(data).X).graph_.adjacency
    return sp.csr_array(A / np.median(A.data))


def processor_time(work: Any) -> tuple[float, Any]:
    """Processor seconds of a call, which depend less on other work on the machine, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def peak_memory(work: Any) -> float:
    """Bytes that a call allocates at most, as numpy reports them."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def measure_lobpcg(name: str, k: int = 10, tol: float = 1e-4) -> dict[str, float]:
    """The first nonzero eigenpairs by our LOBPCG and by scipy's, with the same start and the same preconditioner."""
    from scipy.sparse.linalg import LinearOperator, lobpcg

    from graspel.linalg import smallest_eigenpairs
    from graspel.linalg.factor.approximate_factor import ApproximateFactor

    A = named_graph(name)
    L, n = laplacian(A), A.shape[0]
    smallest_eigenpairs(L, 3, tol=0.1)  # loads the compiled elimination

    def by_us() -> Any:
        return smallest_eigenpairs(L, k + 1, tol=tol, n_jobs=1)

    ours, pairs = processor_time(by_us)

    def theirs() -> tuple[np.ndarray, np.ndarray]:
        factor = ApproximateFactor(A, np.random.default_rng(0))
        M = LinearOperator(L.shape, matvec=factor, matmat=factor, dtype=np.float64)
        modes = factor.to_node_order(factor.coarse_modes(k + 1))
        # scipy fails with a start that depends linearly on Y or within itself, as the modes and the constant do.
        start = np.linalg.svd(modes - modes.mean(axis=0), full_matrices=False)[0][:, :k]
        bound = tol * float(pairs.values[1])  # scipy takes one absolute bound for all pairs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lobpcg(L, start, M=M, Y=np.ones((n, 1)), tol=bound, maxiter=200, largest=False)

    seconds, (values, vectors) = processor_time(theirs)
    order = np.argsort(values)
    return {
        "ours": ours,
        "theirs": seconds,
        "our_residual": float(pairs.residuals.max()),
        "their_residual": largest_residual(L, values[order], vectors[:, order]),
        "our_memory": peak_memory(by_us) / (8 * n * k),
        "their_memory": peak_memory(theirs) / (8 * n * k),
    }


def lobpcg(results: Run) -> str:
    """Our LOBPCG beside scipy's."""
    rows = []
    for name in GRAPHS:
        run = results.measure(f"lobpcg/{name}", lambda name=name: measure_lobpcg(name))
        residuals = [f"{run['our_residual']:.1e}", f"{run['their_residual']:.1e}"]
        memory = [f"{run['our_memory']:.0f}", f"{run['their_memory']:.0f}"]
        rows.append([name, f"{run['ours']:.2f}", f"{run['theirs']:.2f}", *residuals, *memory])
    header = ["graph", "ours, s", "scipy, s", "our residual", "scipy's", "our peak", "scipy's"]
    title = "10 eigenpairs to 1e-4, one preconditioner; processor seconds, peak memory in blocks of 10 vectors"
    return titled_table(title, header, rows)


def measure_dissection(name: str) -> dict[str, float]:
    """Processor seconds of our dissection and of METIS, and the multiplications of an elimination in their orders."""
    import pymetis

    from graspel.kernels.dissection import dissect
    from graspel.linalg.factor.front_tree import LEAF_NODES

    A = named_graph(name)

    def ours(A: sp.csr_array) -> np.ndarray:
        return dissect(A.indptr.astype(np.int64), A.indices.astype(np.int32), LEAF_NODES)[0]

    ours(sp.csr_array(np.ones((100, 100)) - np.eye(100)))  # loads the compiled loops
    graph = pymetis.CSRAdjacency(A.indptr.tolist(), A.indices.tolist())
    our_seconds, our_order = processor_time(lambda: ours(A))
    seconds, (order, _) = processor_time(lambda: pymetis.nested_dissection(graph))
    work = {"our_work": multiplications(A, our_order), "their_work": multiplications(A, np.array(order))}
    return {"ours": our_seconds, "theirs": seconds, **work}


def multiplications(A: sp.csr_array, order: np.ndarray) -> float:
    """The sum of c^2 over the columns of the factor, with c entries each."""
    from scipy.sparse.linalg import splu

    L = (laplacian(A) + sp.eye_array(A.shape[0])).tocsc()[order][:, order]
    options = {"SymmetricMode": True}
    factor = splu(sp.csc_matrix(L), permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options).L
    return float((np.diff(factor.indptr).astype(np.float64) ** 2).sum())


def dissection(results: Run) -> str:
    """Our nested dissection beside that of METIS."""
    rows = []
    for name in GRAPHS:
        run = results.measure(f"dissection/{name}", lambda name=name: measure_dissection(name))
        works = [f"{run['our_work']:.2e}", f"{run['their_work']:.2e}"]
        rows.append([name, f"{run['ours']:.2f}", f"{run['theirs']:.2f}", *works])
    header = ["graph", "ours, s", "METIS, s", "our multiplications", "of METIS"]
    return titled_table("Nested dissection, processor seconds", header, rows)


SECTIONS = {
    "eigsh": eigsh,
    "pyamg": pyamg,
    "sparsifier": sparsifier,
    "grid": grid,
    "lobpcg": lobpcg,
    "dissection": dissection,
}

if __name__ == "__main__":
    run_sections("kernels", __doc__, SECTIONS)
