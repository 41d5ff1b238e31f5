"""Every optional door says which extra it needs, where its package is missing."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pytest

import graspel.integrations.networkx
import graspel.integrations.scanpy
from graspel import Graph
from graspel.io.tables import read_data

GRAPH = Graph(3, [0, 1], [1, 2], 1.0)
DOORS = {
    "networkx": ("networkx", lambda folder: GRAPH.to_networkx()),
    "igraph": ("igraph", lambda folder: GRAPH.to_igraph()),
    "torch": ("pyg", lambda folder: GRAPH.to_pyg()),
    "anndata": ("scanpy", lambda folder: graspel.integrations.scanpy.neighbors(np.eye(3))),
    "openpyxl": ("tables", lambda folder: read_data(folder / "x.xlsx")),
    "pyarrow": ("tables", lambda folder: read_data(folder / "x.feather")),
    "zarr": ("zarr", lambda folder: read_data(folder / "x.zarr")),
}


@pytest.mark.parametrize("package", DOORS)
def test_the_extra_is_named(package, monkeypatch, tmp_path):
    extra, door = DOORS[package]
    for name in ("x.xlsx", "x.feather"):
        (tmp_path / name).write_bytes(b"something")
    (tmp_path / "x.zarr").mkdir()
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'needs {package}.*pip install "graspel\[{extra}\]"'):
        door(tmp_path)


def test_the_backend_of_networkx_needs_networkx(monkeypatch):
    empty = nx.Graph()
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"graspel\[networkx\]"):  # it raises networkx's own error for the empty graph
        graspel.integrations.networkx.fiedler_vector(empty)
