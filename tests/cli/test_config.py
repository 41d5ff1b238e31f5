"""``--write-config`` keeps the options of a run, and ``--config`` runs it again; options beside it come first."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest


def test_a_run_is_repeated_by_its_config(graspel, data, tmp_path):
    config, first, second = (tmp_path / name for name in ("run.toml", "first.csv", "second.csv"))
    options = ["-k", 2, "--set", "noise=true", "--seed", 3, "--metric", "cosine", "--header", "yes"]
    assert graspel("cluster", data, "-o", first, *options, "--write-config", config, "-q").code == 0
    kept = tomllib.loads(config.read_text())
    assert kept.pop("command") == "cluster"
    assert kept == {
        **{"output": str(first), "data": str(data), "clusters": 2, "metric": "cosine", "header": "yes"},
        **{"set": ["noise=true"], "seed": 3, "quiet": True},
    }
    outcome = graspel("cluster", "--config", config, "-o", second)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")  # quiet is kept, too
    assert first.read_bytes() == second.read_bytes()
    outcome = graspel("cluster", "--config", config, "-o", second, "-k", 3, "--json")
    assert json.loads(outcome.out)["clusters"] == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('command = "embed"', ["for graspel embed"]),
        ("clustres = 2", ["'clustres'", "clusters"]),
        ("set = 3", ["a list of texts"]),
        ('quiet = "yes"', ["true or false"]),
        ("clusters = [2]", ["a number or a text"]),
        ("clusters", ["cannot be read as TOML"]),
        ("clusters = 0", ["clusters"]),
    ],
)
def test_a_wrong_config_is_one_sentence(graspel, data, tmp_path, text, words):
    config = tmp_path / "run.toml"
    config.write_text(text)
    outcome = graspel("cluster", data, "-o", tmp_path / "out.csv", "--config", config)
    assert outcome.is_one_sentence(*words)
    assert not (tmp_path / "out.csv").exists()


def test_a_config_is_checked_before_the_work_and_not_written_by_a_run_that_fails(graspel, data, tmp_path):
    outcome = graspel("learn", data, "-o", tmp_path / "g.npz", "--write-config", tmp_path / "run.txt")
    assert outcome.is_one_sentence("run.txt", ".toml")
    np.save(tmp_path / "bad.npy", np.full((5, 2), np.nan))
    outcome = graspel("learn", tmp_path / "bad.npy", "-o", tmp_path / "g.npz", "--write-config", tmp_path / "run.toml")
    assert outcome.code == 2
    assert not (tmp_path / "run.toml").exists()
