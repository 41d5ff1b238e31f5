"""``graspel recover``: from a file of signals to the graph on which they are smooth."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graspel.cli import options
from graspel.cli.errors import friendly_errors
from graspel.cli.output import check_graph_file, check_sources, print_json, print_table
from graspel.cli.progress_bar import progress_bar
from graspel.cli.run_learner import read_points
from graspel.io.errors import UnusableFile
from graspel.runtime.progress import announce

if TYPE_CHECKING:
    from graspel.estimators.recovery import GraspelRecovery
    from graspel.graph import Graph

HELP = (
    "Recover the graph on which signals are smooth.\n\n"
    "The rows of the file are nodes and its columns are signals. The weights maximize the likelihood: effective "
    "resistance equals the squared distance of the signals, minus the noise. An information criterion decides which "
    "pairs are edges. With --truth the graph is compared with a known one. With --currents the signals are voltages, "
    "and the weights are the conductances that explain the currents best."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel recover signals.npy -o graph.npz",
        "graspel recover signals.csv -o edges.csv --truth known.npz",
        "graspel recover signals.npy -o graph.npz --noise 0.5 --criterion aic",
        "graspel recover voltages.npy --currents currents.npy -o network.npz",
        "graspel recover many.npy -o graph.npz --n-neighbors 10 --json",
    )
)

Signals = Annotated[
    Path,
    typer.Argument(
        help=f"The signals, one node per row: {options.FORMATS}.",
        show_default=False,
        metavar="SIGNALS",
    ),
]
Output = Annotated[
    Path, options.make_file_option("The graph: .npz, .mtx, .graphml, .csv or .parquet.", "--output", "-o")
]
Truth = Annotated[Path | None, options.make_file_option("A known graph on the same nodes, to compare with.")]

Currents = Annotated[
    Path | None,
    options.make_file_option(
        "The currents that enter at the nodes, if the signals are voltages: a file of their shape."
    ),
]


def _parse_noise(text: str) -> float | str:
    return text if text == options.AUTO else float(text)


Noise = Annotated[
    Any,
    typer.Option(
        help="Standard deviation of white noise in the signals; 0 for none; auto: estimated.",
        metavar="FLOAT|auto",
        parser=_parse_noise,
        show_default=False,
    ),
]
Criterion = Annotated[
    str | None,
    options.make_option(
        None,
        "bic",
        "Information criterion that decides whether an edge is kept: bic, or aic, which keeps more edges",
        metavar="bic|aic",
    ),
]
AllPairs = Annotated[
    bool | None,
    options.make_option(
        None,
        "up to 64 nodes",
        "Whether every pair of nodes is a candidate, or only pairs that the learner finds",
        "--all-pairs/--neighbors",
    ),
]
Neighbors = Annotated[
    int | None,
    options.make_option(
        None,
        "5",
        "Neighbors of each node that the learner starts from, in larger graphs",
        "--n-neighbors",
        "-n",
        metavar="NUMBER",
    ),
]


def recover(
    signals: Signals,
    output: Output,
    truth: Truth = None,
    currents: Currents = None,
    key: options.Key = None,
    header: options.Header = None,
    id_column: options.IdColumn = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    noise: Noise = None,
    criterion: Criterion = None,
    all_pairs: AllPairs = None,
    n_neighbors: Neighbors = None,
    random_state: options.RandomState = None,
    n_jobs: options.Jobs = None,
    json: options.SummaryJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Recover the graph of `signals`, write it to `output`, and print a summary; HELP is the help page."""
    began = monotonic()
    given = locals()
    names = ("noise", "criterion", "all_pairs", "n_neighbors", "random_state", "n_jobs")
    parameters = {name: given[name] for name in names if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        check_graph_file(output)
        check_sources([signals, truth, currents], [output])
        with progress_bar(show=not (json or quiet)):
            points, known = _read(signals, key, header, truth, given)
            causes = None if currents is None else read_points(currents, key, header, given).X
            model = _fit(points, parameters, causes)
            announce("writing", detail=output.name)
            model.graph_.export(output)
        written.append(str(output))
        seconds = {"seconds": monotonic() - began}
        if json:
            print_json({**model.certificate_.as_dict(), **_scores(known, model.graph_), **seconds})
        elif not quiet:
            rows = [*model.certificate_.sentences(), *_score_rows(known, model.graph_)]
            print_table(f"The graph behind {signals.name}, written to {output}", rows)


def _read(
    signals: Path, key: str | None, header: bool | None, truth: Path | None, given: dict[str, Any]
) -> tuple[Any, Graph | None]:
    from graspel.graph import Graph

    known = None if truth is None else Graph.read(truth)
    points = read_points(signals, key, header, given)
    n_rows = points.X.shape[0]
    if known is not None and known.n_nodes != n_rows:
        raise UnusableFile(
            f"{truth} is a graph of {known.n_nodes:,} nodes, but {signals} has {n_rows:,} rows; rows are nodes: "
            "give signals and graph of the same nodes, or leave --truth out."
        )
    return points, known


def _fit(points: Any, parameters: dict[str, Any], currents: Any) -> GraspelRecovery:
    from graspel.estimators.recovery import GraspelRecovery

    model = GraspelRecovery(**parameters).fit(points.X, currents=currents)
    if points.names is not None:
        model.graph_ = model.graph_.with_names(points.names)
    return model


def _scores(known: Graph | None, graph: Graph) -> dict[str, Any]:
    """How well the graph agrees with the known one; empty if there is none."""
    if known is None:
        return {}
    from dataclasses import asdict

    from graspel.metrics import edge_scores

    return asdict(edge_scores(known, graph))


def _score_rows(known: Graph | None, graph: Graph) -> list[tuple[str, str, str]]:
    scores = _scores(known, graph)
    if not scores:
        return []
    shared = f"{scores['n_shared']:,} of {scores['n_true']:,} true edges among {scores['n_learned']:,}"
    return [
        ("F-measure", f"{scores['f_measure']:.4f}", shared),
        ("precision", f"{scores['precision']:.4f}", "share of the edges found that are true"),
        ("recall", f"{scores['recall']:.4f}", "share of the true edges that were found"),
        ("NMI", f"{scores['nmi']:.4f}", "information that both graphs share on which pairs are edges"),
        ("weight error", f"{scores['weight_error']:.4f}", "relative, at the same total weight"),
    ]
