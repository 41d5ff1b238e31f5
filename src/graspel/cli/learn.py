"""``graspel learn``: from a file of points to a file with their graph, and a certificate of what was learned."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import option
from graspel.cli.output import check_files
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import TableOptions, open_on_cluster
from graspel.runtime.progress import announce

NeighborCount = Annotated[int | None, options.parameter_option("GRASPEL", "n_neighbors", "INT", "--n-neighbors", "-n")]
CheckpointFolder = Annotated[str | None, option("Keep the rounds here, to go on after a crash", "FOLDER")]
Dask = Annotated[str | None, option("A Dask scheduler, whose workers read a zarr array", "ADDRESS")]


def learn(
    data: options.DataFile,
    output: options.GraphOutput,
    *,
    n_neighbors: NeighborCount = None,
    metric: options.Metric = None,
    checkpoint: CheckpointFolder = None,
    dask: Dask = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
) -> None:
    """Learn a graph from the file `data`, write it to `output`, and print the certificate."""
    from graspel.scale.checkpoint import checkpoint_files

    parameters = run.choose("GRASPEL", n_neighbors=n_neighbors, metric=metric)
    kept = [] if checkpoint is None else [path for path in checkpoint_files(checkpoint) if path.exists()]
    check_files([data, find_initial_file(parameters), *kept], graph=output)
    with run.progress():
        opened = nullcontext(table.read(data)) if dask is None else open_on_cluster(data, table.key, dask)
        with opened as points:
            model = build_estimator("GRASPEL", parameters).fit(points.X, checkpoint=checkpoint)
        graph = model.graph_ if points.names is None else model.graph_.with_names(points.names)
        announce("writing", detail=output.name)
        graph.export(output)
    written.append(str(output))
    run.show_certificate(f"The graph of {data.name}, written to {output}", model)


COMMAND = Command(
    learn,
    "Learn a graph from data points.\n\n"
    "Joins near points, then adds the few edges that change the spectrum most. Prints a certificate.",
    (
        "graspel learn points.npy -o graph.npz",
        "graspel learn patients.csv -o edges.csv --id-column patient --drop outcome --scale standard",
        "graspel learn points.npy -o more.npz --set initial=graph.npz --set tol=1",
        "graspel learn points.zarr -o graph.npz --checkpoint run",
    ),
    estimators=("GRASPEL",),
)
