"""One large run: memory and seconds of each step, for points in a file that is mapped into memory.

    python -m benchmarks.large                          # 1,000,000 points of 32 columns
    python -m benchmarks.large --sizes 1000000,10000000 # several sizes, each in a process of its own
    python -m benchmarks.large --folder /disk/scratch   # where the points are kept (4 bytes a number)
    python -m benchmarks.large --fresh                  # forget what earlier runs measured

Data: the manifold of benchmarks.scaling, made block by block and kept as .npy. Memory is that of the process without
the pages of the file, less what the process had before the fit: what the run takes beside X. Its peak is sampled every
20 ms. The peak of the whole process, mapped pages included, is given too. The constants of `GRASPEL.plan` were fitted
to this benchmark. Writes benchmarks/results/large.json.
"""

from __future__ import annotations

import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scaling import manifold
from benchmarks.sections import Run, run_sections, titled_table
from reproduction.timing import call_apart

BLOCK = 1_000_000  # points that are made at once
SAMPLED_EVERY = 0.02  # seconds between two looks at the memory


def write_points(folder: Path, n: int, n_features: int) -> Path:
    """The file of n points, made unless it is there."""
    path = folder / f"manifold-{n}-{n_features}.npy"
    if not path.exists():
        unfinished = path.with_suffix(".part.npy")
        X = np.lib.format.open_memmap(unfinished, "w+", np.float32, (n, n_features))
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            X[start : start + size] = manifold(size, n_features, seed=start // BLOCK)
        X.flush()
        unfinished.rename(path)
    return path


def anonymous_memory() -> float:
    """Bytes that this process holds, without mapped files (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


class Watch:
    """The seconds and the peak memory of every step, from the messages of the run and a thread that looks."""

    def __init__(self) -> None:
        self.start, self.base, self.step = time.perf_counter(), anonymous_memory(), "preparing"
        self.began: dict[str, float] = {}
        self.peak: dict[str, float] = {}
        self._is_running = True
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def __call__(self, progress: Any) -> None:
        part = progress.detail if progress.step == "certificate" else ""
        self.step = f"{progress.step} {part}".strip()
        if self.step not in self.began:
            self.began[self.step] = time.perf_counter() - self.start
            memory = (anonymous_memory() - self.base) / 1e9
            print(f"{self.began[self.step]:8.0f} s {memory:7.2f} GB  {self.step}", flush=True)
        elif progress.detail.startswith("round"):
            print(f"{time.perf_counter() - self.start:8.0f} s  {progress.detail}", flush=True)

    def _look(self) -> None:
        while self._is_running:
            self.peak[self.step] = max(self.peak.get(self.step, 0.0), anonymous_memory() - self.base)
            time.sleep(SAMPLED_EVERY)

    def finish(self) -> dict[str, Any]:
        """Seconds and peak memory of every step."""
        self._is_running = False
        self._thread.join()
        ends = [*list(self.began.values())[1:], time.perf_counter() - self.start]
        seconds = {step: end - begin for (step, begin), end in zip(self.began.items(), ends, strict=True)}
        return {"seconds": seconds, "memory": self.peak}


def measure_run(path: str, n_jobs: int) -> dict[str, Any]:
    """Learn the graph of a file: what it took, and the certificate."""
    from graspel import GRASPEL
    from graspel.runtime.progress import listening

    X = np.load(path, mmap_mode="r")
    watch = Watch()
    with listening(watch):
        model = GRASPEL(random_state=0, n_jobs=n_jobs).fit(X)
    result = watch.finish()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        **result,
        "shape": list(X.shape),
        "n_jobs": n_jobs,
        "total_seconds": sum(result["seconds"].values()),
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_beside_X": max(result["memory"].values()),
        "peak_of_process": 1024.0 * usage.ru_maxrss,
        "certificate": model.certificate_.as_dict(),
    }


def write_table(runs: list[dict[str, Any]]) -> str:
    """The runs as Markdown."""
    steps = list(runs[0]["seconds"])
    rows = [
        [step, *(f"{run['seconds'].get(step, 0):.0f} s, {run['memory'].get(step, 0) / 1e9:.2f} GB" for run in runs)]
        for step in steps
    ]
    rows += [
        ["all", *(f"{run['total_seconds']:.0f} s" for run in runs)],
        ["seconds of the processors", *(f"{run['processor_seconds']:.0f} s" for run in runs)],
        ["peak beside X", *(f"{run['peak_beside_X'] / 1e9:.2f} GB" for run in runs)],
        ["peak of the process, mapped X included", *(f"{run['peak_of_process'] / 1e9:.2f} GB" for run in runs)],
        ["connected, settled", *(f"{_yes(run, 'connected')}, {_yes(run, 'settled')}" for run in runs)],
        ["edges per node", *(f"{run['certificate']['density']:.3f}" for run in runs)],
        ["recall of the neighbors", *(f"{run['certificate']['neighbor_recall']:.4f}" for run in runs)],
    ]
    header = ["step: seconds, peak memory beside X", *(f"{run['shape'][0]:,} x {run['shape'][1]}" for run in runs)]
    return titled_table("Large runs", header, rows)


def _yes(run: dict[str, Any], name: str) -> str:
    return "yes" if run["certificate"][name] else "NO"


def sizes(results: Run) -> str:
    """Every size in a process of its own."""
    options, runs = results.options, []
    for n in (int(size) for size in options.sizes.split(",")):
        path = str(write_points(options.folder, n, options.features))
        run = results.measure(
            f"{n}/{options.features}", lambda path=path: call_apart(measure_run, path, options.n_jobs)
        )
        runs.append(run)
    return write_table(runs)


OPTIONS = (
    ("--sizes", {"default": "1000000", "help": "numbers of points, with commas"}),
    ("--features", {"type": int, "default": 32, "help": "number of columns"}),
    ("--n-jobs", {"type": int, "default": 2, "help": "threads"}),
    ("--folder", {"type": Path, "default": Path(tempfile.gettempdir()), "help": "where the points are kept"}),
)

if __name__ == "__main__":
    run_sections("large", __doc__, {"sizes": sizes}, more=OPTIONS)
