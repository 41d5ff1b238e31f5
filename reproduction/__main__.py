"""``python -m reproduction``: measure the paper's tables and figures again, and set them beside the paper's numbers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from graspel.cli.errors import USER_ERRORS, explain, friendly_errors
from graspel.cli.options import describe_default
from graspel.cli.progress_bar import progress_bar
from reproduction import REPRODUCTIONS, Request, Results, TimeLeft, format_duration
from reproduction.pages import INDEX, write_index, write_page
from reproduction.tables import find_tables, record_tables

EVERYTHING = "all"
FOLDER = Path(__file__).parent / "results"  # pages, pictures and measured cells; not kept in git

HELP = (
    "Measure the paper's tables and figures again.\n\n"
    "table1: spectral clustering on COIL-20, PenDigits, USPS and MNIST, beside other methods. table2: graph recovery. "
    "fig-recovery-time: its time as graphs grow. tsne: multilevel t-SNE beside openTSNE and scikit-learn. "
    "fig-convergence: the decreasing distortions. suite: many data sets beside the clusterings that users "
    "run today. graphs: one assignment stage on the graphs of all methods. authors-code: the paper's run "
    "from 2NN graphs as the authors' code has it. counts: how many clusters are found on sets with a known "
    "answer. fig-objective: the objective over the rounds. fig-spectra: the first eigenvalues and spectral "
    "drawings. all: everything, with an index page.\n\n"
    "Each page is written to NAME.md with its pictures, our numbers beside the paper's. Every cell is kept in "
    "NAME.json as soon as it is measured, so a run that was stopped continues where it was. The data sets are "
    "looked for in the folder GRASPEL_DATA and in the cache, else fetched from OpenML."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "python -m reproduction all --quick",
        "python -m reproduction fig-spectra --only usps",
        "python -m reproduction table1 --quick",
        "python -m reproduction table1 --only coil20,pendigits,usps",
        "python -m reproduction table1 --only mnist --methods graspel,knn --seeds 3",
        "python -m reproduction table1 --only mnist --methods sklearn-spectral --limit 3600",
        "python -m reproduction tsne --quick",
        "python -m reproduction suite --methods graspel,genie,kmeans",
        "python -m reproduction graphs --only coil20,pendigits,usps",
    )
)

Name = Annotated[
    str,
    typer.Argument(
        help="What to reproduce: all, or one name; a wrong name shows the list.", show_default=False, metavar="NAME"
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        help="Data sets, with commas: coil20, pendigits, usps, mnist, mnist-subset; for table2 the graphs gaussian, "
        "er, preferential, grid, blocks" + describe_default("all it has"),
        show_default=False,
        metavar="NAMES",
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Methods, with commas: graspel, knn, kmeans and others; a wrong name shows the list"
        + describe_default("all that are not too slow"),
        show_default=False,
        metavar="NAMES",
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A first look, in minutes: small data, fewer rounds and seeds, no slow peers.")
]
Seeds = Annotated[
    int | None,
    typer.Option(
        help="Number of seeds for every cell" + describe_default("10, table2: 20, tsne: 1; quick: fewer"),
        show_default=False,
        metavar="NUMBER",
    ),
]
Limit = Annotated[float, typer.Option(help="Seconds after which scikit-learn is stopped on MNIST.", metavar="SECONDS")]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The folder to write to; made if needed" + describe_default("reproduction/results"),
        show_default=False,
        metavar="FOLDER",
    ),
]
Record = Annotated[
    str | None,
    typer.Option(
        help="Put the tables that a page of docs/ shows into docs/results.json, as NAME/...; not for all.",
        show_default=False,
        metavar="NAME",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what earlier runs measured.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def reproduce(
    name: Name,
    only: Only = None,
    methods: Methods = None,
    quick: Quick = False,
    seeds: Seeds = None,
    limit: Limit = 1200.0,
    output: Output = FOLDER,
    fresh: Fresh = False,
    record: Record = None,
    quiet: Quiet = False,
) -> None:
    """Measure what is missing, print the pages and write them. HELP is the user's text."""
    with friendly_errors(quiet=quiet) as written:
        request = Request(_split_names(only), _split_names(methods), seeds, quick, limit)
        if name == EVERYTHING:
            if record is not None:
                raise ValueError("--record is for one table or figure; name it instead of all.")
            _reproduce_all(request, output, fresh, written, show=not quiet)
            message = f"Written: {written[0]}, with a page for each"
        else:
            text = _reproduce_one(name, request, output, fresh, written, show=not quiet)
            message = f"{text}\nWritten: {' and '.join(written)}"
            if record is not None:
                command = shlex.join(["python", "-m", "reproduction", *sys.argv[1:]])
                source = Results(output, name).describe_source()
                message += f"\n{record_tables(record, find_tables(text), command, source)}"
        if not quiet:
            print(message)


def _reproduce_one(name: str, request: Request, output: Path, fresh: bool, written: list[str], *, show: bool) -> str:
    """Measure one table or figure, and write its page and the index."""
    if name not in REPRODUCTIONS:
        names = ", ".join((*REPRODUCTIONS, EVERYTHING))
        raise ValueError(f"{name}: there is no such reproduction; choose one of {names}.")
    results = Results(output, name, fresh=fresh, quick=request.quick)
    try:
        with progress_bar(show=show):
            text = REPRODUCTIONS[name](request, results)
    finally:
        if results.path.exists():
            written.append(str(results.path))
    written.insert(0, str(write_page(output, name, text)))
    write_index(output, REPRODUCTIONS)
    return text


def _reproduce_all(request: Request, output: Path, fresh: bool, written: list[str], *, show: bool) -> None:
    """Measure everything, the quickest first, and tell the time left; where one fails, the others still run."""
    if request.only is not None or request.methods is not None:
        raise ValueError("--only and --methods choose a part of one table or figure; name it instead of all.")
    expected = {name: one.seconds(request) for name, one in REPRODUCTIONS.items()}
    left, failed = TimeLeft(expected), {}
    for at, name in enumerate(sorted(expected, key=lambda name: expected[name]), start=1):
        if show:
            about = f"{name}, {at} of {len(expected)}; {format_duration(left.seconds)} left in all"
            print(f"{about} ...", file=sys.stderr, flush=True)
        began = monotonic()
        try:
            _reproduce_one(name, request, output, fresh, written, show=show)
        except USER_ERRORS as error:
            failed[name] = explain(error)
            print(f"{name} failed: {failed[name]}", file=sys.stderr, flush=True)
        left.done(name, monotonic() - began)
    if failed:
        raise ValueError(f"{', '.join(failed)}: not reproduced, for the reasons above; the others were. Run again.")
    written.insert(0, str(output / INDEX))


def _split_names(given: str | None) -> tuple[str, ...] | None:
    """The names in an option's text, which have commas between them."""
    return None if given is None else tuple(name.strip() for name in given.split(",") if name.strip())


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit; `arguments` defaults to those of the process."""
    from typer.main import get_command

    app = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
    app.command(help=HELP, epilog=EXAMPLES, no_args_is_help=True)(reproduce)
    with friendly_errors():
        code = get_command(app).main(arguments, prog_name="python -m reproduction", standalone_mode=False)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
