"""The learner against the paper's figures and against what a user would run instead.

    python benchmarks/learn.py                # everything; goes on where an earlier run stopped
    python benchmarks/learn.py --only speed   # paper, speed, start, memory
    python benchmarks/learn.py --fresh        # forget earlier results

Needs the data sets (GRASPEL_DATA or the cache) and hnswlib: pip install -e ".[bench]".
Speed is measured in one process, both sides by turns, best of several, and given as a ratio.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from results_file import Results, print_table, run_sections

REPEATS = 3

# Rounds, edges added, density, eta_max before and after, seconds: what the paper reports (None where it says nothing).
PAPER = {
    ("usps", 10.0): (11, None, None, "2,600 x less", None, None),
    ("mnist-subset", 100.0): (8, 196, 1.567, 1e6, 100.0, 11.0),
    ("mnist-subset", 10.0): (24, 588, 1.567, 1e6, 10.0, 36.0),
}


def points(name: str) -> np.ndarray:
    """The points of a data set, as the paper uses them."""
    from graspel import datasets

    return datasets.mnist_subset().X if name == "mnist-subset" else datasets.load(name).X


def paper_run(name: str, tol: float) -> dict[str, Any]:
    """The paper's setting: 2NN, zeta .001, epsilon .05, rows centered."""
    from graspel import GRASPEL

    X = points(name)
    started = time.perf_counter()
    model = GRASPEL(n_neighbors=2, tol=tol, window=0.05, edge_ratio=0.001, center=True, random_state=0).fit(X)
    seconds = time.perf_counter() - started
    history = model.history_
    return {
        "rounds": len(history),
        "settled": model.certificate_.settled,
        "joins": int(history[0].n_added) if np.isnan(history[0].objective) else 0,
        "added": int(sum(record.n_added for record in history)),
        "density_before": history[0].density,
        "density_after": model.graph_.density,
        "eta_before": history[0].max_eta,
        "eta_joined": history[min(1, len(history) - 1)].max_eta,
        "eta_after": history[-1].max_eta,
        "seconds": seconds,
    }


def paper(results: Results) -> None:
    """Rounds, edges, density and distortion next to the paper's."""
    rows = []
    for (name, tol), (rounds, added, density, before, after, seconds) in PAPER.items():
        ours = results.get(f"paper/{name}/{tol:g}", lambda name=name, tol=tol: paper_run(name, tol))
        rows.append(
            [
                f"{name}, tol {tol:g}",
                f"{ours['rounds']} ({rounds})",
                "yes" if ours["settled"] else "NO",
                f"{ours['added']}, {ours['joins']} of them joins ({added or '-'})",
                f"{ours['density_before']:.4f} -> {ours['density_after']:.4f} ({density or '-'})",
                f"{ours['eta_before']:.2g} -> {ours['eta_joined']:.3g} -> {ours['eta_after']:.3g} "
                f"({before} -> {after or '-'})",
                f"{ours['eta_before'] / ours['eta_after']:.2g}",
                f"{ours['seconds']:.1f} ({seconds or '-'})",
            ]
        )
    print_table(
        "The paper's runs: ours (paper). eta_max: disconnected start -> joined -> last round",
        ["run", "rounds", "settled", "edges added", "density", "eta_max", "eta falls by", "seconds"],
        rows,
    )


def hnsw_10nn(X: np.ndarray) -> None:
    """The 10-NN graph by hnswlib, with the parameters of the comparison."""
    import hnswlib

    index = hnswlib.Index("l2", X.shape[1])
    index.init_index(len(X), ef_construction=60, M=16)
    index.add_items(X)
    index.set_ef(40)
    index.knn_query(X, 11)


def recall(X: np.ndarray, n_sampled: int = 2000) -> float:
    """Recall of the learner's neighbors against exact search, on a sample that the learner does not know."""
    from sklearn.neighbors import NearestNeighbors

    from graspel.neighbors.lists import nearest_neighbors
    from graspel.points.prepared import Points
    from graspel.runtime.parallel import one_thread_per_call

    rng = np.random.default_rng(0)
    with one_thread_per_call():
        found = nearest_neighbors(Points(X, rng=rng, n_threads=2), 2, rng).indices[:, :2]
    sample = np.random.default_rng(99).choice(len(X), n_sampled, replace=False)
    truth = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X).kneighbors(X[sample], return_distance=False)
    hits = [len(set(found[i]) & set([j for j in row if j != i][:2])) for i, row in zip(sample, truth, strict=True)]
    return float(np.mean(hits)) / 2


