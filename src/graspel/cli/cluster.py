"""``graspel cluster``: from a file of points, or of their graph, to a file with the cluster of every point."""

from __future__ import annotations

import zipfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import AUTO, option
from graspel.cli.output import check_files
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import TableOptions, save_with_reading
from graspel.io.checks import UnusableFile
from graspel.runtime.progress import announce

if TYPE_CHECKING:
    from graspel.graph import Graph

SHOWN_SIZES = 20  # sizes of clusters in the printed summary
OF_NODES = ("assign_labels", "random_state", "n_jobs")  # parameters that clustering a given graph has too


PointsFile = Annotated[Path | None, options.argument("The points: a file, a folder of .parquet or of pictures", "DATA")]
ClustersFile = Annotated[Path, option("The cluster of every point: .csv or .npy", "FILE", "--output", "-o")]
GraphFile = Annotated[Path | None, option("Cluster this graph, instead of learning one", "FILE", "--graph")]
SaveGraph = Annotated[Path | None, option("Also write the learned graph", "FILE")]
Layers = Annotated[bool, options.flag("Write a column for each layer of clusters, coarse to fine", "--layers")]


def cluster(
    output: ClustersFile,
    data: PointsFile = None,
    *,
    n_clusters: options.Clusters = AUTO,
    labels: options.LabelsFile = None,
    metric: options.Metric = None,
    graph: GraphFile = None,
    save_graph: SaveGraph = None,
    layers: Layers = False,
    save_model: options.SaveModel = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
) -> None:
    """Cluster the points of `data`, or the nodes of `graph`, into the file `output`."""
    began = monotonic()
    parameters = run.choose("GraspelClustering", n_clusters=n_clusters, metric=metric)
    source = _find_source(data, graph, table, {**parameters, "--save-graph": save_graph, "--save-model": save_model})
    outputs = {"labels": output, "graph": save_graph, "model": save_model}
    if layers:
        _check_layers(output, graph, n_clusters)
    check_files([data, graph, labels, find_initial_file(parameters)], **outputs)
    with run.progress():
        from graspel.cluster.clustering import check_n_clusters
        from graspel.io.point_files import write_labels

        points: Any = None if data is None else _read_points(data, table)
        learned = None if graph is None else _read_graph(graph, data, points)
        n_points = learned.n_nodes if learned is not None else points.X.shape[0]
        if n_clusters != AUTO:
            check_n_clusters(n_clusters, n_points)
        classes = table.find_classes(labels, points, n_points, source)
        if learned is None:
            learned, found, record, columns = _cluster_points(points, parameters, save_model)
            written += [] if save_model is None else [str(save_model)]
        else:
            _check_components(n_clusters, learned, source)
            (found, record), columns = _cluster_nodes(learned, parameters), {}
        if save_graph is not None:
            learned.export(save_graph)
            written.append(str(save_graph))
        announce("writing", detail=output.name)
        columns = {"cluster": found, **columns} if layers else {}
        write_labels(output, found, learned.node_names, "id" if points is None else points.id_name, **columns)
    written.append(str(output))
    record |= {**_summary(found, learned), **_scores(classes, found), "seconds": monotonic() - began}
    title = f"The clusters of {source.name}, written to {output}"
    run.show(title, record, _rows(record, n_clusters, save_graph))


COMMAND = Command(
    cluster,
    "Group data points into clusters.\n\n"
    "Finds the groups that several graphs agree on. With known classes it says how well they match.",
    (
        "graspel cluster points.npy -k 10 -o clusters.csv --save-graph graph.npz",
        "graspel cluster wine.csv -k 3 -o clusters.csv --scale standard --save-model wine.npz",
        "graspel cluster --graph graph.npz -k 10 -o clusters.csv",
    ),
    estimators=("GraspelClustering",),
)


# --- checks before the work ------------------------------------------------------------------------------------------


