r"""Inverse: M = (L + diag(s))^-1, its diagonal, its entries on the edges, its determinant and products, exactly.

With positive s the matrix is regular. It is the Laplacian of a graph with one more node, the ground, to which node i is
joined by an edge of weight s_i, without the row and the column of the ground. So the exact elimination of Laplacians
serves (:mod:`graspel.linalg.factor.exact_factor`), with the ground as its reference: M_ii is the resistance between
node i and the ground. The graph is cut into pieces once, for many s.

With A = L + diag(s), the rows of A M = I give

    1 - s_i M_ii = sum_j w_ij (M_ii - M_ij),

which leave-one-out formulas need, without cancellation where s_i is far larger than the weights at node i.
"""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.graph.adjacency import check_adjacency, check_positive
from graspel.linalg.exact_resistances import COLUMNS, check_work
from graspel.linalg.factor.exact_factor import ExactFactor, Solves
from graspel.linalg.factor.front_tree import FrontTree
from graspel.linalg.laplacian import Laplacian, laplacian_map, scale_weights
from graspel.linalg.solve import LaplacianSolver
from graspel.runtime.parallel import count_threads, one_thread_per_call, row_blocks
from graspel.runtime.types import Floats

CHEAP = 1e11  # multiplications of an exact factor, half a minute, up to which it is preferred to estimates
SAMPLES = 8  # samples that are drawn at once, which bounds the memory


class InversePattern:
    """The pieces of a graph, for the inverses of L + diag(s) with many s.

    Parameters
    ----------
    adjacency : CSR array (see :func:`graspel.graph.adjacency.check_adjacency`); the graph need not be connected
    n_threads : int; the result does not depend on it

    Attributes
    ----------
    n_nodes : int
    adjacency : CSR array
    work : float, multiplications of one factorization
    is_careful : bool, whether weights span too many digits for Cholesky's method

    Examples
    --------
    >>> pair = InversePattern(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    >>> M = pair.invert(np.array([1.0, 1.0]))
    >>> M.diagonal.round(6), round(float(np.exp(M.logdet)), 6)
    (array([0.666667, 0.666667]), 3.0)
    """

    def __init__(self, adjacency: sp.csr_array, n_threads: int = 1) -> None:
        self.adjacency, self.n_nodes = adjacency, adjacency.shape[0]
        scaled, self.unit = scale_weights(adjacency)
        edges, nodes = sp.triu(scaled, 1, format="coo"), np.arange(self.n_nodes)
        self.heads, self.tails, self.weights = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data
        ends = np.append(self.heads, nodes), np.append(self.tails, np.full(self.n_nodes, self.n_nodes))
        self._ends, self.is_careful = ends, False
        self._tree = FrontTree(*ends, self.n_nodes + 1, n_threads=n_threads, has_hub=True)
        self.work = self._tree.work

    @cached_property
    def laplacian(self) -> Laplacian:
        """L, for products."""
        return laplacian_map(self.adjacency)

    def check_work(self, what_else: str) -> None:
        """Raise if one factorization would take too long; `what_else` says what to do."""
        check_work(self.work, self.n_nodes, len(self.heads), what_else)

    def draw(self, s: Floats, n_samples: int, rng: np.random.Generator) -> Floats:
        """Columns from N(0, L + diag(s)): B' W^1/2 x + diag(s)^1/2 x' with normal x and x' (B: the incidence matrix).

        M times these are columns from N(0, M).
        """
        columns = np.sqrt(s)[:, None] * rng.standard_normal((self.n_nodes, n_samples))
        flows = np.sqrt(self.weights * self.unit)[:, None] * rng.standard_normal((len(self.heads), n_samples))
        np.add.at(columns, self.heads, flows)
        np.subtract.at(columns, self.tails, flows)
        return columns

    def invert(self, s: Floats) -> Inverse:
        """The inverse of L + diag(s), for positive s."""
        scaled = s / self.unit
        w = np.append(self.weights, scaled)
        with one_thread_per_call():
            factor = ExactFactor(self._tree, *self._ends, w, careful=self.is_careful)
            if not factor.is_accurate:
                self.is_careful = True
                factor = ExactFactor(self._tree, *self._ends, w, careful=True)
        return Inverse(self, scaled, factor)


