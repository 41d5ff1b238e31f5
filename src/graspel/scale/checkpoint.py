"""Checkpoints: a long run keeps what it has reached in a folder, and goes on from there after it was killed.

The folder holds three files. ``checkpoint.json`` describes the run: the data by a fingerprint, the parameters, and the
random numbers that it started with. ``lists.npz`` holds the neighbor lists of Step 1. ``rounds.npz`` holds the graph
after the last round (or after the components were joined), its embedding and its history; every round replaces it. The
search for the optimum keeps its own state there instead of the embedding. With each of the two goes the state of the
random numbers. So a run that goes on draws the same numbers as one that was never interrupted, and ends in the same
bits. Files are written whole or not at all, and contain no pickle.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from graspel.data.fingerprint import fingerprint
from graspel.data.protocol import Data, local_points
from graspel.graph import Graph
from graspel.io.atomic import write_atomically
from graspel.io.npy_arrays import open_archive, read_member
from graspel.learning.embed import Embedding
from graspel.learning.fit import RunState
from graspel.learning.history import Round
from graspel.learning.initial import edges_from_user
from graspel.learning.run_log import RunLog
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.landmarks import Density, Landmarks
from graspel.neighbors.search import Neighbors, nearest_neighbors
from graspel.runtime.parameters import get_state
from graspel.runtime.progress import announce
from graspel.runtime.shown import quote, shorten

MANIFEST, LISTS, ROUNDS = "checkpoint.json", "lists.npz", "rounds.npz"
LANDMARK_ARRAYS = ("rows", "start", "members", "density")
LIST_ARRAYS = ("indices", "z", "distinct", "copies", "copy_of")
GRAPH_ARRAYS = ("heads", "tails", "weights", "origin", "round", "eta", "gradient")


class Checkpoint:
    """The checkpoint of one run in a folder.

    Parameters
    ----------
    folder : path, made if it does not exist
    data : str, fingerprint of the data
    parameters : dict of everything else that the result depends on, in the types of JSON
    rng : Generator of the run; a run that goes on takes up the numbers of the one that was interrupted
    """

    def __init__(self, folder: Any, data: str, parameters: dict[str, Any], rng: np.random.Generator) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        described = {"graspel": version("graspel"), "data": data, "parameters": parameters}
        path = self.folder / MANIFEST
        held = os.listdir(self.folder)  # once: another process may begin the same run now
        if MANIFEST in held:
            with _reading(path):
                found = _read_manifest(path.read_text())
            self._check_same(found, described)
            set_state(rng, found["random"])
            return
        if any(not name.startswith(".part-") for name in held):  # a killed run may leave these
            raise ValueError(f"{folder}: holds other files but no checkpoint; name an empty or a new folder.")
        with write_atomically(path) as temporary:
            temporary.write_text(_write_manifest({**described, "random": get_state(rng)}))

    @classmethod
    def open(
        cls, folder: Any, index: NeighborIndex, parameters: dict[str, Any], rng: np.random.Generator
    ) -> Checkpoint:
        """The checkpoint of a run on an index, with the parameters of the learner that its result depends on."""
        if not isinstance(folder, str | os.PathLike):
            raise ValueError(f"checkpoint={folder!r}: must be None or the path of a folder.")
        data = fingerprint(index.X)
        described = {name: _describe(name, value, index) for name, value in parameters.items()}
        return cls(folder, data, described, rng)

    def search(self, points: Data, k: int, rng: np.random.Generator) -> Neighbors:
        """The neighbor lists that an earlier run kept, or those of a new search, which are kept."""
        path = self.folder / LISTS
        if not path.exists():
            neighbors = nearest_neighbors(points, k, rng)
            announce("nearest neighbors", None, "writing a checkpoint")
            self._write(path, self._pack_lists(neighbors), {"recall": neighbors.recall, "random": get_state(rng)})
            return neighbors
        announce("nearest neighbors", None, "from the checkpoint")
        arrays, notes = self._read(path)
        with _reading(path):
            set_state(rng, notes["random"])
            return self._unpack_lists(arrays, notes, points)

    def save_round(self, state: RunState, index: NeighborIndex, log: RunLog, rng: np.random.Generator) -> None:
        """Keep the state after a round, or after the components were joined."""
        arrays = {name: getattr(state.graph, name) for name in GRAPH_ARRAYS}
        search = state.search or {}
        found = {name: value for name, value in search.items() if isinstance(value, np.ndarray)}
        arrays |= {f"search_{name}": array for name, array in found.items()}
        if state.embedding is not None:
            known = state.embedding._asdict()
            arrays |= {f"embedding_{name}": array for name, array in known.items() if array is not None}
        neighbors = index.neighbors
        if neighbors is not None:
            arrays |= {"distinct": neighbors.distinct, "copies": neighbors.copies, "copy_of": neighbors.copy_of}
        notes = {
            "n_nodes": state.graph.n_nodes,
            "weigh": asdict(state.weigh),
            "recall": None if neighbors is None else neighbors.recall,
            "history": [{**asdict(record), "eigenvalues": record.eigenvalues.tolist()} for record in log.history],
            "log": log.state,
            "search": {name: value for name, value in search.items() if name not in found} or None,
            "random": get_state(rng),
        }
        self._write(self.folder / ROUNDS, arrays, notes)

    def load_round(
        self, index: NeighborIndex, log: RunLog, rng: np.random.Generator, *, with_lists: bool
    ) -> RunState | None:
        """Where an earlier run was interrupted; None if it had not joined the components yet."""
        path = self.folder / ROUNDS
        if not path.exists():
            return None
        announce("adding critical edges", None, "from the checkpoint")
        arrays, notes = self._read(path)
        with _reading(path):
            return self._restore(arrays, notes, index, log, rng, with_lists)

    def _restore(
        self,
        arrays: dict[str, Any],
        notes: dict[str, Any],
        index: NeighborIndex,
        log: RunLog,
        rng: np.random.Generator,
        with_lists: bool,
    ) -> RunState:
        """The state that the arrays and notes of a round hold."""
        graph = Graph(notes["n_nodes"], **{name: arrays[name] for name in GRAPH_ARRAYS})
        if notes["recall"] is not None:
            lists = self._read(self.folder / LISTS)[0] if with_lists else {**arrays, **_no_lists()}
            index.take_lists(self._unpack_lists(lists, notes, index.points))
        embedding = None
        if "embedding_values" in arrays:
            embedding = Embedding(*(arrays.get(f"embedding_{name}") for name in Embedding._fields))  # type: ignore[arg-type]
        log.restore(
            [Round(**{**record, "eigenvalues": np.array(record["eigenvalues"])}) for record in notes["history"]],
            notes["log"],
        )
        search = notes.get("search")
        if search is not None:
            search |= {name.removeprefix("search_"): arrays[name] for name in arrays if name.startswith("search_")}
        set_state(rng, notes["random"])
        return RunState(graph, Weights(**notes["weigh"]), embedding, search)

    def _pack_lists(self, neighbors: Neighbors) -> dict[str, Any]:
        arrays = {name: getattr(neighbors, name) for name in LIST_ARRAYS}
        level, number = neighbors.landmarks, 0
        while level is not None:
            arrays |= {f"landmarks{number}_{name}": np.asarray(getattr(level, name)) for name in LANDMARK_ARRAYS}
            level, number = level.above, number + 1
        return arrays

    def _unpack_lists(self, arrays: dict[str, Any], notes: dict[str, Any], points: Data) -> Neighbors:
        landmarks = None
        for number in reversed(range(sum(name.endswith("_rows") for name in arrays))):
            rows, first, members, density = (arrays[f"landmarks{number}_{name}"] for name in LANDMARK_ARRAYS)
            landmarks = Landmarks(rows, first, members, landmarks, Density(*density.tolist()))
        if len(arrays["copies"]):
            points = local_points(points).subset(arrays["distinct"]) if points.is_local else points
        lists = {name: arrays[name] for name in LIST_ARRAYS}
        return Neighbors(points, recall=notes["recall"], landmarks=landmarks, **lists)

    def _write(self, path: Path, arrays: dict[str, Any], notes: dict[str, Any]) -> None:
        with write_atomically(path) as temporary:
            np.savez(temporary, notes=np.array(json.dumps(notes)), **arrays)

    def _read(self, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        with _reading(path), open_archive(path) as archive:
            arrays = {name: read_member(archive, name) for name in archive.files}
            return arrays, json.loads(str(arrays.pop("notes")))

    def _check_same(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        """Raise in one sentence if the checkpoint belongs to another run."""
        fault = None
        if found["graspel"] != wanted["graspel"]:
            fault = f"was made by graspel {found['graspel']}, not {wanted['graspel']}"
        elif found["data"] != wanted["data"]:
            fault = "was made from other data"
        elif found["parameters"] != wanted["parameters"]:
            before, now = found["parameters"], wanted["parameters"]
            differing = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
            shown = ", ".join(f"{name} was {quote(before.get(name))}, now {quote(now.get(name))}" for name in differing)
            fault = f"was made with other parameters ({shown})"
        if fault:
            raise ValueError(f"the checkpoint in {self.folder} {fault}; name another folder, or delete this one.")


def checkpoint_files(folder: Any) -> list[Path]:
    """The files that a checkpoint keeps in a folder, which no result may replace."""
    return [Path(folder) / name for name in (MANIFEST, LISTS, ROUNDS)]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file raises into one sentence; the archives carry a checksum of every array."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        reason = shorten(str(error)).rstrip(".") or type(error).__name__
        raise ValueError(f"{path} is damaged ({reason}); delete the folder to begin again.") from error


def _write_manifest(manifest: dict[str, Any]) -> str:
    """The text of a manifest, with its checksum."""
    return json.dumps({**manifest, "checksum": _checksum(manifest)}, indent=1)


def _read_manifest(text: str) -> dict[str, Any]:
    """The manifest that a text holds; raise if a bit of it has changed."""
    manifest: dict[str, Any] = json.loads(text)
    if manifest.pop("checksum") != _checksum(manifest):
        raise ValueError("its checksum is another one")
    return manifest


def _checksum(manifest: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(manifest, sort_keys=True).encode(), digest_size=8).hexdigest()


def _describe(name: str, value: Any, index: NeighborIndex) -> Any:
    """A parameter in the types of JSON, by which a run that goes on is recognized as the same."""
    if name == "random_state":
        return value if isinstance(value, int) else None  # the checkpoint keeps the random numbers themselves
    if name == "initial" and not isinstance(value, str):
        return fingerprint(np.stack(edges_from_user(value, index.n_points), axis=1))
    if name == "metric" and callable(value):  # two functions may have one name: the distances tell them apart
        return fingerprint(index.points.rows(slice(None)))
    if isinstance(value, tuple):  # a strategy: functions and numbers
        return [_describe(name, part, index) for part in value]
    if callable(value):
        place = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        if "<" in place or place.startswith("."):
            raise ValueError(
                f"{name}: a checkpoint cannot tell {quote(value)} from another function; define it with `def` in a "
                "module, or leave the checkpoint out."
            )
        return place
    return value.item() if hasattr(value, "item") else value


def _no_lists() -> dict[str, Any]:
    return {"indices": np.empty((0, 0), dtype=np.int32), "z": np.empty((0, 0), dtype=np.float32)}


def set_state(rng: np.random.Generator, state: dict[str, Any]) -> None:
    """Put a generator into a state that `get_state` returned."""
    rng.bit_generator.state = state
