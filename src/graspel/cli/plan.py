"""``graspel plan``: memory and minutes of a run, before it begins."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import print_json, print_table
from graspel.cli.run_learner import read_points

HELP = (
    "Say how much memory and time `graspel learn` or `graspel embed` will take.\n\n"
    "Reads the size of the data, not the data themselves where the format allows that (.npy, zarr, folders of "
    "Parquet), and foretells the peak of memory from a model that was fitted to measurements."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel plan points.npy",
        "graspel plan points.zarr --n-neighbors 5 --json",
        "graspel plan points.npy --task embed",
    )
)

TASKS = ("learn", "embed")

Task = Annotated[
    str,
    typer.Option("--task", help="The command to plan: learn, or embed (t-SNE of all points).", metavar="learn|embed"),
]
Json = Annotated[bool, typer.Option("--json", help="Print the plan as one JSON object.")]


def plan(
    data: options.Data,
    key: options.Key = None,
    header: options.Header = None,
    n_neighbors: options.Neighbors = None,
    candidates: options.Candidates = None,
    n_components: options.Components = None,
    n_jobs: options.Jobs = None,
    task: Task = "learn",
    json: Json = False,
) -> None:
    """Print the plan of a run on the file `data`; HELP is the help page."""
    given: dict[str, Any] = {
        "n_neighbors": n_neighbors,
        "candidates": candidates,
        "n_components": n_components,
        "n_jobs": n_jobs,
    }
    with friendly_errors():
        from dataclasses import asdict

        from graspel.runtime.parameters import check_choice

        check_choice("task", task, TASKS)
        found = _make_estimator(task, given).plan(read_points(data, key, header).X)
        if json:
            print_json({**asdict(found), "fits": found.fits})
        else:
            doing = {"learn": "Learning the graph of", "embed": "t-SNE of"}[task]
            print_table(f"{doing} {data.name}", found.sentences())


def _make_estimator(task: str, given: dict[str, Any]) -> Any:
    """The estimator that the command runs, with the options that are given."""
    from graspel.estimators.learner import GRASPEL

    wanted = {name: value for name, value in given.items() if value is not None}
    if task == "learn":
        return GRASPEL(**wanted)
    from graspel.estimators.tsne import GraspelTSNE

    return GraspelTSNE(learner=GRASPEL(max_iter=0, **wanted), n_jobs=wanted.get("n_jobs"))
