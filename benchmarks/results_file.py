"""What the benchmarks share: results that survive a stop (graspel/reproduce/results.py), and tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reproduction.results import commit, machine

from reproduction import results as reproduce

__all__ = ["FOLDER", "Results", "commit", "machine", "print_table", "run_sections"]

FOLDER = Path(__file__).parent / "results"


class Results(reproduce.Results):
    """The entries of one benchmark; says what it measures. `fresh` forgets what earlier runs measured."""

    def __init__(self, name: str, *, fresh: bool = False) -> None:
        super().__init__(FOLDER, name, fresh=fresh)

    def get(self, key: str, measure: Callable[[], Any]) -> Any:
        """The entry `key`, measured now if it is not there yet."""
        if key not in self:
            print(f"... {key}", flush=True)
        return super().get(key, measure)


def run_sections(name: str, about: str | None, sections: dict[str, Callable[[Results], None]]) -> None:
    """The command line of a benchmark in sections: run those asked for, each of which prints its table."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(sections), help="sections, with commas: " + ", ".join(sections))
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    arguments = parser.parse_args()
    results = Results(name, fresh=arguments.fresh)
    print(f"graspel {commit()}, {machine()}")
    for section in arguments.only.split(","):
        if section not in sections:
            parser.error(f"no section {section!r}; there are {', '.join(sections)}")
        sections[section](results)


def print_table(title: str, header: list[str], rows: list[list[Any]]) -> None:
    """Print a table in plain text."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    Console(width=150).print(table)
