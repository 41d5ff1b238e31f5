"""``graspel info``: a summary of a graph file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import print_json, print_table

if TYPE_CHECKING:
    from graspel.graph import Graph

HELP = (
    "Describe a graph.\n\n"
    "Nodes, edges, components, neighbors, weights, why the edges are there (by origin and round), and the first "
    "eigenvalues of its Laplacian. Reads .npz, .mtx, .graphml, .csv and .parquet."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel info graph.npz",
        "graspel info graph.npz --json",
        "graspel info large.npz --eigenvalues 10",
    )
)

CHEAP_NODES = 20_000  # nodes; up to here the first eigenvalues take seconds, and are shown by default
CHEAP_EIGENVALUES = 5  # eigenvalues shown by default


def info(
    file: options.GraphArgument,
    eigenvalues: Annotated[
        int | None,
        options.make_option(
            None,
            f"{CHEAP_EIGENVALUES} up to {CHEAP_NODES:,} nodes, else 0",
            "How many of the smallest nonzero Laplacian eigenvalues to compute",
            min=0,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print a summary of the graph in `file`; HELP is the help page."""
    with friendly_errors():
        from graspel.graph import Graph

        graph = Graph.read(file)
        if eigenvalues is None:
            eigenvalues = CHEAP_EIGENVALUES if graph.n_nodes <= CHEAP_NODES else 0
        record = describe(graph, eigenvalues)
        if json:
            print_json({"file": str(file), **record})
        else:
            print_table(str(file), _rows(record))


def describe(graph: Graph, n_eigenvalues: int = 0) -> dict[str, Any]:
    """Return a summary of a graph, in types that JSON has."""
    import numpy as np

    from graspel.graph import Origin

    n_components, labels = graph.components
    neighbors = np.bincount(graph.heads, minlength=graph.n_nodes) + np.bincount(graph.tails, minlength=graph.n_nodes)
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "density": graph.density,
        "components": n_components,
        "largest_component": int(np.bincount(labels).max()),
        "neighbors": _summary(neighbors),
        "weights": _summary(graph.weights) if graph.n_edges else None,
        "edges_by_origin": {Origin(code).label: count for code, count in _counts(graph.origin)},
        "edges_by_round": {str(number): count for number, count in _counts(graph.round)},
        "eigenvalues": _eigenvalues(graph, n_eigenvalues),
    }


def _summary(values: Any) -> dict[str, float]:
    import numpy as np

    return {"min": values.min().item(), "median": float(np.median(values)), "max": values.max().item()}


def _counts(codes: Any) -> list[tuple[int, int]]:
    import numpy as np

    values, counts = np.unique(codes, return_counts=True)
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def _eigenvalues(graph: Graph, n_eigenvalues: int) -> list[float]:
    """Return the smallest eigenvalues past the zeros, of which there is one for each component."""
    n_zero = graph.components[0]
    n_eigenvalues = min(n_eigenvalues, graph.n_nodes - n_zero)
    if n_eigenvalues == 0:
        return []
    from graspel.linalg import smallest_eigenpairs

    pairs = smallest_eigenpairs(graph.laplacian, n_zero + n_eigenvalues)
    values: list[float] = pairs.values[n_zero:].tolist()
    return values


def _rows(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    from graspel.graph import Origin

    rows = [
        ("Nodes", f"{record['nodes']:,}", ""),
        ("Edges", f"{record['edges']:,}", ""),
        ("Density", f"{record['density']:.4g}", "edges per node; a tree has just under 1"),
        ("Components", f"{record['components']:,}", _describe_components(record)),
        ("Neighbors per node", _format_range(record["neighbors"]), "smallest / median / largest"),
    ]
    if record["weights"]:
        rows.append(("Weights", _format_range(record["weights"]), "smallest / median / largest"))
    for label, count in record["edges_by_origin"].items():
        rows.append((f"Edges: {label}", f"{count:,}", Origin[label.upper()].meaning))
    if set(record["edges_by_round"]) - {"0"}:
        rows.append(("Edges by round", _format_rounds(record["edges_by_round"]), "round 0 is the start graph"))
    if record["eigenvalues"]:
        values = "  ".join(f"{value:.3g}" for value in record["eigenvalues"])
        rows.append(("First eigenvalues", values, "of the Laplacian, without the zeros"))
    return rows


def _describe_components(record: dict[str, Any]) -> str:
    if record["components"] == 1:
        return "connected"
    return f"not connected; the largest has {record['largest_component']:,} nodes"


def _format_range(summary: dict[str, float]) -> str:
    return " / ".join(f"{summary[name]:.4g}" for name in ("min", "median", "max"))


def _format_rounds(counts: dict[str, int], n_shown: int = 6) -> str:
    shown = [f"{number}: {count:,}" for number, count in list(counts.items())[:n_shown]]
    return "  ".join(shown + (["..."] if len(counts) > n_shown else []))