def by_turns(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[list[float], list[float]]:
    """Seconds of both, run by turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        for times, run in zip(seconds, (ours, theirs), strict=True):
            started = time.perf_counter()
            run()
            times.append(time.perf_counter() - started)
    return seconds


def speed_run() -> dict[str, Any]:
    """MNIST against hnswlib, and USPS."""
    from graspel import GRASPEL

    mnist, usps = points("mnist").astype(np.float32), points("usps")
    fit, hnsw = by_turns(lambda: GRASPEL(random_state=0).fit(mnist), lambda: hnsw_10nn(mnist))
    small, _ = by_turns(lambda: GRASPEL(random_state=0).fit(usps), lambda: None)
    return {"fit": fit, "hnsw": hnsw, "usps": small, "recall": recall(mnist)}


def speed(results: Results) -> None:
    """Whole fits, in one run."""
    run = results.get("speed", speed_run)
    ratio = min(run["fit"]) / min(run["hnsw"])
    rows = [
        ["MNIST, GRASPEL().fit", f"{min(run['fit']):.2f} s", ""],
        ["MNIST, hnswlib 10-NN alone", f"{min(run['hnsw']):.2f} s", ""],
        ["ratio", f"{ratio:.2f}", "<= 1.0"],
        ["recall@2 against exact search, 2,000 points", f"{run['recall']:.4f}", ">= 0.99"],
        ["USPS, GRASPEL().fit", f"{min(run['usps']):.2f} s", "< 3 s"],
    ]
    print_table(f"Speed, best of {REPEATS}", ["what", "measured", "wanted"], rows)


def in_new_process(code: str) -> dict[str, Any]:
    """Run a few lines in a process of their own; they print one JSON object."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.strip().splitlines()[-1])


def start(results: Results) -> None:
    """Import, and the first fit in a new process against the second."""
    code = (
        "import time, json; t = time.perf_counter(); import graspel; i = time.perf_counter() - t\n"
        "from sklearn.datasets import load_digits; X = load_digits().data\n"
        "t = time.perf_counter(); from graspel import GRASPEL; e = time.perf_counter() - t\n"
        "def fit():\n"
        "    t = time.perf_counter(); GRASPEL(random_state=0).fit(X); return time.perf_counter() - t\n"
        "print(json.dumps({'import': i, 'estimator': e, 'first': fit(), 'second': fit()}))"
    )
    runs = results.get("start", lambda: [in_new_process(code) for _ in range(REPEATS)])
    best = {name: min(run[name] for run in runs) for name in runs[0]}
    rows = [
        ["import graspel", f"{best['import']:.3f} s", "< 0.7 s"],
        ["from graspel import GRASPEL (after scikit-learn)", f"{best['estimator']:.3f} s", ""],
        ["first fit of digits in a new process", f"{best['first']:.2f} s", "no pause"],
        ["second fit", f"{best['second']:.2f} s", ""],
    ]
    print_table(f"Start, best of {REPEATS} processes", ["what", "measured", "wanted"], rows)


def memory_run() -> dict[str, Any]:
    """Fit MNIST from a float32 file in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.npy"
        np.save(path, points("mnist").astype(np.float32))
        code = (
            "import json, re, numpy as np; from graspel import GRASPEL\n"
            "def peak():  # of this process alone: ru_maxrss would start from the parent's\n"
            "    return 1024 * int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
            f"X = np.load({str(path)!r})\n"
            "loaded = peak()\n"
            "GRASPEL(random_state=0).fit(X)\n"
            "print(json.dumps({'X': X.nbytes, 'loaded': loaded, 'peak': peak()}))"
        )
        return in_new_process(code)


def memory(results: Results) -> None:
    """Peak memory of a whole process that fits MNIST from a float32 array, X and all libraries included."""
    run = results.get("memory", memory_run)
    rows = [
        ["X in float32", f"{run['X'] / 1e6:.0f} MB", ""],
        ["before fit: libraries and X", f"{run['loaded'] / 1e6:.0f} MB", ""],
        ["peak of the whole process", f"{run['peak'] / 1e6:.0f} MB", ""],
        ["peak / X", f"{run['peak'] / run['X']:.2f}", "< 3"],
    ]
    print_table("Memory, MNIST", ["what", "measured", "wanted"], rows)


if __name__ == "__main__":
    run_sections("learn", __doc__, {"paper": paper, "speed": speed, "start": start, "memory": memory})
