"""The figures: what is measured, what is drawn, and that a second run measures nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from reproduction import REPRODUCTIONS, Request, Results, datasets
from reproduction.data import center_rows
from reproduction.fig_objective import measure_curve
from reproduction.fig_spectra import STAGES, measure_panel

FIGURES = {
    "fig-convergence": ["fig-convergence-usps.png"],
    "fig-objective": ["fig-objective-usps.png"],
    "fig-spectra": ["fig-spectra-usps.png"],
}
QUICK = Request(only=("usps",), quick=True)


@pytest.fixture(autouse=True)
def _coarse_pictures(monkeypatch):
    """Pictures of few pixels, which are drawn faster."""
    monkeypatch.setattr("graspel.plot.canvas.DPI", 40)


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_with_its_pictures_and_a_second_run_that_measures_nothing(blobs, tmp_path, name):
    page = REPRODUCTIONS[name](QUICK, Results(tmp_path, name))
    assert page.startswith("# ")
    for picture in FIGURES[name]:
        assert f"]({picture})" in page
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    assert "paper" in page
    n_loaded = len(blobs)
    assert n_loaded > 0
    assert REPRODUCTIONS[name](QUICK, Results(tmp_path, name)) == page
    assert len(blobs) == n_loaded


def test_a_stopped_run_goes_on_at_its_next_cell(blobs, tmp_path, monkeypatch):
    from reproduction import fig_spectra

    def stopped(name, stage):
        if stage is STAGES["tol10"]:
            raise KeyboardInterrupt
        return measure_panel(name, stage)

    monkeypatch.setattr(fig_spectra, "measure_panel", stopped)
    with pytest.raises(KeyboardInterrupt):
        fig_spectra.run(QUICK, Results(tmp_path, "fig-spectra"))
    assert list(json.loads((tmp_path / "fig-spectra.json").read_text())) == ["usps/2nn", "usps/tol100"]
    monkeypatch.setattr(fig_spectra, "measure_panel", measure_panel)
    n_loaded = len(blobs)
    fig_spectra.run(QUICK, Results(tmp_path, "fig-spectra"))
    assert len(blobs) == n_loaded + 1


@pytest.mark.filterwarnings("ignore:GRASPEL did not settle")
def test_the_objective_is_that_of_its_definition(blobs):
    states = measure_curve("usps", "2NN", 3)
    assert [state["round"] for state in states] == list(range(states[0]["round"], states[-1]["round"] + 1))
    # From the learned graph, back in the scale of the rounds: weights 1 / |x_p - x_q|^2 of prepared points.
    X = center_rows(datasets.load("usps").X)
    learner = GRASPEL(tol=1.0, max_iter=states[-1]["round"], random_state=0)
    graph = learner.fit(X).graph_
    z = prepare_rows(X).squared_distances(graph.heads, graph.tails)
    w = 1 / (X.shape[1] * z)
    L = graph.with_weights(w).laplacian.toarray()
    values = np.linalg.eigvalsh(L)[1:51]
    assert states[-1]["objective"] == pytest.approx(np.log(values + 1e-6).sum() - w @ z, rel=1e-3)


def test_a_panel_holds_the_first_eigenvalues_and_the_scores(blobs):
    value = measure_panel("usps", STAGES["2nn"])
    assert value["components"] > 1
    values = np.array(value["eigenvalues"])
    assert len(values) == 20
    assert (np.abs(values[: value["components"]]) < 1e-6 * values[-1]).all()
    learned = measure_panel("usps", STAGES["tol10"])
    assert learned["components"] == 1
    assert learned["acc"] == 1.0
    assert len(json.dumps(learned)) < 10_000


def test_time_left_follows_the_pace_and_not_what_was_there_already():
    from reproduction import TimeLeft

    left = TimeLeft({"a": 10.0, "b": 10.0, "c": 10.0})
    left.done("a", 0.01)
    assert left.seconds == 20.0
    left.done("b", 30.0)
    assert left.seconds == 30.0
    left.done("c", 30.0)
    assert left.seconds == 0.0
