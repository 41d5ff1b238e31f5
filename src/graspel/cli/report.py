"""``graspel report``: from a file of points to one HTML page that shows what was learned from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_sources, print_certificate
from graspel.cli.progress_bar import progress_bar
from graspel.cli.run_learner import find_initial_file, learn_graph, read_points

HELP = (
    "Learn a graph from data points and write a page about it, to open in a browser.\n\n"
    "One HTML file that needs no network: the certificate in plain words, the graph in space, a slider over the "
    "rounds, the spectrum, the convergence, the most critical edges with the reason for each, and what is "
    "needed to get the same graph again. With -k the points are clustered too."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel report points.npy -o report.html",
        "graspel report points.csv -o report.html -k auto --title 'Our patients'",
        "graspel report points.npy -o report.html --labels classes.csv --tol 100 --seed 0",
        "",
        'Needs plotly: pip install "graspel\\[report]". The file is written completely or not at all, also on Ctrl-C.',
    )
)

Output = Annotated[Path, options.make_file_option("The page, .html.", "--output", "-o")]
Labels = Annotated[
    Path | None,
    options.make_file_option(
        "The known classes of the points, to color them by: .csv (one column) or .npy, numbers or text."
    ),
]
Clusters = Annotated[
    Any,
    options.make_option(
        None,
        "no clusters",
        "Group the points into this many clusters; auto: as many as the eigenvalues show.",
        "--clusters",
        "-k",
        metavar="INT|auto",
        parser=options.parse_n_clusters,
    ),
]
Title = Annotated[
    str | None, options.make_option(None, "the name of the file", "The title of the page", metavar="TEXT")
]


def report(
    data: options.Data,
    output: Output,
    labels: Labels = None,
    n_clusters: Clusters = None,
    title: Title = None,
    key: options.Key = None,
    header: options.Header = None,
    n_neighbors: options.NeighborsWithoutK = None,
    metric: options.Metric = None,
    neighbor_rule: options.NeighborRule = None,
    initial: options.Initial = None,
    candidates: options.Candidates = None,
    window: options.Window = None,
    edge_ratio: options.EdgeRatio = None,
    n_components: options.Components = None,
    tol: options.Tol = None,
    stability: options.Stability = None,
    max_iter: options.MaxIter = None,
    sigma: options.Sigma = None,
    beta: options.Beta = None,
    refine: options.Refine = None,
    center: options.Center = None,
    random_state: options.RandomState = None,
    n_jobs: options.Jobs = None,
    json: options.CertificateJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn the graph of `data` and write its report to `output`; HELP is the help page."""
    given = locals()
    parameters = {name: given[name] for name in options.PARAMETERS if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        _check_files([data, labels, find_initial_file(initial)], output)
        with progress_bar(show=not (json or quiet)):
            from graspel.io.labels import read_labels
            from graspel.report import write_report

            X = read_points(data, key, header)
            classes = None if labels is None else read_labels(labels, X.shape[0], data)
            model = learn_graph(X, parameters)
            clusters = None if n_clusters is None else _cluster(model, n_clusters, data)
            write_report(model, output, labels=classes, clusters=clusters, title=title, source=data.name)
        written.append(str(output))
        if not quiet:
            print_certificate(model.certificate_, f"The report on {data.name}, written to {output}", as_json=json)


def _check_files(sources: list[Path | None], output: Path) -> None:
    """Raise if the page cannot be written, or would replace a file that is read."""
    from graspel.report import check_report_file

    check_report_file(output)
    check_sources(sources, [output])


def _cluster(model: Any, n_clusters: Any, data: Path) -> Any:
    from graspel.cluster import cluster_graph

    n_points = model.graph_.n_nodes
    if n_clusters != options.AUTO and n_clusters > n_points:
        raise ValueError(f"-k {n_clusters}: {data} holds only {n_points:,} points; ask for 1 to {n_points} clusters.")
    return cluster_graph(model.graph_, n_clusters, random_state=model.random_state, n_jobs=model.n_jobs).labels
