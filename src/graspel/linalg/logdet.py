r"""Log-determinant: logdet(L + s I), the first term of the objective.

Small matrices: Cholesky. Large ones: with the approximate factors M = G D G' of :mod:`graspel.linalg.elimination`,

    logdet(L + sI) = logdet(M) + tr log(C),     C = M^(-1/2) (L + sI) M^(-1/2),

where logdet(M) is the sum of the logs of the pivots. C is close to the identity, so a few Lanczos steps from a few random vectors
estimate the trace of its logarithm well (stochastic Lanczos quadrature).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.dense import DenseElimination
from graspel.linalg.elimination import ApproximateElimination

Floats = NDArray[np.float64]

DENSE_LIMIT = 1500
N_PROBES = 6
N_STEPS = 12


def logdet(
    adjacency: sp.csr_array, shift: float, *, random_state: int | np.random.Generator | None = 0
) -> tuple[float, float]:
    """logdet(L + shift I) of a graph, and its standard error (0 where it is computed exactly).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> pair = sp.csr_array(np.array([[0.0, 1], [1, 0]]))
    >>> value, error = logdet(pair, 0.5)  # eigenvalues 0.5 and 2.5
    >>> round(value, 6) == round(float(np.log(1.25)), 6)
    True
    """
    n = adjacency.shape[0]
    A = sp.csr_array(adjacency, dtype=np.float64)
    theta = sp.csr_array(sp.diags_array(A.sum(axis=1) + shift) - A)
    if n <= DENSE_LIMIT:
        return _exact(theta, A, shift), 0.0
    rng = np.random.default_rng(random_state)
    factors = ApproximateElimination(A, rng, excess=np.full(n, shift))
    samples = _log_trace_samples(theta, factors, rng)
    error = float(samples.std(ddof=1) / np.sqrt(len(samples)))
    return factors.logdet() + float(samples.mean()), error


def _exact(theta: sp.csr_array, A: sp.csr_array, shift: float) -> float:
    """Cholesky; where rounding makes the matrix indefinite, elimination without subtraction."""
    try:
        return 2.0 * float(np.log(np.diag(scipy.linalg.cholesky(theta.toarray()))).sum())
    except scipy.linalg.LinAlgError:
        return float(np.log(DenseElimination(A.toarray(), np.full(A.shape[0], shift)).pivots).sum())


def _log_trace_samples(theta: sp.csr_array, factors: ApproximateElimination, rng: np.random.Generator) -> Floats:
    """One estimate of tr log(C) per random sign vector, by Lanczos quadrature on all of them at once."""
    n = theta.shape[0]
    permuted = sp.csr_array(theta[factors.order][:, factors.order])
    V = rng.choice([-1.0, 1.0], size=(n, N_PROBES)) / np.sqrt(n)
    V_before = np.zeros_like(V)
    alpha, beta = np.zeros((N_STEPS, N_PROBES)), np.zeros((N_STEPS, N_PROBES))
    for step in range(N_STEPS):
        W = factors.half_inverse(permuted @ factors.half_inverse_transposed(V.copy()))
        if step:
            W -= beta[step - 1] * V_before
        alpha[step] = np.einsum("ij,ij->j", V, W)
        W -= alpha[step] * V
        beta[step] = np.linalg.norm(W, axis=0)
        V_before, V = V, W / np.where(beta[step] > 1e-12, beta[step], 1.0)
    return np.array([n * _quadrature(alpha[:, j], beta[:-1, j]) for j in range(N_PROBES)])


def _quadrature(alpha: Floats, beta: Floats) -> float:
    """e_1' log(T) e_1 for the Lanczos matrix T, cut where the recurrence has ended."""
    end = np.flatnonzero(beta <= 1e-12)
    size = int(end[0]) + 1 if len(end) else len(alpha)
    nodes, vectors = scipy.linalg.eigh_tridiagonal(alpha[:size], beta[: size - 1])
    return float(vectors[0] ** 2 @ np.log(np.maximum(nodes, 1e-300)))
