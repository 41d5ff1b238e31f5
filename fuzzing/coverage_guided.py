"""``python -m fuzzing.coverage_guided --minutes 2``: fuzz the file readers, guided by the code that they reach.

The random damage of :mod:`fuzzing.files` seldom gets past the first check of a format. Here atheris (libFuzzer for
Python) keeps every file that reaches a new line and damages it further. It starts from whole and deceitful files of
every format. The first byte of an input chooses the reader, the others are the file. The rule for a failure is that of
:mod:`fuzzing.cases`; atheris then ends the run, and writes the input to the folder ``crashes`` (or ``--crashes``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from graspel.runtime.optional import import_optional

SEEDS = 40  # files that a run starts from, for each reader
LONGEST = 20_000  # bytes of the largest input


def main() -> None:
    """Fuzz until the time is over; atheris exits with a code other than 0 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing.coverage_guided", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long to go on (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first files and of atheris (default: 1)")
    parser.add_argument("--crashes", type=Path, default=Path("crashes"), help="folder for inputs that failed")
    arguments = parser.parse_args()
    atheris = import_optional("atheris", "fuzz", "Coverage-guided fuzzing")
    with atheris.instrument_imports(include=["graspel.io", "graspel.graph"]):
        from fuzzing.cases import find_fault
        from fuzzing.files import FILE_TARGETS, file_case

    readers = list_readers()

    def run(data: bytes) -> None:
        if data:
            target, suffix = readers[data[0] % len(readers)]
            fault = find_fault(replace(file_case(target, suffix, data[1:], learn=False), isolated=False))
            if fault is not None:
                raise AssertionError(f"{target} {suffix}: {fault}")

    arguments.crashes.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number in range(SEEDS * len(readers)):
            rng = np.random.default_rng([arguments.seed, number])
            target = list(FILE_TARGETS)[number % len(FILE_TARGETS)]
            case = FILE_TARGETS[target](rng)
            first = readers.index((target, case.settings["suffix"]))
            (Path(corpus) / str(number)).write_bytes(bytes([first]) + case.data)
        options = {
            "max_total_time": max(1, round(60 * arguments.minutes)),
            "max_len": LONGEST,
            "seed": arguments.seed,
            "artifact_prefix": f"{arguments.crashes}/",
            "rss_limit_mb": 4096,
            "timeout": 30,  # seconds for one input
        }
        atheris.Setup([sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), corpus], run)
        atheris.Fuzz()


def list_readers() -> list[tuple[str, str]]:
    """Every target of files with each suffix that it reads."""
    from fuzzing.files import GRAPHS, LABELS, TABLES

    suffixes = {"table": TABLES, "graph_file": GRAPHS, "labels": LABELS}
    return [(target, suffix) for target, known in suffixes.items() for suffix in known]


if __name__ == "__main__":
    main()
