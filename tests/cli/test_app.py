"""The application as a whole: help, version, start-up, usage errors, stopping."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "pandas", "pyarrow")
RUN = "from graspel.cli import main; main()"


def test_help_names_the_commands(graspel):
    outcome = graspel("--help")
    assert outcome.code == 0
    for command in COMMANDS:
        assert re.search(rf"^\W+{command} ", outcome.out, re.MULTILINE)


COMMANDS = ("learn", "plan", "cluster", "recover", "embed", "report", "info", "convert", "demo")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_one_screen_with_examples(graspel, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = graspel(command, "--help")
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) <= 45
    assert f"graspel {command}" in outcome.out.split("Examples")[1]


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "demo"])
def test_a_command_without_arguments_says_how_it_is_used(graspel, command):
    outcome = graspel(command)
    assert outcome.code == 2
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 2
    assert f"graspel {command} --help" in outcome.err


def test_help_imports_nothing_heavy():
    before = f"import sys, atexit; atexit.register(lambda: print([m for m in {HEAVY} if m in sys.modules]))"
    command = [sys.executable, "-c", f"{before}\n{RUN}", "learn", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(graspel):
    from importlib.metadata import version

    outcome = graspel("--version")
    assert outcome.code == 0
    assert outcome.out == f"graspel {version('graspel')}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lern"], ["No such command 'lern'", "learn"]),
        (["learn", "points.npy"], ["--output"]),
        (["learn", "points.npy", "-o", "g.npz", "--seed", "much"], ["--seed"]),
        (["learn", "points.npy", "-o", "g.npz", "--frobnicate"], ["--frobnicate"]),
        (["info"], []),
    ],
)
def test_a_usage_error_is_one_sentence(graspel, arguments, words):
    outcome = graspel(*arguments)
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    if words:
        assert outcome.is_one_sentence(*words)


def test_a_bug_says_how_to_see_the_traceback(graspel, graspel_process, tmp_path, data, monkeypatch):
    def fail(*_arguments, **_options):
        raise ZeroDivisionError("x")

    with monkeypatch.context() as patch:
        patch.setattr("graspel.io.tables.read_table", fail)
        outcome = graspel("learn", data, "-o", tmp_path / "g.npz", "-q")
    assert outcome.code == 1
    assert "ZeroDivisionError" in outcome.err
    assert "GRASPEL_DEBUG=1" in outcome.err
    assert "Traceback" not in outcome.err
    broken = "import graspel.io.tables as d\ndef f(*a, **k): raise ZeroDivisionError('x')\nd.read_table = f"
    monkeypatch.setenv("GRASPEL_DEBUG", "1")
    assert "Traceback" in graspel_process("learn", data, "-o", tmp_path / "g.npz", before=broken).err


@pytest.mark.parametrize("arguments", [["info", "{graph}"], ["learn", "--help"], ["learn", "--parameters"]])
def test_a_reader_that_goes_away_is_no_error(graph_file, arguments):
    command = [sys.executable, "-c", RUN, *(word.format(graph=graph_file) for word in arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="closes streams by a shell")
def test_closed_streams(data, tmp_path):
    run = f"'{sys.executable}' -c '{RUN}'"
    for arguments, code in ((f"learn '{data}' -o '{tmp_path}/g.npz'", 0), ("learn no.npy -o g.npz", 2)):
        done = subprocess.run(f"{run} {arguments} >&- 2>&-", shell=True, timeout=60)
        assert done.returncode == code


def test_ctrl_c_while_modules_are_imported(data, tmp_path):
    """Stopped at the first import of numpy, in the middle of it, and before the command line is set up."""
    for module in ("numpy", "numpy.linalg", "graspel.runtime.shown", "typer.main"):
        stop = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may ignore it
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Stop())
"""
        command = [sys.executable, "-c", stop + RUN, "learn", data, "-o", tmp_path / "g.npz"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "stopped; nothing was written"), module
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_the_names_of_commands(shell):
    words = {"COMP_WORDS": "graspel lea", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "graspel lea"}
    words |= {"_GRASPEL_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **words})
    assert "learn" in done.stdout


SLOW_FIT = """
import time, graspel.estimators.learner
def fit(self, X, y=None, **options):
    print("busy", flush=True)
    time.sleep(60)
graspel.estimators.learner.GRASPEL.fit = fit
"""
SLOW_WRITE = """
import time, graspel.io.graph_files as files
def write(graph, path):
    path.write_bytes(b"half a graph")
    print("busy", flush=True)
    time.sleep(60)
files.FORMATS[".npz"] = files.FORMATS[".npz"]._replace(write=write)
"""
C_LIBRARY = """
import time, graspel.estimators.learner
def fit(self, X, y=None, **options):
    print("busy", flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError("computation interrupted")
graspel.estimators.learner.GRASPEL.fit = fit
"""


INTERRUPT, TERMINATE = (signal.SIGINT, 130), (signal.SIGTERM, 143)  # signal, and the code of the process


# Every place and every signal; the two do not depend on each other.
@pytest.mark.parametrize(
    ("before", "number", "code"),
    [
        (SLOW_FIT, *INTERRUPT),
        pytest.param(SLOW_FIT, *TERMINATE, marks=pytest.mark.long),
        (SLOW_WRITE, *TERMINATE),
        pytest.param(C_LIBRARY, *INTERRUPT, marks=pytest.mark.long),
    ],
    ids=["learning-interrupt", "learning-terminate", "writing-terminate", "in C-interrupt"],
)
def test_a_stopped_run_leaves_nothing_behind(tmp_path, data, before, number, code):
    output = tmp_path / "out"
    output.mkdir()
    (output / "graph.npz").write_bytes(b"what was there before")
    process = subprocess.Popen(
        [sys.executable, "-c", f"{before}\n{RUN}", "learn", str(data), "-o", str(output / "graph.npz")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert err.splitlines()[-1] == "stopped; nothing was written"
    assert "Traceback" not in err
    assert [path.name for path in output.iterdir()] == ["graph.npz"]
    assert (output / "graph.npz").read_bytes() == b"what was there before"
