"""Checks of files: the suffix that names the format, a claimed size, and one error for what cannot be read."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from graspel.runtime.memory import available_memory
from graspel.runtime.shown import shorten

DOUBLE_SUFFIXES = (".csv.gz",)  # suffixes with two dots that name one format
ENTRIES = 1_000  # claimed size for each entry of the file; no real graph or table has 999 of 1,000 nodes or rows empty
FREE = 10_000_000  # claimed size that needs no entries; arrays of this length take less than 100 MB each


class UnusableFile(ValueError):
    """A file of the user cannot be used; the message names the file, the fault, and what to do about it."""


@contextmanager
def refuse_unreadable(path: str | os.PathLike[str], content: str, advice: str) -> Iterator[None]:
    """Turn every error of a parser inside the ``with`` block into `UnusableFile`, which names the file.

    Parameters
    ----------
    path : path-like
    content : str
        What the file should hold: ".npy", "a graph".
    advice : str
        What to do next, a sentence.
    """
    try:
        yield
    except (UnusableFile, MemoryError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:  # raised by the operating system, not by a parser
            raise
        raise UnusableFile(f"{path}: cannot be read as {content}: {_reason(error)}. {advice}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, EOFError | gzip.BadGzipFile | zlib.error):
        return f"it cannot be unpacked, since it is truncated or not a gzip file ({error})"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not a text file in UTF-8 ({error.reason})"
    if "Python objects" in str(error) or "Object arrays" in str(error):
        return "it holds Python objects or text instead of numbers"
    return shorten(str(error)).rstrip(".") or type(error).__name__


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
    graspel.io.checks.UnusableFile: graph.doc: the suffix '.doc' names no format of a graph; use one of .npz, .csv.
    """
    suffix = file_suffix(path)
    if suffix not in allowed:
        problem = f"the suffix {suffix!r} names no format of" if suffix else "a suffix must name the format of"
        raise UnusableFile(f"{path}: {problem} {content}; use one of {', '.join(allowed)}.")
    return suffix


def check_claimed_size(size: int, n_entries: int, noun: str, entries: str) -> None:
    """Raise if a file claims far more nodes, rows or columns than its `n_entries` entries can explain.

    A few bytes can claim a billion nodes, and whoever computes with the graph needs arrays of that length. So readers
    call this before anything of that size is made.

    >>> check_claimed_size(5, 0, "nodes", "edges")
    >>> check_claimed_size(2_000_000_000, 3, "nodes", "edges")
    Traceback (most recent call last):
    ...
    ValueError: it claims 2,000,000,000 nodes but holds 3 edges; at most 1,000 nodes for each of the edges, and
    10,000,000 more, are read, because every one of them takes memory. Leave out nodes without edges
    """
    if size > ENTRIES * n_entries + FREE:
        raise ValueError(
            f"it claims {size:,} {noun} but holds {n_entries:,} {entries}; at most {ENTRIES:,} {noun} for each of the "
            f"{entries}, and {FREE:,} more, are read, because every one of them takes memory. Leave out {noun} "
            f"without {entries}"
        )


def check_fits_memory(n_bytes: int, path: str | os.PathLike[str], what: str, advice: str) -> None:
    """Raise if `what` of a file needs more memory than there is, before it is allocated."""
    free = available_memory()
    if free is not None and n_bytes > free:
        raise UnusableFile(
            f"{path}: {what} needs {n_bytes / 1e9:,.1f} GB, but {free / 1e9:,.1f} GB of memory are free. {advice}"
        )
