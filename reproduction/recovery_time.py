"""The paper's figure of recovery times: seconds of every method as the graph grows; ours also on larger graphs.

Signals are smooth on a grid (100 of them, 50 from 10,000 nodes on). A peer that took more than LIMIT seconds on one
size is not measured on larger ones.
"""

from __future__ import annotations

import warnings
from typing import Any

from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from graspel.metrics import edge_scores
from graspel.runtime.progress import announce
from reproduction.pages import join_page, save_picture
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.table2 import METHODS, NOISE
from reproduction.tables import markdown_table
from reproduction.timing import time_call

__all__ = ["run"]

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 10_000, 100_000)
QUICK_SIZES = (20, 50, 100, 200)
PEERS_UP_TO = 2000  # nodes; the peers work on all pairs of nodes
LIMIT = 60.0  # seconds; a peer that takes longer on one size is not measured on the next


def run(request: Request, results: Results) -> str:
    """Measure what is not there yet; return the page as Markdown, its figure beside the results."""
    methods = choose_names("methods", request.methods, METHODS)
    sizes = QUICK_SIZES if request.quick else SIZES
    for n in sizes:
        for name in methods:
            if _is_to_be_measured(results, name, n, sizes):
                announce("recovering graphs", sizes.index(n) / len(sizes), f"{n:,} nodes, {METHODS[name].label}")
                results.get(f"{n}/{name}", lambda n=n, name=name: measure_time(n, name))  # type: ignore[misc]
    return write_page(results, methods, sizes)


def _is_to_be_measured(results: Results, name: str, n: int, sizes: tuple[int, ...]) -> bool:
    if name == "graspel":
        return True
    smaller = [f"{size}/{name}" for size in sizes if size < n]
    return n <= PEERS_UP_TO and all(key in results and results[key]["seconds"] <= LIMIT for key in smaller)


def measure_time(n: int, name: str) -> dict[str, Any]:
    """Seconds and F-measure of one method on a grid of about n nodes."""
    side = round(n**0.5)
    truth = grid_graph(side, -(-n // side))
    X = smooth_signals(truth, 100 if n < 10_000 else 50, noise=NOISE, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, learned = time_call(lambda: METHODS[name].learn(X, "grid"))
    return {"seconds": seconds, "f_measure": edge_scores(truth, learned, threshold=1e-4).f_measure}


def write_page(results: Results, methods: list[str], sizes: tuple[int, ...]) -> str:
    """The page: the figure, and a table of seconds and F with a row for each method."""
    from reproduction.scaling_plot import scaling

    seconds = {METHODS[name].label: [_get_seconds(results, f"{n}/{name}") for n in sizes] for name in methods}
    drawn = scaling(sizes, seconds, xlabel="nodes, N", title="Graph recovery: time against size")
    figure = save_picture(results, f"{results.path.stem}.png", drawn, "Seconds against nodes, on logarithmic axes")
    rows = [[METHODS[name].label, *(_format_cell(results, f"{n}/{name}") for n in sizes)] for name in methods]
    text = markdown_table(["seconds (F)", *(f"{n:,}" for n in sizes)], rows)
    note = (
        "100 signals (50 from 10,000 nodes on) on a grid, noise 0.5; F at the threshold 1e-4. A peer that took more "
        f"than {LIMIT:.0f} s on one size was not measured on the next."
    )
    return join_page(results, "# Seconds of graph recovery", figure, text, note)


def _get_seconds(results: Results, key: str) -> float | None:
    return results[key]["seconds"] if key in results else None


def _format_cell(results: Results, key: str) -> str:
    return f"{results[key]['seconds']:.2f} ({results[key]['f_measure']:.2f})" if key in results else ""
