"""The paper's figure of t-SNE pictures, measured again: ours beside scikit-learn's and openTSNE's.

`run` makes the pictures that are not there yet, draws all of them side by side into ``tsne.png``, and returns the
table.
The places of every picture are kept in the folder ``tsne``, so that the figure can be drawn again.
"""

from __future__ import annotations

from contextvars import Context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graspel.io.atomic import written_whole
from graspel.runtime.progress import announce
from reproduction.embeddings import DATASETS, METHODS, Places, measured
from reproduction.points import TITLES, points
from reproduction.request import Request, chosen
from reproduction.results import Results
from reproduction.tsne_figure import draw_side_by_side
from reproduction.tsne_text import table

__all__ = ["run"]

FIGURE = "tsne.png"


class Cell(NamedTuple):
    """One picture."""

    dataset: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Its name among the results."""
        return f"{self.dataset}/{self.method}/{self.seed}"

    def file(self, folder: Path) -> Path:
        """Where its places are kept."""
        return folder / "tsne" / f"{self.dataset}-{self.method}-{self.seed}.npz"


def run(request: Request, results: Results) -> str:
    """Make what is asked for and not there yet; return the table as Markdown."""
    datasets = chosen("only", request.only, DATASETS)
    methods = chosen("methods", request.methods, METHODS)
    if request.quick and request.only is None:
        datasets = ["usps"]
    cells = [
        Cell(dataset, method, seed)
        for dataset in datasets
        for seed in range(request.seeds or 1)
        for method in methods
        if dataset in METHODS[method].datasets
        and not (request.quick and request.methods is None and METHODS[method].is_slow)
    ]
    if not cells:
        raise ValueError(
            f"{', '.join(methods)} is not run on {', '.join(datasets)}; ask for another method or data set."
        )
    measure(cells, results)
    draw(cells, results)
    return table(results, [(cell.dataset, cell.method, cell.key) for cell in cells], FIGURE)


def measure(cells: list[Cell], results: Results) -> None:
    """Make the pictures that are not there yet, and say how far it is."""
    folder = results.path.parent
    for cell in cells:
        if not cell.file(folder).exists():
            results.forget(cell.key)
    todo = [cell for cell in cells if cell.key not in results]
    # All before the first cell: a file that is missing shows now, not after an hour.
    loaded = {name: points(name) for name in dict.fromkeys(cell.dataset for cell in todo)}
    for at, cell in enumerate(todo):
        number = len(cells) - len(todo) + at + 1
        detail = f"cell {number} of {len(cells)}: {METHODS[cell.method].label}, seed {cell.seed}"
        announce(f"drawing {TITLES[cell.dataset]}", (number - 1) / len(cells), detail)
        X, y = loaded[cell.dataset]

        def make(cell: Cell = cell, X: Any = X, y: Any = y) -> dict[str, Any]:
            # In a context of its own, where nobody listens to what the single steps report.
            value, places = Context().run(measured, cell.method, X, y, cell.seed)
            _keep(cell.file(folder), places, y)
            return value

        results.get(cell.key, make)


def draw(cells: list[Cell], results: Results) -> None:
    """Draw the first seed's pictures side by side, a row for each data set."""
    announce("drawing the figure")
    folder = results.path.parent
    panels: dict[str, list[tuple[str, dict[str, Any], Any, Any]]] = {}
    for cell in (cell for cell in cells if cell.seed == 0):
        with np.load(cell.file(folder)) as kept:
            panel = (METHODS[cell.method].label, results[cell.key], kept["places"], kept["classes"])
        panels.setdefault(TITLES[cell.dataset], []).append(panel)
    draw_side_by_side(panels, folder / FIGURE)


def _keep(path: Path, places: Places, y: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, places=places.embedding.astype(np.float32), classes=y[places.points])
