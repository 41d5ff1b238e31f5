"""What the pages share: cells measured once, with word of how far it is, pictures beside the results, a signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from typing import Any

from graspel.runtime.progress import announce
from reproduction.results import Results, machine

__all__ = ["measure", "picture", "signed"]


def measure(results: Results, step: str, cells: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The values of the cells, by name; those that are not among the results are measured now."""
    for at, (key, run) in enumerate(cells.items()):
        if key not in results:
            announce(step, at / len(cells), f"cell {at + 1} of {len(cells)}: {key}")
            # In a context of its own, where nobody listens to what the single steps report.
            results.get(key, lambda run=run: Context().run(run))  # type: ignore[misc]
    return {key: results[key] for key in cells}


def picture(results: Results, name: str, drawn: Any, says: str) -> str:
    """Save what was drawn beside the results, and return the line of Markdown that shows it."""
    from graspel.plot import save

    results.path.parent.mkdir(parents=True, exist_ok=True)
    save(drawn, results.path.parent / name)
    return f"![{says}]({name})"


def signed(results: Results, *parts: str) -> str:
    """A page of these paragraphs, ending with what measured it."""
    commits = sorted({entry["commit"] for entry in results.entries.values()})
    sign = f"Measured by graspel {', '.join(commits) or 'at no commit'}; page made on {machine()}."
    return "\n\n".join([*parts, sign]) + "\n"
