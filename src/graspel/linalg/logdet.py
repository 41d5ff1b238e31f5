r"""Log-determinant: logdet(L + s I), the first term of the objective.

Small matrices: elimination without subtraction (:mod:`graspel.linalg.dense`), exact however small the shift s. Large
ones: with the approximate factors M = G D G' of :mod:`graspel.linalg.elimination`,

    logdet(L + sI) = logdet(M) + tr log(C),     C = M^(-1/2) (L + sI) M^(-1/2),

where logdet(M) is the sum of the logs of the pivots. C is close to the identity, so a few Lanczos steps from a few
random vectors estimate the trace of its logarithm well (stochastic Lanczos quadrature).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.graph.adjacency import check_adjacency
from graspel.linalg.checked import check_positive
from graspel.linalg.components import Components
from graspel.linalg.dense import DenseElimination
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.laplacian import laplacian_map
from graspel.runtime.parallel import count_threads, map_blocks

Floats = NDArray[np.float64]

DENSE_LIMIT = 1500  # nodes up to which the exact value costs less than a quarter of a second
N_PROBES = 6
N_STEPS = 12
ENDED = 1e-12  # a Lanczos vector this short is rounding: the recurrence has ended


def logdet(
    adjacency: Any,
    shift: float,
    *,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """Compute logdet(L + shift I) of a graph, and its standard error (0 where it is exact).

    Parameters
    ----------
    adjacency : sparse matrix of weights, or an object with such an `adjacency`
    shift : float, positive
    random_state : int, Generator or None
        Seed of the sampled elimination and the random vectors.
    n_jobs : int or None
        Threads; None or -1 for all cores. The result does not depend on it.

    Returns
    -------
    value, standard_error : float

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> pair = sp.csr_array(np.array([[0.0, 1], [1, 0]]))
    >>> value, error = logdet(pair, 0.5)  # eigenvalues 0.5 and 2.5
    >>> round(value, 6) == round(float(np.log(1.25)), 6)
    True
    """
    A = check_adjacency(adjacency)
    excess = np.full(A.shape[0], check_positive("shift", shift, "it makes the matrix L + shift I regular"))
    if A.shape[0] <= DENSE_LIMIT:
        return DenseElimination(A.toarray(), excess).logdet(), 0.0
    rng = np.random.default_rng(random_state)
    factors = ApproximateElimination(A, rng, excess=excess)
    samples = _log_trace_samples(A, shift, factors, rng, count_threads(n_jobs))
    error = float(samples.std(ddof=1) / np.sqrt(len(samples)))
    return factors.logdet() + float(samples.mean()), error


def _log_trace_samples(
    A: sp.csr_array, shift: float, factors: ApproximateElimination, rng: np.random.Generator, n_threads: int
) -> Floats:
    """One estimate of tr log(C) per random sign vector, by Lanczos quadrature."""
    ordered = factors.ordered(A)
    L, components = laplacian_map(ordered), Components.of(ordered)
    signs = rng.choice([-1.0, 1.0], size=(N_PROBES, A.shape[0]))

    def apply(v: Floats) -> Floats:
        x = factors.half_inverse_transposed(v.copy())
        # A tiny shift gives x huge constants on the components: L x would be lost to rounding if they stayed in.
        return factors.half_inverse(L @ components.centered(x) + shift * x)

    return np.array(list(map_blocks(lambda v: len(v) * _log_quadrature(apply, v), list(signs), n_threads)))


def _log_quadrature(apply: Callable[[Floats], Floats], v: Floats) -> float:
    """Estimate v'log(C)v / v'v for the symmetric map C, by a few Lanczos steps from v."""
    v, v_before = v / np.linalg.norm(v), np.zeros_like(v)
    alpha, beta = np.zeros(N_STEPS), np.zeros(N_STEPS)
    for step in range(N_STEPS):
        w = apply(v)
        if step:
            w -= beta[step - 1] * v_before
        alpha[step] = v @ w
        w -= alpha[step] * v
        beta[step] = np.linalg.norm(w)
        if beta[step] <= ENDED:
            return _first_entry_of_log(alpha[: step + 1], beta[:step])
        v_before, v = v, w / beta[step]
    return _first_entry_of_log(alpha, beta[:-1])


def _first_entry_of_log(alpha: Floats, beta: Floats) -> float:
    """The entry e_1' log(T) e_1 for the Lanczos matrix T."""
    nodes, vectors = scipy.linalg.eigh_tridiagonal(alpha, beta)
    return float(vectors[0] ** 2 @ np.log(np.maximum(nodes, 1e-300)))
