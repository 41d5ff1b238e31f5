"""Errors: the sentence for each kind."""

from __future__ import annotations

import errno
import os
import warnings

import pytest

from graspel.cli.errors import explain, friendly_errors


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a.npy"), ["a.npy does not exist"]),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), b"a.npy"), ["a.npy", "permission denied"]),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.npy"), ["a.npy", "disk is full"]),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), ["the file", "disk is full"]),
        (OSError(errno.EIO, os.strerror(errno.EIO), "a.npy"), ["a.npy", "input/output error"]),
        (OSError(errno.ENOSPC, "our own words."), ["our own words."]),
        (ValueError("two\n  lines"), ["two lines"]),
        (MemoryError(), ["there is not enough memory;"]),
        (ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow"), ["install the package 'pyarrow'"]),
        (EOFError(), ["EOFError"]),
    ],
)
def test_every_error_is_one_sentence(error, words):
    said = explain(error)
    assert "\n" not in said
    for word in words:
        assert word in said


def test_what_was_written_before_the_stop_is_named(capsys):
    def stopped_after_writing():
        with friendly_errors() as written:
            written.append("graph.npz")
            raise KeyboardInterrupt

    with pytest.raises(SystemExit) as exit_:
        stopped_after_writing()
    assert exit_.value.code == 130
    assert capsys.readouterr().err == "stopped; graph.npz had been written\n"


def test_a_warning_is_one_line_or_nothing(capsys):
    with friendly_errors():
        warnings.warn("two\nlines", stacklevel=1)
    assert capsys.readouterr().err == "Warning: two lines\n"
    with friendly_errors(quiet=True):
        warnings.warn("two\nlines", stacklevel=1)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name != "posix", reason="names that other systems do not allow")
@pytest.mark.parametrize("command", ["missing", "written", "convert"])
def test_control_characters_in_names_do_not_reach_the_terminal(graspel, data, graph_file, tmp_path, command):
    name = "\x1b[2J\udcff\u202e.npz"  # clears the screen, is not UTF-8, turns the direction of writing
    arguments = {
        "missing": ("learn", tmp_path / name, "-o", tmp_path / "g.npz"),
        "written": ("learn", data, "-o", tmp_path / name),
        "convert": ("convert", graph_file, tmp_path / name),
    }[command]
    outcome = graspel(*arguments)
    assert outcome.code == (2 if command == "missing" else 0), outcome
    assert r"\x1b[2J\udcff\u202e.npz" in outcome.out + outcome.err
    assert all(character.isprintable() or character == "\n" for character in outcome.out + outcome.err)


def test_control_characters_in_warnings_and_after_a_stop(capsys):
    with friendly_errors():
        warnings.warn("\x1b[2J", stacklevel=1)
    with pytest.raises(SystemExit), friendly_errors() as written:  # noqa: PT012
        written.append("\x1b[2J")
        raise KeyboardInterrupt
    assert "\x1b" not in capsys.readouterr().err
