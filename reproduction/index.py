"""The index page: what has been reproduced in a folder, with its pictures and links to its pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from graspel.io.atomic import written_whole
from reproduction.results import commit, machine

__all__ = ["write_index", "write_page"]

INDEX = "index.md"


def write_page(folder: Path, name: str, text: str) -> Path:
    """Write the page of one reproduction."""
    path = folder / f"{name}.md"
    folder.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def write_index(folder: Path, names: Iterable[str]) -> Path:
    """Write the index of the pages that are in the folder, in the order of `names`."""
    parts = ["# The paper, reproduced"]
    for name in names:
        page = folder / f"{name}.md"
        if page.exists():
            text = page.read_text(encoding="utf-8")
            title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), name)
            parts += [f"## [{title}]({page.name})", *re.findall(r"^!\[[^\]]*\]\([^)]*\)$", text, re.MULTILINE)]
    now = datetime.now().astimezone()
    parts.append(f"Written on {now:%Y-%m-%d} by graspel {commit()}, on {machine()}.")
    path = folder / INDEX
    with written_whole(path) as temporary:
        temporary.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path
