"""Loading of data sets: the four of the paper, and one that ships with scikit-learn.

:func:`load` looks in three places, in this order:

1. the folder named by the environment variable ``GRASPEL_DATA``, which holds files ``NAME.npz`` with arrays ``X`` and
   ``y`` (their SHA-256 is checked);
2. the cache: ``GRASPEL_CACHE``, else ``$XDG_CACHE_HOME/graspel``, else ``~/.cache/graspel`` (each file is checked
   against the checksum recorded beside it);
3. OpenML, through scikit-learn. The download is checked by its shape and the size of every class, scaled to the range
   of values given below, and stored in the cache. The order of its points can differ from that in the folder.

>>> X, y = load("digits")
>>> X.shape, y.shape
((1797, 64), (1797,))
"""

from __future__ import annotations

import hashlib
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.atomic import write_atomically
from graspel.runtime.progress import announce

DATA_VARIABLE = "GRASPEL_DATA"
CACHE_VARIABLE = "GRASPEL_CACHE"


@dataclass(frozen=True)
class Dataset:
    """Points and their labels; unpacks as ``X, y``.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    X : ndarray of shape (n_points, n_features)
        One point per row, in the type it is stored in.
    y : ndarray of shape (n_points,)
        The label of each point.
    description : str
        What the points are, in one line.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    description: str

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.X, self.y))


@dataclass(frozen=True)
class _Source:
    """Shape, class sizes and values of a data set, and its number on OpenML."""

    description: str
    sha256: str
    n_features: int
    class_sizes: tuple[int, ...]
    first_label: int
    value_range: tuple[float, float]
    dtype: str
    openml_id: int
    openml_rows: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.class_sizes), self.n_features


_SOURCES = {
    "coil20": _Source(
        description="COIL-20: 20 objects seen from 72 angles, 32 x 32 gray images, values 0 to 255",
        sha256="5fd63cb42bdd6f2724ee753f8db85942f1a0c61224d1481097dc4e28545b4b4a",
        n_features=1024,
        class_sizes=(72,) * 20,
        first_label=1,
        value_range=(0, 255),
        dtype="uint8",
        openml_id=46783,
    ),
    "pendigits": _Source(
        description="PenDigits, the training part: pen strokes of digits as 8 points (x, y), values 0 to 100",
        sha256="e31472321b3f5758f011b7c9c289ab65e9b836b8a8093132122868567eab35bd",
        n_features=16,
        class_sizes=(780, 779, 780, 719, 780, 720, 720, 778, 719, 719),
        first_label=0,
        value_range=(0, 100),
        dtype="uint8",
        openml_id=32,
        openml_rows=7494,  # OpenML holds the training part first, then the test part
    ),
    "usps": _Source(
        description="USPS, training and test part: scanned digits, 16 x 16 gray images, values 0 to 1",
        sha256="8841a5fb38f814c2139d61d7f687c416fc84bb4ef1b6cf0784c502eddb2918b2",
        n_features=256,
        class_sizes=(1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821),
        first_label=0,
        value_range=(0, 1),  # on OpenML: -1 to 1, with labels 1 to 10
        dtype="float32",
        openml_id=41082,
    ),
    "mnist": _Source(
        description="MNIST, training and test part in that order: scanned digits, 28 x 28 gray images, values 0 to 255",
        sha256="54ddfe01bb1284d50e5473a31c590ba0e723949b611ce6e7604f2e9473754d8a",
        n_features=784,
        class_sizes=(6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
        first_label=0,
        value_range=(0, 255),
        dtype="uint8",
        openml_id=554,
    ),
}


def names() -> list[str]:
    """Return the names of the data sets that :func:`load` can load."""
    return [*_SOURCES, "digits"]


def load(name: str) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : {"coil20", "pendigits", "usps", "mnist", "digits"}
        Which data set. Only ``"digits"`` needs neither files nor a network: it ships with scikit-learn.

    Returns
    -------
    Dataset
        The points ``X`` and labels ``y``.

    Raises
    ------
    ValueError
        If the name is not known.
    OSError
        If the data set cannot be found or downloaded, or its file is damaged; the message says what to do.

    Examples
    --------
    >>> digits = load("digits")
    >>> digits.X.shape
    (1797, 64)
    """
    if name == "digits":
        return _load_digits()
    if name not in _SOURCES:
        raise ValueError(f"{name!r} is not a known data set; choose one of {', '.join(names())}.")
    source = _SOURCES[name]
    find: Callable[[str, _Source], tuple[np.ndarray, np.ndarray] | None]
    for find in (_load_from_folder, _load_from_cache, _load_from_openml):
        found = find(name, source)
        if found is not None:
            X, y = found
            return Dataset(name, np.ascontiguousarray(X), y.astype(np.int64), source.description)
    raise AssertionError("unreachable: the last source returns or raises")


