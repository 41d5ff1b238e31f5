"""What the tests of the command line share: points in a file, and two ways to run a command."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

RUN = "from graspel.cli import main; main()"


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    def is_one_sentence(self, *words: str) -> bool:
        """Whether it failed as promised: code 2, nothing on stdout, one line on stderr with these words in it."""
        assert self.code == 2, self
        assert self.out == "", self
        lines = [line for line in self.err.splitlines() if not line.endswith(" ...")]  # progress
        assert len(lines) == 1, self.err
        assert lines[0].startswith("Error: "), self.err
        assert "Traceback" not in self.err
        for word in words:
            assert word in lines[0], self.err
        return True


def call_in_process(main, capfd):
    """A function that runs a command line, given by its `main`, in this process."""

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Outcome(int(exit_.value.code or 0), out, err)

    return run


@pytest.fixture
def graspel(capfd):
    """Run a command in this process."""
    from graspel.cli import main

    return call_in_process(main, capfd)


@pytest.fixture
def graspel_process():
    """Run a command in a process of its own."""

    def run(*arguments: object, before: str = "", cwd: object = None) -> Outcome:
        command = [sys.executable, "-c", f"{before}\n{RUN}", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def points():
    """Two blobs of 30 points each."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 6.0])


@pytest.fixture
def data(tmp_path, points):
    """The points as a file."""
    path = tmp_path / "points.npy"
    np.save(path, points)
    return path


@pytest.fixture
def graph():
    """A path of five nodes with a chord, whose edges have different reasons."""
    from graspel.graph import Graph, Origin

    origin = [Origin.NEIGHBOR, Origin.NEIGHBOR, Origin.NEIGHBOR, Origin.JOIN, Origin.CRITICAL]
    return Graph(5, [0, 1, 2, 3, 0], [1, 2, 3, 4, 4], [1.0, 2.0, 3.0, 4.0, 0.5], origin=origin, round=[0, 0, 0, 1, 2])


@pytest.fixture
def graph_file(tmp_path, graph):
    """The graph as a file."""
    path = tmp_path / "graph.npz"
    graph.save(path)
    return path
