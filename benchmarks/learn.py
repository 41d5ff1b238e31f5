"""The learner beside the paper's numbers, and beside what a user would run instead.

    python -m benchmarks.learn                # everything; continues where an earlier run stopped
    python -m benchmarks.learn --only speed   # paper, speed, start, memory
    python -m benchmarks.learn --fresh        # forget what earlier runs measured

Needs the data sets (GRASPEL_DATA or the cache) and hnswlib: pip install -e ".[bench]".
Speed is measured in one process: both sides run in turns, the best of several runs counts, and the ratio is given.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sections import Results, measure, run_sections, titled_table
from reproduction.data import center_rows, load_data
from reproduction.processes import run_python
from reproduction.timing import time_call, time_in_turns

REPEATS = 3  # runs of each side, of which the fastest counts

# Rounds, edges added, density, eta_max before and after, seconds: what the paper reports (None where it says nothing).
PAPER = {
    ("usps", 10.0): (11, None, None, "2,600 x less", None, None),
    ("mnist-subset", 100.0): (8, 196, 1.567, 1e6, 100.0, 11.0),
    ("mnist-subset", 10.0): (24, 588, 1.567, 1e6, 10.0, 36.0),
}


def measure_paper_run(name: str, tol: float) -> dict[str, Any]:
    """The paper's setting: 2NN, zeta .001, epsilon .05, rows centered."""
    from graspel import GRASPEL

    X = center_rows(load_data(name).X)
    learner = GRASPEL(n_neighbors=2, tol=tol, window=0.05, edge_ratio=0.001, random_state=0)
    seconds, model = time_call(lambda: learner.fit(X))
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


def paper(results: Results) -> str:
    """Rounds, edges, density and distortion next to the paper's."""
    rows = []
    for (name, tol), (rounds, added, density, before, after, seconds) in PAPER.items():
        ours = measure(results, f"paper/{name}/{tol:g}", lambda name=name, tol=tol: measure_paper_run(name, tol))
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
    return titled_table(
        "The paper's runs: ours (paper). eta_max: disconnected start -> joined -> last round",
        ["run", "rounds", "settled", "edges added", "density", "eta_max", "eta falls by", "seconds"],
        rows,
    )


def search_by_hnsw(X: np.ndarray) -> None:
    """Find 10 neighbors of every point by hnswlib, with settings of similar recall."""
    import hnswlib

    index = hnswlib.Index("l2", X.shape[1])
    index.init_index(len(X), ef_construction=60, M=16)
    index.add_items(X)
    index.set_ef(40)
    index.knn_query(X, 11)


def measure_recall(X: np.ndarray, n_sampled: int = 2000) -> float:
    """Recall of the learner's neighbors against exact search, on another sample than the learner's own."""
    from sklearn.neighbors import NearestNeighbors

    from graspel.data.prepared import Data
    from graspel.neighbors.search import nearest_neighbors
    from graspel.runtime.parallel import one_thread_per_call

    rng = np.random.default_rng(0)
    with one_thread_per_call():
        found = nearest_neighbors(Data(X, rng=rng, n_threads=2), 2, rng).indices[:, :2]
    sample = np.random.default_rng(99).choice(len(X), n_sampled, replace=False)
    truth = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X).kneighbors(X[sample], return_distance=False)
    hits = [len(set(found[i]) & set([j for j in row if j != i][:2])) for i, row in zip(sample, truth, strict=True)]
    return float(np.mean(hits)) / 2


def measure_speed() -> dict[str, Any]:
    """MNIST against hnswlib, and USPS."""
    from graspel import GRASPEL

    mnist, usps = load_data("mnist").X.astype(np.float32), load_data("usps").X
    learner = GRASPEL(random_state=0)
    fit, hnsw = time_in_turns(lambda: learner.fit(mnist), lambda: search_by_hnsw(mnist), REPEATS)
    rounds = [record.seconds for record in learner.history_ if record.was_connected]
    small, _ = time_in_turns(lambda: GRASPEL(random_state=0).fit(usps), lambda: None, REPEATS)
    return {"fit": fit, "hnsw": hnsw, "usps": small, "recall": measure_recall(mnist), "rounds": rounds}