def mnist_subset() -> Dataset:
    """Load the subset of MNIST that the paper uses: every second image of the digits 0 to 6, 24,462 points."""
    mnist = load("mnist")
    keep = np.flatnonzero(mnist.y <= 6)[::2]
    return Dataset("mnist_subset", mnist.X[keep], mnist.y[keep], "MNIST, every second image of the digits 0 to 6")


def _load_digits() -> Dataset:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Dataset("digits", X, y, "Digits that ship with scikit-learn: 8 x 8 gray images, values 0 to 16")


def _load_from_folder(name: str, source: _Source) -> tuple[np.ndarray, np.ndarray] | None:
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise NotADirectoryError(
            f"{DATA_VARIABLE}={value} is not a folder; set it to the folder that holds {name}.npz, or unset it."
        )
    path = folder / f"{name}.npz"
    if not path.exists():
        return None
    _verify(path, source.sha256, f"replace it by an intact copy, or unset {DATA_VARIABLE} to download it from OpenML")
    return _read(path)


def _load_from_cache(name: str, source: _Source) -> tuple[np.ndarray, np.ndarray] | None:
    path = _cache_folder() / f"{name}.npz"
    if not path.exists():
        return None
    record = path.with_suffix(".sha256")
    expected = record.read_text().strip() if record.exists() else source.sha256
    _verify(path, expected, "delete it, and it will be downloaded again")
    return _read(path)


def _load_from_openml(name: str, source: _Source) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    announce("download", detail=f"{name} from OpenML")
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        fetched = fetch_openml(data_id=source.openml_id, as_frame=False, parser=parser, cache=False)
    except (OSError, ValueError, HTTPException) as error:
        raise FileNotFoundError(
            f"the data set {name!r} could not be loaded: {DATA_VARIABLE} names no folder with {name}.npz, the cache "
            f"{_cache_folder()} does not hold it, and OpenML (data set {source.openml_id}) did not answer ({error}); "
            f"connect to the network and try again, or put {name}.npz (arrays X and y) into a folder and set "
            f"{DATA_VARIABLE} to it."
        ) from error
    X, y = _check_and_scale(name, source, fetched.data, fetched.target)
    _store(_cache_folder() / f"{name}.npz", X, y)
    return X, y


def _check_and_scale(name: str, source: _Source, data: Any, target: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check that the download is the expected data set, and return its rows, labels and values in our form."""
    X = np.asarray(data, dtype=np.float64)[: source.openml_rows]
    labels, y = np.unique(np.asarray(target)[: source.openml_rows].astype(float), return_inverse=True)
    sizes = tuple(np.bincount(y, minlength=len(labels)).tolist())
    if X.shape != source.shape or sizes != source.class_sizes:
        raise OSError(
            f"OpenML's data set {source.openml_id} is not the {name} expected here: it has shape {X.shape} and classes "
            f"of {sizes} points, not {source.shape} and {source.class_sizes}; get {name}.npz elsewhere and set "
            f"{DATA_VARIABLE} to its folder."
        )
    low, high = source.value_range
    X = low + (X - X.min()) * ((high - low) / (X.max() - X.min()))
    if np.issubdtype(source.dtype, np.integer):
        X = np.rint(X)
    return X.astype(source.dtype), y + source.first_label


def _store(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Store a data set and its checksum in the cache. If that fails, the next load downloads it again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as temporary:
            np.savez_compressed(temporary, X=X, y=y)
            # The checksum is written first, so that a run stopped in between leaves no file without a checksum.
            with write_atomically(path.with_suffix(".sha256")) as record:
                record.write_text(_sha256(temporary) + "\n")
    except OSError as error:
        warnings.warn(f"{path.stem} could not be stored in the cache: {error}", stacklevel=4)


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return arrays["X"], arrays["y"]
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise OSError(f"{path} is not a data set (an .npz file with arrays X and y): {error}; replace it.") from error


def _verify(path: Path, expected: str, remedy: str) -> None:
    actual = _sha256(path)
    if actual != expected:
        raise OSError(
            f"{path} is damaged or not the file expected: its SHA-256 is {actual}, but should be {expected}; {remedy}."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cache_folder() -> Path:
    if value := os.environ.get(CACHE_VARIABLE):
        return Path(value).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "graspel"
