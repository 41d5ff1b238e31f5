"""The t-SNE pictures as a table: seconds, and what was measured of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproduction.embeddings import METHODS
from reproduction.markdown import markdown_table, mean_and_spread
from reproduction.pages import signed
from reproduction.points import TITLES
from reproduction.results import Results

TITLE = "Multilevel t-SNE"
PAPER = {"usps": "7X", "mnist": "12.8X"}  # printed speedups over Barnes-Hut t-SNE
PEERS = ("opentsne", "sklearn")

NOTES = """\
Seconds from the points to the picture, learning the graph included, on all cores; peers with their default settings.
"faster" is a peer's seconds over this row's; core seconds add up what all cores spent. Trustworthiness and preservation
of the 10 nearest neighbors are of 2,000 points of the picture, each against all others in it; label accuracy is the
share of all points whose 10 nearest in the picture are mostly of their class. Classes serve for scoring only, and no
setting is chosen per data set.

"graspel, representatives" is the paper's task: t-SNE of the representatives of a graph reduced 5 times, scored among
themselves. "graspel, all points" goes on and gives every point its place.\
"""


def table(results: Results, cells: Sequence[tuple[str, str, str]], figure: str) -> str:
    """What was measured, as Markdown. `cells` are (data set, method, key of the result)."""
    parts = [f"# {TITLE}"]
    for dataset in dict.fromkeys(dataset for dataset, _, _ in cells):
        values: dict[str, list[dict[str, Any]]] = {}
        for _, method, key in (cell for cell in cells if cell[0] == dataset):
            values.setdefault(method, []).append(results[key])
        parts += [f"## {TITLES[dataset]}", _rows(values)]
        parts.append(f"The paper prints {PAPER[dataset]} for its representatives, against Barnes-Hut t-SNE.")
    return signed(results, *parts, NOTES, f"![All pictures]({figure})")


def _rows(values: dict[str, list[dict[str, Any]]]) -> str:
    peers = [peer for peer in PEERS if peer in values]
    header = ["", "points", "seconds", *(f"faster than {METHODS[peer].label}" for peer in peers)]
    header += ["core seconds", "trustworthiness", "preservation", "label accuracy"]
    rows = []
    for method, found in values.items():
        seconds = _mean(found, "seconds")
        times = [f"{_mean(values[peer], 'seconds') / seconds:.1f}" if method not in PEERS else "" for peer in peers]
        cores = f"{_mean(found, 'core_seconds'):.1f}"
        scores = [
            mean_and_spread([value[name] for value in found], 4)
            for name in ("trustworthiness", "preservation", "accuracy")
        ]
        rows.append([METHODS[method].label, f"{found[0]['points']:,}", f"{seconds:.1f}", *times, cores, *scores])
    return markdown_table(header, rows)


def _mean(found: Sequence[dict[str, Any]], name: str) -> float:
    return float(np.mean([value[name] for value in found]))
