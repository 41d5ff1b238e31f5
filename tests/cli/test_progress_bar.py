"""The progress bar: bars on a terminal, plain lines elsewhere, nothing when silenced."""

from __future__ import annotations

import io
import sys

import pytest

from graspel.cli.progress_bar import progress_bar
from graspel.runtime.progress import Progress, announce


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def two_rounds():
    announce("reading")
    for _ in range(2):
        for share in (0.0, 0.5, 1.0):
            announce("embedding", share, "round [1]")
        announce("candidates", 0.3)


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
    for words in ("reading", "embedding", "candidates", "30%", "100%", "0:00 left"):
        assert words in drawn
    drawn.encode(encoding)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets by hand."""
    from graspel.cli import progress_bar as module

    time = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: time[0])
    return time


def test_the_time_left_follows_the_pace_of_the_step_so_far(clock):
    from graspel.cli.progress_bar import _Bars, _make_bars

    bars = _make_bars()
    listener = _Bars(bars)

    def end_after(share, seconds):
        clock[0] += seconds
        listener.show(Progress("searching", share))
        return bars.tasks[-1].fields["ends"]

    assert end_after(None, 0) is None
    assert end_after(0.0, 1) is None
    assert end_after(0.25, 4) == pytest.approx(clock[0] + 15)
    assert end_after(0.5, 15) == pytest.approx(clock[0] + 20)
    assert end_after(0.0, 1) is None, "a second pass begins"
    assert end_after(0.5, 3) == pytest.approx(clock[0] + 3)
    listener.show(Progress("writing"))
    assert bars.tasks[0].fields["ends"] is None
    assert bars.tasks[0].fields["detail"] == "24.0 s"


def test_an_error_passes_through_and_the_listening_ends(capsys):
    with pytest.raises(ValueError, match="inside"), progress_bar():
        raise ValueError("inside")
    announce("afterwards")
    assert "afterwards" not in capsys.readouterr().err