def _find_source(data: Path | None, graph: Path | None, table: TableOptions, given: dict[str, Any]) -> Path:
    """The file of the graph, or else of the points; raise if options contradict it."""
    if graph is not None:
        extra = [n for n, value in given.items() if n not in ("n_clusters", *OF_NODES) and value is not None]
        if extra:
            raise ValueError(
                f"{extra[0]} is for learning a graph, but --graph {graph} gives one; leave one of the two out."
            )
    if data is None and table.list_given():
        raise ValueError(f"{table.list_given()} is for reading points, but none are given; leave it out.")
    source = graph or data
    if source is None:
        raise ValueError("there is nothing to cluster; give the file of the points, or that of their graph by --graph.")
    return source


def _check_components(n_clusters: int | str, graph: Graph, source: Path) -> None:
    n_components = graph.components[0]
    if isinstance(n_clusters, int) and n_clusters < n_components:
        raise ValueError(
            f"-k {n_clusters}: the graph {source} has {n_components:,} components and does not say which of them "
            f"belong together; ask for at least {n_components} clusters, or give the points and, instead of --graph, "
            f"--set initial={source}, which joins the components."
        )


# --- the work --------------------------------------------------------------------------------------------------------


def _check_layers(output: Path, graph: Path | None, n_clusters: int | str) -> None:
    if output.suffix.lower() == ".npy":
        raise ValueError(f"--layers writes a column for each layer, which {output} cannot hold; name a .csv file.")
    if graph is not None or n_clusters != AUTO:
        raise ValueError("--layers is for finding the number of clusters of points; leave -k and --graph out.")


def _cluster_points(
    points: Any, parameters: dict[str, Any], save_model: Path | None
) -> tuple[Graph, Any, dict[str, Any], dict[str, Any]]:
    """The learned graph of the points, their clusters, how these were found, and the layers as columns."""
    model = build_estimator("GraspelClustering", parameters).fit(points.X)
    record = {
        "clusters": model.n_clusters_,
        "eigengap": _describe(model.eigengap_, "gaps"),
        "count": _describe(model.cluster_count_, "numbers", "stability", "separation"),
        "consensus": len(model.member_weights_) or 1,
        "agreement": float(model.agreement_.mean()),
        "noise": int((model.labels_ < 0).sum()),
    }
    save_with_reading(model, points, save_model)
    learned = model.learner_.graph_
    graph = learned if points.names is None else learned.with_names(points.names)
    return graph, model.labels_, record, {f"layer_{layer.n_clusters}": layer.labels for layer in model.layers_}


def _cluster_nodes(graph: Graph, parameters: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    from graspel.cluster import cluster_graph

    found = cluster_graph(graph, **parameters)
    return found.labels, {"clusters": found.n_clusters, "eigengap": _describe(found.gap, "gaps"), "count": None}


def _describe(choice: Any, *names: str) -> dict[str, Any] | None:
    """How the number of clusters was found; None if it was given."""
    if choice is None:
        return None
    return {"clear": choice.is_clear, "sentence": choice.sentence(), **{name: getattr(choice, name) for name in names}}


def _read_points(data: Path, table: TableOptions) -> Any:
    if table.key is None and data.suffix.lower() == ".npz" and zipfile.is_zipfile(data):
        with zipfile.ZipFile(data) as archive:
            if "graspel_graph_version.npy" in archive.namelist():
                raise UnusableFile(f"{data} holds a graph, not points; give it by --graph {data}.")
    return table.read(data)


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


def _summary(labels: Any, graph: Graph) -> dict[str, Any]:
    import numpy as np

    return {
        "points": graph.n_nodes,
        "sizes": sorted(np.bincount(labels[labels >= 0]).tolist(), reverse=True),
        "edges": graph.n_edges,
        "density": graph.density,
        "components": graph.components[0],
    }


def _scores(classes: list[Any] | None, labels: Any) -> dict[str, Any]:
    """How well clusters and classes agree; empty if the classes are not known."""
    if classes is None:
        return {}
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from graspel.metrics import clustering_accuracy

    return {
        "classes": len(set(classes)),
        "accuracy": clustering_accuracy(classes, labels),
        "nmi": normalized_mutual_info_score(classes, labels, average_method="geometric"),
        "ari": adjusted_rand_score(classes, labels),
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
        share = f"of {record['consensus']} clusterings have a point in its cluster, on average"
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
