"""``graspel recover``: from a file of signals to the graph that made them."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graspel.cli import learn_options as options
from graspel.cli.errors import friendly_errors
from graspel.cli.help_text import default
from graspel.cli.learn import Header, Key, Quiet
from graspel.cli.output import check_graph_file, print_json, print_table
from graspel.cli.progress_bar import progress_bar
from graspel.io.errors import UnusableFile
from graspel.runtime.progress import announce

if TYPE_CHECKING:
    from graspel.graph import Graph
    from graspel.recovery import GraphRecovery

HELP = (
    "Recover the graph on which signals are smooth.\n\n"
    "The rows of the file are nodes and its columns are signals. Weights are those of largest likelihood: effective "
    "resistance equals the squared distance of the signals, noise taken off. Which pairs are edges is decided by an "
    "information criterion. With --truth the graph is compared with a known one."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel recover signals.npy -o graph.npz",
        "graspel recover signals.csv -o edges.csv --truth known.npz",
        "graspel recover signals.npy -o graph.npz --noise 0.5 --criterion aic",
        "graspel recover many.npy -o graph.npz --n-neighbors 10 --json",
    )
)

Signals = Annotated[
    Path,
    typer.Argument(
        help="The signals, one node per row: .npy, .npz, .csv, .csv.gz, .parquet or .mtx.",
        show_default=False,
        metavar="SIGNALS",
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="The graph: .npz, .mtx, .graphml, .csv or .parquet.", show_default=False, metavar="FILE"
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option(help="A known graph on the same nodes, to compare with.", show_default=False, metavar="FILE"),
]


def _noise(text: str) -> float | str:
    return text if text == "auto" else float(text)


Noise = Annotated[
    Any,
    typer.Option(
        help="Standard deviation of white noise in the signals; 0 for none; auto: estimated.",
        metavar="FLOAT|auto",
        parser=_noise,
        show_default=False,
    ),
]
Criterion = Annotated[
    str | None,
    typer.Option(
        help="What an edge must be worth: bic or aic, which keeps more" + default("bic"),
        metavar="bic|aic",
        show_default=False,
    ),
]
AllPairs = Annotated[
    bool | None,
    typer.Option(
        "--all-pairs/--neighbors",
        help="Whether every pair of nodes is a candidate, or what the learner finds" + default("up to 64 nodes"),
        show_default=False,
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        "--n-neighbors",
        "-k",
        help="Neighbors of each node that the learner starts from, in larger graphs" + default("5"),
        show_default=False,
        metavar="NUMBER",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print what was found as one JSON object; no progress bar.")]


def recover(
    signals: Signals,
    output: Output,
    truth: Truth = None,
    key: Key = None,
    header: Header = None,
    noise: Noise = None,
    criterion: Criterion = None,
    all_pairs: AllPairs = None,
    n_neighbors: Neighbors = None,
    random_state: options.RandomState = None,
    n_jobs: options.Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recover the graph of `signals`, write it to `output`, and print what was found. HELP is the user's text."""
    began = monotonic()
    given = locals()
    names = ("noise", "criterion", "all_pairs", "n_neighbors", "random_state", "n_jobs")
    parameters = {name: given[name] for name in names if given[name] is not None}
    with friendly_errors(quiet=quiet) as written:
        check_graph_file(output, source=signals)
        with progress_bar(show=not (json or quiet)):
            X, known = _read(signals, key, header, truth)
            model = _recovered(X, parameters)
            announce("writing", detail=output.name)
            model.graph_.export(output)
        written.append(str(output))
        seconds = {"seconds": monotonic() - began}
        if json:
            print_json({**model.certificate_.as_dict(), **_scores(known, model.graph_), **seconds})
        elif not quiet:
            rows = [*model.certificate_.sentences(), *_score_rows(known, model.graph_)]
            print_table(f"The graph behind {signals.name}, written to {output}", rows)


def _read(signals: Path, key: str | None, header: bool | None, truth: Path | None) -> tuple[Any, Graph | None]:
    from graspel.graph import Graph
    from graspel.io.tables import read_data

    known = None if truth is None else Graph.read(truth)
    announce("reading", detail=signals.name)
    X = read_data(signals, key=key, header=header)
    if known is not None and known.n_nodes != X.shape[0]:
        raise UnusableFile(
            f"{truth} is a graph of {known.n_nodes:,} nodes, but {signals} has {X.shape[0]:,} rows; rows are nodes: "
            "give signals and graph of the same nodes, or leave --truth out."
        )
    return X, known


def _recovered(X: Any, parameters: dict[str, Any]) -> GraphRecovery:
    from graspel.recovery import GraphRecovery

    return GraphRecovery(**parameters).fit(X)


def _scores(known: Graph | None, graph: Graph) -> dict[str, Any]:
    """How well the graph agrees with the known one; nothing where there is none."""
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
