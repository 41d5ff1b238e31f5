"""``graspel info``: a summary of a graph file."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.output import print_json, print_table

if TYPE_CHECKING:
    from graspel.graph import Graph

CHEAP_NODES = 20_000  # nodes; up to here the first eigenvalues take seconds, and are shown by default
CHEAP_EIGENVALUES = 5  # eigenvalues shown by default


Eigenvalues = Annotated[
    int | None,
    options.option(
        "How many of the smallest nonzero Laplacian eigenvalues to compute",
        "INT",
        default=f"{CHEAP_EIGENVALUES} up to {CHEAP_NODES:,} nodes, else 0",
        min=0,
    ),
]


def info(file: options.GraphArgument, eigenvalues: Eigenvalues = None, json: options.Json = False) -> None:
    """Print a summary of the graph in `file`."""
    from graspel.graph import Graph

    graph = Graph.read(file)
    record = describe_graph(graph, eigenvalues)
    if json:
        print_json({"file": str(file), **record})
    else:
        print_table(str(file), _rows(record))


COMMAND = Command(
    info,
    "Describe a graph.\n\n"
    "Nodes, edges, components, neighbors, weights, why the edges are there (by origin and round), and the first "
    "eigenvalues of its Laplacian.",
    (
        "graspel info graph.npz",
        "graspel info graph.npz --json",
        "graspel info large.npz --eigenvalues 10",
    ),
)


def describe_graph(graph: Graph, n_eigenvalues: int | None = 0) -> dict[str, Any]:
    """Return a summary of a graph, in types that JSON has.

    Parameters
    ----------
    graph : Graph
    n_eigenvalues : int, optional
        How many eigenvalues to compute. None: a few, if the graph is small and its weights allow it.
    """
    from graspel.graph import Origin

    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "density": graph.density,
        **_summarize_nodes(graph),
        "weights": _summary(graph.weights) if graph.n_edges else None,
        "edges_by_origin": {Origin(code).label: count for code, count in _counts(graph.origin)},
        "edges_by_round": {str(number): count for number, count in _counts(graph.round)},
        "eigenvalues": _eigenvalues(graph, n_eigenvalues),
    }


def _summarize_nodes(graph: Graph) -> dict[str, Any]:
    """Components and neighbors; nodes without edges are only counted, because a file may claim very many."""
    import numpy as np

    from graspel.graph import Graph

    joined, ends = np.unique(np.concatenate([graph.heads, graph.tails]), return_inverse=True)
    n_joined, n_alone = len(joined), graph.n_nodes - len(joined)
    # More zeros than numbers do not change smallest, median and largest.
    counts = np.concatenate([np.zeros(min(n_alone, n_joined + 1), int), np.bincount(ends, minlength=n_joined)])
    if n_joined == 0:
        return {"components": n_alone, "largest_component": 1, "neighbors": _summary(counts)}
    heads, tails = np.split(ends, 2)
    n_components, labels = Graph(n_joined, heads, tails, graph.weights).components
    largest = int(np.bincount(labels).max())
    return {"components": n_components + n_alone, "largest_component": largest, "neighbors": _summary(counts)}


def _summary(values: Any) -> dict[str, float]:
    import numpy as np

    # The median may be the mean of two numbers, whose sum must not overflow.
    median = 2 * np.median(values / 2) if values.max() > np.finfo(np.float64).max / 2 else np.median(values)
    return {"min": values.min().item(), "median": float(median), "max": values.max().item()}


def _counts(codes: Any) -> list[tuple[int, int]]:
    import numpy as np

    values, counts = np.unique(codes, return_counts=True)
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def _eigenvalues(graph: Graph, wanted: int | None) -> list[float]:
    """Return the smallest eigenvalues past the zeros, of which there is one for each component.

    None wants a few of a small graph, and none if its weights are beyond what can be computed with.
    """
    if wanted is None:
        with suppress(ValueError):
            return _eigenvalues(graph, CHEAP_EIGENVALUES if graph.n_nodes <= CHEAP_NODES else 0)
        return []
    if wanted == 0:
        return []  # without a look at the components, whose labels take memory for every node
    from graspel.linalg import smallest_eigenpairs

    n_zero = graph.components[0]
    wanted = min(wanted, graph.n_nodes - n_zero)
    if wanted == 0:
        return []
    values: list[float] = smallest_eigenpairs(graph, n_zero + wanted).values[n_zero:].tolist()
    return values


def _rows(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    from graspel.graph import Origin

    is_one = record["components"] == 1
    largest = f"not connected; the largest has {record['largest_component']:,} nodes"
    rows = [
        ("Nodes", f"{record['nodes']:,}", ""),
        ("Edges", f"{record['edges']:,}", ""),
        ("Density", f"{record['density']:.4g}", "edges per node; a tree has just under 1"),
        ("Components", f"{record['components']:,}", "connected" if is_one else largest),
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


def _format_range(summary: dict[str, float]) -> str:
    return " / ".join(f"{summary[name]:.4g}" for name in ("min", "median", "max"))


def _format_rounds(counts: dict[str, int], n_shown: int = 6) -> str:
    shown = [f"{number}: {count:,}" for number, count in list(counts.items())[:n_shown]]
    return "  ".join(shown + (["..."] if len(counts) > n_shown else []))
