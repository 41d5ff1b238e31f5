"""A peer under a time limit: in a process of its own, killed when the time is over.

    python -m reproduction.limited sklearn-spectral mnist 0

prints the measurement of one peer as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def within(seconds: float, peer: str, dataset: str, seed: int) -> dict[str, Any]:
    """Measure a peer in a process of its own.

    Returns
    -------
    dict
        The measurement; {"over": seconds} where it took longer, loading the data included; {"failed": why} where it
        came to nothing.
    """
    command = [sys.executable, "-m", "reproduction.limited", peer, dataset, str(seed)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"over": seconds}
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return {"failed": f"exit code {run.returncode}: {last}"}
    return dict(json.loads(run.stdout.strip().splitlines()[-1]))


def main(peer: str, dataset: str, seed: str) -> None:
    """Measure one peer and print it."""
    from reproduction.clusterings import PEERS, Problem, measured
    from reproduction.points import points

    X, y = points(dataset)
    print(json.dumps(measured(lambda: PEERS[peer](Problem(dataset, X, y, int(seed))), y)))


if __name__ == "__main__":
    main(*sys.argv[1:])
