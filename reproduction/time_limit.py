"""A peer under a time limit: it runs in a process of its own, which is killed when the time is over.

    python -m reproduction.time_limit sklearn-spectral mnist 0

prints the measurement of one peer as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from reproduction.processes import ProcessFailed, run_python


def measure_with_limit(seconds: float, peer: str, dataset: str, seed: int) -> dict[str, Any]:
    """Measure a peer in a process of its own.

    Returns
    -------
    dict
        The measurement; {"over": seconds} where the process took longer, loading the data included; {"failed": reason}
        where it ended with an error.
    """
    try:
        return dict(run_python("-m", "reproduction.time_limit", peer, dataset, str(seed), timeout=seconds))
    except subprocess.TimeoutExpired:
        return {"over": seconds}
    except ProcessFailed as error:
        return {"failed": str(error)}


def main(peer: str, dataset: str, seed: str) -> None:
    """Measure one peer and print it."""
    from reproduction.data import load_data

    X, y = load_data(dataset)  # before the import of the peers, so that missing data show at once
    from reproduction.clusterings import PEERS, Problem, measure_clusters

    print(json.dumps(measure_clusters(lambda: PEERS[peer](Problem(dataset, X, y, int(seed))), y)))


if __name__ == "__main__":
    main(*sys.argv[1:])
