"""Table 1 of the paper, spectral clustering, and its paragraph "SC with 2NN graphs": measured again, with peers.

`run` measures the cells that are not there yet and returns the tables, ours beside the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Context
from importlib.util import find_spec
from typing import Any

from graspel.datasets import Dataset
from graspel.runtime.progress import announce
from reproduction.clusterings import PEERS, Built, Problem, construct, from_graph, measured
from reproduction.limited import within
from reproduction.points import TITLES, points
from reproduction.request import Request, chosen
from reproduction.results import Results
from reproduction.table1_rows import DATASETS, METHODS, QUICK_DATASETS, Cell, n_seeds_of
from reproduction.table1_text import tables

__all__ = ["run"]


def run(request: Request, results: Results) -> str:
    """Measure what is asked for and not there yet; return the tables as Markdown."""
    datasets = chosen("only", request.only, DATASETS)
    methods = chosen("methods", request.methods, METHODS)
    if request.quick and request.only is None:
        datasets = list(QUICK_DATASETS)
    measure(planned(request, datasets, methods), request, results)
    return tables(results, datasets, methods, request.n_seeds)


def planned(request: Request, datasets: list[str], methods: list[str]) -> list[Cell]:
    """The cells to measure; those that share a graph follow each other."""
    return [
        Cell(dataset, name, seed)
        for dataset in datasets
        for seed in range(request.n_seeds)
        for name in methods
        if seed < n_seeds_of(METHODS[name], dataset, request.n_seeds)
        and (request.methods is not None or _by_default(name, dataset, request.quick))
    ]


def _by_default(name: str, dataset: str, quick: bool) -> bool:
    """Whether a method runs on a data set without being named."""
    method = METHODS[name]
    if name == "umap" and find_spec("umap") is None:
        return False
    return not (quick and method.is_slow) and dataset not in method.limited_on


def measure(cells: list[Cell], request: Request, results: Results) -> None:
    """Measure the cells that are not among the results, and say how far it is."""
    for cell in cells:
        if cell.key in results and _is_to_be_tried_again(results[cell.key], request.limit):
            results.forget(cell.key)
    todo = [cell for cell in cells if cell.key not in results]
    if any(cell.method == "umap" for cell in todo) and find_spec("umap") is None:
        raise ImportError('the method umap needs umap-learn: install it by pip install "graspel[bench]".')
    # All before the first cell: a file that is missing shows now, not after an hour.
    loaded = {name: points(name) for name in dict.fromkeys(cell.dataset for cell in todo)}
    bench = _Bench(loaded, request.limit)
    for at, cell in enumerate(todo):
        label = METHODS[cell.method].label
        done = f"cell {len(cells) - len(todo) + at + 1} of {len(cells)}: {label}, seed {cell.seed}"
        announce(f"measuring {TITLES[cell.dataset]}", _share_of_dataset(cells, cell), done)
        # In a context of its own, where nobody listens to what the single steps report.
        results.get(cell.key, lambda cell=cell: Context().run(bench.measurement, cell))  # type: ignore[misc]


def _is_to_be_tried_again(value: Mapping[str, Any], limit: float) -> bool:
    """Whether it failed, or was stopped sooner than it would be now."""
    return "failed" in value or value.get("over", limit) < limit


def _share_of_dataset(cells: list[Cell], cell: Cell) -> float:
    same = [other for other in cells if other.dataset == cell.dataset]
    return same.index(cell) / len(same)


class _Bench:
    """The data, and the last graph built: methods that differ in their head only share it, and its seconds."""

    def __init__(self, loaded: Mapping[str, Dataset], limit: float) -> None:
        self._loaded, self._limit = loaded, limit
        self._last: tuple[tuple[str, str, int], Built] | None = None

    def measurement(self, cell: Cell) -> dict[str, Any]:
        """Measure one cell."""
        method = METHODS[cell.method]
        if cell.dataset in method.limited_on:
            return within(self._limit, cell.method, cell.dataset, cell.seed)
        data = self._loaded[cell.dataset]
        problem = Problem(cell.dataset, data.X, data.y, cell.seed)
        if method.graph:
            return measured(lambda: from_graph(self._graph(method.graph, problem), method.head, problem), problem.y)
        return measured(lambda: PEERS[cell.method](problem), problem.y)

    def _graph(self, name: str, problem: Problem) -> Built:
        key = (name, problem.dataset, problem.seed)
        if self._last is None or self._last[0] != key:
            self._last = (key, construct(name, problem))
        return self._last[1]
