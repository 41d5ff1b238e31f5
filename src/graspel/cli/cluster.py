"""``graspel cluster``: from a file of points, or of their graph, to a file with the cluster of every point."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.options import AUTO
from graspel.cli.output import check_graph_file, check_sources, print_json, print_table
from graspel.cli.progress_bar import progress_bar
from graspel.cli.run_learner import find_classes, find_initial_file, read_initial, read_points
from graspel.io.errors import UnusableFile
from graspel.runtime.progress import announce

if TYPE_CHECKING:
    from graspel.graph import Graph

HELP = (
    "Group data points into clusters.\n\n"
    "Makes several graphs of the points from one set of neighbor lists, groups the points by the first eigenvectors "
    "of each, and finds the groups that the graphs agree on (or clusters one graph: --consensus 1, an option that "
    "says which graph, or --graph FILE). Writes the cluster of every point, in the order of the data, and prints how "
    "many clusters there are and how large they are. With known classes (--labels) it also prints how well "
    "the two agree."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel cluster points.npy -k 10 -o clusters.csv",
        "graspel cluster points.csv -o clusters.csv --save-graph graph.npz",
        "graspel cluster points.npy -k 10 -o clusters.npy --labels classes.csv --seed 0",
        "graspel cluster wine.csv -k 3 -o clusters.csv --label-column cultivar --scale standard",
        "graspel cluster --graph graph.npz -k 10 -o clusters.csv",
        "",
        "Clusters are numbered from 0, by their first point. "
        "Files are written completely or not at all, also on Ctrl-C.",
    )
)

MAX_ITER = 0  # rounds of critical edges; these edges join different clusters (docs/clustering.md)
SHOWN_SIZES = 20  # sizes of clusters in the printed summary


class FoundLabels(NamedTuple):
    """Labels of all points (-1 is noise), the number of clusters, and where this was found: eigengap and count."""

    labels: Any
    n_clusters: int
    gap: Any
    count: Any = None


Data = Annotated[
    Path | None,
    typer.Argument(
        help=f"The points, one per row: {options.FORMATS}. Not needed with --graph.",
        show_default=False,
        metavar="DATA",
    ),
]
Output = Annotated[
    Path,
    options.make_file_option(
        "The cluster of every point, in the order of the data: .csv (a column cluster, after the names of the points "
        "if they have any) or .npy.",
        "--output",
        "-o",
    ),
]
Clusters = Annotated[
    Any,
    options.make_option(
        None,
        AUTO,
        "How many clusters; auto: as many as the largest gap between the first eigenvalues shows.",
        "--clusters",
        "-k",
        metavar="INT|auto",
        parser=options.parse_n_clusters,
    ),
]
Labels = Annotated[
    Path | None,
    options.make_file_option(
        "The known classes of the points, to compare the clusters with: .csv (one column) or .npy, numbers or text. "
        "They are not used to find the clusters."
    ),
]
AssignLabels = Annotated[
    str,
    options.make_option(
        None,
        "ward",
        "From eigenvectors to clusters: ward (groups the points along the graph) or paper (k-means from random "
        "starts, Algorithm 2 of the paper).",
        metavar="ward|paper",
    ),
]
Consensus = Annotated[
    int | None,
    options.make_option(
        None,
        "7, or 1 if other options say which graph to cluster",
        "How many graphs are clustered; the result is what they agree on. 1: the learned graph alone.",
        metavar="1..7",
    ),
]
Noise = Annotated[
    bool | None,
    options.make_option(
        None, "no-noise", "Write -1 for points that are far from all others for their cluster.", "--noise/--no-noise"
    ),
]
GraphFile = Annotated[
    Path | None,
    options.make_file_option(
        "A graph of the points, to cluster instead of learning one: .npz, .mtx, .graphml, .csv or .parquet.", "--graph"
    ),
]
SaveGraph = Annotated[
    Path | None,
    options.make_file_option("Also write the learned graph: .npz, .mtx, .graphml, .csv or .parquet."),
]
Initial = Annotated[
    str | None,
    options.make_option(
        options.START,
        "knn",
        "The start graph: knn (nearest neighbors), unn (a larger kNN graph, spectrally sparsified), mst (minimum "
        "spanning tree), or the path of a graph file on the same points, whose components are joined.",
        metavar="knn|unn|mst|FILE",
    ),
]
MaxIter = Annotated[
    int | None,
    options.make_option(
        options.START,
        str(MAX_ITER),
        "Largest number of rounds of critical edges; 0 keeps the start graph, joined to one component.",
    ),
]
Seed = Annotated[int | None, options.make_seed_option("clusters")]

LEARNING = ("n_neighbors", "metric", "neighbor_rule", "initial", "max_iter", "center")
# Options for learning a graph, and options for reading points.
NOT_WITH_GRAPH = (*LEARNING, "save_graph", "consensus", "noise")
ONLY_WITH_DATA = ("key", "header", *options.ROLES)


def cluster(
    output: Output,
    data: Data = None,
    n_clusters: Clusters = AUTO,
    labels: Labels = None,
    assign_labels: AssignLabels = "ward",
    consensus: Consensus = None,
    noise: Noise = None,
    graph: GraphFile = None,
    save_graph: SaveGraph = None,
    key: options.Key = None,
    header: options.Header = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    scale: options.Scale = None,
    impute: options.Impute = None,
    n_neighbors: options.Neighbors = None,
    metric: options.Metric = None,
    neighbor_rule: options.NeighborRule = None,
    initial: Initial = None,
    max_iter: MaxIter = None,
    center: options.Center = None,
    random_state: Seed = None,
    n_jobs: options.Jobs = None,
    json: options.SummaryJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster the points of `data`, or the nodes of `graph`, into the file `output`; HELP is the help page."""
    given = {name: value for name, value in locals().items() if value is not None}
    began = monotonic()
    with friendly_errors(quiet=quiet) as written:
        source = _check_source(given)
        _check_files(given)
        with progress_bar(show=not (json or quiet)):
            from graspel.cluster import ASSIGNMENTS
            from graspel.io.labels import write_labels
            from graspel.runtime.parameters import check_choice

            check_choice("assign_labels", assign_labels, ASSIGNMENTS)
            points: Any = None if data is None else _read_points(data, key, header, given)
            learned = None if graph is None else _read_graph(graph, data, points)
            n_points = points.X.shape[0] if learned is None else learned.n_nodes
            _check_n_clusters(n_clusters, n_points, source)
            classes = _find_classes(given, points, n_points, source)
            if learned is None:
                learned, found, more = _cluster_points(points, n_clusters, given)
            else:
                _check_components(n_clusters, learned, source)
                found, more = _cluster_nodes(learned, n_clusters, given), {}
            if save_graph is not None:
                learned.export(save_graph)
                written.append(str(save_graph))
            announce("writing", detail=output.name)
            write_labels(output, found.labels, learned.node_names)
        written.append(str(output))
        record = {**_summary(found, learned), **more, **_scores(classes, found), "seconds": monotonic() - began}
        if json:
            print_json(record)
        elif not quiet:
            print_table(f"The clusters of {source.name}, written to {output}", _rows(record, n_clusters, save_graph))


