"""Tables with columns of every type: pandas, polars and Arrow tables, masked arrays, and what is no table at all."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import graspel
from fuzzing.cases import Case, require
from fuzzing.files import Draw
from fuzzing.twins import check_graph

DAY = datetime.datetime(2020, 1, 1)
NUMBERS: dict[str, Callable[[np.ndarray], Any]] = {  # columns that must work
    **{kind: lambda x, kind=kind: np.abs(x).astype(kind) for kind in ("f8", "f4", "f2", "i8", "i4", "i1", "u1", "u8")},
    "bool": lambda x: x > 0,
    "Int64": lambda x: pd.array(x.astype(int), dtype="Int64"),
    "Float32": lambda x: pd.array(x, dtype="Float32"),
    "boolean": lambda x: pd.array(x > 0, dtype="boolean"),
    "sparse": lambda x: pd.arrays.SparseArray(np.where(x > 0, x, 0.0), fill_value=0.0),
    "arrow number": lambda x: pd.array(x, dtype="double[pyarrow]"),
    "objects": lambda x: np.array(x.tolist(), dtype=object),
}
OTHERS: dict[str, Callable[[np.ndarray], Any]] = {  # columns that are refused by their name, unless they can be numbers
    "text": lambda x: [f"t{value:.0f}" for value in x],
    "string": lambda x: pd.array([f"t{value:.0f}" for value in x], dtype="string"),
    "arrow text": lambda x: pd.array([f"t{value:.0f}" for value in x], dtype="string[pyarrow]"),
    "number as text": lambda x: [f"{value:.2f}" for value in x],
    "category": lambda x: pd.Categorical([f"t{value:.0f}" for value in x]),
    "category of numbers": lambda x: pd.Categorical(x.astype(int)),
    "date": lambda x: [DAY + datetime.timedelta(value) for value in x.tolist()],
    "day": lambda x: [DAY.date()] * len(x),
    "date with zone": lambda x: pd.date_range("2020", periods=len(x), tz="UTC"),
    "span": lambda x: pd.to_timedelta(np.abs(x), unit="h"),
    "period": lambda x: pd.period_range("2020", periods=len(x), freq="M"),
    "interval": lambda x: pd.interval_range(0, len(x)),
    "complex": lambda x: x + 1j,
    "lists": lambda x: [[value] for value in x.tolist()],
    "bytes": lambda x: [b"x"] * len(x),
    "mixed": lambda x: ["a", *x[1:].tolist()],
    "None": lambda x: [None] * len(x),
    "NaN": lambda x: np.where(np.arange(len(x)) == 1, np.nan, x),
    "NA": lambda x: pd.array([pd.NA, *x[1:].astype(int)], dtype="Int64"),
    "infinity": lambda x: np.where(np.arange(len(x)) == 1, np.inf, x),
    "longdouble": lambda x: x.astype(np.longdouble),
    "huge whole numbers": lambda x: [10**400] * len(x),
}
COLUMNS = NUMBERS | OTHERS


def _to_arrow(frame: pd.DataFrame) -> Any:
    import pyarrow

    return pyarrow.table({str(name): frame[name] for name in frame.columns})


CONTAINERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas with names": lambda frame: frame.set_index(pd.Index([f"p{row}" for row in range(len(frame))])),
    "pandas with two index levels": lambda frame: frame.set_index([pd.Index(range(len(frame)))] * 2),
    "arrow": _to_arrow,
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "lists": lambda frame: frame.to_numpy(dtype=object).tolist(),
    "records": lambda frame: frame.to_records(index=False),
    "Series": lambda frame: frame.iloc[:, 0],
    "array with one axis": lambda frame: frame.iloc[:, 0].to_numpy(),
    "dict": lambda frame: frame.to_dict("list"),
    "path": lambda frame: Path("points.csv"),
    "AnnData": lambda frame: SimpleNamespace(X=frame.to_numpy(), obs_names=frame.index, var_names=frame.columns),
    "masked": lambda frame: np.ma.masked_array(frame.to_numpy(), mask=np.eye(*frame.shape) > 0),
    "masked nowhere": lambda frame: np.ma.masked_array(frame.to_numpy()),
    "three axes": lambda frame: frame.to_numpy()[None],
}
if find_spec("polars"):
    CONTAINERS["polars"] = lambda frame: __import__("polars").DataFrame(
        {str(name): frame[name].tolist() for name in frame.columns}, strict=False
    )
TABLES = ("pandas", "pandas with names", "pandas with two index levels", "arrow", "polars")
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "fit": lambda X, whole: graspel.GRASPEL(max_iter=0, random_state=0).fit(X),
    "cluster": lambda X, whole: graspel.GraspelClustering(2, random_state=0).fit(X),
    "transform": lambda X, whole: graspel.GRASPEL(max_iter=0, random_state=0).fit(whole).transform(X),
    "partial_fit": lambda X, whole: graspel.GRASPEL(max_iter=0, random_state=0).fit(whole).partial_fit(X),
    "tsne": lambda X, whole: graspel.GraspelTSNE(max_iter=1, random_state=0).fit(X),
    "recovery": lambda X, whole: graspel.GraspelRecovery(random_state=0).fit(X),
}


def draw_frame(rng: np.random.Generator) -> Case:
    """A table with mostly numbers, and perhaps a column of another kind."""
    n, m = int(rng.integers(5, 20)), int(rng.integers(1, 5))
    settings = {
        "kinds": tuple(str(kind) for kind in rng.choice(list(NUMBERS if rng.random() < 0.4 else COLUMNS), size=m)),
        "container": str(rng.choice(TABLES[:4] if rng.random() < 0.7 else list(CONTAINERS))),
        "call": str(rng.choice(list(CALLS))),
    }
    return Case("frames", np.round(10 * rng.standard_normal((n, m)), 2), settings, run_frame, _write_code)


def _write_code(data: str, settings: dict[str, Any]) -> str:
    return f"fuzzing.frames.run_frame({data}, {settings!r})"


def run_frame(x: np.ndarray, settings: dict[str, Any]) -> None:
    """Tables of numbers work; others work too, or one sentence names a column that holds something else."""
    kinds = [*settings.get("kinds", ()), *["f8"] * x.shape[1]][: x.shape[1]]
    frame = pd.DataFrame({f"column {at} ({kind})": COLUMNS[kind](x[:, at]) for at, kind in enumerate(kinds)})
    container = settings.get("container", "pandas")
    try:
        X = CONTAINERS[container](frame)
    except Exception:  # no such table
        return
    culprits = [name for name, kind in zip(frame.columns, kinds, strict=True) if kind in OTHERS]
    try:
        model = CALLS[settings.get("call", "fit")](X, x)
    except (ValueError, TypeError) as error:
        if container in TABLES:
            other = re.search("name all or none|n_features=1|n_samples=", str(error))  # what else may be said
            require(culprits or other, f"a table of numbers was refused: {str(error)[:200]}")
            said = any(name in str(error) for name in culprits) or re.search(r"row \d+, column \d+", str(error))
            require(said or other or not culprits, f"no column of {culprits} is named: {str(error)[:200]}")
        raise
    if hasattr(model, "graph_"):
        check_graph(model.graph_, model.graph_.n_nodes)
        require(container != "path" and container != "AnnData" and container != "masked", f"{container} was fitted")


FRAMES: dict[str, Draw] = {"frames": draw_frame}
