"""``graspel reproduce``: measure a table of the paper again, and print it beside the paper's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graspel.cli.errors import friendly_errors
from graspel.cli.help_text import default
from graspel.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from graspel.reproduce import Request

HELP = (
    "Measure a table of the paper again, with peers of today.\n\n"
    "table1 is spectral clustering on COIL-20, PenDigits, USPS and MNIST, with the paragraph on 2NN graphs (USPS and a "
    "subset of MNIST). tsne is multilevel t-SNE on USPS and MNIST, beside openTSNE and scikit-learn, with a figure of "
    "all pictures. Prints the table beside the paper's numbers and writes it to NAME.md; every cell is kept in "
    "NAME.json as soon as it is measured, so a run that was stopped goes on where it was. The data sets are looked for "
    "in the folder GRASPEL_DATA and in the cache, else fetched from OpenML."
)
EXAMPLES = "\n".join(
    (
        "[bold]Examples[/bold]",
        "graspel reproduce table1 --quick",
        "graspel reproduce table1 --only coil20,pendigits,usps",
        "graspel reproduce table1 --only mnist --methods graspel,knn --seeds 3",
        "graspel reproduce table1 --only mnist --methods sklearn-spectral --limit 3600",
        "graspel reproduce tsne --quick",
    )
)

Name = Annotated[str, typer.Argument(help="What to reproduce: table1 or tsne.", show_default=False, metavar="NAME")]
Only = Annotated[
    str | None,
    typer.Option(
        help="Data sets, with commas: coil20, pendigits, usps, mnist, mnist-subset" + default("all"),
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
    bool,
    typer.Option("--quick", help="COIL-20 and USPS (tsne: USPS), 2 seeds (1), without the slow peers: a first look."),
]
Seeds = Annotated[
    int | None,
    typer.Option(help="Seeds of every cell" + default("10; quick: 2; tsne: 1"), show_default=False, metavar="NUMBER"),
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
    output: Output = Path("reproduction"),
    fresh: Fresh = False,
    quiet: Quiet = False,
) -> None:
    """Measure what is missing, print the table and write it. HELP is the user's text."""
    with friendly_errors(quiet=quiet) as written:
        from graspel.reproduce import Request

        request = Request(_names(only), _names(methods), seeds, quick, limit)
        text = _reproduced(name, request, output, fresh, written, show=not quiet)
        if not quiet:
            print(text)
            print(f"Written: {' and '.join(written)}")


def _reproduced(name: str, request: Request, output: Path, fresh: bool, written: list[str], *, show: bool) -> str:
    from graspel.files import written_whole
    from graspel.reproduce import REPRODUCTIONS, Results

    if name not in REPRODUCTIONS:
        raise ValueError(f"{name}: there is no such reproduction; choose one of {', '.join(REPRODUCTIONS)}.")
    results = Results(output, name, fresh=fresh)
    try:
        with progress_bar(show=show):
            text = REPRODUCTIONS[name](request, results)
    finally:
        if results.path.exists():
            written.append(str(results.path))
    path = output / f"{name}.md"
    output.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    written.insert(0, str(path))
    return text


def _names(given: str | None) -> tuple[str, ...] | None:
    """Names from an option with commas."""
    return None if given is None else tuple(name.strip() for name in given.split(",") if name.strip())
