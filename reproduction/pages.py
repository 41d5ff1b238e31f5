"""What all pages share: each cell is measured once, pictures lie beside the results, an index page lists all pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from graspel.io.atomic import write_atomically
from graspel.runtime.progress import announce
from reproduction.results import Results, current_commit, describe_machine

__all__ = ["INDEX", "join_page", "measure_cells", "save_picture", "write_index", "write_page"]

INDEX = "index.md"
QUICK = "**A quick run: small data, few seeds, no slow methods. Its numbers are a first look.**"


def measure_cells(results: Results, step: str, cells: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The values of the cells, by name; those that are not among the results are measured now."""
    for at, (key, run) in enumerate(cells.items()):
        if key not in results:
            announce(step, at / len(cells), f"cell {at + 1} of {len(cells)}: {key}")
            results.get(key, run)
    return {key: results[key] for key in cells}


def save_picture(results: Results, name: str, drawn: Any, caption: str) -> str:
    """Save what was drawn beside the results, and return the line of Markdown that shows it."""
    from graspel.plot import save

    results.path.parent.mkdir(parents=True, exist_ok=True)
    save(drawn, results.path.parent / name)
    return f"![{caption}]({name})"


def join_page(results: Results, *paragraphs: str) -> str:
    """A page of these paragraphs, the first of them its title.

    A quick run says so on top. The last line says which commits measured the results, when, on which machine, and how
    busy it was.
    """
    title, *others = paragraphs
    top = [QUICK] if results.quick else []
    source = results.describe_source()
    seconds = sum(entry.get("processor", 0.0) for entry in results.entries.values())
    last = f"Measured by graspel {source['commit'] or 'at no commit'}, {source['date']}, {source['machine']}"
    return "\n\n".join([title, *top, *others, f"{last}; {seconds:,.0f} seconds of the processors."]) + "\n"


def write_page(folder: Path, name: str, text: str) -> Path:
    """Write the page of one reproduction."""
    path = folder / f"{name}.md"
    folder.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def write_index(folder: Path, names: Iterable[str]) -> Path:
    """Write the index of the pages that are in the folder, in the order of `names`."""
    paragraphs = ["# The paper, reproduced"]
    for name in names:
        page = folder / f"{name}.md"
        if page.exists():
            text = page.read_text(encoding="utf-8")
            title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), name)
            paragraphs += [f"## [{title}]({page.name})", *re.findall(r"^!\[[^\]]*\]\([^)]*\)$", text, re.MULTILINE)]
    now = datetime.now().astimezone()
    paragraphs.append(f"Written on {now:%Y-%m-%d} by graspel {current_commit()}, on {describe_machine()}.")
    path = folder / INDEX
    with write_atomically(path) as temporary:
        temporary.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    return path
