"""``graspel learn``: from a file of points to a file with their graph, and a certificate of what was learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.cli import learn_options as options
from graspel.cli.errors import friendly_errors
from graspel.cli.help_text import default
from graspel.cli.output import check_graph_file, print_certificate
from graspel.cli.progress_bar import progress_bar
from graspel.runtime.progress import announce

HELP = (
    "Learn a graph from data points.\n\n"
    "Joins each point to its nearest neighbors, joins the parts to one connected graph, then adds the few edges that "
    "change its spectrum most, until no further one raises the likelihood of the data. Writes the graph and prints a "
    "certificate: how sparse the graph is, and how well distances along it agree with those in the data."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel learn points.npy -o graph.npz",
        "graspel learn points.csv.gz -o edges.csv --n-neighbors 3 --tol 100",
        "graspel learn data.npz --key features -o graph.graphml --metric cosine",
        "graspel learn points.npy -o more.npz --initial graph.npz --tol 1",
        "graspel learn points.parquet -o graph.parquet --json > certificate.json",
        "",
        "Files are written whole or not at all, also on Ctrl-C.",
    )
)

Data = Annotated[
    Path,
    typer.Argument(
        help="The points, one per row: .npy (memory-mapped), .npz, .csv, .csv.gz, .parquet or .mtx.",
        show_default=False,
        metavar="DATA",
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The graph: .npz (with the reason for every edge), .mtx, .graphml, .csv or .parquet.",
        show_default=False,
        metavar="FILE",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        help="Which array of an .npz file to read" + default("X, or the only array"), show_default=False, metavar="NAME"
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a .csv file holds names" + default("seen from the line"),
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the certificate as one JSON object; no progress bar.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def learn(
    data: Data,
    output: Output,
    key: Key = None,
    header: Header = None,
    n_neighbors: options.Neighbors = None,
    metric: options.Metric = None,
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
    center: options.Center = None,
    random_state: options.RandomState = None,
    n_jobs: options.Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a graph from the file `data`, write it to `output`, and print the certificate. HELP is the user's text."""
    given = locals()
    parameters = {name: given[name] for name in options.PARAMETERS if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        check_graph_file(output, source=data)
        with progress_bar(show=not (json or quiet)):
            model = _fit(data, key, header, parameters)
            announce("writing", detail=output.name)
            model.graph_.export(output)
        written.append(str(output))
        if not quiet:
            print_certificate(model.certificate_, f"The graph of {data.name}, written to {output}", as_json=json)


def _fit(data: Path, key: str | None, header: bool | None, parameters: dict[str, Any]) -> Any:
    from graspel.io.tables import read_data

    announce("reading", detail=data.name)
    X = read_data(data, key=key, header=header)

    return fitted(X, parameters)


def fitted(X: Any, parameters: dict[str, Any]) -> Any:
    """The learner, fitted to X; an `initial` that is none of the named graphs is the path of a graph file."""
    from graspel.graph import Graph
    from graspel.learner import GRASPEL
    from graspel.learning.initial import INITIAL

    initial = parameters.get("initial", "knn")
    if initial not in INITIAL:
        if not Path(initial).exists():
            known = ", ".join(INITIAL)
            raise ValueError(f"--initial {initial}: is none of {known}, nor the path of a graph file that exists.")
        parameters = {**parameters, "initial": Graph.read(Path(initial))}
    return GRASPEL(**parameters).fit(X)
