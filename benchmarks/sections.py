"""The command line that all benchmarks share: run the sections asked for, and print a table for each.

A section is a function of the results that measures what is missing and returns Markdown, like a page of the paper's
reproduction. A run that was stopped continues where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graspel.cli.progress_bar import progress_bar
from reproduction.pages import measure_cells
from reproduction.request import choose_names
from reproduction.results import Results, current_commit, describe_machine
from reproduction.tables import markdown_table

__all__ = ["FOLDER", "Results", "measure", "run_sections", "titled_table"]

FOLDER = Path(__file__).parent / "results"  # measured cells and pictures; not kept in git

Section = Callable[[Results], str]


def run_sections(
    name: str, about: str | None, sections: Mapping[str, Section], arguments: Sequence[str] | None = None
) -> None:
    """Run a benchmark; `arguments` defaults to those of the process."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help=f"sections, with commas: {', '.join(sections)} (default: all)", metavar="NAMES")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs measured")
    options = parser.parse_args(arguments)
    try:
        names = choose_names("--only", options.only and options.only.split(","), sections)
    except ValueError as error:
        parser.error(str(error))
    results = Results(FOLDER, name, fresh=options.fresh)
    print(f"graspel {current_commit()}, {describe_machine()}", flush=True)
    for section in names:
        with progress_bar():
            text = sections[section](results)
        print(f"\n{text}", flush=True)


def measure(results: Results, key: str, run: Callable[[], Any]) -> Any:
    """One value, which is measured now if it is not among the results."""
    return measure_cells(results, f"measuring {key}", {key: run})[key]


def titled_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown under its title."""
    return f"## {title}\n\n{markdown_table(header, rows)}"
