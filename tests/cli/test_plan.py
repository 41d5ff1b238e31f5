"""``graspel plan``: what a run will take."""

from __future__ import annotations

import json

import numpy as np


def test_the_plan_of_a_file(graspel, tmp_path):
    np.save(tmp_path / "points.npy", np.zeros((2000, 7)))
    outcome = graspel("plan", tmp_path / "points.npy")
    assert outcome.code == 0
    assert "2,000 x 7" in outcome.out
    assert "0.00 GB" not in outcome.out
    assert "0.0 min" not in outcome.out
    plan = json.loads(graspel("plan", tmp_path / "points.npy", "--set", "n_neighbors=5", "--json").out)
    assert plan["n_points"] == 2000
    assert plan["memory"] > 5e7
    assert plan["fits"] in (True, False, None)


def test_a_missing_file_is_one_sentence(graspel, tmp_path):
    assert graspel("plan", tmp_path / "no.npy").is_one_sentence("no.npy", "does not exist")
