"""The .csv format of graphs: an edge list that people and pandas can read.

The first line is the comment ``# n_nodes=5 n_edges=7``: it keeps nodes without edges at the end, and shows when a file
was truncated. The header names the columns; an unknown eta or gradient is an empty cell. Where nodes have names, two
more columns hold the names at both ends of each edge, and another comment the names of nodes without edges.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

from graspel.io.csv_lines import open_text, parse_float, parse_whole, refuse_other_encodings
from graspel.io.graphs.edge_table import COLUMNS, NAME_COLUMNS, EdgeTable, check_columns, current_names
from graspel.runtime.shown import quote

LONELY = "# names_without_edges="  # beginning of the comment with the names of nodes without edges


def write_csv(table: EdgeTable, path: Path) -> None:
    """Write an edge table as text."""
    columns = [table.columns[name] for name in COLUMNS]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        named = table.name_columns
        file.write(f"# n_nodes={table.n_nodes} n_edges={len(columns[0])}\n")
        if table.node_names is not None:
            file.write(f"{LONELY}{json.dumps(_names_without_edges(table), ensure_ascii=False)}\n")
        file.write(f"{','.join((*COLUMNS, *named))}\n")
        writer = csv.writer(file, lineterminator="\n")
        for (*first, eta, gradient), names in zip(
            zip(*columns, strict=True), zip(*named.values(), strict=True) if named else repeat(()), strict=False
        ):
            writer.writerow([*first, _format_number(eta), _format_number(gradient), *names])


def read_csv(path: Path) -> EdgeTable:
    """Read an edge list; columns after weight may be missing, and so may the comment."""
    with refuse_other_encodings("it"), open_text(path) as file:
        text = file.read()
    lines = text.splitlines()
    promised = _read_promises(lines[0]) if lines else {}
    rows = csv.reader(io.StringIO(text))
    numbered = ((number, row) for number, row in enumerate(rows, 1) if row and not row[0].startswith("#"))
    _, header = next(numbered, (0, []))
    names = current_names(name.strip() for name in header)
    check_columns(names)
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for number, row in numbered:
        if len(row) != len(header):
            raise ValueError(f"line {number} has {len(row)} fields where the header has {len(header)}")
        for name, cell in zip(cells, row, strict=True):
            cells[name].append(_parse_cell(name, cell.strip(), number))
    if "n_edges" in promised:
        n_edges = len(cells["head"])
        if n_edges != promised["n_edges"] or not text.endswith("\n"):
            raise ValueError(f"the first line promises {promised['n_edges']} whole lines of edges, {n_edges} are there")
    return EdgeTable(promised.get("n_nodes"), cells, _read_names(cells, lines, promised.get("n_nodes")))


def _names_without_edges(table: EdgeTable) -> dict[str, str]:
    """The names of the nodes that no row of the table would name, by the numbers of the nodes."""
    named = {*table.columns["head"], *table.columns["tail"]}
    return {str(node): name for node, name in enumerate(table.node_names or []) if node not in named}


def _read_names(cells: dict[str, list[Any]], lines: list[str], n_nodes: int | None) -> list[str] | None:
    """The names of all nodes, if the file has them."""
    if not all(column in cells for column in NAME_COLUMNS):
        return None
    lonely = next((line.removeprefix(LONELY) for line in lines[:3] if line.startswith(LONELY)), "{}")
    names = {parse_whole(node): name for node, name in json.loads(lonely).items()}
    for ends, column in zip(("head", "tail"), NAME_COLUMNS, strict=True):
        names |= dict(zip(cells[ends], cells[column], strict=True))
    wanted = range(max(names, default=-1) + 1 if n_nodes is None else len(names))
    return [str(names.get(node, node)) for node in wanted]


def _read_promises(line: str) -> dict[str, int]:
    """Return the numbers of nodes and edges that the comment in the first line names."""
    if not line.startswith("#"):
        return {}
    return {name: _parse_cell(name, value, 1) for name, value in re.findall(r"(n_nodes|n_edges)=(\S*)", line)}


def _format_number(value: float) -> str:
    return "" if value != value else repr(value)


def _parse_cell(name: str, cell: str, line: int) -> Any:
    convert = CONVERTERS.get(name, str)
    try:
        return convert(cell)
    except ValueError as error:
        kind = "whole number" if convert is parse_whole else "number"
        raise ValueError(f"line {line}: {name} is {quote(cell)}, must be a {kind}") from error


CONVERTERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("n_nodes", "n_edges", "head", "tail", "round"), parse_whole),
    "weight": parse_float,
    **dict.fromkeys(("eta", "gradient"), lambda cell: parse_float(cell or "nan")),
}
