"""The Laplacian kernels beside what a user would pick: scipy's eigsh, pyamg with LOBPCG, sampling by leverage scores.

Also what is written by hand here beside the library that does the same: LOBPCG (scipy), nested dissection (pymetis).

    python -m benchmarks.kernels                 # everything; continues where an earlier run stopped
    python -m benchmarks.kernels --only eigsh    # solves, eigsh, pyamg, sparsifier, grid, lobpcg, dissection
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
    if kind.endswith("NN"):
        return data_graph(data, int(kind[:-2]))
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


SOLVED = ("usps learned", "usps 3NN", "usps 10NN", "mnist learned", "grid 300 x 300")
RIGHT_SIDES, RESIDUAL = 8, 1e-8


def solve_by_conjugate_gradients(L: sp.csr_array, B: np.ndarray, M: Any) -> np.ndarray:
    """scipy's conjugate gradients, one right side after the other; NaN where they do not converge."""
    from scipy.sparse.linalg import cg

    found = [cg(L, b, rtol=RESIDUAL, maxiter=20_000, M=M) for b in B.T]
    return np.column_stack([x if info == 0 else np.full_like(x, np.nan) for x, info in found])


def solve_grounded(L: sp.csr_array, B: np.ndarray) -> np.ndarray:
    """scipy's direct solver, with the last node at zero."""
    from scipy.sparse.linalg import splu

    factor = splu(sp.csc_array(L[:-1, :-1]), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    return np.vstack([factor.solve(B[:-1]), np.zeros((1, B.shape[1]))])


def solve_by_multigrid(L: sp.csr_array, B: np.ndarray, kind: str) -> np.ndarray:
    """pyamg's hierarchy, as the preconditioner of conjugate gradients."""
    import pyamg

    A = sp.csr_matrix(L)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return solve_by_conjugate_gradients(L, B, getattr(pyamg, kind)(A, max_coarse=500).aspreconditioner())


def solve_by_ours(L: sp.csr_array, B: np.ndarray) -> np.ndarray:
    """The preconditioner is that of approximate elimination."""
    from graspel.linalg import LaplacianSolver

    adjacency = -L
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    return LaplacianSolver(adjacency, random_state=0).solve(B, tol=RESIDUAL)


SOLVERS: dict[str, Any] = {
    "ours": solve_by_ours,
    "scipy, conjugate gradients with the diagonal": lambda L, B: solve_by_conjugate_gradients(
        L, B, sp.diags_array(1 / L.diagonal())
    ),
    "scipy, splu": solve_grounded,
    "pyamg, smoothed aggregation": lambda L, B: solve_by_multigrid(L, B, "smoothed_aggregation_solver"),
    "pyamg, Ruge-Stueben": lambda L, B: solve_by_multigrid(L, B, "ruge_stuben_solver"),
}


def measure_solves(name: str) -> dict[str, Any]:
    """Set-up and solves by every method, in one process whose libraries and compiled loops are loaded."""
    A = named_graph(name)
    L, run = laplacian(A), {"n": A.shape[0], "density": A.nnz / A.shape[0] / 2}
    B = np.random.default_rng(0).normal(size=(L.shape[0], RIGHT_SIDES))
    B -= B.mean(axis=0)
    for solver, solve in SOLVERS.items():
        first = A[:30_000, :30_000]  # large enough for the compiled loops
        part = laplacian(largest_component(first))
        solve(part, B[: part.shape[0], :1] - B[: part.shape[0], :1].mean())
        seconds, X = processor_time(lambda solve=solve: solve(L, B))
        residual = np.linalg.norm(B - L @ X, axis=0) / np.linalg.norm(B, axis=0)
        run[solver] = {"cpu": seconds, "residual": float(residual.max())}
    return run


def solves(results: Run) -> str:
    """Laplacian systems beside scipy and pyamg."""
    found = {name: results.measure(f"solves/{name}", lambda name=name: measure_solves(name)) for name in SOLVED}

    def cell(run: dict[str, float]) -> str:
        reached = run["residual"] <= 10 * RESIDUAL
        return f"{run['cpu']:.2f}" + ("" if reached else f" ({run['residual']:.0e})")

    heads = [f"{name}: {run['n']:,} nodes, density {run['density']:.1f}" for name, run in found.items()]
    rows = [[solver, *(cell(run[solver]) for run in found.values())] for solver in SOLVERS]
    return titled_table("Solves", ["", *heads], rows)


SECTIONS = {
    "solves": solves,
    "eigsh": eigsh,
    "pyamg": pyamg,
    "sparsifier": sparsifier,
    "grid": grid,
    "lobpcg": lobpcg,
    "dissection": dissection,
}

if __name__ == "__main__":
    run_sections("kernels", __doc__, SECTIONS)
