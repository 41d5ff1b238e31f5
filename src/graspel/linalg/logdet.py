r"""Log-determinant: logdet(L + s I), the first term of the objective.

Small matrices: elimination without subtraction (:mod:`graspel.linalg.dense`), exact however small the shift s. Large
ones: with the approximate factors M = G D G' of :mod:`graspel.linalg.elimination`,

    logdet(L + sI) = logdet(M) + tr log(C),     C = M^(-1/2) (L + sI) M^(-1/2),

where logdet(M) is the sum of the logs of the pivots. C is close to the identity, so a few Lanczos steps from a few
random vectors estimate the trace of its logarithm well (stochastic Lanczos quadrature).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.checked import checked_adjacency, checked_positive
from graspel.linalg.components import Components
from graspel.linalg.dense import DenseElimination
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.laplacian import laplacian_map

Floats = NDArray[np.float64]

DENSE_LIMIT = 1500  # nodes up to which the exact value costs less than a quarter of a second
N_PROBES = 6
N_STEPS = 12
ENDED = 1e-12  # a Lanczos vector this short is rounding: the recurrence has ended


def logdet(adjacency: Any, shift: float, *, random_state: int | np.random.Generator | None = 0) -> tuple[float, float]:
    """Compute logdet(L + shift I) of a graph, and its standard error (0 where it is exact).

    Parameters
    ----------
    adjacency : sparse matrix of weights, or an object with such an `adjacency`
    shift : float, positive
    random_state : int, Generator or None
        Seed of the sampled elimination and the random vectors.

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
    A = checked_adjacency(adjacency)
    excess = np.full(A.shape[0], checked_positive("shift", shift, "it makes the matrix L + shift I regular"))
    if A.shape[0] <= DENSE_LIMIT:
        return DenseElimination(A.toarray(), excess).logdet(), 0.0
    rng = np.random.default_rng(random_state)
    factors = ApproximateElimination(A, rng, excess=excess)
    samples = _log_trace_samples(A, shift, factors, rng)
    error = float(samples.std(ddof=1) / np.sqrt(len(samples)))
    return factors.logdet() + float(samples.mean()), error


def _log_trace_samples(
    A: sp.csr_array, shift: float, factors: ApproximateElimination, rng: np.random.Generator
) -> Floats:
    """One estimate of tr log(C) per random sign vector, by Lanczos quadrature on all of them at once."""
    n = A.shape[0]
    permuted = sp.csr_array(A[factors.order][:, factors.order])
    L, components = laplacian_map(permuted), Components.of(permuted)
    V = rng.choice([-1.0, 1.0], size=(n, N_PROBES)) / np.sqrt(n)
    V_before = np.zeros_like(V)
    alpha, beta = np.zeros((N_STEPS, N_PROBES)), np.zeros((N_STEPS, N_PROBES))
    for step in range(N_STEPS):
        X = factors.half_inverse_transposed(V.copy())
        # A tiny shift gives X huge constants on the components: L X would be lost to rounding if they stayed in.
        W = factors.half_inverse(L @ components.centred(X) + shift * X)
        if step:
            W -= beta[step - 1] * V_before
        alpha[step] = np.einsum("ij,ij->j", V, W)
        W -= alpha[step] * V
        beta[step] = np.linalg.norm(W, axis=0)
        V_before, V = V, W / np.where(beta[step] > ENDED, beta[step], 1.0)
    return np.array([n * _quadrature(alpha[:, j], beta[:-1, j]) for j in range(N_PROBES)])


def _quadrature(alpha: Floats, beta: Floats) -> float:
    """The entry e_1' log(T) e_1 for the Lanczos matrix T, cut where the recurrence has ended."""
    end = np.flatnonzero(beta <= ENDED)
    size = int(end[0]) + 1 if len(end) else len(alpha)
    nodes, vectors = scipy.linalg.eigh_tridiagonal(alpha[:size], beta[: size - 1])
    return float(vectors[0] ** 2 @ np.log(np.maximum(nodes, 1e-300)))
