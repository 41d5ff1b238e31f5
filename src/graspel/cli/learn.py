"""``graspel learn``: from a file of points to a file with their graph, and a certificate of what was learned."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_graph_file, check_sources, print_certificate
from graspel.cli.parameters import build_estimator, find_initial_file
from graspel.cli.points import Table, open_on_cluster
from graspel.cli.progress_bar import progress_bar
from graspel.runtime.progress import announce

Neighbors = Annotated[
    int | None, options.make_parameter_option("GRASPEL", "n_neighbors", "--n-neighbors", "-n", metavar="INT")
]
Checkpoint = Annotated[
    str | None,
    options.make_option("Keep the rounds here, to go on after a crash", metavar="FOLDER"),
]
Dask = Annotated[
    str | None,
    options.make_option("A Dask scheduler, whose workers read a zarr array", metavar="ADDRESS"),
]


def learn(
    data: options.Data,
    output: options.GraphOutput,
    *,
    n_neighbors: Neighbors = None,
    metric: options.Metric = None,
    checkpoint: Checkpoint = None,
    dask: Dask = None,
    table: Table,
    run: options.Run,
) -> None:
    """Learn a graph from the file `data`, write it to `output`, and print the certificate."""
    with friendly_errors(quiet=run.quiet) as written:
        parameters = run.choose("GRASPEL", n_neighbors=n_neighbors, metric=metric, checkpoint=checkpoint)
        check_graph_file(output)
        check_sources([data, find_initial_file(parameters)], [output])
        with progress_bar(show=not (run.json or run.quiet)):
            opened = nullcontext(table.read(data)) if dask is None else open_on_cluster(data, table.key, dask)
            with opened as points:
                model = build_estimator("GRASPEL", parameters).fit(points.X)
            if points.names is not None:
                model.graph_ = model.graph_.with_names(points.names)
            announce("writing", detail=output.name)
            model.graph_.export(output)
        written.append(str(output))
        if not run.quiet:
            print_certificate(model.certificate_, f"The graph of {data.name}, written to {output}", as_json=run.json)


COMMAND = Command(
    learn,
    "Learn a graph from data points.\n\n"
    "Joins each point to its nearest neighbors and the components to each other, then adds the few edges that change "
    "the spectrum most. Prints a certificate: how well the graph agrees with the data.",
    (
        "graspel learn points.npy -o graph.npz",
        "graspel learn patients.csv -o edges.csv --id-column patient --drop outcome --scale standard",
        "graspel learn points.npy -o more.npz --set initial=graph.npz --set tol=1",
        "graspel learn points.zarr -o graph.npz --checkpoint run",
    ),
    estimators=("GRASPEL",),
)
