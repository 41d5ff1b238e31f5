"""``graspel report``: from a file of points to one HTML page that says what is in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_sources, print_certificate
from graspel.cli.progress_bar import progress_bar
from graspel.cli.run_learner import find_classes, find_initial_file, learn_graph, read_initial, read_points

HELP = (
    "Learn a graph from data points and write a page about the data, to open in a browser.\n\n"
    "One HTML file that needs no network: a map of all points, the groups and what sets each apart, the known classes "
    "against the groups and the labels that look wrong, outliers, copies and bridges, how far the result can be "
    "trusted, and how to get it again."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel report points.npy -o report.html",
        "graspel report points.csv -o report.html -k 5 --names names.txt --title 'Our patients'",
        "graspel report digits.npy -o report.html --labels classes.csv --images 28x28 --seed 0",
        "graspel report tfidf.npz -o report.html --texts documents.csv --features terms.txt --metric cosine",
        "",
        "The file is written completely or not at all, also on Ctrl-C.",
    )
)

CONTENT = "What the page shows"

Output = Annotated[Path, options.make_file_option("The page, .html.", "--output", "-o")]
Labels = Annotated[
    Path | None,
    options.make_file_option(
        "The known classes of the points, to compare the groups with: .csv (one column) or .npy, numbers or text. "
        "They are not used to find the groups."
    ),
]
Clusters = Annotated[
    Any,
    options.make_option(
        None,
        options.AUTO,
        "Group the points into this many clusters; auto: as many as the eigenvalues show.",
        "--clusters",
        "-k",
        metavar="INT|auto",
        parser=options.parse_n_clusters,
    ),
]


def _make_text_option(help: str) -> Any:
    return typer.Option(help=help, show_default=False, metavar="FILE", rich_help_panel=CONTENT)


Names = Annotated[Path | None, _make_text_option("The name of each point: .txt (one on each line), .csv or .npy.")]
Texts = Annotated[Path | None, _make_text_option("A text about each point, shown when it is picked: .txt, .csv, .npy.")]
Images = Annotated[
    str | None,
    typer.Option(
        help="The points as pictures: the shape of a row, such as 28x28 or 32x32x3, or a folder with one file for each "
        "point, in the order of their names.",
        show_default=False,
        metavar="SHAPE|FOLDER",
        rich_help_panel=CONTENT,
    ),
]
Features = Annotated[
    Path | None,
    typer.Option(
        help="The name of each column of the data: .txt, .csv or .npy. "
        r"[dim]\[default: the names that the file holds][/dim]",
        show_default=False,
        metavar="FILE",
        rich_help_panel=CONTENT,
    ),
]
Title = Annotated[
    str | None, options.make_option(CONTENT, "the name of the file", "The title of the page", metavar="TEXT")
]


def report(
    data: options.Data,
    output: Output,
    labels: Labels = None,
    n_clusters: Clusters = options.AUTO,
    names: Names = None,
    texts: Texts = None,
    images: Images = None,
    features: Features = None,
    title: Title = None,
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
    optimal: options.Optimal = None,
    center: options.Center = None,
    random_state: options.RandomState = None,
    n_jobs: options.Jobs = None,
    checkpoint: options.Checkpoint = None,
    json: options.CertificateJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn the graph of `data` and write its report to `output`; HELP is the help page."""
    given = locals()
    parameters = {name: given[name] for name in options.PARAMETERS if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        _check_files([data, labels, names, texts, features, find_initial_file(initial)], output)
        pictures = None if images is None else _parse_images(images)
        with progress_bar(show=not (json or quiet)):
            from graspel.report import write_report

            points = read_points(data, key, header, given)
            X = points.X
            classes = find_classes(labels, label_column, points, data)
            _check_n_clusters(n_clusters, X.shape[0], data)
            words = _read_words(given, points)
            model = learn_graph(points, parameters)
            clusters = _cluster(X, n_clusters, parameters)
            write_report(
                model,
                output,
                X,
                labels=classes,
                clusters=clusters,
                images=pictures,
                title=title,
                source=data.name,
                **words,
            )
        written.append(str(output))
        if not quiet:
            print_certificate(model.certificate_, f"The report on {data.name}, written to {output}", as_json=json)


def _check_files(sources: list[Path | None], output: Path) -> None:
    """Raise if the page cannot be written, or would replace a file that is read."""
    from graspel.report import check_report_file

    check_report_file(output)
    check_sources(sources, [output])


def _parse_images(images: str) -> tuple[int, ...] | Path:
    """The shape or the folder that the option --images names.

    >>> _parse_images("28x28")
    (28, 28)
    """
    if re.fullmatch(r"[1-9]\d{0,5}x[1-9]\d{0,5}(x[13])?", images):
        return tuple(map(int, images.split("x")))
    if Path(images).is_dir():
        return Path(images)
    raise ValueError(
        f"--images {images}: is neither a shape, such as 28x28 (gray) or 32x32x3 (color), nor a folder that exists."
    )


def _check_n_clusters(n_clusters: Any, n_points: int, data: Path) -> None:
    if n_clusters != options.AUTO and n_clusters > n_points:
        raise ValueError(f"-k {n_clusters}: {data} holds only {n_points:,} points; ask for 1 to {n_points} clusters.")


def _read_words(given: dict[str, Any], points: Any) -> dict[str, list[str] | None]:
    """Names, texts and features from their files; without these as the table has them."""
    from graspel.io.texts import read_texts

    n_points, n_features = points.X.shape
    wanted = {
        "names": (n_points, "names", "points"),
        "texts": (n_points, "texts", "points"),
        "features": (n_features, "names of features", "columns"),
    }
    read = {what: read_texts(given[what], *number) for what, number in wanted.items() if given[what] is not None}
    return {"names": points.names, "features": points.features, **read}


def _cluster(X: Any, n_clusters: Any, parameters: dict[str, Any]) -> Any:
    """Cluster as ``graspel cluster`` does, so that both give the same groups; fewer than 8 points are one group."""
    from graspel.report.clusterer import SETTINGS, make_clusterer

    if n_clusters == options.AUTO and X.shape[0] < 8:
        return [0] * X.shape[0]
    settings = read_initial({name: parameters[name] for name in SETTINGS if name in parameters})
    run = {name: parameters[name] for name in ("random_state", "n_jobs") if name in parameters}
    return make_clusterer(n_clusters, settings, **run).fit(X)
