"""Tables as text, and the tables of measured numbers in the pages: ``python -m reproduction.tables`` writes them anew.

Every table of measured numbers in README.md and docs/ stands in docs/results.json, with the command that measured it,
the commit, the date and the machine. In a page it stands between two comments, ``<!-- table: NAME -->`` and
``<!-- end -->``, and is written there from the file. A benchmark or reproduction that is run with ``--record NAME``
puts its tables into the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.atomic import write_atomically

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results.json"
MARKER = r"<!-- table: (\S+) -->"
SOURCE = ("title", "command", "commit", "date", "machine", "note")  # what is said of a table, beside its numbers


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a Markdown table with aligned columns, the first to the left and the others to the right.

    Examples
    --------
    >>> print(markdown_table(["what", "ACC"], [["kNN", "81.1"], ["GRASPEL", "9.0"]]))
    | what    |  ACC |
    |---------|-----:|
    | kNN     | 81.1 |
    | GRASPEL |  9.0 |
    """
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return f"| {' | '.join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([line(header), f"|{rule}|", *map(line, rows)])


def mean_and_spread(values: Sequence[float], digits: int) -> str:
    """Mean and standard deviation over seeds; the mean alone where there is one seed.

    Examples
    --------
    >>> mean_and_spread([94.0, 95.0, 96.0], 1), mean_and_spread([0.5], 3)
    ('95.0 ± 1.0', '0.500')
    """
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"


def read_tables() -> dict[str, Any]:
    """The tables of docs/results.json, by name."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8")))


def write_tables(tables: Mapping[str, Any]) -> None:
    """Write docs/results.json, with a line for each row of a table."""
    entries = []
    for name in sorted(tables):
        entry = tables[name]
        said = [f"  {_json(field)}: {_json(entry[field])}" for field in (*SOURCE, "header") if field in entry]
        rows = ",\n".join(f"   {_json(row)}" for row in entry["rows"])
        entries.append(f" {_json(name)}: {{\n" + ",\n".join([*said, f'  "rows": [\n{rows}\n  ]']) + "\n }")
    with write_atomically(RESULTS) as temporary:
        temporary.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def find_tables(text: str, name: str = "") -> dict[str, dict[str, Any]]:
    r"""The tables in a Markdown text, by `name` or the title above each, with a number where this has several.

    Examples
    --------
    >>> text = markdown_table(["what", "s"], [["fit", "1.0"]])
    >>> find_tables("\n".join(["## Speed, in short", text]))
    {'speed-in-short': {'title': 'Speed, in short', 'header': ['what', 's'], 'rows': [['fit', '1.0']]}}
    """
    tables: dict[str, dict[str, Any]] = {}
    title = ""
    for block in re.findall(r"^#+ .*$|(?:^\|.*(?:\n|\Z))+", text, re.MULTILINE):
        if block.startswith("#"):
            title = block.lstrip("# ")
            continue
        header, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()]
        called = name or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        number = sum(other.partition("#")[0] == called for other in tables)
        tables[f"{called}#{number + 1}" if number else called] = {"title": title, "header": header, "rows": rows}
    return tables


def record_tables(group: str, found: Mapping[str, Mapping[str, Any]], command: str, source: Mapping[str, str]) -> str:
    """Put tables into docs/results.json as GROUP/NAME, those that a page shows; returns a sentence about them."""
    shown = {name for page in list_pages() for name in re.findall(MARKER, page.read_text(encoding="utf-8"))}
    named = {f"{group}/{name}": {**table, "command": command, **source} for name, table in found.items()}
    known = {name: table for name, table in named.items() if name in shown}
    write_tables({**read_tables(), **known})
    left = ", ".join(name for name in named if name not in shown)
    unknown = f" No page has the comment <!-- table: NAME --> for: {left}." if left else ""
    return f"Recorded in docs/results.json: {', '.join(known) or 'nothing'}.{unknown}"


def list_pages() -> list[Path]:
    """The pages that may hold tables of measured numbers."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/howto/*.md"))]


def fill_page(text: str, tables: Mapping[str, Any]) -> str:
    """The text of a page with its tables as they are in docs/results.json."""

    def fill(match: re.Match[str]) -> str:
        if match[1] not in tables:
            raise KeyError(f"{match[1]}: docs/results.json has no table of this name; it has {', '.join(tables)}.")
        entry = tables[match[1]]
        rows = [
            [re.sub(r"\{(.*?)\}", lambda found: _look_up(found[1], tables), cell) for cell in row]
            for row in entry["rows"]
        ]
        return f"<!-- table: {match[1]} -->\n{_show({**entry, 'rows': rows})}\n<!-- end -->"

    return re.sub(MARKER + r"\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def _look_up(reference: str, tables: Mapping[str, Any]) -> str:
    """The first number in a cell of another table, "TABLE|ROW|COLUMN".

    Examples
    --------
    >>> _look_up("few/usps|kNN|ACC", {"few/usps": {"header": ["", "ACC"], "rows": [["kNN", "**93.6** (92)"]]}})
    '93.6'
    """
    name, row, column = reference.split("|")
    cells = next(cells for cells in tables[name]["rows"] if cells[0] == row)
    return re.findall(r"[\d.]*\d", cells[tables[name]["header"].index(column)])[0]


def _show(entry: Mapping[str, Any]) -> str:
    """A table, and below it where its numbers come from."""
    said = [f"`{entry['command']}`" if entry["command"].startswith("python") else entry["command"]]
    said += [entry[field] for field in ("commit", "date", "machine") if entry[field]]
    parts = [entry.get("title", ""), ", ".join(said), entry.get("note", "")]
    source = " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)
    return f"{markdown_table(entry['header'], entry['rows'])}\n\n*{source}*"


def main() -> None:
    """Write the tables of all pages."""
    tables = read_tables()
    for path in list_pages():
        text = path.read_text(encoding="utf-8")
        filled = fill_page(text, tables)
        if filled != text:
            path.write_text(filled, encoding="utf-8")
            print(f"Written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
