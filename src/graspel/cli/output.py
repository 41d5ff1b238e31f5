"""Output: results for people as plain tables, for machines as one JSON object; and the files that take them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["check_graph_file", "check_kept", "print_certificate", "print_json", "print_table", "strict"]


def check_graph_file(path: Path, *, source: Path | None = None) -> None:
    """Raise now what writing a graph to `path` would raise after hours of work.

    Parameters
    ----------
    path : Path
        The file to be written; its suffix must name a known format.
    source : Path, optional
        The file that is read, which must not be overwritten.
    """
    from graspel.io.atomic import check_target
    from graspel.io.graphs import FORMATS
    from graspel.io.suffix import check_suffix
    from graspel.runtime.optional import require_optional

    if check_suffix(path, FORMATS, "a graph") == ".parquet":
        require_optional("pyarrow", "parquet", "Writing .parquet")
    target = check_target(path)
    if source is not None and source.exists() and target.exists() and target.samefile(source):
        raise ValueError(f"{path} is the file to be read; give another name to write to.")


def check_kept(sources: Iterable[Path], targets: Iterable[Path]) -> None:
    """Raise where a file to be read is missing, or would be overwritten by one of the targets."""
    targets = list(targets)
    for source in sources:
        source.stat()  # a missing file is an error now, not after a large one has been read
        for target in targets:
            if target.exists() and target.samefile(source):
                raise ValueError(f"{target} is a file to be read; give another name to write to.")


def print_json(record: Mapping[str, Any]) -> None:
    """Print one JSON object on one line; what is not finite becomes null."""
    print(json.dumps(strict(record), allow_nan=False))


def strict(value: Any) -> Any:
    """Return `value` in the types JSON knows, without NaN and infinities.

    Examples
    --------
    >>> strict({"F": float("nan"), "edges": (1, 2)})
    {'F': None, 'edges': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): strict(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # of numpy
        return strict(value.tolist())
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
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
        table.add_row(Text(label), Text(str(value)), Text(explanation))
    console = Console()
    console.print(Text(title, style="bold"), soft_wrap=True)  # file names are not broken in two
    console.print(table)


def print_certificate(certificate: Any, title: str, *, as_json: bool) -> None:
    """Print what an estimator certifies about its graph."""
    if as_json:
        print_json(certificate.as_dict())
    else:
        print_table(title, certificate.sentences())
