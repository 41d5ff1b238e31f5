"""The options that several commands share.

An option of an estimator's parameter takes its help from the docstring there; one that is not given is left to the
estimator, except for the seed, which is 0 so that two runs of a command agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.cli.output import print_json, print_table
from graspel.cli.parameters import describe_parameters, parse_value, read_settings
from graspel.cli.progress_bar import progress_bar

AUTO = "auto"
GRAPH_FORMATS = ".npz, .mtx, .graphml, .csv, .parquet"


def describe_default(value: str) -> str:
    r"""Return the end of an option's help that names its default.

    >>> describe_default("2")
    ' [dim]\\[default: 2][/dim]'
    """
    return rf" [dim]\[default: {value}][/dim]"


def option(
    help: str, metavar: str, *names: str, default: str | None = None, panel: str | None = None, **more: Any
) -> Any:
    """Return an option with a value; its help ends with its default."""
    help += "" if default is None else describe_default(default)
    return typer.Option(*names, help=help, show_default=False, metavar=metavar, rich_help_panel=panel, **more)


def flag(help: str, *names: str) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, help=help, show_default=False)


def parameter_option(estimator: str, parameter: str, metavar: str, *names: str, **more: Any) -> Any:
    """Return the option of an estimator's parameter: the first sentence and the default of its docstring."""
    described = describe_parameters(estimator)[parameter]
    if described.default != "None":
        more.setdefault("default", described.default)
    return option(described.sentence.replace("[", r"\["), metavar, *names, **more)


def argument(help: str, metavar: str) -> Any:
    """Return an argument that is the path of a file."""
    return typer.Argument(help=help, show_default=False, metavar=metavar)


DataFile = Annotated[Path, argument("The points: a file, a folder of .parquet or of pictures", "DATA")]
GraphArgument = Annotated[Path, argument(f"The graph: {GRAPH_FORMATS}", "GRAPH")]
GraphOutput = Annotated[Path, option(f"The graph: {GRAPH_FORMATS}", "FILE", "--output", "-o")]
LabelsFile = Annotated[Path | None, option("Known classes, to compare with: .csv or .npy", "FILE")]
TextsFile = Annotated[Path | None, option("A text about each point: .txt, .csv or .npy", "FILE", "--texts")]
ClassesFile = Annotated[Path, option("The class of every point: .csv or .npy", "FILE", "--output", "-o")]
SaveModel = Annotated[Path | None, option("Also write the model, for graspel predict: .npz", "FILE")]
Clusters = Annotated[
    Any, parameter_option("GraspelClustering", "n_clusters", "INT|auto", "--clusters", "-k", parser=parse_value)
]
Metric = Annotated[str | None, parameter_option("GRASPEL", "metric", "NAME", "--metric")]
Assignments = Annotated[
    list[str] | None, option("Set a parameter of the method; may be repeated", "NAME=VALUE", "--set")
]
Seed = Annotated[int, parameter_option("GRASPEL", "random_state", "INT", "--seed", default="0")]
Jobs = Annotated[int | None, parameter_option("GRASPEL", "n_jobs", "INT", "--jobs", "-j")]
Json = Annotated[bool, flag("Print one JSON object, and no progress bar", "--json")]
Quiet = Annotated[bool, flag("Print nothing but errors", "--quiet", "-q")]


@dataclass(frozen=True)
class Run:
    """The options of every command that fits an estimator."""

    settings: Assignments = None
    random_state: Seed = 0
    n_jobs: Jobs = None
    json: Json = False
    quiet: Quiet = False

    def choose(self, estimator: str, **chosen: Any) -> dict[str, Any]:
        """The parameters of an estimator: the options `chosen`, the seed, the threads, and what ``--set`` sets."""
        chosen |= {"random_state": self.random_state, "n_jobs": self.n_jobs}
        return read_settings(estimator, self.settings or (), chosen)

    def progress(self) -> AbstractContextManager[None]:
        """Show the progress of what runs inside the ``with`` block, unless ``--json`` or ``--quiet`` is given."""
        return progress_bar(show=not (self.json or self.quiet))

    def show(self, title: str, record: Mapping[str, Any], rows: Iterable[tuple[str, Any, str]]) -> None:
        """Print the result: the record as JSON, or the rows as a table under a title, or nothing."""
        if self.json:
            print_json(record)
        elif not self.quiet:
            print_table(title, rows)

    def show_certificate(self, title: str, model: Any) -> None:
        """Print the certificate of a fitted model: all its numbers as JSON, or verdicts in words."""
        self.show(title, model.certificate_.as_dict(), judge_rows(model.certificate_))


def judge_rows(certificate: Any) -> list[tuple[str, str, str]]:
    """The verdicts on a certificate as rows of a table: each rating, its question, the answer and what to do."""
    from graspel.findings.verdicts import judge

    rows = judge(certificate).rows()
    return [
        (row["rating"], "", " ".join(filter(None, (row["question"], row["answer"], row["advice"])))) for row in rows
    ]
