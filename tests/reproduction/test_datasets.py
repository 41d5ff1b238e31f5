"""Data sets: where they come from, and what happens when they cannot be loaded."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from reproduction import datasets

SHAPES = {"coil20": (1440, 1024), "pendigits": (7494, 16), "usps": (9298, 256), "mnist": (70000, 784)}
REAL_FOLDER = os.environ.get("GRASPEL_DATA")


def needs_file(name: str) -> pytest.MarkDecorator:
    there = bool(REAL_FOLDER) and (Path(REAL_FOLDER or "") / f"{name}.npz").exists()
    return pytest.mark.skipif(not there, reason=f"GRASPEL_DATA names no folder with {name}.npz")


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """An empty cache, no folder of files, and no network."""
    monkeypatch.delenv("GRASPEL_DATA", raising=False)
    monkeypatch.setenv("GRASPEL_CACHE", str(tmp_path / "cache"))

    def refuse(**_):
        raise URLError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    return tmp_path / "cache"


def fake_openml(name, *, low=0.0, high=1.0, first_label=0, extra_rows=0):
    """Random points with the shape, class sizes and labels that OpenML would send."""
    source = datasets._SOURCES[name]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(source.class_sizes)), source.class_sizes))
    X = rng.uniform(low, high, (len(y), source.n_features))
    X[0, 0], X[0, 1] = low, high
    X = np.vstack([X, np.full((extra_rows, X.shape[1]), 3.0)])
    y = np.concatenate([y, np.zeros(extra_rows, dtype=int)])
    return SimpleNamespace(data=X, target=(y + first_label).astype(str).astype(object))


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_file(name)) for name in SHAPES])
def test_the_papers_data_sets_load_from_the_folder(name):
    data = datasets.load(name)
    source = datasets._SOURCES[name]
    assert data.X.shape == SHAPES[name] == source.shape
    assert data.X.dtype == source.dtype
    assert (data.X.min(), data.X.max()) == source.value_range
    assert np.bincount(data.y)[source.first_label :].tolist() == list(source.class_sizes)
    assert data.X.flags.c_contiguous


@needs_file("mnist")
def test_the_mnist_subset_has_the_papers_size():
    data = datasets.mnist_subset()
    assert data.X.shape == (24_462, 784)
    assert set(data.y) == set(range(7))


def test_digits_need_neither_files_nor_network(no_data):
    X, y = datasets.load("digits")
    assert X.shape == (1797, 64)
    assert y.shape == (1797,)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'iris' is not a known data set; choose one of coil20, .*digits"):
        datasets.load("iris")


def test_when_nothing_can_be_had_the_error_says_what_to_do(no_data):
    with pytest.raises(FileNotFoundError, match=r"usps.*GRASPEL_DATA.*cache.*OpenML.*no network.*set GRASPEL_DATA"):
        datasets.load("usps")


def test_a_data_folder_that_does_not_exist_is_an_error(no_data, monkeypatch, tmp_path):
    monkeypatch.setenv("GRASPEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match="nowhere is not a folder"):
        datasets.load("usps")


def test_a_damaged_file_is_named_with_both_checksums(no_data, monkeypatch, tmp_path):
    (tmp_path / "usps.npz").write_bytes(b"not an archive")
    monkeypatch.setenv("GRASPEL_DATA", str(tmp_path))
    with pytest.raises(
        OSError, match=r"usps.npz is damaged.*SHA-256 is [0-9a-f]{64}, but should be 8841a5fb.*replace it"
    ):
        datasets.load("usps")


def test_a_file_with_the_right_checksum_but_no_arrays_is_an_error(no_data, monkeypatch, tmp_path):
    path = tmp_path / "usps.npz"
    np.savez(path, points=np.zeros(3))
    monkeypatch.setattr(datasets, "_verify", lambda *_: None)
    monkeypatch.setenv("GRASPEL_DATA", str(tmp_path))
    with pytest.raises(OSError, match="not a data set"):
        datasets.load("usps")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(OSError, match="not a data set"):
        datasets.load("usps")


def test_pickled_arrays_are_never_loaded(no_data, monkeypatch, tmp_path):
    np.savez(tmp_path / "usps.npz", X=np.array([{}], dtype=object), y=np.zeros(1))
    monkeypatch.setattr(datasets, "_verify", lambda *_: None)
    monkeypatch.setenv("GRASPEL_DATA", str(tmp_path))
    with pytest.raises(OSError, match="not a data set"):
        datasets.load("usps")


def test_what_openml_sends_is_brought_to_our_form_and_kept(no_data, monkeypatch):
    calls = []

    def fetch(**options):
        calls.append(options)
        return fake_openml("usps", low=-1.0, high=1.0, first_label=1)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    first = datasets.load("usps")
    assert (first.X.min(), first.X.max(), first.X.dtype) == (0.0, 1.0, np.float32)
    assert set(first.y) == set(range(10))
    again = datasets.load("usps")
    assert len(calls) == 1, "the second load must come from the cache"
    assert calls[0]["data_id"] == 41082
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert sorted(path.name for path in no_data.iterdir()) == ["usps.npz", "usps.sha256"]


def test_only_the_training_part_of_pendigits_is_kept(no_data, monkeypatch):
    sent = fake_openml("pendigits", high=100.0, extra_rows=3498)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: sent)
    assert datasets.load("pendigits").X.shape == (7494, 16)


def test_another_data_set_under_the_same_number_is_refused(no_data, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fake_openml("pendigits"))
    with pytest.raises(OSError, match="41082 is not the usps expected"):
        datasets.load("usps")
    assert not no_data.exists()


def test_a_file_damaged_in_the_cache_is_an_error(no_data, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fake_openml("coil20", high=255.0, first_label=1))
    datasets.load("coil20")
    path = no_data / "coil20.npz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(OSError, match=r"coil20.npz is damaged.*delete it"):
        datasets.load("coil20")
    path.unlink()
    assert datasets.load("coil20").X.shape == (1440, 1024)


def test_a_cache_that_can_not_be_written_costs_only_a_warning(no_data, monkeypatch):
    no_data.write_text("a file where the folder should be")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fake_openml("pendigits", extra_rows=3498))
    monkeypatch.setattr(datasets, "_load_from_cache", lambda *_: None)
    with pytest.warns(UserWarning, match="could not be stored in the cache"):
        assert datasets.load("pendigits").X.shape == (7494, 16)


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("GRASPEL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert datasets._cache_folder() == tmp_path / "graspel"
    monkeypatch.setenv("GRASPEL_CACHE", str(tmp_path / "mine"))
    assert datasets._cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("GRASPEL_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert datasets._cache_folder() == Path.home() / ".cache" / "graspel"
