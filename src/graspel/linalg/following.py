r"""Following eigenpairs: those of a connected graph that gains a few edges from one call to the next.

Edges only raise eigenvalues. So the vectors of the last call are a good start, and if none was missing there, none is
searched for again. The elimination is done anew in each call. A kept one is no good preconditioner: each new edge
between distant nodes adds an eigenvalue far from one. On 63,620 sentence embeddings LOBPCG took 56 iterations or more
with the factors of the first round, and six to eight with new ones, which cost as much as two or three iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.linalg.eigen import SolverSettings, measure_residuals, solve_connected, warn_if_not_converged
from graspel.linalg.scale import scale_weights
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.types import Floats


class FollowedPairs(NamedTuple):
    """The smallest nonzero eigenvalues, ascending, unit vectors as columns, and the start of the next call."""

    values: Floats
    vectors: Floats
    start: Floats


def follow_eigenpairs(
    adjacency: sp.csr_array,
    k: int,
    *,
    n_precise: int,
    tol: float,
    start: Floats | None,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> FollowedPairs:
    """The k smallest nonzero eigenpairs of a connected graph (1 <= k < N); `tol` is in the energy norm.

    The pairs after the first `n_precise` need one digit less. `start` comes from the last call, on the same nodes with
    fewer edges; it is None in the first call.
    """
    scaled, unit = scale_weights(adjacency)
    settings = SolverSettings(tol, True, rng, count_threads(n_jobs), n_precise, follows=start is not None)
    with one_thread_per_call():
        found = solve_connected(scaled, k, start, settings)
        pairs = measure_residuals(scaled, found, settings)
    warn_if_not_converged(pairs, tol)
    following = pairs.vectors if found.extra is None else np.hstack([pairs.vectors, found.extra])
    return FollowedPairs(pairs.values * unit, pairs.vectors, following)