class Inverse:
    """M = (L + diag(s))^-1.

    Attributes
    ----------
    pattern : InversePattern
    diagonal : array of N, the entries M_ii
    logdet : float, the logarithm of the determinant of L + diag(s)
    """

    def __init__(self, pattern: InversePattern, s: Floats, factor: ExactFactor) -> None:
        self.pattern, self._s, self._factor = pattern, s, factor
        n = pattern.n_nodes
        self._diagonal = factor.resistances[len(pattern.heads) :]
        self.diagonal = self._diagonal / pattern.unit
        self.logdet = factor.logdet - float(np.log(n + 1)) + n * float(np.log(pattern.unit))
        self._solves: Solves | None = None

    def solve(self, B: Floats) -> Floats:
        """M B, for B of N x m."""
        self._solves = self._solves or self._factor.prepare_solves()
        result = np.empty(B.shape)
        with one_thread_per_call():
            for columns in row_blocks(B.shape[1], COLUMNS):
                part = np.zeros((len(B) + 1, columns.stop - columns.start))
                part[:-1] = B[:, columns]
                result[:, columns] = self._solves.solve(part)[:-1]
        return result / self.pattern.unit

    def remainders(self) -> tuple[Floats, Floats]:
        """1 - s_i M_ii for every node, as accurately as the factor allows, and about how large its error is.

        It is the share of a current into node i that reaches the ground through other nodes.
        """
        pattern, s, diagonal = self.pattern, self._s, self._diagonal
        p, q, w, n = pattern.heads, pattern.tails, pattern.weights, pattern.n_nodes
        between = self._factor.between[: len(p)]
        flows = np.bincount(p, w * (diagonal[p] - between), n) + np.bincount(q, w * (diagonal[q] - between), n)
        # Terms of the sum, or where weights span many digits what M_ij was computed from; if they are larger than one,
        # the difference itself loses fewer digits.
        size = diagonal[p] + diagonal[q] if self.pattern.is_careful else np.abs(between)
        sizes = np.bincount(p, w * (diagonal[p] + size), n) + np.bincount(q, w * (diagonal[q] + size), n)
        remainders: Floats = np.where(sizes <= 1, np.maximum(flows, 0.0), 1 - s * diagonal)
        return remainders, np.finfo(float).eps * np.minimum(sizes, 1.0)


class EstimatedInverse:
    """M = (L + diag(s))^-1 by solves, with its diagonal estimated, for graphs that no exact factor is affordable for.

    The diagonal is the mean of k squares of columns from N(0, M), so its relative standard error is (2 / k)^1/2.

    Attributes
    ----------
    error : float, relative standard error of the diagonal

    Examples
    --------
    >>> pair = InversePattern(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    >>> M = EstimatedInverse(pair, np.array([1.0, 1.0]), 0.02)
    >>> bool(np.abs(M.diagonal - 2 / 3).max() < 0.1)
    True
    """

    def __init__(
        self, pattern: InversePattern, s: Floats, error: float, random_state: Any = 0, n_jobs: int | None = None
    ) -> None:
        self._pattern, self._s, n = pattern, s, pattern.n_nodes
        self._n_samples = int(np.ceil(2 / error**2))
        self.error = float(np.sqrt(2 / self._n_samples))
        to_ground = sp.coo_array((s, (np.arange(n), np.full(n, n))), shape=(n + 1, n + 1))
        grounded = sp.block_array([[pattern.adjacency, None], [None, sp.coo_array((1, 1))]]) + to_ground + to_ground.T
        self._rng = np.random.default_rng(random_state)
        self._solver = LaplacianSolver(sp.csr_array(grounded), random_state=self._rng, n_jobs=n_jobs)

    def solve(self, B: Floats) -> Floats:
        """M B, for B of N x m."""
        x = self._solver.solve(np.vstack([B, -B.sum(axis=0)]))
        return np.asarray(x[:-1] - x[-1])

    @cached_property
    def diagonal(self) -> Floats:
        """Estimates of M_ii."""
        total = np.zeros(len(self._s))
        for block in row_blocks(self._n_samples, SAMPLES):
            total += (self.solve(self._pattern.draw(self._s, block.stop - block.start, self._rng)) ** 2).sum(axis=1)
        return np.asarray(total / self._n_samples)


def inverse_diagonal(
    graph: Any, shift: float, *, error: float = 0.0, random_state: Any = 0, n_jobs: int | None = None
) -> tuple[Floats, float]:
    """The diagonal of (L + shift I)^-1, the variances of a Gaussian field, and its relative standard error.

    Parameters
    ----------
    graph : Graph, or sparse matrix or array of weights
    shift : float, positive
    error : float
        0: exact, by nested dissection; if that would take more than minutes, an error says so before it begins.
        Otherwise the relative standard error allowed; exact all the same where that takes less than a minute.
    random_state : int, Generator or None
        Seed of the estimates.
    n_jobs : int or None
        Number of threads; None or -1 for all cores. It does not change the result.

    Returns
    -------
    values, standard_error : array of N, float

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> values, error = inverse_diagonal(path, 1.0)
    >>> values.round(4), error
    (array([0.6154, 0.4615, 0.5385]), 0.0)
    """
    A, shift = check_adjacency(graph), check_positive("shift", shift, "it makes the matrix L + shift I regular")
    if isinstance(error, bool) or not isinstance(error, Real) or error != 0:
        check_positive("error", error, "the relative standard error allowed, or 0")
    pattern, s = InversePattern(A, count_threads(n_jobs)), np.full(A.shape[0], shift)
    if error == 0 or pattern.work <= CHEAP:
        pattern.check_work("Allow an error, such as error=0.1, for estimates.")
        return pattern.invert(s).diagonal, 0.0
    estimated = EstimatedInverse(pattern, s, error, random_state, n_jobs)
    return estimated.diagonal, estimated.error
