"""``graspel classify``: from points of which a few have labels to the class of every point."""

from __future__ import annotations

from typing import Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.output import check_files
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import TableOptions, save_with_reading
from graspel.cli.predict import count_values, name_classes, size_rows
from graspel.runtime.progress import announce

UNLABELED = "-1"  # as GraspelClassifier has it
DOUBTFUL = 0.5  # share of the votes below which a class is doubtful: others together have as many


def classify(
    data: options.DataFile,
    output: options.ClassesFile,
    *,
    labels: options.LabelsFile = None,
    metric: options.Metric = None,
    save_model: options.SaveModel = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
) -> None:
    """Spread the labels of a few points of `data` to all, and write them to `output`."""
    parameters = run.choose("GraspelClassifier", metric=metric)
    if labels is None and table.label_column is None:
        raise ValueError("no labels are given; name their column by --label-column, or their file by --labels.")
    check_files([data, labels, find_initial_file(parameters)], labels=output, model=save_model)
    with run.progress():
        from graspel.io.point_files import write_labels

        points = table.read(data)
        y = _mark_unlabeled(table.find_classes(labels, points, points.X.shape[0], data) or [])
        model = build_estimator("GraspelClassifier", parameters).fit(points.X, y)
        columns = name_classes(model, model.label_distributions_)
        announce("writing", detail=output.name)
        write_labels(output, columns["class"], points.names, points.id_name, **columns)
        written.append(str(output))
        save_with_reading(model, points, save_model)
        written += [] if save_model is None else [str(save_model)]
    unlabeled = y == UNLABELED
    record = {
        "points": len(y),
        "labeled": int((~unlabeled).sum()),
        "classes": count_values(columns["class"]),
        "doubtful": int((columns["share"][unlabeled] < DOUBTFUL).sum()),
    }
    run.show(f"The classes of {data.name}, written to {' and '.join(written)}", record, _rows(record))


COMMAND = Command(
    classify,
    "Find the class of every point from the labels of a few.\n\n"
    "Spreads the labels along the graph of all points. A point without a label has an empty cell, or -1. Beside the "
    "class of each point stands its share of the vote of the points near it.",
    (
        "graspel classify few.csv --label-column kind -o classes.csv",
        "graspel classify points.npy --labels few.npy -o classes.csv --save-model model.npz",
    ),
    estimators=("GraspelClassifier",),
)


def _mark_unlabeled(labels: list[Any]) -> Any:
    """The labels as text, -1 where there is none."""
    import numpy as np

    from graspel.io.table import MISSING

    y = np.array([UNLABELED if str(label).strip().lower() in MISSING else str(label) for label in labels])
    if not (y == UNLABELED).any():
        raise ValueError("every point has a label already; leave those empty, or at -1, that are to be found.")
    return y


def _rows(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        ("points", f"{record['points']:,}", f"{record['labeled']:,} of them with a label"),
        *size_rows("classes", record["classes"]),
        ("doubtful", f"{record['doubtful']:,}", "found classes with less than half of the vote"),
    ]
