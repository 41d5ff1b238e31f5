"""The edge table: the content of a graph file, not yet checked to be a graph.

The file formats convert between files and this table. :class:`graspel.Graph` makes the table when a graph is written,
and checks it when a graph is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

NAME_COLUMNS = ("head_name", "tail_name")  # after the others, in files of a graph whose nodes have names
COLUMNS = ("head", "tail", "weight", "origin", "round", "eta", "gradient")
REQUIRED = COLUMNS[:3]
OLD_NAMES = {"step": "origin"}  # name of the column in files of graspel before 0.2: name today


class EdgeTable(NamedTuple):
    """Edges in columns named as in `COLUMNS`, and the number of nodes (None: up to the last node with an edge).

    `origin` holds labels such as "neighbor". The columns after `weight` may be missing. `node_names` are the names of
    all nodes, or None.
    """

    n_nodes: int | None
    columns: dict[str, Any]
    node_names: list[str] | None = None

    @property
    def name_columns(self) -> dict[str, list[str]]:
        """The names at both ends of each edge, as columns; none if the nodes have no names."""
        names = self.node_names
        if names is None:
            return {}
        ends = (self.columns["head"], self.columns["tail"])
        return {column: [names[node] for node in nodes] for column, nodes in zip(NAME_COLUMNS, ends, strict=True)}


def check_columns(names: Iterable[str]) -> None:
    """Raise where a required column is missing, or a column occurs twice."""
    names = list(names)
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ValueError(f"it has no column {missing[0]!r}; head, tail and weight are needed")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"it has two columns {repeated[0]!r}")


def current_names(names: Iterable[str]) -> list[str]:
    """Translate column names of older files to those of today.

    >>> current_names(["head", "step"])
    ['head', 'origin']
    """
    return [OLD_NAMES.get(name, name) for name in names]
