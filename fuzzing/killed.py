"""Killed runs: processes that keep a checkpoint are killed at random times, and others go on from there.

Every run ends in the bits of one that was never interrupted, also where two processes use one folder at once.
"""

from __future__ import annotations

import tempfile
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

import graspel
from fuzzing.cases import SENTENCES, Case, require
from fuzzing.files import Draw
from fuzzing.processes import get_context

RUNS: dict[str, tuple[dict[str, Any], tuple[int, int]]] = {  # parameters, and the shape of the data
    "plain": ({"edge_ratio": 0.02}, (2_000, 5)),
    "optimal": ({"weights": "optimal", "max_iter": 15}, (150, 3)),
    "multilevel": ({"candidates": "multilevel", "edge_ratio": 0.02}, (1_000, 5)),
}
MAX_SECONDS = 120.0  # for a run that nobody kills


def draw_killed(rng: np.random.Generator) -> Case:
    """One or two kills at random times, given as shares of the time of a whole run."""
    run = list(RUNS)[rng.integers(len(RUNS))]
    kills = tuple(round(float(share), 3) for share in rng.random(rng.integers(1, 3)))
    settings = {"run": run, "kills": kills, **({"n_processes": 2} if rng.random() < 0.3 else {})}
    X = rng.standard_normal(RUNS[run][1])
    return Case(
        "killed runs", X, settings, run_killed, lambda X, settings: f"fuzzing.killed.run_killed({X}, {settings!r})"
    )


def run_killed(X: np.ndarray, settings: dict[str, Any]) -> None:
    """After all kills the run is made to its end; the graph is that of a whole run."""
    run = settings.get("run", "plain")
    with tempfile.TemporaryDirectory() as temporary:
        folder, began = Path(temporary), time.monotonic()
        whole = _finish([_start(X, run, None, folder / "whole.npz")], [folder / "whole.npz"])[0]
        seconds = time.monotonic() - began
        checkpoint = folder / "checkpoint"
        outputs = [folder / f"graph{number}.npz" for number in range(settings.get("n_processes", 1))]
        for share in settings.get("kills", ()):
            processes = [_start(X, run, checkpoint, output) for output in outputs]
            time.sleep(share * seconds)
            for process in processes:
                process.kill()
                process.join()
        for graph in _finish([_start(X, run, checkpoint, output) for output in outputs], outputs):
            require(graph == whole, "a run that was killed and went on has another graph")


def _start(X: np.ndarray, run: str, checkpoint: Path | None, output: Path) -> BaseProcess:
    process = get_context().Process(target=learn, args=(X, RUNS[run][0], checkpoint, output))
    process.start()
    return process


def learn(X: np.ndarray, parameters: dict[str, Any], checkpoint: Path | None, output: Path) -> None:
    """Learn a graph and write it, or write why not."""
    try:
        graspel.GRASPEL(random_state=0, **parameters).fit(X, checkpoint=checkpoint).graph_.save(output)
    except SENTENCES as error:
        output.with_suffix(".txt").write_text(str(error))


def _finish(processes: list[BaseProcess], outputs: list[Path]) -> list[graspel.Graph]:
    """The graphs of processes that nobody kills."""
    graphs = []
    for process, output in zip(processes, outputs, strict=True):
        process.join(MAX_SECONDS)
        said = output.with_suffix(".txt").read_text() if output.with_suffix(".txt").exists() else ""
        require(process.exitcode == 0 and not said, f"a run ended with code {process.exitcode}: {said}")
        graphs.append(graspel.Graph.read(output))
    return graphs


KILLED: dict[str, Draw] = {"killed": draw_killed}
