"""``graspel demo``: the report of data that ships with scikit-learn, and what it found in three sentences."""

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
from graspel.cli.output import print_json, print_line


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write to; it is created if needed.", metavar="FOLDER")
    ] = Path("graspel-demo"),
    *,
    json: options.Json = False,
    quiet: options.Quiet = False,
    written: list[str],
) -> None:
    """Write the report of the digits, and say what was found."""
    page = output / "report.html"
    with _make_folder(output), options.Run(json=json, quiet=quiet).progress():
        found, sentences = _report_digits(page)
    written.append(str(page))
    if json:
        print_json({**found.model.certificate_.as_dict(), "counts": found.counts, "sentences": sentences})
    elif not quiet:
        command = "graspel" if which("graspel") else sys.argv[0]  # in a virtual environment that is not active
        for sentence in sentences:
            print_line(f"- {sentence}")
        print_line(f"Open {page} in a browser.")
        print_line(f"Now yours: {command} report your.csv -o report.html")


COMMAND = Command(
    demo,
    "Report what is in 1,797 images of handwritten digits.\n\n"
    "Needs no files and no network: the data ship with scikit-learn. Writes report.html, a page to open in a browser, "
    "and prints what was found: groups, labels that look wrong, and odd images.",
    ("graspel demo", "graspel demo --output somewhere/else"),
)


def _report_digits(page: Path) -> tuple[Any, list[str]]:
    """Write the page; what was found, and the three sentences about it."""
    from sklearn.datasets import load_digits

    from graspel.findings.audit import audit
    from graspel.metrics import clustering_accuracy
    from graspel.report import check_report_file, write_report

    check_report_file(page)
    X, y = load_digits(return_X_y=True)
    found = audit(X, y, clusters=len(set(y)))
    title = "Handwritten digits"
    write_report(found.model, page, labels=y, clusters=found.clusterer, images=(8, 8), title=title)
    labels, outliers = found.tables["labels"], found.tables["outliers"]
    wrong = [
        f"; image {row['point']} is labeled {row['label']}, and the images most like it are labeled {row['suggested']}"
        for row in labels.head(1).rows()
    ]
    return found, [
        f"Groups: {len(X):,} images in {found.clusterer.n_clusters_} groups, found without looking at the labels; "
        f"{clustering_accuracy(y, found.clusterer.labels_):.0%} of the images are in the group of their digit.",
        f"Labels: {found.counts['labels']} are clearly contradicted by the images most like them{''.join(wrong)}.",
        f"Odd images: {len(outliers)} lie far from all others: {', '.join(map(str, outliers['point']))}.",
    ]


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
