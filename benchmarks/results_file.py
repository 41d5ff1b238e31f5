"""Results that survive a stop: one JSON file per benchmark, one entry per cell, written as soon as it is measured."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graspel.files import written_whole

FOLDER = Path(__file__).parent / "results"


class Results:
    """The entries of one benchmark; `fresh` forgets what earlier runs measured."""

    def __init__(self, name: str, *, fresh: bool = False) -> None:
        self.path = FOLDER / f"{name}.json"
        self.entries: dict[str, Any] = {}
        if self.path.exists() and not fresh:
            self.entries = json.loads(self.path.read_text())

    def get(self, key: str, measure: Callable[[], Any]) -> Any:
        """The entry `key`, measured now if it is not there yet."""
        if key not in self.entries:
            print(f"... {key}", flush=True)
            started = time.perf_counter()
            value = measure()
            self.entries[key] = {"value": value, "seconds": time.perf_counter() - started, "commit": commit()}
            FOLDER.mkdir(exist_ok=True)
            with written_whole(self.path) as temporary:
                temporary.write_text(json.dumps(self.entries, indent=1))
        return self.entries[key]["value"]


def commit() -> str:
    """The commit measured, with a + where files have changed since."""
    run = subprocess.run(["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"


def machine() -> str:
    """What ran it, in a few words."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


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
