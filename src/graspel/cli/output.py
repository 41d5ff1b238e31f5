"""Output: results as a table for people or as one JSON object for programs, and checks of the files to write."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graspel.runtime.shown import escape_controls

__all__ = [
    "check_graph_file",
    "check_sources",
    "print_certificate",
    "print_json",
    "print_line",
    "print_table",
    "to_json_types",
]


def check_graph_file(path: Path) -> None:
    """Raise the error that writing a graph to `path` would raise. Call it before a long computation."""
    from graspel.io.atomic import check_output
    from graspel.io.graph_files import FORMATS
    from graspel.runtime.optional import require_optional

    if check_output(path, FORMATS, "a graph") == ".parquet":
        require_optional("pyarrow", "tables", "Writing .parquet")


def check_sources(sources: Iterable[Path | None], targets: Iterable[Path | None]) -> None:
    """Raise if a file to be read is missing, or would be overwritten by one of the targets.

    Every command that writes calls this with all the files that it reads and writes; None stands for a file that the
    user did not name.
    """
    replaced = [target for target in targets if target is not None]
    for source in (source for source in sources if source is not None):
        source.stat()  # raises if the file is missing, before another, large file is read
        for target in replaced:
            if target.exists() and target.samefile(source):
                raise ValueError(f"{target} is a file to be read; give another name to write to.")


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


def print_certificate(certificate: Any, title: str, *, as_json: bool) -> None:
    """Print the certificate of a learned graph."""
    if as_json:
        print_json(certificate.as_dict())
    else:
        print_table(title, certificate.sentences())
