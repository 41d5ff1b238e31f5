r"""Exact resistances of a large graph by nested dissection, whose work is known before it begins.

The factor (:mod:`graspel.linalg.factor.exact_factor`) holds those of all edges. With the inverse M of the Laplacian
without the row and the column of one node, R(p, q) = M_pp + M_qq - 2 M_pq for other pairs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.linalg.components import Components
from graspel.linalg.factor.exact_factor import EdgeResistances, ExactFactor
from graspel.linalg.laplacian import has_wide_weights, scale_weights
from graspel.runtime.parallel import one_thread_per_call, row_blocks
from graspel.runtime.types import Floats, Ints

MOST_WORK = 2e13  # multiplications of an exact factor, some minutes, above which it is not begun
COLUMNS = 64  # right sides that are solved at once
CANCELS = 1e-3  # share of M_pp + M_qq below which R has lost more than three digits to cancellation


def check_work(work: float, n_nodes: int, n_edges: int, what_else: str) -> None:
    """Raise if one exact factorization would take too long; `what_else` says what to do."""
    if work > MOST_WORK:
        raise ValueError(
            f"an exact factor of this graph of {n_nodes:,} nodes and {n_edges:,} edges takes {work:.0e} "
            f"multiplications; at most {MOST_WORK:.0e}, some minutes, are begun. {what_else}"
        )


def exact_resistances(adjacency: sp.csr_array, heads: Ints, tails: Ints, n_threads: int) -> Floats:
    """The resistances of pairs, infinite between components: of edges from the factor, of others by one solve a node.

    Components are joined by an edge each, which does not change resistances inside them.
    """
    (A, unit), found = scale_weights(adjacency), Components.of(adjacency)
    edges, first = sp.triu(A, 1, format="coo"), np.unique(found.labels, return_index=True)[1]
    p, q = np.append(edges.row, first[:-1]).astype(np.int64), np.append(edges.col, first[1:]).astype(np.int64)
    pattern = EdgeResistances(p, q, A.shape[0], n_threads=n_threads)
    check_work(pattern.work, A.shape[0], len(edges.data), "Allow an error, such as error=0.1, for estimates.")
    with one_thread_per_call():
        careful = has_wide_weights(adjacency)  # Cholesky's method may lose the digits of a few heavy edges
        factor = pattern.factor(np.append(edges.data, np.ones(len(first) - 1)), careful=careful)
        known = _keys(p, q, A.shape[0])
        order = np.argsort(known)
        wanted = _keys(heads, tails, A.shape[0])
        at = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(order) - 1)] if len(order) else order
        is_edge = known[at] == wanted if len(order) else np.zeros(len(wanted), dtype=bool)
        R = np.zeros(len(heads))
        R[is_edge] = factor.resistances[at[is_edge]]
        others = np.flatnonzero(~is_edge & (heads != tails))
        R[others] = _resistances_by_solves(factor, heads[others], tails[others])
    R /= unit
    R[found.labels[heads] != found.labels[tails]] = np.inf
    return R


def _keys(p: Ints, q: Ints, n_nodes: int) -> Ints:
    """One number for each pair."""
    return np.asarray(np.minimum(p, q) * n_nodes + np.maximum(p, q))


def _resistances_by_solves(factor: ExactFactor, p: Ints, q: Ints) -> Floats:
    """R = M_pp + M_qq - 2 M_pq; where these cancel, from the factor without subtraction."""
    p, q = (p, q) if len(np.unique(p)) <= len(np.unique(q)) else (q, p)
    (sources, place), diagonal = np.unique(p, return_inverse=True), factor.diagonal()
    R, solves = diagonal[p] + diagonal[q], factor.prepare_solves()
    size = R.copy()
    for block in row_blocks(len(sources), COLUMNS):
        B = np.zeros((len(diagonal), block.stop - block.start))
        B[sources[block], np.arange(B.shape[1])] = 1.0
        mine = np.flatnonzero((block.start <= place) & (place < block.stop))
        R[mine] -= 2 * solves.solve(B)[q[mine], place[mine] - block.start]
    close = np.flatnonzero(CANCELS * size > R)
    R[close] = factor.close_resistances(p[close], q[close])
    return R
