"""Progress: every listener receives every message, and a run announces its steps in order."""

from __future__ import annotations

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.runtime.progress import Progress, announce, listening, printing_progress


def test_everyone_who_listens_hears():
    one, other = [], []
    with listening(one.append):
        announce("a", 0.1)
        with listening(other.append):
            announce("b", detail="x")
        announce("c")
    announce("d")
    assert [progress.step for progress in one] == ["a", "b", "c"]
    assert other == [Progress("b", None, "x")]


def test_a_listener_is_let_go_after_an_error():
    heard = []
    with pytest.raises(ZeroDivisionError), listening(heard.append):
        raise ZeroDivisionError
    announce("a")
    assert heard == []


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (Progress("kNN"), "graspel: kNN\n"),
        (Progress("kNN", 0.5), "graspel: kNN  50%\n"),
        (Progress("kNN", 1.0, "done"), "graspel: kNN 100% (done)\n"),
    ],
)
def test_printing(capsys, progress, line):
    with printing_progress():
        announce(progress.step, progress.share, progress.detail)
    assert capsys.readouterr().out == line


def test_lines_tell_the_time_left_and_come_once_a_second(capsys, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("graspel.runtime.progress.monotonic", lambda: clock[0])
    with printing_progress():
        for share in np.arange(11) / 10:
            announce("moving", share, "divergence 2.0" if share else "")
            clock[0] += 0.4
        announce("writing")
    assert capsys.readouterr().out.splitlines() == [
        "graspel: moving   0%",
        "graspel: moving  30% (divergence 2.0, 0:03 left)",
        "graspel: moving  60% (divergence 2.0, 0:02 left)",
        "graspel: moving  90% (divergence 2.0, 0:00 left)",
        "graspel: moving 100% (divergence 2.0)",
        "graspel: writing",
    ]


def test_a_run_reports_its_steps_in_order(rng):
    X = rng.standard_normal((200, 20)) + 5 * rng.standard_normal((5, 20))[rng.integers(5, size=200)]
    heard = []
    with listening(heard.append):
        model = GRASPEL(random_state=0, edge_ratio=0.01).fit(X)
    steps = list(dict.fromkeys(progress.step for progress in heard))
    assert steps == ["preparing", "nearest neighbors", "joining components", "adding critical edges"]
    shares = [progress.share for progress in heard if progress.step == "adding critical edges"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(progress.share is None or 0 <= progress.share <= 1 for progress in heard)
    with listening(heard.append):
        assert model.certificate_.connected
    assert heard[-1].step == "certificate"  # computed when it is asked for


def test_verbose_prints_and_silence_is_the_default(capsys, rng):
    X = rng.standard_normal((20, 2))
    GRASPEL(random_state=0).fit(X)
    assert capsys.readouterr().out == ""
    GRASPEL(random_state=0, verbose=1).fit(X)
    assert "graspel: adding critical edges" in capsys.readouterr().out
