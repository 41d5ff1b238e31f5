"""``python -m reproduction``: measure the paper's tables and figures again, and set them beside the paper's numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from graspel.cli.errors import USER_ERRORS, friendly_errors, sentence
from graspel.cli.help_text import default
from graspel.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from reproduction import Request

EVERYTHING = "all"
FOLDER = Path(__file__).parent / "results"  # where pages and measured cells are kept

HELP = (
    "Measure the paper's tables and figures again.\n\n"
    "table1 is spectral clustering on COIL-20, PenDigits, USPS and MNIST, with peers of today; table2 graph recovery, "
    "and fig-recovery-time its time as graphs grow; tsne multilevel t-SNE beside openTSNE and scikit-learn; "
    "fig-convergence the decreasing distortions; fig-objective the objective over the rounds; fig-spectra the first "
    "eigenvalues and spectral drawings; all is everything, with an index page. Each is written to NAME.md (with its "
    "pictures), ours "
    "beside the paper's numbers; every cell is kept in NAME.json as soon as it is measured, so a run that was stopped "
    "goes on where it was. The data sets are looked for in the folder GRASPEL_DATA and in the cache, else fetched from "
    "OpenML."
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
    )
)

Name = Annotated[
    str,
    typer.Argument(
        help="What to reproduce: all, or one by its name, of which a wrong one shows the list.",
        show_default=False,
        metavar="NAME",
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        help="Data sets, with commas: coil20, pendigits, usps, mnist, mnist-subset; of table2 the graphs gaussian, er, "
        "preferential, grid, blocks" + default("all it has"),
        show_default=False,
        metavar="NAMES",
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        help="Methods, with commas: graspel, knn, kmeans and others, of which a wrong name shows the list"
        + default("all that are not too slow"),
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
        help="Seeds of every cell" + default("10, table2: 20, tsne: 1; quick: fewer"),
        show_default=False,
        metavar="NUMBER",
    ),
]
Limit = Annotated[float, typer.Option(help="Seconds after which scikit-learn is stopped on MNIST.", metavar="SECONDS")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The folder to write to; made if needed.", metavar="FOLDER")
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
    quiet: Quiet = False,
) -> None:
    """Measure what is missing, print the pages and write them. HELP is the user's text."""
    with friendly_errors(quiet=quiet) as written:
        from reproduction import Request

        request = Request(_names(only), _names(methods), seeds, quick, limit)
        if name == EVERYTHING:
            _reproduce_all(request, output, fresh, written, show=not quiet)
            said = f"Written: {written[0]}, with a page for each"
        else:
            text = _reproduced(name, request, output, fresh, written, show=not quiet)
            said = f"{text}\nWritten: {' and '.join(written)}"
        if not quiet:
            print(said)


def _reproduced(name: str, request: Request, output: Path, fresh: bool, written: list[str], *, show: bool) -> str:
    """Measure one, and write its page and the index."""
    from reproduction import REPRODUCTIONS, Results
    from reproduction.index import write_index, write_page

    if name not in REPRODUCTIONS:
        names = ", ".join((*REPRODUCTIONS, EVERYTHING))
        raise ValueError(f"{name}: there is no such reproduction; choose one of {names}.")
    results = Results(output, name, fresh=fresh)
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
    """Measure everything, the quickest first, and say how much is left; where one fails, the others still run."""
    from reproduction import REPRODUCTIONS
    from reproduction.index import INDEX
    from reproduction.time_left import TimeLeft, in_words

    if request.only is not None or request.methods is not None:
        raise ValueError("--only and --methods choose a part of one table or figure; name it instead of all.")
    expected = {name: one.seconds(request) for name, one in REPRODUCTIONS.items()}
    left, failed = TimeLeft(expected), {}
    for at, name in enumerate(sorted(expected, key=lambda name: expected[name]), start=1):
        if show:
            about = f"{name}, {at} of {len(expected)}; {in_words(left.seconds)} left in all"
            print(f"{about} ...", file=sys.stderr, flush=True)
        began = monotonic()
        try:
            _reproduced(name, request, output, fresh, written, show=show)
        except USER_ERRORS as error:
            failed[name] = sentence(error)
            print(f"{name} failed: {failed[name]}", file=sys.stderr, flush=True)
        left.done(name, monotonic() - began)
    if failed:
        raise ValueError(f"{', '.join(failed)}: not reproduced, for the reasons above; the others were. Run again.")
    written.insert(0, str(output / INDEX))


def _names(given: str | None) -> tuple[str, ...] | None:
    """Names from an option with commas."""
    return None if given is None else tuple(name.strip() for name in given.split(",") if name.strip())
