"""``graspel convert``: the same graph in another file format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.output import check_files, print_line


def convert(
    source: options.GraphArgument,
    target: Annotated[Path, options.argument(f"The file to write: {options.GRAPH_FORMATS}", "FILE")],
    *,
    quiet: options.Quiet = False,
    written: list[str],
) -> None:
    """Read the graph in `source` and write it to `target`."""
    check_files([source], graph=target)
    from graspel.graph import Graph

    graph = Graph.read(source)
    graph.export(target)
    written.append(str(target))
    if not quiet:
        print_line(f"{target}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges")


COMMAND = Command(
    convert,
    "Convert a graph to another file format.\n\n"
    "The suffixes of the two names say which formats. A MatrixMarket file (.mtx) holds the weights only; the others "
    "also keep why each edge is there.",
    (
        "graspel convert graph.npz graph.mtx",
        "graspel convert graph.npz graph.graphml",
        "graspel convert edges.csv graph.npz",
    ),
)
