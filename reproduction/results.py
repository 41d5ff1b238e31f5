"""Results in one JSON file, with one entry per cell, which is written as soon as it is measured.

A run that was stopped continues where it was. Each entry holds the value, the seconds it took to measure by the clock
and of the processors (of this process), the commit that measured it, the date, and the load of the machine just before.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import warnings
from collections.abc import Callable
from contextvars import Context
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

from graspel.io.atomic import write_atomically
from reproduction.timing import ROOT, time_call


class Results:
    """The entries measured so far, in the file ``folder/name.json``.

    Parameters
    ----------
    folder : path-like
        Created when the first entry is written.
    name : str
        Name of the table, figure or benchmark.
    fresh : bool
        Forget what earlier runs measured.
    quick : bool
        Whether the page is that of a quick run, and has to say so.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = Results(folder, "table").get("six", lambda: 2 * 3)
    ...     again = Results(folder, "table").get("six", lambda: 1 / 0)
    >>> first, again
    (6, 6)
    """

    def __init__(self, folder: str | os.PathLike[str], name: str, *, fresh: bool = False, quick: bool = False) -> None:
        self.quick = quick
        self.path = Path(folder) / f"{name}.json"
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise NotADirectoryError(
                f"{self.path.parent}: is a file, where a folder is needed for the results; name another folder."
            )
        self.entries: dict[str, Any] = {} if fresh else self._read_earlier()

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __getitem__(self, key: str) -> Any:
        return self.entries[key]["value"]

    def get(self, key: str, measure: Callable[[], Any]) -> Any:
        """The value of the entry `key`, which is measured now if it is missing."""
        if key not in self.entries:
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
            before = process_time()
            # In a context of its own: the progress of the steps inside is not shown.
            seconds, value = time_call(lambda: Context().run(measure))
            self.entries[key] = {
                "value": value,
                "seconds": seconds,
                "processor": process_time() - before,
                "commit": current_commit(),
                "date": f"{date.today()}",
                "load": load,
            }
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically(self.path) as temporary:
                temporary.write_text(json.dumps(self.entries, indent=1))
        return self[key]

    def describe_source(self) -> dict[str, str]:
        """Commits, dates and machine of all entries, for docs/results.json."""
        entries = self.entries.values()
        days = sorted({entry.get("date", "") for entry in entries} - {""}) or [f"{date.today()}"]
        load = max((entry.get("load", 0.0) for entry in entries), default=0.0)
        return {
            "commit": ", ".join(sorted({entry["commit"] for entry in entries})),
            "date": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
            "machine": f"{describe_machine()}, load at most {load:.1f} before",
        }

    def forget(self, key: str) -> None:
        """Remove the entry `key`, so that it is measured again."""
        self.entries.pop(key, None)

    def _read_earlier(self) -> dict[str, Any]:
        """The entries of earlier runs; a damaged file is renamed."""
        if not self.path.exists():
            return {}
        try:
            entries = json.loads(self.path.read_text())
            if all("value" in entry for entry in entries.values()):
                return dict(entries)
        except (ValueError, AttributeError, TypeError):
            pass
        aside = self.path.with_suffix(".json.damaged")
        os.replace(self.path, aside)
        warnings.warn(
            f"{self.path} is damaged; it was renamed to {aside.name}, and everything is measured again", stacklevel=3
        )
        return {}


def current_commit() -> str:
    """The commit of the running source, with a + if files have changed since; the version outside a git checkout."""
    from graspel import __version__

    if not (ROOT / ".git").exists():
        return __version__
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except OSError:  # no git
        return __version__
    return run.stdout.strip() or __version__


def describe_machine() -> str:
    """The machine and its Python, in a few words."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
