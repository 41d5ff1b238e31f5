"""The options that several commands share.

An option of an estimator's parameter takes its help from the docstring there; one that is not given is left to the
estimator, except for the seed, which is 0 so that two runs of a command agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.cli.parameters import describe, read_settings

AUTO = "auto"
GRAPH_FORMATS = ".npz, .mtx, .graphml, .csv, .parquet"


def describe_default(value: str) -> str:
    r"""Return the end of an option's help that names its default.

    >>> describe_default("2")
    ' [dim]\\[default: 2][/dim]'
    """
    return rf" [dim]\[default: {value}][/dim]"


def make_option(help: str, *names: str, metavar: str, default: str | None = None, **more: Any) -> Any:
    """Return an option whose help ends with its default."""
    help += "" if default is None else describe_default(default)
    return typer.Option(*names, help=help, show_default=False, metavar=metavar, **more)


def make_file_option(help: str, *names: str, **more: Any) -> Any:
    """Return an option that takes the path of a file."""
    return make_option(help, *names, metavar="FILE", **more)


def make_flag(help: str, *names: str, **more: Any) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, help=help, show_default=False, **more)


def make_parameter_option(estimator: str, parameter: str, *names: str, metavar: str, **more: Any) -> Any:
    """Return the option of an estimator's parameter: the first sentence and the default of its docstring."""
    described = describe(estimator)[parameter]
    default = more.pop("default", described.default)
    help = described.sentence.replace("[", r"\[")
    return make_option(help, *names, metavar=metavar, default=None if default == "None" else default, **more)


def make_argument(help: str, metavar: str) -> Any:
    """Return an argument that is the path of a file."""
    return typer.Argument(help=help, show_default=False, metavar=metavar)


def parse_count(text: str) -> int | str:
    """Return the number of clusters, or "auto"."""
    if text == AUTO:
        return text
    try:
        number = int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor auto") from None
    if number < 1:
        raise typer.BadParameter(f"{number} clusters cannot be made; ask for at least 1, or for auto")
    return number


Data = Annotated[Path, make_argument("The points, one per row: a file, or a folder", "DATA")]
GraphArgument = Annotated[Path, make_argument(f"The graph: {GRAPH_FORMATS}", "GRAPH")]
GraphOutput = Annotated[Path, make_file_option(f"The graph: {GRAPH_FORMATS}", "--output", "-o")]
Labels = Annotated[
    Path | None,
    make_file_option("Known classes, to compare with: .csv or .npy"),
]
Clusters = Annotated[
    Any,
    make_parameter_option(
        "GraspelClustering", "n_clusters", "--clusters", "-k", metavar="INT|auto", parser=parse_count
    ),
]
Metric = Annotated[str | None, make_parameter_option("GRASPEL", "metric", "--metric", metavar="NAME")]
Json = Annotated[bool, make_flag("Print one JSON object, and no progress bar", "--json")]
Quiet = Annotated[bool, make_flag("Print nothing but errors", "--quiet", "-q")]
Settings = Annotated[
    list[str] | None,
    make_option("Set a parameter of the method; may be repeated", "--set", metavar="NAME=VALUE"),
]
Jobs = Annotated[int | None, make_parameter_option("GRASPEL", "n_jobs", "--jobs", "-j", metavar="INT")]


@dataclass(frozen=True)
class Run:
    """The options of every command that fits an estimator."""

    settings: Settings = None
    random_state: Annotated[
        int, make_parameter_option("GRASPEL", "random_state", "--seed", metavar="INT", default="0")
    ] = 0
    n_jobs: Jobs = None
    json: Json = False
    quiet: Quiet = False

    def choose(self, estimator: str, **chosen: Any) -> dict[str, Any]:
        """The parameters of an estimator: the options `chosen`, the seed, the threads, and what ``--set`` sets."""
        chosen |= {"random_state": self.random_state, "n_jobs": self.n_jobs}
        return read_settings(estimator, self.settings or (), chosen)
