"""What all pages share: each cell is measured once, pictures lie beside the results, a last line names the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from typing import Any

from graspel.runtime.progress import announce
from reproduction.results import Results, describe_machine

__all__ = ["join_page", "measure_cells", "measure_quietly", "save_picture"]


def measure_cells(results: Results, step: str, cells: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The values of the cells, by name; those that are not among the results are measured now."""
    for at, (key, run) in enumerate(cells.items()):
        if key not in results:
            announce(step, at / len(cells), f"cell {at + 1} of {len(cells)}: {key}")
            measure_quietly(results, key, run)
    return {key: results[key] for key in cells}


def measure_quietly(results: Results, key: str, run: Callable[[], Any]) -> Any:
    """One value, measured in a context of its own: the progress of the steps inside the cell is not shown."""
    return results.get(key, lambda: Context().run(run))


def save_picture(results: Results, name: str, drawn: Any, caption: str) -> str:
    """Save what was drawn beside the results, and return the line of Markdown that shows it."""
    from graspel.plot import save

    results.path.parent.mkdir(parents=True, exist_ok=True)
    save(drawn, results.path.parent / name)
    return f"![{caption}]({name})"


def join_page(results: Results, *paragraphs: str) -> str:
    """A page of these paragraphs; its last line says which commit measured the results, and on which machine."""
    commits = sorted({entry["commit"] for entry in results.entries.values()})
    last = f"Measured by graspel {', '.join(commits) or 'at no commit'}; page made on {describe_machine()}."
    return "\n\n".join([*paragraphs, last]) + "\n"
