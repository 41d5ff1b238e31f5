"""The paper's figure of t-SNE pictures, measured again: ours beside scikit-learn's and openTSNE's.

`run` computes the pictures that are missing, draws all of them side by side into ``tsne.png``, and returns the table.
The coordinates of every picture are kept in the folder ``tsne``, so that the figure can be drawn again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.atomic import write_atomically
from graspel.runtime.progress import announce
from reproduction.data import TITLES, load_data
from reproduction.embeddings import DATASETS, METHODS, Picture, measure_picture
from reproduction.fig_tsne import draw_side_by_side
from reproduction.pages import measure_quietly
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.table_cell import Cell
from reproduction.tsne_text import write_table

__all__ = ["run"]

FIGURE = "tsne.png"


def run(request: Request, results: Results) -> str:
    """Compute the pictures that are missing; return the table as Markdown."""
    datasets = choose_names("only", request.only, DATASETS)
    methods = choose_names("methods", request.methods, METHODS)
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
    measure_pictures(cells, results)
    draw_figure(cells, results)
    return write_table(results, [(cell.dataset, cell.method, cell.key) for cell in cells], FIGURE)


def measure_pictures(cells: list[Cell], results: Results) -> None:
    """Compute the pictures that are missing, and announce the progress."""
    folder = results.path.parent
    for cell in cells:
        if not _coordinates_file(folder, cell).exists():
            results.forget(cell.key)
    todo = [cell for cell in cells if cell.key not in results]
    # All data sets are loaded before the first cell, so that a missing file shows now and not after an hour.
    loaded = {name: load_data(name) for name in dict.fromkeys(cell.dataset for cell in todo)}
    for at, cell in enumerate(todo):
        number = len(cells) - len(todo) + at + 1
        detail = f"cell {number} of {len(cells)}: {METHODS[cell.method].label}, seed {cell.seed}"
        announce(f"drawing {TITLES[cell.dataset]}", (number - 1) / len(cells), detail)
        X, y = loaded[cell.dataset]

        def make(cell: Cell = cell, X: Any = X, y: Any = y) -> dict[str, Any]:
            value, picture = measure_picture(cell.method, X, y, cell.seed)
            _save_coordinates(_coordinates_file(folder, cell), picture, y)
            return value

        measure_quietly(results, cell.key, make)


def draw_figure(cells: list[Cell], results: Results) -> None:
    """Draw the first seed's pictures side by side, a row for each data set."""
    announce("drawing the figure")
    folder = results.path.parent
    panels: dict[str, list[tuple[str, dict[str, Any], Any, Any]]] = {}
    for cell in (cell for cell in cells if cell.seed == 0):
        with np.load(_coordinates_file(folder, cell)) as kept:
            panel = (METHODS[cell.method].label, results[cell.key], kept["places"], kept["classes"])
        panels.setdefault(TITLES[cell.dataset], []).append(panel)
    draw_side_by_side(panels, folder / FIGURE)


def _coordinates_file(folder: Path, cell: Cell) -> Path:
    return folder / "tsne" / f"{cell.dataset}-{cell.method}-{cell.seed}.npz"


def _save_coordinates(path: Path, picture: Picture, y: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, places=picture.embedding.astype(np.float32), classes=y[picture.points])
