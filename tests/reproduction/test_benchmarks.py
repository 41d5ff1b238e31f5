"""The benchmarks: a shared command line that resumes, and refuses unknown sections."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import sections
from reproduction import tables
from reproduction.timing import time_best


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Two sections that only count their runs; results go to a temporary folder."""
    monkeypatch.setattr(sections, "FOLDER", tmp_path)
    counted = []

    def section(name):
        def run(results):
            value = results.measure(name, lambda: counted.append(name) or len(counted))
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


def test_recorded_tables_are_those_that_a_page_shows(runs, capsys, monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- table: toy/one -->\n<!-- end -->\nAfter.\n")
    (tmp_path / "results.json").write_text("{}")
    monkeypatch.setattr(tables, "list_pages", lambda: [page])
    monkeypatch.setattr(tables, "RESULTS", tmp_path / "results.json")
    runs("--record", "toy")
    assert "Recorded in docs/results.json: toy/one. No page has the comment" in capsys.readouterr().out
    entry = tables.read_tables()["toy/one"]
    assert entry["rows"] == [["runs", "1"]]
    assert entry["command"] == "python -m benchmarks.toy --record toy"
    assert all(entry[field] for field in ("commit", "date", "machine"))
    filled = tables.fill_page(page.read_text(), tables.read_tables())
    assert filled.startswith("Before.\n<!-- table: toy/one -->\n| what | measured |\n")
    assert filled.endswith("*\n<!-- end -->\nAfter.\n")
    assert tables.fill_page(filled, tables.read_tables()) == filled


def test_the_best_of_several_calls_counts():
    called = []
    assert time_best(lambda: called.append("a") or len(called), 3).value == 3


def test_what_is_imported_from_the_package_exists():
    """Also inside of functions, which run for hours, and which mypy does not read."""
    root, folders = Path(__file__).parents[2], ("benchmarks", "reproduction", "fuzzing", "docs/images")
    scripts = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    assert len(scripts) > 50
    imported = {
        (node.module, alias.name)
        for path in scripts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and re.match("graspel|reproduction|benchmarks", node.module or "")
        for alias in node.names
    }
    assert [names for names in sorted(imported) if not is_there(*names)] == []


def is_there(module, name):
    try:
        return hasattr(import_module(module), name) or import_module(f"{module}.{name}") is not None
    except ImportError:
        return False
