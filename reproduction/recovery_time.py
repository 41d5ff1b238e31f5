"""The paper's figure of recovery times: seconds of every method as the graph grows, ours on to larger ones.

Signals are smooth on a grid (100 of them, 50 from 10,000 nodes on). A method that took more than its limit on one size
is not asked for larger ones.
"""

from __future__ import annotations

import time
import warnings
from contextvars import Context
from typing import Any

from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from graspel.metrics import edge_scores
from graspel.runtime.progress import announce
from reproduction.markdown import markdown_table
from reproduction.pages import picture, signed
from reproduction.recoveries import METHODS
from reproduction.request import Request, chosen
from reproduction.results import Results

__all__ = ["run"]

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 10_000, 100_000)
QUICK_SIZES = (20, 50, 100, 200)
PEERS_UP_TO = 2000
LIMIT = 60.0  # seconds on one size after which a peer is not asked for the next
NOISE = 0.5


def run(request: Request, results: Results) -> str:
    """Measure what is not there yet; return the page as Markdown, its figure beside the results."""
    methods = chosen("methods", request.methods, METHODS)
    sizes = QUICK_SIZES if request.quick else SIZES
    for n in sizes:
        for name in methods:
            if _is_asked(results, name, n, sizes):
                announce("recovering graphs", sizes.index(n) / len(sizes), f"{n:,} nodes, {METHODS[name].label}")
                results.get(f"{n}/{name}", lambda c=(n, name): Context().run(measurement, *c))  # type: ignore[misc]
    return page(results, methods, sizes)


def _is_asked(results: Results, name: str, n: int, sizes: tuple[int, ...]) -> bool:
    if name == "graspel":
        return True
    smaller = [f"{size}/{name}" for size in sizes if size < n]
    return n <= PEERS_UP_TO and all(key in results and results[key]["seconds"] <= LIMIT for key in smaller)


def measurement(n: int, name: str) -> dict[str, Any]:
    """Seconds and F-measure of one method on a grid of about n nodes."""
    side = round(n**0.5)
    truth = grid_graph(side, -(-n // side))
    X = smooth_signals(truth, 100 if n < 10_000 else 50, noise=NOISE, random_state=0)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = METHODS[name].learn(X, "grid")
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "f_measure": edge_scores(truth, learned, threshold=1e-4).f_measure}


def page(results: Results, methods: list[str], sizes: tuple[int, ...]) -> str:
    """The figure, and seconds and F in a row for each method."""
    from graspel.plot import scaling

    seconds = {METHODS[name].label: [_seconds(results, f"{n}/{name}") for n in sizes] for name in methods}
    drawn = scaling(sizes, seconds, xlabel="nodes, N", title="Graph recovery: time against size")
    figure = picture(results, f"{results.path.stem}.png", drawn, "Seconds against nodes, on logarithmic axes")
    rows = []
    for name in methods:
        rows.append([METHODS[name].label, *(_cell(results, f"{n}/{name}") for n in sizes)])
    text = markdown_table(["seconds (F)", *(f"{n:,}" for n in sizes)], rows)
    note = (
        "100 signals (50 from 10,000 nodes on) on a grid, noise 0.5; F at the threshold 1e-4. A peer that took more "
        f"than {LIMIT:.0f} s on one size was not asked for the next."
    )
    return signed(results, "# Seconds of graph recovery", figure, text, note)


def _seconds(results: Results, key: str) -> float | None:
    return results[key]["seconds"] if key in results else None


def _cell(results: Results, key: str) -> str:
    return f"{results[key]['seconds']:.2f} ({results[key]['f_measure']:.2f})" if key in results else ""
