"""t-SNE of all points as data grow: seconds, memory beside the prediction of `plan`, and how much the picture keeps.

    python -m benchmarks.tsne            # continues where an earlier run stopped
    python -m benchmarks.tsne --fresh    # forget what earlier runs measured

The points lie on ten curved sheets in 32 dimensions. Every size runs in a process of its own. Pictures of data sets,
beside those of other libraries, are in ``python -m reproduction tsne``.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.scaling import manifold, peak_memory
from benchmarks.sections import Run, run_sections, titled_table
from reproduction.timing import call_apart

SIZES = (100_000, 500_000, 1_000_000)


def measure_size(n: int) -> dict[str, Any]:
    """Seconds, iterations and memory of the fit of n points."""
    from graspel import GraspelTSNE
    from graspel.metrics import neighbors_kept

    X = manifold(n)
    before, began, used = peak_memory(), time.perf_counter(), time.process_time()
    model = GraspelTSNE(random_state=0).fit(X)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    memory = peak_memory() - before
    return {
        "seconds": seconds,
        "processor": processor,
        "memory": memory,
        "predicted": GraspelTSNE().plan(X).memory,
        "iterations": model.n_iter_,
        **neighbors_kept(X, model.embedding_, sample=500)._asdict(),
    }


def growth(results: Run) -> str:
    """Seconds and memory against the number of points."""
    rows = []
    for n in SIZES:
        run = results.measure(f"{n}", lambda n=n: call_apart(measure_size, n))
        cost = [f"{run['seconds']:.0f}", f"{run['processor']:.0f}", f"{run['memory'] / 1e9:.2f} GB"]
        kept = [f"{run['trustworthiness']:.4f}", f"{run['preservation']:.3f}"]
        rows.append([f"{n:,}", *cost, f"{run['predicted'] / 1e9:.2f} GB", str(run["iterations"]), *kept])
    header = ["points", "seconds", "processor", "memory beside X", "predicted by `plan`", "iterations"]
    return titled_table("Growth", [*header, "trustworthiness", "preservation @10"], rows)


if __name__ == "__main__":
    run_sections("tsne", __doc__, {"growth": growth})
