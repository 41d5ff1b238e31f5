"""The cache of results: goes on after a stop, and is not thrown by a damaged file."""

from __future__ import annotations

import json
import warnings

import pytest

from reproduction.results import Results, current_commit


def fail():
    raise AssertionError("must not be measured again")


def test_a_stopped_run_goes_on(tmp_path):
    def stopped():
        raise KeyboardInterrupt

    results = Results(tmp_path / "new" / "folder", "table")
    assert results.get("a", lambda: {"acc": 0.5}) == {"acc": 0.5}
    with pytest.raises(KeyboardInterrupt):
        results.get("b", stopped)

    later = Results(tmp_path / "new" / "folder", "table")
    assert "b" not in later
    assert later.get("a", fail) == {"acc": 0.5}
    assert later.get("b", lambda: 2) == 2
    assert Results(tmp_path / "new" / "folder", "table")["b"] == 2


def test_an_entry_says_how_long_it_took_and_at_which_commit(tmp_path):
    Results(tmp_path, "table").get("a", lambda: 1)
    entry = json.loads((tmp_path / "table.json").read_text())["a"]
    assert entry["value"] == 1
    assert entry["seconds"] >= 0
    assert entry["commit"] == current_commit() != ""


def test_fresh_forgets(tmp_path):
    Results(tmp_path, "table").get("a", lambda: 1)
    assert Results(tmp_path, "table", fresh=True).get("a", lambda: 2) == 2
    assert Results(tmp_path, "table")["a"] == 2


def test_what_is_forgotten_is_measured_anew(tmp_path):
    results = Results(tmp_path, "table")
    results.get("a", lambda: 1)
    results.forget("a")
    results.forget("never there")
    assert results.get("a", lambda: 2) == 2


@pytest.mark.parametrize("text", ['{"a": {"value": 1, "sec', "", "[1, 2]", '{"a": 3}', '{"a": {"seconds": 3}}'])
def test_a_damaged_file_is_put_aside(tmp_path, text):
    (tmp_path / "table.json").write_text(text)
    with pytest.warns(UserWarning, match=r"table\.json is damaged; it was renamed to table\.json\.damaged"):
        results = Results(tmp_path, "table")
    assert results.get("a", lambda: 5) == 5
    assert (tmp_path / "table.json.damaged").read_text() == text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Results(tmp_path, "table")["a"] == 5


def test_a_file_in_the_place_of_the_folder_shows_before_anything_is_measured(tmp_path):
    (tmp_path / "here").touch()
    with pytest.raises(NotADirectoryError, match="here: is a file"):
        Results(tmp_path / "here", "table")
