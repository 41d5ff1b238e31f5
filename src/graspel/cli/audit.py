"""``graspel audit``: from a file of points to one table for each kind of finding, a page, and an exit code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import option
from graspel.cli.output import check_files, print_json, print_line, print_table
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import OF_GRAPH, TableOptions, make_index, split_names

FOUND = 1  # the exit code where --fail-on names something that was found

Output = Annotated[Path, option("The folder of the tables and of the page", "FOLDER", "--output", "-o")]
Split = Annotated[str | None, option("The column of parts (train, test), or a file: .csv, .npy", "COLUMN|FILE")]
FailOn = Annotated[str | None, option("Exit with code 1 if there are any: labels, leakage, ...", "NAME,...")]


def audit(
    data: options.DataFile,
    output: Output,
    *,
    labels: options.LabelsFile = None,
    split: Split = None,
    texts: options.TextsFile = None,
    n_clusters: options.Clusters = options.AUTO,
    metric: options.Metric = None,
    fail_on: FailOn = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
    repeat: Callable[..., str],
) -> None:
    """Write what is found in `data` to the folder `output`."""
    parameters = run.choose("GRASPEL", metric=metric)
    watched = _check_names(fail_on)
    split_file = Path(split) if split is not None and Path(split).suffix.lower() in (".csv", ".npy") else None
    check_files([data, labels, texts, split_file, find_initial_file(parameters)])
    folder = _make_folder(output)
    with run.progress():
        from graspel.findings.audit import audit as find_all
        from graspel.report import write_report
        from graspel.report.inputs import Source

        points, parts = _read(table, data, split, split_file)
        n = points.X.shape[0]
        classes = table.find_classes(labels, points, n, data)
        read = None if texts is None else _read_texts(texts, n)
        model = build_estimator("GRASPEL", parameters)
        known = {"texts": read, "names": points.names, "values": _values(points, read)}
        found = find_all(make_index(points.X, model), classes, split=parts, clusters=n_clusters, model=model, **known)
        for path in found.save(folder):
            written.append(str(path))
        page = folder / "report.html"
        clusters = "auto" if found.clusterer is None else found.clusterer
        shown = {"X": points.shown, "names": points.names, "texts": read, "labels": classes}
        done = table.as_done(points)
        if split is not None and split_file is None:
            done = replace(done, drop=",".join([*split_names(done.drop), split]))
        command = repeat("learn", "graph.npz", OF_GRAPH, **done.changed())
        source = Source(data.name, command, done.write_reading(data))
        write_report(found.model, page, clusters=clusters, source=source, **shown)
        written.append(str(page))
    _show(found, data, folder, run)
    seen = [f"{found.counts[name]:,} in {name}.csv" for name in watched if found.counts.get(name)]
    if seen:
        if not run.quiet:
            print_line(f"--fail-on: found {', '.join(seen)}.")
        raise SystemExit(FOUND)


COMMAND = Command(
    audit,
    "Find what is wrong in data points: false labels, copies, leaks between train and test, outliers.\n\n"
    "Writes a folder with one .csv for each kind of finding, in which every row has its evidence, and a page to open "
    "in a browser. With --fail-on it can guard data in automatic checks.",
    (
        "graspel audit customers.csv -o audit",
        "graspel audit data.parquet --label-column y --split part -o audit --fail-on leakage,labels",
    ),
    estimators=("GRASPEL",),
)


def _check_names(fail_on: str | None) -> list[str]:
    """The findings that --fail-on names."""
    from graspel.findings.audit import COUNTED

    names = [name.strip() for name in (fail_on or "").split(",") if name.strip()]
    for name in names:
        if name not in COUNTED:
            raise ValueError(f"--fail-on {name}: must be one of {', '.join(COUNTED)}, or several with commas.")
    return names


def _make_folder(output: Path) -> Path:
    """The folder to write to, made if there is none."""
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file, and the tables need a folder; give another name.")
    output.mkdir(exist_ok=True)
    return output


def _read(table: TableOptions, data: Path, split: str | None, split_file: Path | None) -> tuple[Any, list[Any] | None]:
    """The points, and the part that each is in."""
    from graspel.io.point_files import read_labels

    points = table.read(data, None if split_file else split, chooses=True)
    if split_file is not None:
        return points, read_labels(split_file, points.X.shape[0], data)
    return points, points.split


def _read_texts(path: Path, n_points: int) -> list[str]:
    from graspel.io.point_files import read_texts

    return read_texts(path, n_points, "texts", "points")


def _values(points: Any, texts: list[str] | None) -> Any:
    """The columns as they are to be shown; None for those that have no meaning of their own."""
    if points.shown is not None or texts is not None:
        return points.shown
    from graspel.findings.shown import make_shown

    return make_shown(points.X, points.features)


def _show(found: Any, data: Path, folder: Path, run: options.Run) -> None:
    if run.json:
        print_json({"points": found.model.graph_.n_nodes, "counts": found.counts, "sentences": found.sentences})
    elif not run.quiet:
        from graspel.findings.summary import list_groups

        for sentence in found.sentences:
            print_line(sentence)
        rows = list_groups(found.tables["groups"])
        if len(rows) > 1:
            print_table("What sets the groups apart", rows)
        print_line(f"Tables and page: {folder}")
