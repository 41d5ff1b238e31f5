"""Output: results as a table for people or as one JSON object for programs, and checks of the files to write."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from graspel.runtime.shown import escape_controls

KINDS = {  # of files that commands write: where the formats stand, and what the file holds
    "graph": ("graspel.io.graph_files:FORMATS", "a graph"),
    "labels": ("graspel.io.point_files:LABELS", "labels"),
    "coordinates": ("graspel.io.point_files:COORDINATES", "coordinates"),
    "model": ("graspel.io.models:SUFFIXES", "a model"),
    "picture": ("graspel.plot.canvas:SUFFIXES", "a picture"),
    "page": ("graspel.report.writing:SUFFIXES", "a report"),
}


def check_files(sources: Iterable[Path | None], **targets: Path | None) -> None:
    """Raise if a file to be read is missing, or one to be written cannot be, or would replace another.

    Every command that writes calls this before its work, with all the files that it reads, and those that it writes by
    their kind, a key of `KINDS`; None stands for a file that the user did not name.
    """
    from graspel.io.atomic import check_output
    from graspel.runtime.optional import require_optional

    paths = {kind: path for kind, path in targets.items() if path is not None}
    for kind, path in paths.items():
        module, _, name = KINDS[kind][0].partition(":")
        if check_output(path, getattr(import_module(module), name), KINDS[kind][1]) == ".parquet":
            require_optional("pyarrow", "tables", "Writing .parquet")
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise ValueError(f"{path} cannot hold both the {' and the '.join(paths)}; give two names.")
    for source in (source for source in sources if source is not None):
        source.stat()  # raises if the file is missing, before another, large file is read
        for path in paths.values():
            if path.exists() and path.samefile(source):
                raise ValueError(f"{path} is a file to be read; give another name to write to.")


def print_json(record: Mapping[str, Any]) -> None:
    """Print one JSON object on one line; NaN and infinities become null."""
    print(json.dumps(to_json_types(record), allow_nan=False))


def to_json_types(value: Any) -> Any:
    """Return `value` in the types JSON knows, without NaN and infinities.

    Examples
    --------
    >>> to_json_types({"F": float("nan"), "edges": (1, 2)})
    {'F': None, 'edges': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): to_json_types(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # an array or a number of numpy
        return to_json_types(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json_types(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def print_table(title: str, rows: Iterable[tuple[str, Any, str]]) -> None:
    """Print rows of (label, value, explanation)."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", max_width=26, style="bold")
    table.add_column(style="dim")
    for label, value, explanation in rows:
        table.add_row(*(Text(escape_controls(str(cell))) for cell in (label, value, explanation)))
    console = Console()
    console.print(Text(escape_controls(title), style="bold"), soft_wrap=True)  # names are not broken over two lines
    console.print(table)


def print_line(text: str) -> None:
    """Print one line of text that may hold the names of files."""
    print(escape_controls(text))
