"""Temporary files of killed writers are removed by the next writer; those of living writers are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from graspel.io.atomic import _name_temporary, _remove_leftovers, write_atomically

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows cannot ask whether a process lives")

WRITER = """
import sys, time
from graspel.io.atomic import write_atomically
with write_atomically(sys.argv[1]) as temporary:
    temporary.write_text("half of the n")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def start_writer():
    """Start a process that is in the middle of writing a file."""
    started = []

    def start(path):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        started.append(writer)
        assert writer.stdout.readline() == "writing\n"
        return writer

    yield start
    for writer in started:
        writer.kill()
        writer.wait()
        writer.stdout.close()


def parts(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".part-")]


def write(path, text="new"):
    with write_atomically(path) as temporary:
        temporary.write_text(text)


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_cleans_up(tmp_path, start_writer):
    target = tmp_path / "graph.csv"
    target.write_text("old")
    writer = start_writer(target)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert target.read_text() == "old"
    assert len(parts(tmp_path)) == 1
    write(tmp_path / "other.csv")
    assert len(parts(tmp_path)) == 1  # that of another target
    write(target)
    assert target.read_text() == "new"
    assert parts(tmp_path) == []


def test_the_file_of_a_living_writer_stays(tmp_path, start_writer):
    target = tmp_path / "graph.csv"
    start_writer(target)
    living = parts(tmp_path)
    write(target)
    assert parts(tmp_path) == living


def test_the_file_of_a_writer_in_this_process_stays(tmp_path):
    target = tmp_path / "graph.csv"
    with write_atomically(target) as first:
        first.write_text("first")
        write(target, "second")
        assert first.exists()
    assert target.read_text() == "first"


@pytest.mark.parametrize(
    ("change", "removed"),
    [
        (lambda prefix, pid, start: f"{prefix}-{2**22 + 1}-{start}", True),  # beyond the process numbers of Linux
        (lambda prefix, pid, start: f"{prefix}-{'9' * 30}-{start}", True),
        (lambda prefix, pid, start: f"{prefix}-{pid}-{int(start) + 1}", sys.platform == "linux"),  # a later process
        (lambda prefix, pid, start: f"{prefix[:-12]}{'0' * 12}-{2**22 + 1}-{start}", False),  # another machine
        (lambda prefix, pid, start: f"{prefix}-me-{start}", False),  # not ours
        (lambda prefix, pid, start: f"{prefix}", False),
    ],
    ids=["gone", "no number of a process", "number used again", "another machine", "another program", "too short"],
)
def test_only_files_whose_process_is_gone_are_removed(tmp_path, change, removed):
    target = tmp_path / "graph.csv"
    *prefix, pid, start, _ = _name_temporary(target).stem.split("-")
    path = tmp_path / f"{change('-'.join(prefix), pid, start)}-0123abcd.csv"
    path.write_text("half")
    _remove_leftovers(target)
    assert path.exists() != removed


def test_a_folder_that_cannot_be_listed_is_no_error(tmp_path):
    _remove_leftovers(tmp_path / "none" / "graph.csv")


def test_long_suffixes_leave_a_name_that_the_system_accepts(tmp_path):
    write(tmp_path / f"a.{'x' * 240}")