# --- checks before the work ------------------------------------------------------------------------------------------


def _check_source(given: dict[str, Any]) -> Path:
    """Return the file of the graph, or else of the points; raise if two options contradict each other."""
    if "graph" not in given and "data" not in given:
        raise ValueError("there is nothing to cluster; give the file of the points, or that of their graph by --graph.")
    if "graph" in given:
        extra = next((name for name in NOT_WITH_GRAPH if name in given), None)
        if extra is not None:
            raise ValueError(
                f"--{extra.replace('_', '-')} is for learning a graph, but --graph {given['graph']} gives one; "
                "leave one of the two out."
            )
    if "data" not in given:
        extra = next((name for name in ONLY_WITH_DATA if name in given), None)
        if extra is not None:
            raise ValueError(f"--{extra.replace('_', '-')} is for reading points, but none are given; leave it out.")
    source: Path = given.get("graph") or given["data"]
    return source


def _check_files(given: dict[str, Any]) -> None:
    """Raise if a file cannot be written, or would replace a file that is read."""
    from graspel.io.labels import check_labels_file

    targets = [given[name] for name in ("output", "save_graph") if name in given]
    check_labels_file(given["output"])
    if "save_graph" in given:
        check_graph_file(given["save_graph"])
    initial = find_initial_file(given.get("initial"))
    check_sources([given.get("data"), given.get("graph"), given.get("labels"), initial], targets)
    if len({target.resolve() for target in targets}) < len(targets):
        raise ValueError(f"{targets[0]} cannot hold both the clusters and the graph; give two names.")


