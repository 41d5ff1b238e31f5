"""Reading points and learning their graph, the beginning of several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graspel.runtime.progress import announce

__all__ = ["learn_graph", "read_points"]


def read_points(data: Path, key: str | None, header: bool | None) -> Any:
    """Read the matrix of points from the file `data`."""
    from graspel.io.tables import read_data

    announce("reading", detail=data.name)
    return read_data(data, key=key, header=header)


def learn_graph(X: Any, parameters: dict[str, Any]) -> Any:
    """Return a learner with these parameters, fitted to X; `initial` may be the path of a graph file."""
    from graspel.graph import Graph
    from graspel.learner import GRASPEL
    from graspel.learning.initial import INITIAL

    initial = parameters.get("initial", "knn")
    if initial not in INITIAL:
        if not Path(initial).exists():
            known = ", ".join(INITIAL)
            raise ValueError(f"--initial {initial}: is none of {known}, nor the path of a graph file that exists.")
        parameters = {**parameters, "initial": Graph.read(Path(initial))}
    return GRASPEL(**parameters).fit(X)
