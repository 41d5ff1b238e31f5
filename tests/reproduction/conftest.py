"""What the tests of the reproductions share: small blobs in place of the paper's data, and a way to run the command."""

from __future__ import annotations

import pytest
from sklearn.datasets import make_blobs

from cli.conftest import call_in_process
from reproduction import datasets


@pytest.fixture
def reproduce(capfd):
    """Run ``python -m reproduction`` in this process."""
    from reproduction.__main__ import main

    return call_in_process(main, capfd)


@pytest.fixture
def blobs(monkeypatch):
    """Every data set is four blobs, far apart; returns the list of the names that were loaded."""
    loaded = []

    def load(name):
        loaded.append(name)
        X, y = make_blobs(80, 5, centers=4, cluster_std=0.5, random_state=0)
        return datasets.Dataset(name, X, y, "blobs")

    monkeypatch.setattr(datasets, "load", load)
    return loaded


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """An empty cache, no folder of files, and no network."""
    import sklearn.datasets

    monkeypatch.delenv("GRASPEL_DATA", raising=False)
    monkeypatch.setenv("GRASPEL_CACHE", str(tmp_path / "cache"))

    def refuse(**_):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
