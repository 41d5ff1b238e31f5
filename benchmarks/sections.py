"""The command line that all benchmarks share: run the sections asked for, and print a table for each.

A section is a function of the run that measures what is missing and returns Markdown, like a page of the paper's
reproduction. A run that was stopped continues where it was.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graspel.cli.progress_bar import progress_bar
from reproduction.pages import measure_cells
from reproduction.request import choose_names
from reproduction.results import Results, current_commit, describe_machine
from reproduction.tables import find_tables, markdown_table, record_tables

__all__ = ["FOLDER", "Run", "run_sections", "titled_table"]

FOLDER = Path(__file__).parent / "results"  # measured cells and pictures; not kept in git

Option = tuple[str, dict[str, Any]]  # the flag, and what argparse is told of it


class Run(Results):
    """The results of a benchmark so far, and the options that it has of its own."""

    options: argparse.Namespace

    def measure(self, key: str, run: Callable[[], Any]) -> Any:
        """One value, which is measured now if it is not among the results."""
        return measure_cells(self, f"measuring {key}", {key: run})[key]


Section = Callable[[Run], str]


def run_sections(
    name: str,
    about: str | None,
    sections: Mapping[str, Section],
    arguments: Sequence[str] | None = None,
    more: Sequence[Option] = (),
) -> None:
    """Run a benchmark; `arguments` defaults to those of the process, and `more` are options of this benchmark."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help=f"sections, with commas: {', '.join(sections)} (default: all)", metavar="NAMES")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs measured")
    parser.add_argument("--record", help="put the tables into docs/results.json as NAME/...", metavar="NAME")
    for flag, described in more:
        parser.add_argument(flag, **described)
    options = parser.parse_args(arguments)
    try:
        names = choose_names("--only", options.only and options.only.split(","), sections)
    except ValueError as error:
        parser.error(str(error))
    run = Run(FOLDER, name, fresh=options.fresh)
    run.options = options
    print(f"graspel {current_commit()}, {describe_machine()}", flush=True)
    found: dict[str, Any] = {}
    for section in names:
        with progress_bar():
            text = sections[section](run)
        print(f"\n{text}", flush=True)
        found |= find_tables(text, section)
    if options.record:
        command = shlex.join([*parser.prog.split(), *(sys.argv[1:] if arguments is None else arguments)])
        print(f"\n{record_tables(options.record, found, command, run.describe_source())}")


def titled_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown under its title."""
    return f"## {title}\n\n{markdown_table(header, rows)}"
