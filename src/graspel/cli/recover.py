"""``graspel recover``: from a file of signals to the graph on which they are smooth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.options import option
from graspel.cli.output import check_files
from graspel.cli.parameters import build_estimator, parse_value
from graspel.cli.points import TableOptions
from graspel.io.checks import UnusableFile
from graspel.runtime.progress import announce

if TYPE_CHECKING:
    from graspel.graph import Graph
    from graspel.metrics import EdgeScores

Signals = Annotated[Path, options.argument("The signals, one node per row: a file, or a folder", "SIGNALS")]
Truth = Annotated[Path | None, option("A known graph of these nodes, to compare with", "FILE")]
Currents = Annotated[Path | None, option("The currents, if the signals are voltages", "FILE")]
Noise = Annotated[
    Any, options.parameter_option("GraspelRecovery", "noise", "FLOAT|auto", "--noise", parser=parse_value)
]


def recover(
    signals: Signals,
    output: options.GraphOutput,
    *,
    truth: Truth = None,
    currents: Currents = None,
    noise: Noise = None,
    table: TableOptions,
    run: options.Run,
    written: list[str],
) -> None:
    """Recover the graph of `signals`, write it to `output`, and print a summary."""
    began = monotonic()
    parameters = run.choose("GraspelRecovery", noise=noise)
    check_files([signals, truth, currents], graph=output)
    with run.progress():
        points, known = _read(signals, table, truth)
        causes = None if currents is None else table.read(currents).X
        model = build_estimator("GraspelRecovery", parameters).fit(points.X, currents=causes)
        graph = model.graph_ if points.names is None else model.graph_.with_names(points.names)
        announce("writing", detail=output.name)
        graph.export(output)
    written.append(str(output))
    from graspel.metrics import edge_scores

    scores = None if known is None else edge_scores(known, graph)
    record = {**model.certificate_.as_dict(), **(asdict(scores) if scores else {}), "seconds": monotonic() - began}
    rows = [*model.certificate_.sentences(), *(_score_rows(scores) if scores else [])]
    run.show(f"The graph behind {signals.name}, written to {output}", record, rows)


COMMAND = Command(
    recover,
    "Recover the graph on which signals are smooth.\n\n"
    "The rows are nodes, the columns signals. On the graph found, effective resistance equals the squared distance of "
    "the signals, minus the noise. With --currents the signals are voltages, and the weights conductances.",
    (
        "graspel recover signals.npy -o graph.npz",
        "graspel recover signals.csv -o edges.csv --truth known.npz",
        "graspel recover signals.npy -o graph.npz --noise 0.5 --set criterion=aic",
        "graspel recover voltages.npy --currents currents.npy -o network.npz",
    ),
    estimators=("GraspelRecovery",),
)


def _read(signals: Path, table: TableOptions, truth: Path | None) -> tuple[Any, Graph | None]:
    from graspel.graph import Graph

    known = None if truth is None else Graph.read(truth)
    points = table.read(signals)
    n_rows = points.X.shape[0]
    if known is not None and known.n_nodes != n_rows:
        raise UnusableFile(
            f"{truth} is a graph of {known.n_nodes:,} nodes, but {signals} has {n_rows:,} rows; rows are nodes: "
            "give signals and graph of the same nodes, or leave --truth out."
        )
    return points, known


def _score_rows(scores: EdgeScores) -> list[tuple[str, str, str]]:
    shared = f"{scores.n_shared:,} of {scores.n_true:,} true edges among {scores.n_learned:,}"
    return [
        ("F-measure", f"{scores.f_measure:.4f}", shared),
        ("precision", f"{scores.precision:.4f}", "share of the edges found that are true"),
        ("recall", f"{scores.recall:.4f}", "share of the true edges that were found"),
        ("NMI", f"{scores.nmi:.4f}", "information that both graphs share on which pairs are edges"),
        ("weight error", f"{scores.weight_error:.4f}", "relative, at the same total weight"),
    ]
