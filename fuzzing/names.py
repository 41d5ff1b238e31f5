"""Hostile names of nodes: each graph format reads back what it has written, or refuses before it writes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import graspel
from fuzzing.cases import Case, require
from fuzzing.files import GRAPHS, Draw
from graspel.io.models import load_model

NONE = -1  # instead of a character after the end of a name
ODD = [0, 1, 9, 10, 11, 12, 13, 27, 28, 30, 31, 32, 34, 35, 38, 39, 43, 44, 45, 59, 60, 61, 62, 64, 92, 127]  # ASCII
ODD += [0x85, 0xA0, 0xAD, 0x2028, 0x2029, 0x200B, 0x202E, 0xD800, 0xDFFF, 0xFEFF, 0xFFFE, 0xFFFF, 0x10FFFF, 0x1F600]
MODEL = "model"


def draw_names(rng: np.random.Generator) -> Case:
    """Names as rows of code points, many of them alike."""
    n, longest = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    codes = rng.choice(ODD, size=(n, longest))
    plain = rng.random(codes.shape) < rng.choice([0.0, 0.5, 0.9])
    codes[plain] = rng.choice([48, 49, 97, 65, 223, 305], size=int(plain.sum()))
    codes[np.arange(longest) >= rng.integers(longest + 1, size=(n, 1))] = NONE
    if rng.random() < 0.3:
        codes[1] = codes[0]
        codes[1, -1] = rng.choice([NONE, *ODD])
    if rng.random() < 0.9:  # most names can be encoded
        codes[(codes >= 0xD800) & (codes < 0xE000)] = 32
    suffix = [*GRAPHS, MODEL][rng.integers(len(GRAPHS) + 1)]
    return Case("names", codes, {"suffix": suffix}, run_names, _write_code)


def _write_code(data: str, settings: dict[str, Any]) -> str:
    return f"fuzzing.names.run_names({data}, {settings!r})  # code points, {NONE} for none"


def run_names(codes: np.ndarray, settings: dict[str, Any]) -> None:
    """Names are read back equal, or refused before a file is there."""
    names = ["".join(chr(code) for code in row if code != NONE) for row in codes]
    suffix, n = settings.get("suffix", ".csv"), len(names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{'.npz' if suffix == MODEL else suffix}"
        try:
            if suffix == MODEL:
                frame = pd.DataFrame({"x": np.arange(n) ** 2.0}, index=pd.Index(names, dtype=object))
                whole = graspel.GRASPEL(1, max_iter=0, random_state=0).fit(frame)
                names = names if len(set(names)) == n else None
                whole.save(path)
                graph, found = whole.graph_, load_model(path).graph_
            else:
                graph = graspel.Graph(n, np.arange(n - 1), np.arange(1, n), np.ones(n - 1), node_names=names)
                graph.export(path)
                found = graspel.Graph.read(path)
        except ValueError:
            require(not path.exists(), "a name was refused after the file was written, or when it was read")
            raise
    same = (None if found.node_names is None else found.node_names.tolist()) == names
    require(same or suffix == ".mtx", f"{names!r} is read back as {found.node_names!r}")
    require(graph.n_edges == found.n_edges, "another number of edges")


NAMES: dict[str, Draw] = {"names": draw_names}
