"""The benchmarks: a shared command line that resumes, and refuses unknown sections."""

from __future__ import annotations

import pytest

from benchmarks import sections
from reproduction.timing import time_best, time_in_turns


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Two sections that only count their runs; results go to a temporary folder."""
    monkeypatch.setattr(sections, "FOLDER", tmp_path)
    counted = []

    def section(name):
        def run(results):
            value = sections.measure(results, name, lambda: counted.append(name) or len(counted))
            return sections.titled_table(f"Section {name}", ["what", "measured"], [["runs", str(value)]])

        return run

    def run(*arguments):
        sections.run_sections("toy", "A toy.", {name: section(name) for name in ("one", "two")}, arguments)
        return counted

    return run


def test_a_second_run_measures_only_what_is_missing(runs, capsys):
    assert runs("--only", "two") == ["two"]
    assert runs() == ["two", "one"]
    assert "## Section one" in capsys.readouterr().out
    assert runs("--only", "one", "--fresh") == ["two", "one", "one"]


def test_an_unknown_section_is_refused_with_the_known_ones(runs, capsys):
    with pytest.raises(SystemExit):
        runs("--only", "three")
    assert "--only=three: there is no such name; choose from one, two" in capsys.readouterr().err


def test_the_best_of_several_calls_counts_and_rivals_take_turns():
    called = []
    assert time_best(lambda: called.append("a") or len(called), 3).value == 3
    first, second = time_in_turns(lambda: called.append("b"), lambda: called.append("c"), 2)
    assert called == ["a", "a", "a", "b", "c", "b", "c"]
    assert len(first) == len(second) == 2
