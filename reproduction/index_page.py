"""The index page: titles, links and pictures of all pages in a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from graspel.io.atomic import write_atomically
from reproduction.results import current_commit, describe_machine

__all__ = ["write_index", "write_page"]

INDEX = "index.md"


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
