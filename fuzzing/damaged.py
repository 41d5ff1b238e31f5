"""Damaged models and checkpoints: at a random byte, cut, or with arrays that contradict each other.

Damage that the checksums of a file can show is one sentence, or changes nothing. Arrays that were altered together with
their checksum may change the result; they never end the process.
"""

from __future__ import annotations

import io
import tempfile
import warnings
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import graspel
from fuzzing.cases import Case, require
from fuzzing.files import HUGE, Draw, damage
from graspel.io.models import load_model
from graspel.plot.fitted import get_graph

N_POINTS = 60
ESTIMATORS: dict[str, tuple[dict[str, Any], str]] = {
    "GRASPEL": ({}, "transform"),
    "GraspelClustering": ({}, "predict"),
    "GraspelClassifier": ({}, "predict_proba"),
    "GraspelEmbedding": ({}, "transform"),
    "GraspelTSNE": ({"max_iter": 10}, "transform"),
    "GraspelNeighbors": ({}, "transform"),
    "GraspelField": ({}, "variances"),
    "GraspelRegressor": ({}, "predict"),
    "GraspelImputer": ({}, "transform"),
}
RUNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "optimal": {"weights": "optimal"},
    "multilevel": {"candidates": "multilevel"},
    "random": {"random_state": None},
}
CHECKPOINT_FILES = ("checkpoint.json", "lists.npz", "rounds.npz")


def draw_model(rng: np.random.Generator) -> Case:
    """The file of a fitted model."""
    name = list(ESTIMATORS)[rng.integers(len(ESTIMATORS))]
    altered = bool(rng.random() < 0.4)
    data = (_alter if altered else damage)(rng, make_model(name)[0])
    settings = {"estimator": name, "altered": altered}
    return Case("load_model", data, settings, run_model, _write_code("run_model"), isolated=True)


def run_model(data: bytes, settings: dict[str, Any]) -> None:
    """The model that is read does what the whole one does."""
    name = settings.get("estimator", "GRASPEL")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes(data)
        model = load_model(path)
    with warnings.catch_warnings():
        if settings.get("altered"):  # huge values may overflow
            warnings.simplefilter("ignore")
        found = _apply(name, model)
    same = settings.get("altered") or (
        get_graph(model) == make_model(name)[2] and np.array_equal(found, make_model(name)[1])
    )
    require(same, f"a damaged file is read as another {name}")


@lru_cache
def make_model(name: str) -> tuple[bytes, np.ndarray, Any]:
    """The file of a model, what it makes of its own points and of others, and its graph."""
    X, y = make_points()
    model = getattr(graspel, name)(random_state=0, **ESTIMATORS[name][0]).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        return path.read_bytes(), _apply(name, model), get_graph(model)


def make_points() -> tuple[np.ndarray, np.ndarray]:
    """A few points in three groups, some of them equal."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=N_POINTS)
    X = rng.standard_normal((N_POINTS, 3)) + 6 * y[:, None]
    X[-3:] = X[:3]
    return X, y


def _apply(name: str, model: Any) -> np.ndarray:
    X, method = make_points()[0], getattr(model, ESTIMATORS[name][1])
    found = method() if name == "GraspelField" else method(np.vstack([X, X + 0.1]))
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def draw_checkpoint(rng: np.random.Generator) -> Case:
    """One file of a checkpoint."""
    run, file = list(RUNS)[rng.integers(len(RUNS))], CHECKPOINT_FILES[rng.integers(len(CHECKPOINT_FILES))]
    altered = bool(file.endswith(".npz") and rng.random() < 0.2)
    data = (_alter if altered else damage)(rng, make_checkpoint(run)[0][file])
    settings = {"run": run, "file": file, "altered": altered}
    return Case("checkpoint", data, settings, run_checkpoint, _write_code("run_checkpoint"), isolated=True)


def run_checkpoint(data: bytes, settings: dict[str, Any]) -> None:
    """The run that goes on ends in the same graph."""
    run = settings.get("run", "plain")
    files, whole = make_checkpoint(run)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        (Path(folder) / settings.get("file", "rounds.npz")).write_bytes(data)
        graph = _learn(run, folder)
    require(settings.get("altered") or graph == whole, "a damaged checkpoint ends in another graph")


@lru_cache
def make_checkpoint(run: str) -> tuple[dict[str, bytes], graspel.Graph]:
    """The files of a checkpoint, and the graph of its run."""
    with tempfile.TemporaryDirectory() as folder:
        graph = _learn(run, folder)
        return {name: (Path(folder) / name).read_bytes() for name in CHECKPOINT_FILES}, graph


def _learn(run: str, folder: str) -> graspel.Graph:
    parameters = {"random_state": 0, **RUNS[run]}
    return graspel.GRASPEL(**parameters).fit(make_points()[0], checkpoint=folder).graph_


def _alter(rng: np.random.Generator, data: bytes) -> bytes:
    """The archive with one array that has other values, another length or another type; its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(list(members)))
    array = np.load(io.BytesIO(members[name]))
    kind = rng.integers(4)
    if array.dtype.kind == "U":
        array = np.array(["{}", "[]", "x"])[rng.integers(3)]
    elif kind == 0:
        with np.errstate(all="ignore"):
            array = array.astype([np.int64, np.float32, np.uint8, np.complex128][rng.integers(4)])
    elif kind == 1:
        array = array.ravel()[: rng.integers(array.size + 1)]
    elif array.size:
        odd = [-1, 0, *HUGE] if array.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 0.0, 1e300]
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(np.float32)
        value = odd[rng.integers(len(odd))]
        array = array.copy()
        array.flat[rng.integers(array.size)] = np.clip(value, limits.min, limits.max) if kind == 2 else 1
    buffer = io.BytesIO()
    np.save(buffer, array)
    members[name] = buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return buffer.getvalue()


def _write_code(run: str) -> Any:
    return lambda data, settings: f"fuzzing.damaged.{run}({data}, {settings!r})"


DAMAGED: dict[str, Draw] = {"model": draw_model, "checkpoint": draw_checkpoint}
