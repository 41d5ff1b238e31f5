r"""Log-determinant: logdet(L + s I), the first term of the objective.

For small graphs it is exact, from elimination without subtraction (:mod:`graspel.linalg.factor.dense_factor`), however
small the shift s is. For large graphs, with the approximate factors M = G D G' of
:mod:`graspel.linalg.factor.approximate_factor`,

    logdet(L + sI) = logdet(M) + tr log(C),     C = M^(-1/2) (L + sI) M^(-1/2),

where logdet(M) is the sum of the logarithms of the pivots. The trace is estimated by stochastic Lanczos quadrature: it
is the mean of v'log(C)v over vectors v of random signs (Hutchinson 1990), and each of these values comes from a few
Lanczos steps (Golub and Meurant 2010). C is close to the identity, so few vectors and few steps are enough.

A shift far below all non-zero eigenvalues changes only the zero ones, one for each of K components. Double precision
could not tell such a shift from zero beside the weights. So a larger shift t takes its place that is still far below a
lower bound of these eigenvalues (Fiedler 1973), and to within N t / lambda_2,

    logdet(L + sI) = logdet(L + tI) - K log(t / s).

References
----------
S. Ubaru, J. Chen and Y. Saad. Fast estimation of tr(f(A)) via stochastic Lanczos quadrature. SIAM Journal on Matrix
Analysis and Applications, 38(4), 2017.

M. Fiedler. Algebraic connectivity of graphs. Czechoslovak Mathematical Journal, 23(98), 1973.

G. H. Golub and G. Meurant. Matrices, Moments and Quadrature with Applications. Princeton University Press, 2010.

M. F. Hutchinson. A stochastic estimator of the trace of the influence matrix for Laplacian smoothing splines.
Communications in Statistics - Simulation and Computation, 19(2), 1990.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graspel.graph.adjacency import check_adjacency, check_positive
from graspel.linalg.components import Components
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.inverse import InversePattern
from graspel.linalg.laplacian import laplacian_map
from graspel.runtime.parallel import count_threads, map_blocks
from graspel.runtime.types import Floats

DENSE_LIMIT = 1500  # nodes up to which the exact value costs less than a quarter of a second
N_PROBES = 6  # random sign vectors; their spread also gives the standard error
N_PROBES_OF_MANY = 3  # the same above MANY nodes: the relative error falls with the root of their number
MANY = 200_000
N_STEPS = 12  # Lanczos steps from each vector; C is close to the identity, so the quadrature converges fast
NEGLIGIBLE = 1e-9  # share of the smallest non-zero eigenvalue: the error of the value is at most this for each node
ENDED = 1e-12  # length below which the next Lanczos vector is a rounding error, and the recurrence has ended


def logdet(
    adjacency: Any,
    shift: float,
    *,
    exact: bool = False,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """Compute logdet(L + shift I) of a graph and its standard error (0 if the value is exact).

    Parameters
    ----------
    adjacency : Graph, or sparse matrix or array of weights
    shift : float, positive
    exact : bool
        Whether larger graphs are eliminated too, by nested dissection; if that would take more than minutes, an error
        says so before it begins.
    random_state : int, Generator or None
        Seed of the approximate elimination and of the random vectors.
    n_jobs : int or None
        Number of threads; None or -1 for all cores. It does not change the result.

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
    n, shift = A.shape[0], check_positive("shift", shift, "it makes the matrix L + shift I regular")
    if n <= DENSE_LIMIT:
        return DenseFactor(A.toarray(), np.full(n, shift)).logdet(), 0.0
    if exact:
        pattern = InversePattern(A, count_threads(n_jobs))
        pattern.check_work("Leave out exact=True for an estimate.")
        return pattern.invert(np.full(n, shift)).logdet, 0.0
    rng = np.random.default_rng(random_state)
    larger = max(shift, _negligible_shift(A))
    factors = ApproximateFactor(A, rng, excess=np.full(n, larger))
    samples = _log_trace_samples(A, larger, factors, rng, count_threads(n_jobs))
    error = float(samples.std(ddof=1) / np.sqrt(len(samples)))
    zeros = factors.components.number * (np.log(larger) - np.log(shift))
    return factors.logdet() + float(samples.mean()) - float(zeros), error


def _negligible_shift(A: sp.csr_array) -> float:
    """A shift that is negligible beside all non-zero eigenvalues; these are at least that of a path of light edges."""
    if not A.nnz:
        return 0.0
    return float(NEGLIGIBLE * A.data.min() * 4 * np.sin(np.pi / (2 * A.shape[0])) ** 2)


def _log_trace_samples(
    A: sp.csr_array, shift: float, factors: ApproximateFactor, rng: np.random.Generator, n_threads: int
) -> Floats:
    """One estimate of tr log(C) per random sign vector, by Lanczos quadrature."""
    ordered = factors.reorder(A)
    L, components = laplacian_map(ordered), Components.of(ordered)
    signs = rng.choice([-1.0, 1.0], size=(N_PROBES if A.shape[0] <= MANY else N_PROBES_OF_MANY, A.shape[0]))

    def apply(v: Floats) -> Floats:
        x = factors.half_inverse_transposed(v.copy())
        # With a tiny shift, x has a huge mean on every component; unless it is subtracted, L x is lost to rounding.
        return factors.half_inverse(L @ components.center(x) + shift * x)

    return np.array(list(map_blocks(lambda v: len(v) * _log_quadrature(apply, v), list(signs), n_threads)))


def _log_quadrature(apply: Callable[[Floats], Floats], v: Floats) -> float:
    """Estimate v'log(C)v / v'v for the symmetric operator C by a few Lanczos steps from v."""
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
