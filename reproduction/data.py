"""The data sets, by name: those of the paper's experiments, and those of the suite with their reference labelings.

Beside the paper's sets and those that scikit-learn ships, every file `NAME.npz` in the folder GRASPEL_DATA can be
used: one set with the arrays `X` and `y`, or many with the keys `group.name.X`, `group.name.y0`, `group.name.y1`, ...
(such as `shapes.npz`). In these, label 0 is noise and is left out of the scores, the largest label is the number of
clusters, and the best of several labelings counts.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction import datasets

MNIST_SUBSET = "mnist-subset"
PAPER_SETS = ("coil20", "pendigits", "usps", "mnist")
SKLEARN_SETS = ("digits", "iris", "wine", "breast_cancer")
COSINE_SETS = ("debian",)  # sentence embeddings: only their directions mean something
WORLD_SETS = ("banking77", "tweet", "worm", "bladder", "drybean", "segment")  # of the folder world/ in GRASPEL_DATA
SHAPES = "shapes"
TITLES = {
    "coil20": "COIL-20",
    "pendigits": "PenDigits",
    "usps": "USPS",
    "mnist": "MNIST",
    MNIST_SUBSET: "MNIST subset",
}


def center_rows(X: Any) -> NDArray[np.float64]:
    """X with the mean of each row subtracted, as in the paper's runs."""
    X = np.asarray(X, dtype=np.float64)
    return X - X.mean(axis=1, keepdims=True)


def load_data(name: str) -> datasets.Dataset:
    """Load a data set, not scaled; "mnist-subset" is every second image of the digits 0 to 6."""
    return datasets.mnist_subset() if name == MNIST_SUBSET else datasets.load(name)


class Labeled(NamedTuple):
    """Points and their reference labelings: 0 is noise, 1 to K are the clusters."""

    X: Any
    labelings: list[NDArray[np.int64]]
    metric: str = "euclidean"


def list_sets(*, large: bool) -> list[str]:
    """The names of all sets at hand; without `large`, those of at most 10,000 points."""
    names = [*SKLEARN_SETS, *PAPER_SETS[: 4 if large else 3], *_shape_names()]
    names += [name for name in WORLD_SETS if (_folder() / "world" / f"{name}.npz").exists()]
    if large:
        names += [name for name in COSINE_SETS if (_folder() / f"{name}.npz").exists()]
    return names


def load_labeled(name: str) -> Labeled:
    """Load one set of the suite. Columns of scikit-learn's tables are scaled to unit variance, those of digits not."""
    if name in SKLEARN_SETS:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return Labeled(X if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0), [_from_one(y)])
    if name in PAPER_SETS:
        X, y = load_data(name)
        return Labeled(X, [_from_one(y)])
    if "." in name:
        with np.load(_folder() / f"{SHAPES}.npz", allow_pickle=False) as arrays:
            keys = sorted(key for key in arrays.files if key.startswith(f"{name}.y"))
            return Labeled(arrays[f"{name}.X"].astype(np.float64), [arrays[key].astype(np.int64) for key in keys])
    folder = _folder() / "world" if name in WORLD_SETS else _folder()
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        metric = "cosine" if name in COSINE_SETS else "euclidean"
        return Labeled(arrays["X"].astype(np.float32), [_from_one(arrays["y"])], metric)


def _shape_names() -> list[str]:
    path = _folder() / f"{SHAPES}.npz"
    if not path.exists():
        return []
    with np.load(path, allow_pickle=False) as arrays:
        return sorted(key.removesuffix(".X") for key in arrays.files if key.endswith(".X"))


def _folder() -> Path:
    return Path(os.environ.get("GRASPEL_DATA", "."))


def _from_one(y: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(y, return_inverse=True)[1].astype(np.int64) + 1
