"""``graspel plan``: memory and minutes of a run, before it begins."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.output import print_json, print_table
from graspel.cli.parameters import build_estimator, read_settings
from graspel.cli.points import TableOptions

ESTIMATORS = {"learn": "GRASPEL", "embed": "GraspelTSNE"}
DOING = {"learn": "Learning the graph of", "embed": "t-SNE of"}

Task = Annotated[str, options.option("The command to plan; embed is t-SNE", "learn|embed", default="learn")]


def plan(
    data: options.DataFile,
    *,
    task: Task = "learn",
    settings: options.Assignments = None,
    n_jobs: options.Jobs = None,
    json: options.Json = False,
    table: TableOptions,
) -> None:
    """Print the plan of a run on the file `data`."""
    from graspel.runtime.parameters import check_choice

    check_choice("task", task, ESTIMATORS)
    parameters = read_settings(ESTIMATORS[task], settings or (), {"n_jobs": n_jobs})
    found = build_estimator(ESTIMATORS[task], parameters).plan(table.read(data).X)
    if json:
        print_json({**asdict(found), "fits": found.fits})
    else:
        print_table(f"{DOING[task]} {data.name}", found.sentences())


COMMAND = Command(
    plan,
    "Say how much memory and time `graspel learn` or `graspel embed` will take.\n\n"
    "Reads the size of the data, not the data themselves where the format allows that (.npy, zarr, folders of "
    "Parquet), and predicts the peak of memory from a model that was fitted to measurements.",
    (
        "graspel plan points.npy",
        "graspel plan points.zarr --set n_neighbors=5 --json",
        "graspel plan points.npy --task embed",
    ),
    estimators=tuple(ESTIMATORS.values()),
)
