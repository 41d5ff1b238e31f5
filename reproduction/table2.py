"""Table 2 of the paper, graph recovery: measured again, with peers.

Every method learns from the same signals and is scored twice: *as it comes*, where weights under 1e-4 count as no edge
and nothing is known of the true graph, and *by oracle*, at the threshold that agrees best with the true graph. The
paper's scores are of the second kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from graspel.metrics import edge_scores, oracle_threshold
from reproduction.pages import join_page, measure_cells
from reproduction.paper import TABLE2
from reproduction.recoveries import GRAPH_TITLES, GRAPHS, METHODS, THRESHOLD, make_problem, scale_to_unit_degree
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table, mean_and_spread
from reproduction.timing import time_call

__all__ = ["run"]

SEEDS, QUICK_SEEDS = 20, 3  # graphs of each kind
PAPER_GRAPHS = ("gaussian", "er")
MEASURES = {"f_measure": "F", "precision": "precision", "recall": "recall", "nmi": "NMI"}


def run(request: Request, results: Results) -> str:
    """Measure the cells that are missing; return the tables as Markdown."""
    kinds = choose_names("only", request.only if request.only is not None else PAPER_GRAPHS, GRAPHS)
    methods = choose_names("methods", request.methods, METHODS)
    seeds = range(request.seeds or (QUICK_SEEDS if request.quick else SEEDS))
    cells = [(kind, name, seed) for kind in kinds for seed in seeds for name in methods]
    todo = {_key(*cell): lambda cell=cell: measure_recovery(*cell) for cell in cells}  # type: ignore[misc]
    measure_cells(results, "recovering graphs", todo)
    return join_page(
        results, "# Table 2, graph recovery", *(_write_section(results, kind, methods, seeds) for kind in kinds)
    )


def measure_recovery(kind: str, name: str, seed: int) -> dict[str, Any]:
    """Learn one graph, and score it both ways."""
    truth, X = make_problem(kind, seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds, learned = time_call(lambda: scale_to_unit_degree(METHODS[name].learn(X, kind)))
    plain = edge_scores(truth, learned, threshold=THRESHOLD)
    oracle = edge_scores(truth, learned, threshold=oracle_threshold(truth, learned))
    return {
        "plain": {measure: getattr(plain, measure) for measure in (*MEASURES, "weight_error")},
        "oracle": {measure: getattr(oracle, measure) for measure in MEASURES},
        "seconds": seconds,
        "warnings": [str(warning.message) for warning in caught],
    }


def _key(kind: str, name: str, seed: int) -> str:
    return f"{kind}/{name}/{seed}"


def _write_section(results: Results, kind: str, methods: Sequence[str], seeds: range) -> str:
    rows = []
    for name in methods:
        cells = [results[_key(kind, name, seed)] for seed in seeds]
        for column in ("plain", "oracle"):
            scores = [mean_and_spread([cell[column][measure] for cell in cells], 3) for measure in MEASURES]
            printed = TABLE2.get(kind, {}).get(name)
            paper = [f"{value:.3f}" for value in printed] if printed and column == "oracle" else [""] * len(MEASURES)
            how = "as it comes" if column == "plain" else "by oracle"
            seconds = mean_and_spread([cell["seconds"] for cell in cells], 2) if column == "plain" else ""
            rows.append([f"{METHODS[name].label}, {how}", *scores, seconds, *paper])
    header = ["method", *MEASURES.values(), "seconds", *(f"paper: {name}" for name in MEASURES.values())]
    settings = "; ".join(f"{METHODS[name].label}: {METHODS[name].settings}" for name in methods)
    title = f"## {GRAPH_TITLES[kind]} graph, 20 nodes, 100 signals, noise 0.5, {len(seeds)} graphs"
    note = (
        "*As it comes*: weights under 1e-4 count as no edge; nothing is known of the true graph. *By oracle*: at the "
        f"threshold that agrees best with the true graph, as in the paper. Settings: {settings}."
    )
    return f"{title}\n\n{markdown_table(header, rows)}\n\n{note}"
