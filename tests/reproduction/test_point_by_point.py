"""The page that goes through the paper: its equations, the disturbances, and a number or a reason in every row."""

from __future__ import annotations

import re

import numpy as np
import pytest

from graspel import GRASPEL
from reproduction import REPRODUCTIONS, Request, Results, point_by_point, robustness, table1, table2
from reproduction.data import Labeled
from reproduction.equations import measure_equations


def test_every_equation_of_the_paper_holds(seed):
    found = measure_equations(seed)
    assert set(found) == set(point_by_point.EQUATIONS)
    assert max(found.values()) < 1e-5  # the gradient's differences have the largest error


@pytest.fixture
def table(rng):
    y = np.repeat([1, 2, 3, 4], 30)
    return 8 * rng.standard_normal((4, 6))[y - 1] + rng.standard_normal((120, 6)), y


@pytest.mark.parametrize("kind", robustness.DISTURBANCES)
def test_a_disturbance_keeps_what_it_does_not_change(table, kind):
    X, y = table
    found = robustness.DISTURBANCES[kind](X, y, np.random.default_rng(0))
    known = found.source >= 0
    assert (y[found.source[known]] == found.y[known]).all()
    assert len(found.X) == len(found.y) == len(found.source)
    assert (found.y[~known] == -1).all()
    if kind == "none":
        assert (found.X == X).all()
    if kind == "noise 1":
        assert np.std(found.X - X) == pytest.approx(X.std(), rel=0.15)
    if kind.startswith("classes"):
        assert np.bincount(found.y)[1:].tolist() == ([30, 3, 30, 3] if kind == "classes 1:10" else [30, 2, 30, 2])
    if kind == "5 % outliers":
        assert np.sum(~known) == 6
        assert all(np.isin(found.X[~known][:, at], X[:, at]).all() for at in range(6))
    if "columns" in kind:
        assert found.X.shape[1] == {"columns repeated": 15, "half of the columns": 3}[kind]


def test_a_graph_beside_itself_keeps_all(table):
    graph = GRASPEL(random_state=0).fit(table[0]).graph_
    found = robustness.compare_graphs(graph, graph, np.arange(120), np.random.default_rng(0))
    assert found == {"kept": 1.0, "resistances": pytest.approx(1.0)}


@pytest.mark.long_seeds
def test_the_page_has_a_number_or_a_reason_in_every_row(blobs, table, tmp_path, monkeypatch):
    monkeypatch.setattr(robustness, "load_labeled", lambda name: Labeled(table[0], [table[1]]))
    monkeypatch.setattr(point_by_point, "load_data", table1.load_data)
    monkeypatch.setattr(table2, "QUICK_SEEDS", 1)
    request = Request(only=("usps",), seeds=1, quick=True)
    page = REPRODUCTIONS["paper"](request, Results(tmp_path, "paper", quick=True))
    assert page.count("**A quick run") == 1
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    assert len(rows) > 45
    for row in rows:
        _, said, *ours = [cell.strip() for cell in row[1:-1].split("|")]
        assert said
        assert any(re.search(r"\d|not reproduced|reproduction", cell) for cell in ours), row
    n_loaded = len(blobs)
    assert REPRODUCTIONS["paper"](request, Results(tmp_path, "paper", quick=True)) == page
    assert len(blobs) == n_loaded
