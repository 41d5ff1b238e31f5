"""The figure "The decreasing embedding distortions": USPS from its 2NN graph, 0.001 |V| edges in each round."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from graspel.estimators.learner import GRASPEL
from graspel.learning.history import Round
from reproduction.data import TITLES, center_rows, load_data
from reproduction.pages import join_page, measure_cells, save_picture
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table

__all__ = ["run"]

DATASETS = ("usps",)
TOL = 10.0  # largest distortion at which the paper stops
PAPER_ROUNDS, PAPER_FACTOR = 11, 2600  # rounds, and factor by which they reduce the largest distortion

NOTES = """\
2NN start, rows centered, window 0.05, edge ratio 0.001, tol 10, as in the paper, which says that 11 rounds reduce the
largest distortion by over 2,600 times. Our first round joins the components of the 2NN graph by their closest pairs, a
step that we added. It removes at once the distortion between components, which only sigma limits, so the rounds after
it have less left to do, and the two factors cannot be compared.\
"""


def run(request: Request, results: Results) -> str:
    """Measure what is missing; return the page as Markdown."""
    names = choose_names("only", request.only, DATASETS)
    cells = {name: lambda name=name: measure_rounds(name) for name in names}  # type: ignore[misc]
    found = measure_cells(results, "decreasing distortions", cells)
    paragraphs = ["# Decreasing distortions"]
    for name, rounds in found.items():
        paragraphs += [_draw(results, name, rounds), _compare_with_paper(rounds), _list_rounds(rounds)]
    return join_page(results, *paragraphs, NOTES)


def measure_rounds(name: str) -> list[dict[str, Any]]:
    """The rounds of the paper's setting on a data set."""
    model = GRASPEL(tol=TOL, random_state=0).fit(center_rows(load_data(name).X))
    return [
        {
            "round": record.round,
            "eta": record.max_eta,
            "objective": None if np.isnan(record.objective) else record.objective,
            "added": record.n_added,
            "density": record.density,
            "connected": record.was_connected,
            "seconds": record.seconds,
        }
        for record in model.history_
    ]


def _draw(results: Results, name: str, rounds: list[dict[str, Any]]) -> str:
    from graspel.plot import convergence

    fitted = SimpleNamespace(history_=[_make_round(value) for value in rounds], tol=TOL, stability="distortion")
    ax = convergence(fitted, title=f"{TITLES[name]}, 2NN: decreasing distortions")
    return save_picture(results, f"fig-convergence-{name}.png", ax, f"{TITLES[name]}: largest distortion in each round")


def _make_round(value: dict[str, Any]) -> Round:
    """A round as in `history_`, with a stand-in for its eigenvalues: only whether the graph was connected is known."""
    return Round(
        round=value["round"],
        max_eta=value["eta"],
        mean_eta=float("nan"),
        n_added=value["added"],
        density=value["density"],
        eigenvalues=np.array([1.0 if value["connected"] else 0.0]),
        objective=float("nan") if value["objective"] is None else value["objective"],
        seconds=value["seconds"],
    )


def _compare_with_paper(rounds: list[dict[str, Any]]) -> str:
    connected = [value for value in rounds if value["connected"]]
    rows = [
        ["rounds", str(len(rounds)), str(PAPER_ROUNDS)],
        [
            "largest distortion, first / last round",
            f"{rounds[0]['eta'] / rounds[-1]['eta']:.3g}",
            f"> {PAPER_FACTOR:,}",
        ],
        ["the same, once connected", f"{connected[0]['eta'] / connected[-1]['eta']:.3g}" if connected else "", ""],
        ["edges added", str(sum(value["added"] for value in rounds)), ""],
        ["seconds", f"{sum(value['seconds'] for value in rounds):.1f}", ""],
    ]
    return markdown_table(["", "ours", "paper"], rows)


def _list_rounds(rounds: list[dict[str, Any]]) -> str:
    rows = [
        [str(value["round"]), f"{value['eta']:.3g}", str(value["added"]), f"{value['density']:.4f}"] for value in rounds
    ]
    return markdown_table(["round", "largest eta", "edges added", "density before"], rows)
