"""``graspel learn``: from a file of points to a file with their graph, and a certificate of what was learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_graph_file, check_sources, print_certificate
from graspel.cli.progress_bar import progress_bar
from graspel.cli.run_learner import find_initial_file, learn_graph, open_on_cluster, read_points
from graspel.runtime.progress import announce

HELP = (
    "Learn a graph from data points.\n\n"
    "Joins each point to its nearest neighbors, joins the components to one connected graph, then adds the few edges "
    "that change its spectrum most, until no other edge raises the likelihood of the data. Writes the graph and prints "
    "a certificate: how sparse the graph is, and how well distances along it agree with those in the data."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel learn points.npy -o graph.npz",
        "graspel learn points.csv.gz -o edges.csv --n-neighbors 3 --tol 100",
        "graspel learn patients.csv -o edges.csv --id-column patient --label-column outcome --scale standard",
        "graspel learn data.npz --key features -o graph.graphml --metric cosine",
        "graspel learn points.npy -o more.npz --initial graph.npz --tol 1",
        "graspel learn points.parquet -o graph.parquet --json > certificate.json",
        "graspel learn points.zarr -o graph.npz --checkpoint run --seed 0",
        "graspel learn points.zarr -o graph.npz --dask tcp://scheduler:8786",
        "",
        "Files are written completely or not at all, also on Ctrl-C.",
    )
)

Output = Annotated[
    Path,
    options.make_file_option(
        "The graph: .npz (with the reason for every edge), .mtx, .graphml, .csv or .parquet.", "--output", "-o"
    ),
]
Dask = Annotated[
    str | None,
    options.make_option(
        options.RUN,
        "this process alone",
        "Address of a Dask scheduler, such as tcp://host:8786: the points, a zarr array that its workers can read, "
        "stay there, and only edges come here.",
        metavar="ADDRESS",
    ),
]


def learn(
    data: options.Data,
    output: Output,
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
    dask: Dask = None,
    json: options.CertificateJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn a graph from the file `data`, write it to `output`, and print the certificate; HELP is the help page."""
    given = locals()
    parameters = {name: given[name] for name in options.PARAMETERS if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        check_graph_file(output)
        check_sources([data, find_initial_file(initial)], [output])
        with progress_bar(show=not (json or quiet)):
            if dask is None:
                model = learn_graph(read_points(data, key, header, given), parameters)
            else:
                with open_on_cluster(data, key, dask) as X:
                    model = learn_graph(X, parameters)
            announce("writing", detail=output.name)
            model.graph_.export(output)
        written.append(str(output))
        if not quiet:
            print_certificate(model.certificate_, f"The graph of {data.name}, written to {output}", as_json=json)
