"""``graspel report``: from a file of points to one HTML page that shows what was learned from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.cli import learn_options as options
from graspel.cli.cluster import AUTO, Neighbors, number_of_clusters
from graspel.cli.errors import friendly_errors
from graspel.cli.help_text import default
from graspel.cli.learn import Data, Header, Json, Key, Quiet, fitted
from graspel.cli.output import print_certificate
from graspel.cli.progress_bar import progress_bar
from graspel.runtime.progress import announce

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
        'Needs plotly: pip install "graspel\\[report]". The file is written whole or not at all, also on Ctrl-C.',
    )
)

Output = Annotated[Path, typer.Option("--output", "-o", help="The page, .html.", show_default=False, metavar="FILE")]
Labels = Annotated[
    Path | None,
    typer.Option(
        help="The known classes of the points, to color them by: .csv (one column) or .npy, numbers or text.",
        show_default=False,
        metavar="FILE",
    ),
]
Clusters = Annotated[
    Any,
    typer.Option(
        "--clusters",
        "-k",
        help="Group the points into so many clusters; auto: as many as the eigenvalues tell." + default("no clusters"),
        show_default=False,
        metavar="INT|auto",
        parser=number_of_clusters,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(help="The title of the page" + default("the name of the file"), show_default=False, metavar="TEXT"),
]


def report(
    data: Data,
    output: Output,
    labels: Labels = None,
    n_clusters: Clusters = None,
    title: Title = None,
    key: Key = None,
    header: Header = None,
    n_neighbors: Neighbors = None,
    metric: options.Metric = None,
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
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn the graph of `data` and write its report to `output`. HELP is the user's text."""
    given = locals()
    parameters = {name: given[name] for name in options.PARAMETERS if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        _check_files(data, labels, output)
        with progress_bar(show=not (json or quiet)):
            from graspel.report import write_report

            X = _read(data, key, header)
            classes = _classes(labels, X.shape[0], data)
            model = fitted(X, parameters)
            clusters = None if n_clusters is None else _clusters(model, n_clusters, data)
            write_report(model, output, labels=classes, clusters=clusters, title=title, source=data.name)
        written.append(str(output))
        if not quiet:
            print_certificate(model.certificate_, f"The report on {data.name}, written to {output}", as_json=json)


def _check_files(data: Path, labels: Path | None, output: Path) -> None:
    """See that the page can be written, and that it replaces nothing that is read."""
    from graspel.report import check_report_file

    check_report_file(output)
    for source in (data, labels):
        if source is not None:
            source.stat()  # a missing file is an error now, not after a large one has been read
            if output.exists() and output.samefile(source):
                raise ValueError(f"{output} is a file to be read; give another name to write to.")


def _read(data: Path, key: str | None, header: bool | None) -> Any:
    from graspel.io.tables import read_data

    announce("reading", detail=data.name)
    return read_data(data, key=key, header=header)


def _classes(labels: Path | None, n_points: int, data: Path) -> list[Any] | None:
    from graspel.io.labels import read_labels

    return None if labels is None else read_labels(labels, n_points, data)


def _clusters(model: Any, n_clusters: Any, data: Path) -> Any:
    from graspel.cluster import cluster_graph

    n_points = model.graph_.n_nodes
    if n_clusters != AUTO and n_clusters > n_points:
        raise ValueError(f"-k {n_clusters}: {data} holds only {n_points:,} points; ask for 1 to {n_points} clusters.")
    return cluster_graph(model.graph_, n_clusters, random_state=model.random_state, n_jobs=model.n_jobs).labels
