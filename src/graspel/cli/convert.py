"""``graspel convert``: the same graph in another file format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_graph_file, check_sources, print_line

HELP = (
    "Convert a graph to another file format.\n\n"
    "The suffixes of the two names say which formats. A MatrixMarket file (.mtx) holds the weights only; the others "
    "also keep why each edge is there."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel convert graph.npz graph.mtx",
        "graspel convert graph.npz graph.graphml",
        "graspel convert edges.csv graph.npz",
    )
)


def convert(
    source: options.GraphArgument,
    target: Annotated[
        Path,
        typer.Argument(
            help="The file to write: .npz, .mtx, .graphml, .csv or .parquet.", show_default=False, metavar="FILE"
        ),
    ],
    quiet: options.Quiet = False,
) -> None:
    """Read the graph in `source` and write it to `target`; HELP is the help page."""
    with friendly_errors(quiet=quiet) as written:
        check_sources([source], [target])
        check_graph_file(target)
        from graspel.graph import Graph

        graph = Graph.read(source)
        graph.export(target)
        written.append(str(target))
        if not quiet:
            print_line(f"{target}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges")
