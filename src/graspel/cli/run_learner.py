"""Reading points and learning their graph, the beginning of several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graspel.runtime.progress import announce

__all__ = ["find_initial_file", "learn_graph", "read_initial", "read_points"]


def read_points(data: Path, key: str | None, header: bool | None) -> Any:
    """Read the matrix of points from the file `data`."""
    from graspel.io.tables import read_data

    announce("reading", detail=data.name)
    return read_data(data, key=key, header=header)


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
    from graspel.learner import GRASPEL

    return GRASPEL(**read_initial(parameters)).fit(X)


def read_initial(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, with the graph in place of the path if `initial` is the path of a graph file."""
    from graspel.graph import Graph

    path = find_initial_file(parameters.get("initial"))
    return parameters if path is None else {**parameters, "initial": Graph.read(path)}
