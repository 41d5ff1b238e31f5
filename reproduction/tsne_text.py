"""The t-SNE pictures as a table: seconds and scores of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproduction.data import TITLES
from reproduction.embeddings import METHODS
from reproduction.pages import join_page
from reproduction.results import Results
from reproduction.tables import markdown_table, mean_and_spread

TITLE = "Multilevel t-SNE"
PAPER = {"usps": "7X", "mnist": "12.8X"}  # printed speedups over Barnes-Hut t-SNE
PEERS = ("opentsne", "sklearn")

NOTES = """\
Seconds from the points to the picture, which includes learning the graph, on all cores; peers have their default
settings. "faster" is the peer's seconds divided by those of this row; core seconds add up the time of all cores.
Trustworthiness and preservation of the 10 nearest neighbors are measured on 2,000 points of the picture, each against
all others in it. Label accuracy is the share of all points whose 10 nearest points in the picture are mostly of their
class. Classes are used for scoring only, and no setting depends on the data set.

"graspel, representatives" is the paper's task: t-SNE of the representatives of a graph reduced 5 times, scored among
themselves. "graspel, all points" then computes the coordinates of every point.\
"""


def write_table(results: Results, cells: Sequence[tuple[str, str, str]], figure: str) -> str:
    """All tables as Markdown. `cells` are (data set, method, key of the result)."""
    paragraphs = [f"# {TITLE}"]
    for dataset in dict.fromkeys(dataset for dataset, _, _ in cells):
        values: dict[str, list[dict[str, Any]]] = {}
        for _, method, key in (cell for cell in cells if cell[0] == dataset):
            values.setdefault(method, []).append(results[key])
        paragraphs += [f"## {TITLES[dataset]}", _write_rows(values)]
        paragraphs.append(f"The paper prints {PAPER[dataset]} for its representatives, against Barnes-Hut t-SNE.")
    return join_page(results, *paragraphs, NOTES, f"![All pictures]({figure})")


def _write_rows(values: dict[str, list[dict[str, Any]]]) -> str:
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
