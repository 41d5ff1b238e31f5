"""``graspel predict``: from a saved model and new points to their clusters, classes or places."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import argument, option
from graspel.cli.output import check_files
from graspel.cli.points import NewTableOptions
from graspel.runtime.progress import announce

SHOWN = 10  # clusters or classes whose sizes are printed

ModelFile = Annotated[Path, argument("The model, .npz, that --save-model has written", "MODEL")]
NewFile = Annotated[Path, argument("The new points, one per row, with the columns of the model", "DATA")]
Predictions = Annotated[Path, option("Clusters, classes or places: .csv or .npy", "FILE", "--output", "-o")]


def predict(
    model: ModelFile,
    data: NewFile,
    output: Predictions,
    *,
    table: NewTableOptions,
    json: options.Json = False,
    quiet: options.Quiet = False,
    written: list[str],
) -> None:
    """Write what the saved `model` says of the points in `data` to the file `output`."""
    run = options.Run(json=json, quiet=quiet)
    check_files([model, data], labels=output)
    with run.progress():
        from graspel.io.models import load_model
        from graspel.io.point_files import write_coordinates, write_labels

        announce("reading", detail=model.name)
        fitted = load_model(model)
        kind = _check_kind(fitted, model)
        points = table.read_like(data, getattr(fitted, "reading_", None))
        announce("predicting")
        if kind == "places":
            write_coordinates(output, fitted.transform(points.X), points.names, points.id_name)
            counts: dict[str, int] = {}
        else:
            columns = predict_columns(fitted, points.X)
            found = next(iter(columns.values()))
            write_labels(output, found, points.names, points.id_name, **columns)
            counts = count_values(found)
    written.append(str(output))
    record = {"model": type(fitted).__name__, "points": points.X.shape[0], **({kind: counts} if counts else {})}
    rows = [
        ("points", f"{record['points']:,}", f"by the {record['model']} in {model.name}"),
        *size_rows(kind, counts),
    ]
    run.show(f"The {kind} of {data.name}, written to {output}", record, rows)


COMMAND = Command(
    predict,
    "Say the clusters, classes or places of new points, by a saved model.\n\n"
    "The model is written by the option --save-model of cluster, classify and embed. New points are scaled, and their "
    "gaps filled, as those of the model were.",
    (
        "graspel predict wine.npz new.csv -o clusters.csv",
        "graspel predict map.npz new.npy -o places.npy",
    ),
)


def predict_columns(fitted: Any, X: Any) -> dict[str, Any]:
    """The columns to be written: clusters, or classes with the share of the graph's vote that each has."""
    if not hasattr(fitted, "predict_proba"):
        return {"cluster": fitted.predict(X)}
    return name_classes(fitted, fitted.predict_proba(X))


def name_classes(fitted: Any, shares: Any) -> dict[str, Any]:
    """The class with the largest share at each point, and this share."""
    return {"class": fitted.classes_[shares.argmax(axis=1)], "share": shares.max(axis=1)}


def count_values(values: Any) -> dict[str, int]:
    """How often each value occurs, the most frequent first."""
    from collections import Counter

    return {str(value): count for value, count in Counter(values.tolist()).most_common()}


def size_rows(kind: str, counts: dict[str, int]) -> list[tuple[str, str, str]]:
    """A row for a table that says how many points are in the largest clusters or classes."""
    if not counts:
        return []
    shown = ", ".join(f"{name}: {count:,}" for name, count in list(counts.items())[:SHOWN])
    return [(kind, f"{len(counts):,}", shown + (", ..." if len(counts) > SHOWN else ""))]


def _check_kind(fitted: Any, path: Path) -> str:
    """What the model says of new points."""
    if hasattr(fitted, "transduction_"):
        return "classes"
    if hasattr(fitted, "labels_"):
        return "clusters"
    if hasattr(fitted, "embedding_"):
        return "places"
    raise ValueError(
        f"{path} holds a {type(fitted).__name__}, which says nothing of new points; save a model by --save-model of "
        "graspel cluster, classify or embed."
    )
