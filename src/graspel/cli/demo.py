"""``graspel demo``: the whole method on data that ships with scikit-learn, in a few seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import which
from typing import Annotated, Any

import typer

from graspel.cli import options
from graspel.cli.command import Command
from graspel.cli.output import print_line
from graspel.runtime.progress import announce


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write to; it is created if needed.", metavar="FOLDER")
    ] = Path("graspel-demo"),
    *,
    json: options.Json = False,
    quiet: options.Quiet = False,
    written: list[str],
) -> None:
    """Run the whole method on the digits data set."""
    run = options.Run(json=json, quiet=quiet)
    with _make_folder(output), run.progress():
        certificate = _learn_and_draw(output, written)
    run.show("The graph of scikit-learn's digits", certificate.as_dict(), certificate.sentences())
    if not (quiet or json):
        print_line(f"Written: {' and '.join(written)}")
        command = "graspel" if which("graspel") else sys.argv[0]  # in a virtual environment that is not active
        print_line(f"Describe the graph by: {command} info {written[0]}")


COMMAND = Command(
    demo,
    "Learn the graph of 1,797 handwritten digits and draw it.\n\n"
    "Needs no files and no network: the data ships with scikit-learn. Writes graph.npz (the graph) and drawing.png "
    "(each digit placed by the first three nontrivial eigenvectors of the graph's Laplacian, colored by its class), "
    "and prints the certificate.",
    ("graspel demo", "graspel demo --output somewhere/else"),
)


def _learn_and_draw(output: Path, written: list[str]) -> Any:
    from sklearn.datasets import load_digits

    from graspel.estimators.learner import GRASPEL
    from graspel.io.atomic import check_target
    from graspel.plot import drawing, save

    graph_file, drawing_file = output / "graph.npz", output / "drawing.png"
    for path in (graph_file, drawing_file):
        check_target(path)
    X, y = load_digits(return_X_y=True)
    model = GRASPEL(random_state=0).fit(X)
    announce("drawing")
    model.graph_.save(graph_file)
    written.append(str(graph_file))
    save(drawing(model.graph_, y, title="The learned graph of handwritten digits"), drawing_file)
    written.append(str(drawing_file))
    return model.certificate_


@contextmanager
def _make_folder(path: Path) -> Iterator[None]:
    """Create a folder, and remove it again if it is still empty at the end."""
    created = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if created:
            with suppress(OSError):  # not empty
                path.rmdir()
