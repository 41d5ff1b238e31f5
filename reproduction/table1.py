"""Table 1 of the paper, spectral clustering, and its paragraph "SC with 2NN graphs": measured again, with peers.

`run` measures the cells that are missing and returns the tables, our numbers beside the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from graspel.datasets import Dataset
from graspel.runtime.progress import announce
from reproduction.clusterings import PEERS, BuiltGraph, Problem, cluster_built, construct, measure_clusters
from reproduction.data import TITLES, load_data
from reproduction.pages import measure_quietly
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.table1_rows import DATASETS, METHODS, QUICK_DATASETS, count_seeds
from reproduction.table1_text import write_tables
from reproduction.table_cell import Cell
from reproduction.time_limit import measure_with_limit

__all__ = ["run"]


def run(request: Request, results: Results) -> str:
    """Measure the cells that are missing; return the tables as Markdown."""
    datasets = choose_names("only", request.only, DATASETS)
    methods = choose_names("methods", request.methods, METHODS)
    if request.quick and request.only is None:
        datasets = list(QUICK_DATASETS)
    measure_missing(plan_cells(request, datasets, methods), request, results)
    return write_tables(results, datasets, methods, request.n_seeds)


def plan_cells(request: Request, datasets: list[str], methods: list[str]) -> list[Cell]:
    """The cells to measure; those that share a graph follow each other."""
    return [
        Cell(dataset, name, seed)
        for dataset in datasets
        for seed in range(request.n_seeds)
        for name in methods
        if seed < count_seeds(METHODS[name], dataset, request.n_seeds)
        and (request.methods is not None or _runs_by_default(name, dataset, request.quick))
    ]


def _runs_by_default(name: str, dataset: str, quick: bool) -> bool:
    """Whether a method runs on a data set without being named."""
    method = METHODS[name]
    if name == "umap" and find_spec("umap") is None:
        return False
    return not (quick and method.is_slow) and dataset not in method.limited_on


def measure_missing(cells: list[Cell], request: Request, results: Results) -> None:
    """Measure the cells that are not among the results, and announce the progress."""
    for cell in cells:
        if cell.key in results and _must_be_repeated(results[cell.key], request.limit):
            results.forget(cell.key)
    todo = [cell for cell in cells if cell.key not in results]
    if any(cell.method == "umap" for cell in todo) and find_spec("umap") is None:
        raise ImportError('the method umap needs umap-learn: install it by pip install "graspel[bench]".')
    # All data sets are loaded before the first cell, so that a missing file shows now and not after an hour.
    loaded = {name: load_data(name) for name in dict.fromkeys(cell.dataset for cell in todo)}
    runner = _CellRunner(loaded, request.limit)
    for at, cell in enumerate(todo):
        label = METHODS[cell.method].label
        detail = f"cell {len(cells) - len(todo) + at + 1} of {len(cells)}: {label}, seed {cell.seed}"
        announce(f"measuring {TITLES[cell.dataset]}", _share_of_dataset(cells, cell), detail)
        measure_quietly(results, cell.key, lambda cell=cell: runner.measure(cell))  # type: ignore[misc]


def _must_be_repeated(value: Mapping[str, Any], limit: float) -> bool:
    """Whether the cell failed, or was stopped at a lower limit than the present one."""
    return "failed" in value or value.get("over", limit) < limit


def _share_of_dataset(cells: list[Cell], cell: Cell) -> float:
    same = [other for other in cells if other.dataset == cell.dataset]
    return same.index(cell) / len(same)


class _CellRunner:
    """Measures cells. It keeps the last graph: methods that differ only in their assignment stage share it."""

    def __init__(self, loaded: Mapping[str, Dataset], limit: float) -> None:
        self._loaded, self._limit = loaded, limit
        self._last: tuple[tuple[str, str, int], BuiltGraph] | None = None

    def measure(self, cell: Cell) -> dict[str, Any]:
        """Measure one cell."""
        method = METHODS[cell.method]
        if cell.dataset in method.limited_on:
            return measure_with_limit(self._limit, cell.method, cell.dataset, cell.seed)
        data = self._loaded[cell.dataset]
        problem = Problem(cell.dataset, data.X, data.y, cell.seed)
        if method.graph:
            return measure_clusters(
                lambda: cluster_built(self._build(method.graph, problem), method.assignment, problem), problem.y
            )
        return measure_clusters(lambda: PEERS[cell.method](problem), problem.y)

    def _build(self, name: str, problem: Problem) -> BuiltGraph:
        key = (name, problem.dataset, problem.seed)
        if self._last is None or self._last[0] != key:
            self._last = (key, construct(name, problem))
        return self._last[1]
