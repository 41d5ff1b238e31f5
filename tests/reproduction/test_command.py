"""``python -m reproduction``: prints and writes the table, goes on after a stop, and fails in one sentence."""

from __future__ import annotations

import json

import pytest


def test_a_small_run(reproduce, blobs, tmp_path):
    folder = tmp_path / "some" / "where"
    outcome = reproduce("table1", "--only", "coil20,usps", "--seeds", 1, "--quick", "--output", folder)
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in folder.iterdir()) == ["index.md", "table1.json", "table1.md"]
    text = (folder / "table1.md").read_text(encoding="utf-8")
    assert outcome.out.startswith(text)
    assert "graspel, consensus (default)" in text
    assert "(92.59)" in text
    assert "(0.87)" in text
    cells = json.loads((folder / "table1.json").read_text())
    assert cells["usps/graspel/0"]["value"]["acc"] == 1.0
    assert blobs == ["coil20", "usps"]
    assert "measuring COIL-20 (cell 1 of " in outcome.err


def test_a_second_run_measures_nothing_unless_fresh(reproduce, blobs, tmp_path):
    command = ["table1", "--only", "usps", "--methods", "kmeans", "--seeds", 1, "-q", "-o", tmp_path]
    assert reproduce(*command).code == 0
    assert reproduce(*command).out == ""
    assert blobs == ["usps"]
    assert reproduce(*command, "--fresh").code == 0
    assert blobs == ["usps", "usps"]


def test_a_stopped_run_names_what_it_keeps(reproduce, blobs, tmp_path, monkeypatch):
    from reproduction import clusterings

    def stopped(problem):
        raise KeyboardInterrupt

    monkeypatch.setitem(clusterings.PEERS, "kmeans", stopped)
    outcome = reproduce("table1", "--only", "usps", "--methods", "graspel,kmeans", "--seeds", 1, "-q", "-o", tmp_path)
    assert outcome.code == 130
    assert "table1.json had been written" in outcome.err
    assert list(json.loads((tmp_path / "table1.json").read_text())) == ["usps/graspel/0"]


def test_all_of_them_with_an_index(reproduce, blobs, tmp_path, monkeypatch):
    from reproduction import REPRODUCTIONS

    for name in set(REPRODUCTIONS) - {"table1", "fig-convergence"}:
        monkeypatch.delitem(REPRODUCTIONS, name)
    command = ["all", "--quick", "--seeds", 1, "-o", tmp_path]
    outcome = reproduce(*command)
    assert outcome.code == 0, outcome.err
    assert outcome.out == f"Written: {tmp_path / 'index.md'}, with a page for each\n"
    assert "fig-convergence, 1 of 2; about 1 minute left in all" in outcome.err
    assert "table1, 2 of 2; " in outcome.err
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "## [Table 1: spectral clustering](table1.md)" in index
    assert "](fig-convergence-usps.png)" in index
    n_loaded = len(blobs)
    assert reproduce(*command, "-q").out == ""
    assert len(blobs) == n_loaded, "nothing was measured again"


def test_where_one_fails_the_others_still_run(reproduce, blobs, tmp_path, monkeypatch):
    from reproduction import REPRODUCTIONS, fig_convergence

    def fails(request, results):
        raise ImportError("openTSNE is missing")

    for name in set(REPRODUCTIONS) - {"table2", "fig-convergence"}:
        monkeypatch.delitem(REPRODUCTIONS, name)
    monkeypatch.setattr(fig_convergence, "run", fails)
    outcome = reproduce("all", "--quick", "--seeds", 1, "-q", "-o", tmp_path)
    assert outcome.code == 2
    assert "fig-convergence failed: openTSNE is missing" in outcome.err
    assert "Error: fig-convergence: not reproduced" in outcome.err.splitlines()[-1]
    assert "(table2.md)" in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table9"], ["table9", "table1", "fig-spectra", "all"]),
        (["all", "--only", "usps"], ["--only", "instead of all"]),
        (["fig-spectra", "--only", "coil20"], ["coil20", "usps, mnist-subset"]),
        (["table1", "--only", "iris"], ["iris", "coil20, pendigits, usps, mnist"]),
        (["table1", "--methods", "magic"], ["magic", "graspel", "kmeans"]),
        (["table1", "--seeds", "0"], ["seeds=0"]),
    ],
)
def test_what_is_not_known_is_one_sentence(reproduce, tmp_path, arguments, words):
    outcome = reproduce(*arguments, "--output", tmp_path / "out")
    assert outcome.is_one_sentence(*words)
    assert not (tmp_path / "out").exists()


def test_missing_data_is_one_sentence_before_anything_is_measured(reproduce, no_data, tmp_path):
    outcome = reproduce("table1", "--only", "usps", "--output", tmp_path / "out")
    assert outcome.is_one_sentence("'usps' could not be loaded", "GRASPEL_DATA")
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_way_is_one_sentence(reproduce, tmp_path):
    (tmp_path / "out").touch()
    assert reproduce("table1", "--output", tmp_path / "out").is_one_sentence("out", "folder")


def test_the_help_has_examples(reproduce):
    outcome = reproduce("--help")
    assert outcome.code == 0
    assert "python -m reproduction table1 --quick" in outcome.out.split("Examples")[1]
