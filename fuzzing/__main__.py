"""``python -m fuzzing``: draw hostile calls until the time is over, and print the failures."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from fuzzing.cases import Case, make_call
from fuzzing.damaged import DAMAGED
from fuzzing.estimates import ESTIMATES
from fuzzing.files import FILE_TARGETS
from fuzzing.frames import FRAMES
from fuzzing.killed import KILLED
from fuzzing.names import NAMES
from fuzzing.sequences import SEQUENCES
from fuzzing.shrinking import shrink, write_code
from fuzzing.targets import TARGETS
from fuzzing.threads import THREADS

QUICK = {**TARGETS, **ESTIMATES, **FILE_TARGETS, **SEQUENCES, **DAMAGED, **NAMES, **FRAMES}
LONG = {**THREADS, **KILLED}  # targets whose calls take many seconds
EVERY = {**QUICK, **LONG}
LONG_EVERY = 20  # calls of every other target for each call of a long one

SLOW = 10.0  # times the usual duration that make a call too slow
PROGRESS = 500  # calls between two lines that say how many were made
FLOOR = 1.0  # seconds below which no call counts as slow


def main() -> None:
    """Fuzz, and exit with 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on (default: 10)")
    parser.add_argument("--calls", type=int, default=None, help="stop after this many calls instead")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same calls (default: 0)")
    parser.add_argument("--only", default=",".join(EVERY), help="targets, with commas: " + ", ".join(EVERY))
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    for name in names:
        if name not in EVERY:
            parser.error(f"no target {name!r}; there are {', '.join(EVERY)}")
    names = [name for name in names if name in QUICK] * LONG_EVERY + [name for name in names if name in LONG]
    end = time.monotonic() + 60 * arguments.minutes if arguments.calls is None else float("inf")
    counts: Counter[str] = Counter()
    failures: dict[str, int] = {}
    number = 0
    while time.monotonic() < end and (arguments.calls is None or number < arguments.calls):
        name = names[number % len(names)]
        case = EVERY[name](np.random.default_rng([arguments.seed, number]))
        fault, *cost = time_call(case)
        fault = fault or find_slowness(case, *cost)
        counts[name] += 1
        if fault is not None:
            signature = f"{name}: {''.join(c for c in fault if not c.isdigit())[:90]}"
            failures[signature] = failures.get(signature, 0) + 1
            if failures[signature] == 1:
                show(arguments.seed, number, name, shrink(case, fault) if "slow" not in fault else case, fault)
        number += 1
        if number % PROGRESS == 0:
            print(f"{number:,} calls, {sum(failures.values()):,} failures", flush=True)
    print(
        f"{number:,} calls of seed {arguments.seed}: "
        + ", ".join(f"{name} {count:,}" for name, count in counts.items())
    )
    print(f"{sum(failures.values()):,} failures of {len(failures)} kinds")
    raise SystemExit(1 if failures else 0)


def time_call(case: Case) -> tuple[str | None, float, int]:
    """What is wrong with a call, the seconds that it kept the processor busy, and the number of its rounds."""
    began = time.process_time()
    fault, rounds = make_call(case)
    return fault, time.process_time() - began, rounds


def find_slowness(case: Case, seconds: float, rounds: int = 1) -> str | None:
    """What is wrong with the time that a call took: too long beside the same call on ordinary data, for each round.

    A call that seems slow is made again, because the first one may have imported modules.
    """
    if seconds < FLOOR or case.ordinary is None:
        return None
    _, usual, usual_rounds = time_call(replace(case, data=case.ordinary(case.data)))
    usual *= max(1.0, rounds / usual_rounds)
    limit = SLOW * max(usual, FLOOR / SLOW)
    if seconds > limit:
        seconds = min(seconds, time_call(case)[1])
    return None if seconds <= limit else f"slow: {seconds:.1f} s, usually {usual:.2f} s in {rounds} rounds"


def show(seed: int, number: int, name: str, case: Case, fault: str) -> None:
    """Print one failure with its shortest reproducer."""
    code = write_code(case)
    if len(code) > 3000:
        code = f"case = EVERY[{name!r}](np.random.default_rng([{seed}, {number}]))  # EVERY of fuzzing.__main__"
    print(f"--- call {number}, {name}: {fault}\n{code}\n", flush=True)


if __name__ == "__main__":
    main()
