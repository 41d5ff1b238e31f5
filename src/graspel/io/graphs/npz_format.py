"""The .npz format of graphs: graspel's own, an archive of NumPy arrays without pickle; keeps everything exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.graphs.edge_table import EdgeTable
from graspel.io.npy_arrays import open_archive, read_member, read_whole_number
from graspel.runtime.shown import shorten

VERSION = 2  # version of the format; in version 1 the array `origin` is called `step`
ARRAYS = {"head": "heads", "tail": "tails", "weight": "weights", "origin": "origin"} | {
    name: name for name in ("round", "eta", "gradient")
}


def write_npz(table: EdgeTable, path: Path) -> None:
    """Write an edge table whose origins are codes."""
    arrays: dict[str, Any] = {"graspel_graph_version": VERSION, "n_nodes": table.n_nodes}
    if table.node_names is not None:
        arrays["node_names"] = np.array(table.node_names, dtype=np.str_)
    np.savez_compressed(path, **arrays, **{ARRAYS[name]: column for name, column in table.columns.items()})


def read_npz(path: Path) -> EdgeTable:
    """Read the edge table of a graph that graspel has written."""
    with open_archive(path) as archive:
        if "graspel_graph_version" not in archive:
            held = shorten(", ".join(archive.files)) or "(none)"
            raise ValueError(f"it holds the arrays {held}, not a graph of graspel")
        version = read_whole_number(archive, "graspel_graph_version")
        if version > VERSION:
            raise ValueError(f"its format version is {version}, this graspel knows up to {VERSION}; upgrade graspel")
        names = ARRAYS | ({"origin": "step"} if version < 2 else {})
        columns = {name: read_member(archive, array) for name, array in names.items()}
        texts = _read_names(archive) if "node_names" in archive else None
        return EdgeTable(read_whole_number(archive, "n_nodes"), columns, texts)


def _read_names(archive: Any) -> list[str]:
    array = read_member(archive, "node_names")
    if array.ndim != 1 or array.dtype.kind != "U":
        raise ValueError(f"node_names is {array.dtype} of shape {array.shape}, must be a list of text")
    texts: list[str] = array.tolist()
    return texts
