"""Reading points and learning their graph, the beginning of several commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graspel.cli.options import ROLES
from graspel.runtime.progress import announce

__all__ = ["find_classes", "find_initial_file", "learn_graph", "open_on_cluster", "read_initial", "read_points"]

CONNECT_SECONDS = 10  # time in which a Dask scheduler must answer


def read_points(data: Path, key: str | None, header: bool | None, given: dict[str, Any] | None = None) -> Any:
    """Read the points from the file `data`, a `PointTable`; `given` holds the options about the columns of a table.

    The rows of a folder are read later, block by block.
    """
    from graspel.data.stored import open_folder
    from graspel.io.table_roles import PointTable, Roles
    from graspel.io.tables import read_table

    announce("reading", detail=data.name)
    roles = {name: given[name] for name in ROLES if given and given.get(name) is not None}
    for name in ("columns", "drop"):
        if name in roles:
            roles[name] = tuple(cell.strip() for cell in roles[name].split(",") if cell.strip())
    reads_whole = (data / "obs").is_dir() or (roles and data.suffix == ".zarr")  # AnnData; chosen columns
    if data.is_dir() and not reads_whole:
        if roles:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in roles)
            raise ValueError(f"{data} is a folder, whose columns are all features: leave out {options}.")
        return PointTable(open_folder(data, key), None, None)
    return read_table(data, key=key, header=header, roles=Roles(**roles))


def find_classes(labels: Path | None, label_column: str | None, points: Any, data: Path) -> list[Any] | None:
    """Return the known classes of the points, from a file of their own or from a column of the table."""
    from graspel.io.labels import read_labels

    if labels is not None and label_column is not None:
        raise ValueError(f"--labels {labels} and --label-column {label_column} both give classes; leave one out.")
    return points.labels if labels is None else read_labels(labels, points.X.shape[0], data)


@contextmanager
def open_on_cluster(data: Path, key: str | None, address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, and open a zarr array there: its chunks are read by the workers."""
    from graspel.data.stored.zarr_array import is_zarr_folder
    from graspel.io.errors import UnusableFile
    from graspel.io.table_roles import PointTable
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
        yield PointTable(array.from_zarr(str(data.resolve()), component=key), None, None)


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


def learn_graph(points: Any, parameters: dict[str, Any]) -> Any:
    """Return a learner with these parameters, fitted to a `PointTable`; `initial` may be the path of a graph file."""
    from graspel.estimators.learner import GRASPEL

    model = GRASPEL(**read_initial(parameters)).fit(points.X)
    if points.names is not None:
        model.graph_ = model.graph_.with_names(points.names)
    return model


def read_initial(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, with the graph in place of the path if `initial` is the path of a graph file."""
    from graspel.graph import Graph

    path = find_initial_file(parameters.get("initial"))
    return parameters if path is None else {**parameters, "initial": Graph.read(path)}
