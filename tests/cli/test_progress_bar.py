"""The progress bar: bars on a terminal, plain lines elsewhere, nothing when silenced."""

from __future__ import annotations

import io
import sys

import pytest

from graspel.cli.progress_bar import progress_bar
from graspel.progress import report


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def two_rounds():
    report("reading")
    for _ in range(2):
        for share in (0.0, 0.5, 1.0):
            report("embedding", share, "round [1]")
        report("candidates", 0.3)


def test_plain_lines_name_each_step_once(capsys):
    with progress_bar():
        two_rounds()
    assert capsys.readouterr().err == "reading ...\nembedding (round [1]) ...\ncandidates ...\n"


def test_silence(capsys):
    with progress_bar(show=False):
        two_rounds()
    captured = capsys.readouterr()
    assert captured.err == captured.out == ""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bars_on_a_terminal(monkeypatch, encoding):
    terminal = Terminal()
    monkeypatch.setattr(Terminal, "encoding", encoding)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress_bar():
        two_rounds()
    drawn = terminal.getvalue()
    for words in ("reading", "embedding", "candidates", "30%", "100%"):
        assert words in drawn
    drawn.encode(encoding)


def test_an_error_passes_through_and_the_listening_ends(capsys):
    with pytest.raises(ValueError, match="inside"), progress_bar():
        raise ValueError("inside")
    report("afterwards")
    assert "afterwards" not in capsys.readouterr().err
