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
