"""Fitted models in files, without pickle: an archive of NumPy arrays, and their structure as JSON.

A model is a tree of graspel's own objects, which end in arrays, numbers and text. The structure names the class of each
object, and a class is only looked up in graspel: reading a file runs no code that the file brings. Objects that several
others share are written once. What does not fit, such as a function that was given as metric, is refused by name.

Compiled code follows the indices in these arrays without looking. So a class whose arrays reach it has a method
``check_restored``, which is called when an object was read and raises unless its arrays fit each other
(:func:`check_array_read`); sparse matrices and graphs are checked for all.

Why not joblib or skops? joblib pickles, so reading a file runs the code in it. skops (0.14) wants every class of ours
to be listed by whoever reads, reserves whatever memory the header of an array claims, and builds sparse matrices
without a look at their indices: a file that it calls safe can end the process.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from graspel.io.atomic import write_atomically
from graspel.io.checks import file_suffix, refuse_unreadable
from graspel.io.npy_arrays import open_archive, pack_texts, read_member, unpack_texts
from graspel.runtime.shown import quote, shorten
from graspel.runtime.sparse_structure import check_sparse_structure

FORMAT = 1  # version of the format
SUFFIXES = (".npz",)
PACKAGE = "graspel"
MAX_FIXED = 1 << 24  # characters of an array of text with room for the longest at each place; larger ones hold objects


class SavedModel:
    """The methods `save` and `load` of all estimators."""

    _not_saved: tuple[str, ...] = ()  # attributes that are None after reading

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, fitted or not, to an .npz file, completely or not at all.

        The file holds the points too, since new points are compared with them. No pickle is used, so that a file from
        others can be read without running code of theirs.
        """
        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` has written."""
        model: Any = load_model(path)
        if not isinstance(model, cls):
            held = type(model).__name__
            raise ValueError(f"{path} holds a {held}, not a {cls.__name__}: call {held}.load.")
        return model


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to an .npz file, completely or not at all."""
    if file_suffix(path) not in SUFFIXES:
        raise ValueError(f"{path}: models are saved as .npz files only. Name it so.")
    writer = _Writer()
    structure = {
        "format": FORMAT,
        "version": version(PACKAGE),
        "model": writer.encode(model, type(model).__name__),
        "objects": writer.objects,
    }
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        arrays: dict[str, Any] = {**pack_texts("graspel_model", [json.dumps(structure)]), **writer.arrays}
        np.savez(file, **arrays)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` has written."""
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file. Check its name and the folder.")
    with refuse_unreadable(path, "a model of graspel", "Save the model again."), open_archive(Path(path)) as archive:
        if "graspel_model" not in archive:
            raise ValueError(f"it holds the arrays {shorten(', '.join(archive.files))}, not a model")
        structure = json.loads(unpack_texts(archive, "graspel_model")[0])
        if structure["format"] > FORMAT:
            raise ValueError(f"graspel {structure['version']} has written it; upgrade graspel")
        return _Reader(archive, structure["objects"]).decode(structure["model"])


def check_array_read(name: str, array: Any, shape: tuple[int, ...], below: int | None = None) -> None:
    """Raise unless an array in a file has this shape (-1: any length), and its values are numbers.

    If it holds indices, they are whole numbers `below` this; -1 stands for none.

    >>> check_array_read("indices", np.array([[0, 7]]), (-1, 2), below=5)
    Traceback (most recent call last):
    ...
    ValueError: its array indices does not fit the others
    """
    fits = hasattr(array, "dtype") and array.dtype.kind in ("biuf" if below is None else "iu")
    fits = fits and len(array.shape) == len(shape)
    fits = fits and all(side in (-1, own) for own, side in zip(array.shape, shape, strict=True))
    if fits and isinstance(array, np.ndarray) and array.size:
        fits = array.max() < below and array.min() >= -1 if below is not None else not np.isnan(array.max())
    if not fits:
        raise ValueError(f"its array {name} does not fit the others")


class _Writer:
    """Turns objects into JSON, and collects arrays and shared objects."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.objects: list[Any] = []
        self._seen: dict[int, Any] = {}
        self._alive: list[Any] = []  # so that no number of an object is used twice

    def encode(self, value: Any, place: str) -> Any:
        """The JSON of a value; `place` names it in errors."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):  # also a member of an enumeration
            return int(value)
        if type(value) is float:
            return value
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.encode(item, f"{place}[{at}]") for at, item in enumerate(value)]}
        if isinstance(value, dict):
            items = [[self.encode(key, place), self.encode(item, f"{place}[{key!r}]")] for key, item in value.items()]
            return {"dict": items}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype": np.dtype(value).name}
        if id(value) not in self._seen:
            self._alive.append(value)
            self._seen[id(value)] = self._encode_once(value, place)
        return self._seen[id(value)]

    def _encode_once(self, value: Any, place: str) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return self._store(np.asarray(value), place)
        if sp.issparse(value):
            matrix = value.tocsr()
            parts = [self._store(part, place) for part in (matrix.data, matrix.indices, matrix.indptr)]
            return {"csr": parts, "shape": list(matrix.shape)}
        kind = type(value)
        if kind.__module__.partition(".")[0] != PACKAGE:
            raise ValueError(
                f"{place} is a {kind.__name__}, which cannot be saved without pickle. Set it to something plain (a "
                "number, a text, None) and fit again, or keep the model by pickle."
            )
        number = len(self.objects)
        self.objects.append(None)
        state = _state_of(value)
        self.objects[number] = {
            "class": f"{kind.__module__}:{kind.__qualname__}",
            "state": {name: self.encode(item, f"{place}.{name}") for name, item in state.items()},
        }
        return {"object": number}

    def _store(self, array: np.ndarray, place: str) -> dict[str, Any]:
        name = f"array_{len(self.arrays)}"
        if array.dtype.kind not in "OU":
            self.arrays[name] = array
            return {"array": name}
        texts = array.ravel().tolist()
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{place} is an array of Python objects, which cannot be saved without pickle.")
        self.arrays |= pack_texts(name, texts)
        return {"texts": name, "shape": list(array.shape), "fixed": array.dtype.kind == "U"}


class _Reader:
    """Turns JSON back into objects."""

    def __init__(self, archive: Any, objects: list[Any]) -> None:
        self._archive, self._objects = archive, objects
        self._made: dict[int, Any] = {}
        self._arrays: dict[str, np.ndarray] = {}

    def decode(self, value: Any) -> Any:
        """The value of some JSON."""
        if not isinstance(value, dict):
            return value
        if "list" in value:
            return [self.decode(item) for item in value["list"]]
        if "tuple" in value:
            return tuple(self.decode(item) for item in value["tuple"])
        if "dict" in value:
            return {self.decode(key): self.decode(item) for key, item in value["dict"]}
        if "dtype" in value:
            return np.dtype(value["dtype"]).type
        if "csr" in value:
            matrix = sp.csr_array(tuple(self.decode(part) for part in value["csr"]), shape=tuple(value["shape"]))
            check_sparse_structure(matrix, "a sparse matrix in it")
            return matrix
        if "texts" in value:
            texts = unpack_texts(self._archive, value["texts"])
            fixed = value["fixed"] and max(map(len, texts), default=0) * len(texts) < MAX_FIXED
            return np.array(texts, dtype=np.str_ if fixed else object).reshape(value["shape"])
        if "array" in value:
            return self._array(value["array"])
        return self._object(value["object"])

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            array = read_member(self._archive, name)
            self._arrays[name] = array[()] if array.ndim == 0 else array
        return self._arrays[name]

    def _object(self, number: int) -> Any:
        if number not in self._made:
            entry = self._objects[number]
            kind = _find_class(entry["class"])
            state = {name: self.decode(item) for name, item in entry["state"].items()}
            self._made[number] = _make(kind, state)
        return self._made[number]


def _state_of(value: Any) -> dict[str, Any]:
    """Everything that makes an object what it is, without what it computes when asked."""
    kind = type(value)
    if hasattr(kind, "_fields"):  # a NamedTuple
        return dict(zip(value._fields, value, strict=True))
    if hasattr(kind, "_columns"):  # a graph, whose constructor checks it again
        return {"n_nodes": value.n_nodes, **value._columns, "node_names": value.node_names}
    state = value.__getstate__() if "__getstate__" in vars(kind) else dict(vars(value))
    return state | {name: None for name in getattr(value, "_not_saved", ()) if name in state}


def _make(kind: type, state: dict[str, Any]) -> Any:
    made: Any
    if hasattr(kind, "_fields") or hasattr(kind, "_columns"):
        made = kind(**state)
    else:
        made = object.__new__(kind)
        made.__dict__.update(state)
    if hasattr(kind, "check_restored"):
        made.check_restored()
    return made


def _find_class(name: str) -> type:
    """A class of graspel by its module and name."""
    module, _, qualified = name.partition(":")
    if module.partition(".")[0] != PACKAGE or not qualified.isidentifier():
        raise ValueError(f"{quote(name)} is not a class of graspel")
    kind = getattr(import_module(module), qualified, None)
    if not isinstance(kind, type) or kind.__module__.partition(".")[0] != PACKAGE:
        raise ValueError(f"{quote(name)} is not a class of graspel")
    return kind