def _check_n_clusters(n_clusters: int | str, n_points: int, source: Path) -> None:
    if isinstance(n_clusters, int) and n_clusters > n_points:
        raise ValueError(f"-k {n_clusters}: {source} holds only {n_points:,} points; ask for 1 to {n_points} clusters.")


def _check_components(n_clusters: int | str, graph: Graph, source: Path) -> None:
    n_components = graph.components[0]
    if isinstance(n_clusters, int) and n_clusters < n_components:
        raise ValueError(
            f"-k {n_clusters}: the graph {source} has {n_components:,} components and does not say which of them "
            f"belong together; ask for at least {n_components} clusters, or give the points and, instead of --graph, "
            f"--initial {source}, which joins the components."
        )


# --- the work --------------------------------------------------------------------------------------------------------


def _cluster_points(points: Any, n_clusters: Any, given: dict[str, Any]) -> tuple[Graph, FoundLabels, dict[str, Any]]:
    """The learned graph of the points, their clusters, and what the consensus says about them."""
    from graspel.estimators.clustering import GraspelClustering
    from graspel.estimators.learner import GRASPEL

    names = ("consensus", "assign_labels", "noise", "random_state", "n_jobs")
    own = {name: given[name] for name in names if name in given}
    graph = read_initial({name: given[name] for name in LEARNING if name in given})
    if "max_iter" in graph:  # critical edges: only a learner of its own adds them
        own["learner"], graph = GRASPEL(**graph), {}
    model = GraspelClustering(n_clusters, **own, **graph).fit(points.X)
    more = {
        "consensus": max(1, len(model.member_weights_)),
        "agreement": float(model.agreement_.mean()),
        "noise": int((model.labels_ < 0).sum()),
    }
    learned = model.graph_ if points.names is None else model.graph_.with_names(points.names)
    return learned, FoundLabels(model.labels_, model.n_clusters_, model.eigengap_, model.cluster_count_), more


def _cluster_nodes(graph: Graph, n_clusters: Any, given: dict[str, Any]) -> FoundLabels:
    from graspel.cluster import cluster_graph

    options = {name: given[name] for name in ("assign_labels", "random_state", "n_jobs") if name in given}
    found = cluster_graph(graph, n_clusters, **options)
    return FoundLabels(found.labels, found.n_clusters, found.gap)


# --- the files -------------------------------------------------------------------------------------------------------


def _find_classes(given: dict[str, Any], points: Any, n_points: int, source: Path) -> list[Any] | None:
    """The known classes, from the column of the table or from a file of their own."""
    if points is not None:
        return find_classes(given.get("labels"), given.get("label_column"), points, source)
    from graspel.io.labels import read_labels

    return read_labels(given["labels"], n_points, source) if "labels" in given else None


def _read_points(data: Path, key: str | None, header: bool | None, given: dict[str, Any]) -> Any:
    if key is None and _is_graph(data):
        raise UnusableFile(f"{data} holds a graph, not points; give it by --graph {data}.")
    return read_points(data, key, header, given)


def _is_graph(path: Path) -> bool:
    import zipfile

    if path.suffix.lower() != ".npz" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "graspel_graph_version.npy" in archive.namelist()


