"""``graspel report``: from a file of points to one HTML page that says what is in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import option
from graspel.cli.output import check_files
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import OF_GRAPH, TableOptions, make_index

PageFile = Annotated[Path, option("The page, .html", "FILE", "--output", "-o")]
Names = Annotated[Path | None, option("The name of each point: .txt, .csv or .npy", "FILE")]
Features = Annotated[Path | None, option("The name of each column: .txt, .csv or .npy", "FILE")]
Images = Annotated[str | None, option("The points as pictures: their shape, or a folder", "HxW|FOLDER")]
Title = Annotated[str | None, option("The title of the page", "TEXT", default="the file's name")]


def report(
    data: options.DataFile,
    output: PageFile,
    *,
    n_clusters: options.Clusters = options.AUTO,
    labels: options.LabelsFile = None,
    names: Names = None,
    texts: options.TextsFile = None,
    images: Images = None,
    features: Features = None,
    title: Title = None,
    metric: options.Metric = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
    repeat: Callable[..., str],
) -> None:
    """Learn the graph of `data` and write its report to `output`."""
    parameters = run.choose("GRASPEL", metric=metric)
    words = {"names": names, "texts": texts, "features": features}
    check_files([data, labels, *words.values(), find_initial_file(parameters)], page=output)
    pictures = None if images is None else _parse_images(images)
    with run.progress():
        from graspel.cluster.clustering import check_n_clusters
        from graspel.report import write_report
        from graspel.report.inputs import Source
        from graspel.report.pictures import open_pictures

        points = table.read(data, chooses=True)
        X, n_points = points.X, points.X.shape[0]
        pictures = points.pictures if pictures is None else pictures
        if pictures is not None:
            open_pictures(pictures, X, n_points)  # raises before the work
        if n_clusters != options.AUTO:
            check_n_clusters(n_clusters, n_points)
        known: dict[str, Any] = {"labels": table.find_classes(labels, points, n_points, data), "images": pictures}
        model = build_estimator("GRASPEL", parameters)
        if model.metric == "precomputed":  # columns are points, not features
            points = points._replace(features=None, shown=None)
        known |= _read_words(words, points)
        model.fit(make_index(X, model))
        if points.shown is not None and features is None:
            known |= {"X": points.shown, "features": None}
        done = table.as_done(points)
        command = repeat("learn", "graph.npz", OF_GRAPH, **done.changed())
        source = Source(data.name, command, done.write_reading(data))
        write_report(model, output, clusters=n_clusters, title=title, source=source, **known)
    written.append(str(output))
    run.show_certificate(f"The report on {data.name}, written to {output}", model)


COMMAND = Command(
    report,
    "Learn a graph from data points and write a page about the data, to open in a browser.\n\n"
    "One HTML file that works offline: a map, groups and what sets them apart, what looks wrong.",
    (
        "graspel report points.csv -o report.html --names names.txt --title 'Our patients'",
        "graspel report digits.npy -o report.html --labels classes.csv --images 8x8",
    ),
    estimators=("GRASPEL",),
)


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


def _read_words(files: dict[str, Path | None], points: Any) -> dict[str, list[str] | None]:
    """Names, texts and features from their files; without these as the table has them."""
    from graspel.io.point_files import read_texts

    n_points, n_features = points.X.shape
    numbers = {
        "names": (n_points, "names", "points"),
        "texts": (n_points, "texts", "points"),
        "features": (n_features, "names of features", "columns"),
    }
    read = {what: read_texts(path, *numbers[what]) for what, path in files.items() if path is not None}
    return {"names": points.names, "features": points.features, **read}
