"""Reading points and learning their graph, the beginning of several commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graspel.runtime.progress import announce

__all__ = ["find_initial_file", "learn_graph", "open_on_cluster", "read_points"]

CONNECT_SECONDS = 10  # time in which a Dask scheduler must answer


def read_points(data: Path, key: str | None, header: bool | None) -> Any:
    """Read the matrix of points from the file `data`; from a folder, it is read later, block by block."""
    from graspel.io.tables import read_data
    from graspel.points.stored import open_folder

    announce("reading", detail=data.name)
    return open_folder(data, key) if data.is_dir() else read_data(data, key=key, header=header)


@contextmanager
def open_on_cluster(data: Path, key: str | None, address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, and open a zarr array there: its chunks are read by the workers."""
    from graspel.io.errors import UnusableFile
    from graspel.points.stored.zarr_array import is_zarr_folder
    from graspel.runtime.optional import import_optional

    array = import_optional("dask.array", "dask", "The option --dask")
    distributed = import_optional("distributed", "dask", "The option --dask")
    import_optional("zarr", "zarr", "The option --dask")
    if not is_zarr_folder(data):
        raise UnusableFile(f"{data} is not a zarr array, which --dask needs; write the points as one first.")
    announce("reading", detail=data.name)
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ValueError(f"--dask {address}: no Dask scheduler answers there; start one, or correct it.") from error
    with client:
        yield array.from_zarr(str(data.resolve()), component=key)


def find_initial_file(initial: str | None) -> Path | None:
    """Return the graph file that the option --initial names; None if it names a method, or nothing.

    >>> find_initial_file("knn")
    >>> find_initial_file("no/such/file.npz")
    Traceback (most recent call last):
    ...
    ValueError: --initial no/such/file.npz: is none of knn, mst, unn, nor the path of a graph file that exists.
    """
    from graspel.learning.initial import INITIAL

    if initial is None or initial in INITIAL:
        return None
    if not Path(initial).exists():
        known = ", ".join(INITIAL)
        raise ValueError(f"--initial {initial}: is none of {known}, nor the path of a graph file that exists.")
    return Path(initial)


def learn_graph(X: Any, parameters: dict[str, Any]) -> Any:
    """Return a learner with these parameters, fitted to X; `initial` may be the path of a graph file."""
    from graspel.graph import Graph
    from graspel.learner import GRASPEL

    path = find_initial_file(parameters.get("initial"))
    if path is not None:
        parameters = {**parameters, "initial": Graph.read(path)}
    return GRASPEL(**parameters).fit(X)