def _read_graph(path: Path, data: Path | None, points: Any) -> Graph:
    """Read the graph; if points are given too, it must have as many nodes."""
    from graspel.graph import Graph

    announce("reading", detail=path.name)
    graph = Graph.read(path)
    if points is not None and points.X.shape[0] != graph.n_nodes:
        raise UnusableFile(
            f"{path} is a graph of {graph.n_nodes:,} nodes, but {data} holds {points.X.shape[0]:,} points; give the "
            "graph of these points, or leave one of the two out."
        )
    return graph


# --- the summary -----------------------------------------------------------------------------------------------------


def _summary(found: FoundLabels, graph: Graph) -> dict[str, Any]:
    import numpy as np

    gap, count = found.gap, found.count
    return {
        "points": graph.n_nodes,
        "clusters": found.n_clusters,
        "sizes": sorted(np.bincount(found.labels[found.labels >= 0]).tolist(), reverse=True),
        "eigengap": gap and {"clear": gap.is_clear, "gaps": gap.gaps, "sentence": gap.sentence()},
        "count": count
        and {
            "clear": count.is_clear,
            "numbers": count.numbers,
            "stability": count.stability,
            "gaps": count.gaps,
            "sentence": count.sentence(),
        },
        "edges": graph.n_edges,
        "density": graph.density,
        "components": graph.components[0],
    }


def _scores(classes: list[Any] | None, found: FoundLabels) -> dict[str, Any]:
    """How well clusters and classes agree; empty if the classes are not known."""
    if classes is None:
        return {}
    from graspel.metrics import adjusted_rand_index, clustering_accuracy, normalized_mutual_information

    return {
        "classes": len(set(classes)),
        "accuracy": clustering_accuracy(classes, found.labels),
        "nmi": normalized_mutual_information(classes, found.labels),
        "ari": adjusted_rand_index(classes, found.labels),
    }


def _rows(record: dict[str, Any], asked: int | str, save_graph: Path | None) -> list[tuple[str, str, str]]:
    sizes = record["sizes"]
    shown = ", ".join(f"{size:,}" for size in sizes[:SHOWN_SIZES])
    more = f" and {len(sizes) - SHOWN_SIZES:,} more" if len(sizes) > SHOWN_SIZES else ""
    edges = f"{record['edges']:,} edges on {record['points']:,} points"
    kept = "" if save_graph is None else f"; written to {save_graph.name}"
    rows = [
        ("clusters", f"{record['clusters']:,}", _explain_n_clusters(record, asked)),
        ("sizes", f"{sizes[0]:,} to {sizes[-1]:,}", f"points in each: {shown}{more}"),
        *_consensus_rows(record),
        ("graph", f"density {record['density']:.3f}", f"{edges}{kept}"),
    ]
    if "accuracy" in record:
        classes = f"{record['classes']:,} {'class' if record['classes'] == 1 else 'classes'}"
        rows += [
            ("ACC", f"{record['accuracy']:.4f}", f"share of points in the cluster matched to their class; {classes}"),
            ("NMI", f"{record['nmi']:.4f}", "information that clusters and classes share, from 0 to 1"),
            ("ARI", f"{record['ari']:.4f}", "agreement on pairs of points: 0 is chance, 1 complete"),
        ]
    return [*rows, ("seconds", f"{record['seconds']:.1f}", "in all, loading of libraries included")]


def _consensus_rows(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = []
    if record.get("consensus", 1) > 1:
        share = f"of {record['consensus']} graphs have a point in its cluster, on average"
        rows.append(("agreement", f"{record['agreement']:.1%}", share))
    if record.get("noise"):
        rows.append(("noise", f"{record['noise']:,}", "points far from all others, label -1"))
    return rows


def _explain_n_clusters(record: dict[str, Any], asked: int | str) -> str:
    if asked == AUTO:
        if record["components"] > 1:
            return "auto: as many as the graph has components"
        return f"auto: {(record['count'] or record['eigengap'])['sentence']}"
    return "as asked for" if record["clusters"] == asked else f"{asked:,} were asked for, but some stayed empty"
