r"""The plan of a run: memory and time, predicted from the size of the data.

Every step takes memory in proportion to the number of points, and the steps come one after the other, so the peak is
the largest of them, beside a fixed part for compiled loops. With D columns of the sketch, lists of w entries, b
vectors in the block of the eigensolver, and bytes per point:

    search   4 D + 17 w + SEARCH        the sketch, lists of the search (9 bytes) and measured ones (8), cells
    rounds   64 b + EDGES k + ROUNDS    vectors S and L S of the eigensolver, graph, factors
    check    CHECK                      the certificate: vectors of a few solves, graph, factors

Processor time is proportional to the points too; the search grows with the number of columns. The constants were fitted
to ``python -m benchmarks.large --sizes 100000,300000,1000000,10000000`` and ``--features 128`` and ``512`` (points on a
manifold of dimension three). Memory is within a factor of 1.5 of what was measured there, and a test checks it. Time
depends on the data as well as on the machine: on points of high intrinsic dimension the search, and with many critical
edges the rounds, may take several times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.data.principal import MOST_SKETCH_DIMENSIONS, SKETCH_DIMENSIONS, SKETCH_SAMPLE
from graspel.data.validation import bytes_in_memory
from graspel.learning.settings import Settings
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.runtime.memory import available_memory

FIXED = 58e6  # bytes: compiled loops and buffers; where the loops have to be compiled first, 60 MB more
SEARCH = 240.0  # bytes per point: landmarks, cells and hashes
EDGES = 80.0  # bytes per point and neighbor: the graph, its matrices and factors
ROUNDS = 350.0  # bytes per point: vectors of the eigensolver that do not depend on the number of pairs
CHECK = 880.0  # bytes per point
CHECK_FEW, FEW = 1250.0, 500_000  # the same up to so many points: more solves at once, graspel.linalg.solve
TABLE = 40.0  # bytes per pair of points where all distances are held in a table
FIXED_SECONDS = 4.0  # loading libraries and compiled loops
POINT_SECONDS = 9e-5  # seconds of one processor for each point
VALUE_SECONDS = 1.5e-7  # seconds of one processor for each value of X
PARALLEL = 0.7  # share of the work that threads divide among themselves
TOLERANCE = 1.5  # factor between predicted and measured memory


@dataclass(frozen=True)
class Plan:
    """What a run will take.

    Attributes
    ----------
    n_points, n_features : int
    data : float, bytes of X itself, 0 if it stays in a file or on workers
    memory : float, bytes that the run takes beside X
    seconds : float, on this number of threads of an idle machine like ours (2 GHz, 2 cores)
    available : float or None, bytes available now
    """

    n_points: int
    n_features: int
    data: float
    memory: float
    seconds: float
    available: float | None

    @property
    def fits(self) -> bool | None:
        """Whether the memory is available; None if that is not known."""
        return None if self.available is None else self.memory + self.data <= self.available

    def check(self) -> None:
        """Raise if the run cannot fit, even if it takes less than predicted by the tolerance of the model.

        X is in memory already when this is asked.
        """
        if self.available is not None and self.memory > TOLERANCE * self.available:
            raise MemoryError(
                f"{self.n_points:,} points of {self.n_features:,} features need about {self.memory / 1e9:.1f} GB "
                f"beside the data, but {self.available / 1e9:.1f} GB are available"
            )

    def sentences(self) -> list[tuple[str, str, str]]:
        """Label, value and meaning of every entry, for people."""
        known = "unknown" if self.available is None else _format_bytes(self.available)
        verdict = {True: "yes", False: "no", None: "unknown"}[self.fits]
        return [
            ("points", f"{self.n_points:,} x {self.n_features:,}", "rows and columns of the data"),
            ("data", _format_bytes(self.data), "X in memory; 0 if it stays in a file"),
            ("memory", _format_bytes(self.memory), "peak beside X, within a factor of 1.5"),
            ("available", known, "memory that this process can still take"),
            ("fits", verdict, "whether both fit in what is available"),
            ("time", _format_seconds(self.seconds), "on an idle machine; more on data of high dimension"),
        ]


def _format_bytes(size: float) -> str:
    """Gigabytes with two decimals.

    >>> _format_bytes(2.5e9), _format_bytes(3.0), _format_bytes(0)
    ('2.50 GB', '< 0.01 GB', '0 GB')
    """
    return "0 GB" if size == 0 else "< 0.01 GB" if size < 1e7 else f"{size / 1e9:.2f} GB"


def _format_seconds(seconds: float) -> str:
    """Seconds, or minutes from 100 seconds.

    >>> _format_seconds(0.2), _format_seconds(42.0), _format_seconds(150.0)
    ('< 1 s', '42 s', '2.5 min')
    """
    return "< 1 s" if seconds < 1 else f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def plan_run(X: Any, settings: Settings, *, n_threads: int, by_table: bool = False) -> Plan:
    """The plan for a matrix, or for its shape (N, M) only; `by_table` is for metrics that need all distances.

    >>> plan = plan_run((10_000_000, 32), Settings(), n_threads=2)
    >>> 5e9 < plan.memory < 15e9
    True
    """
    n, m, data = _measure(X)
    width = max(settings.n_neighbors, settings.n_listed) + EXTRA_CANDIDATES
    n_components = settings.candidate_strategy.n_components
    wanted = max(n_components, settings.stability_rule.n_eigenvalues)
    block = wanted + max(3, wanted // 4)  # as in graspel.linalg.eigen
    search = 4 * min(m, MOST_SKETCH_DIMENSIONS) + 17 * width + SEARCH
    rounds = 64 * block + EDGES * settings.n_neighbors + ROUNDS
    check = CHECK_FEW if n <= FEW else CHECK
    sample = 12 * min(n, SKETCH_SAMPLE) * m if m > SKETCH_DIMENSIONS else 0  # for the principal directions
    memory = FIXED + sample + n * max(search, rounds, check) + (TABLE * n * n if by_table else 0.0)
    processor = FIXED_SECONDS + n * (POINT_SECONDS + VALUE_SECONDS * m)
    seconds = processor * (1 - PARALLEL + PARALLEL / n_threads)
    return Plan(n, m, data, memory, seconds, available_memory())


def _measure(X: Any) -> tuple[int, int, float]:
    """Rows, columns and bytes of a matrix of any kind, or of a shape; a matrix that is not in memory takes none."""
    is_shape = isinstance(X, tuple) and len(X) == 2 and all(isinstance(side, int | np.integer) for side in X)
    shape = X if is_shape else (X if hasattr(X, "shape") else np.asarray(X)).shape
    if len(shape) != 2 or min(shape) < 1:
        raise ValueError(f"X of shape {tuple(shape)}: must be a matrix, or its numbers of rows and columns.")
    return int(shape[0]), int(shape[1]), 0.0 if is_shape else float(bytes_in_memory(X))