def speed(results: Results) -> str:
    """Whole fits, in one run."""
    run = measure(results, "speed", measure_speed)
    ratio = min(run["fit"]) / min(run["hnsw"])
    rows = [
        ["MNIST, GRASPEL().fit", f"{min(run['fit']):.2f} s", ""],
        [f"of these, {len(run['rounds'])} rounds (Steps 2 to 4)", f"{sum(run['rounds']):.2f} s", ""],
        ["MNIST, hnswlib 10-NN alone", f"{min(run['hnsw']):.2f} s", ""],
        ["ratio", f"{ratio:.2f}", "<= 1.0"],
        ["recall@2 against exact search, 2,000 points", f"{run['recall']:.4f}", ">= 0.99"],
        ["USPS, GRASPEL().fit", f"{min(run['usps']):.2f} s", "< 3 s"],
    ]
    return titled_table(f"Speed, best of {REPEATS}", ["what", "measured", "wanted"], rows)


def start(results: Results) -> str:
    """Import, and the first fit in a new process against the second."""
    code = (
        "import time, json; t = time.perf_counter(); import graspel; i = time.perf_counter() - t\n"
        "from sklearn.datasets import load_digits; X = load_digits().data\n"
        "t = time.perf_counter(); from graspel import GRASPEL; e = time.perf_counter() - t\n"
        "def fit():\n"
        "    t = time.perf_counter(); GRASPEL(random_state=0).fit(X); return time.perf_counter() - t\n"
        "print(json.dumps({'import': i, 'estimator': e, 'first': fit(), 'second': fit()}))"
    )
    runs = measure(results, "start", lambda: [run_python("-c", code) for _ in range(REPEATS)])
    best = {name: min(run[name] for run in runs) for name in runs[0]}
    rows = [
        ["import graspel", f"{best['import']:.3f} s", "< 0.7 s"],
        ["from graspel import GRASPEL (after scikit-learn)", f"{best['estimator']:.3f} s", ""],
        ["first fit of digits in a new process", f"{best['first']:.2f} s", "no pause"],
        ["second fit", f"{best['second']:.2f} s", ""],
    ]
    return titled_table(f"Start, best of {REPEATS} processes", ["what", "measured", "wanted"], rows)


def measure_memory() -> dict[str, Any]:
    """Peak memory of a process of its own that fits MNIST from a float32 file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.npy"
        np.save(path, load_data("mnist").X.astype(np.float32))
        code = (
            "import json, re, numpy as np; from graspel import GRASPEL\n"
            "def peak():  # of this process alone: ru_maxrss would start from the parent's\n"
            "    return 1024 * int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
            f"X = np.load({str(path)!r})\n"
            "loaded = peak()\n"
            "GRASPEL(random_state=0).fit(X)\n"
            "print(json.dumps({'X': X.nbytes, 'loaded': loaded, 'peak': peak()}))"
        )
        return run_python("-c", code)


def memory(results: Results) -> str:
    """Peak memory of a whole process that fits MNIST; X and all libraries are included."""
    run = measure(results, "memory", measure_memory)
    rows = [
        ["X in float32", f"{run['X'] / 1e6:.0f} MB", ""],
        ["before fit: libraries and X", f"{run['loaded'] / 1e6:.0f} MB", ""],
        ["peak of the whole process", f"{run['peak'] / 1e6:.0f} MB", ""],
        ["peak / X", f"{run['peak'] / run['X']:.2f}", "< 3"],
    ]
    return titled_table("Memory, MNIST", ["what", "measured", "wanted"], rows)


if __name__ == "__main__":
    run_sections("learn", __doc__, {"paper": paper, "speed": speed, "start": start, "memory": memory})
