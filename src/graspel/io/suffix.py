"""Suffixes: the end of a file's name says which format it has."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from graspel.io.errors import UnusableFile

DOUBLE_SUFFIXES = (".csv.gz",)  # suffixes with two dots that name one format


def file_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file's name in lower case.

    >>> file_suffix("Data.CSV.gz"), file_suffix("graph.npz"), file_suffix("graph")
    ('.csv.gz', '.npz', '')
    """
    name = Path(path).name.lower()
    return next((suffix for suffix in DOUBLE_SUFFIXES if name.endswith(suffix)), Path(name).suffix)


def check_suffix(path: str | os.PathLike[str], allowed: Collection[str], content: str) -> str:
    """Return the suffix of `path`; raise if it is not one of those allowed for this `content`.

    >>> check_suffix("graph.npz", (".npz", ".csv"), "a graph")
    '.npz'
    >>> check_suffix("graph.doc", (".npz", ".csv"), "a graph")
    Traceback (most recent call last):
    ...
    graspel.io.errors.UnusableFile: graph.doc: the suffix '.doc' names no format of a graph; use one of .npz, .csv.
    """
    suffix = file_suffix(path)
    if suffix not in allowed:
        problem = f"the suffix {suffix!r} names no format of" if suffix else "a suffix must name the format of"
        raise UnusableFile(f"{path}: {problem} {content}; use one of {', '.join(allowed)}.")
    return suffix
