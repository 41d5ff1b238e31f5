r"""Inverted index: the nearest rows of a sparse matrix, through the rows that share its columns.

The index holds for every column the rows that use it. A query adds up its products with the rows of its columns, the
rarest columns first. A column that most rows use has a long list, and in text a small weight; the length of the part of
the query that is left out bounds what all columns not yet read can add (Cauchy and Schwarz). Reading ends when no row
beyond the nearest found can be nearer. So the lists are exact, and most entries are never read.

For very many rows even the lists of rare columns get long. Each query then has a budget of entries, and the recall that
is measured on a sample decides whether the search is repeated with a larger one.

References
----------
D. C. Anastasiu and G. Karypis. L2AP: fast cosine similarity search with prefix L-2 norm bounds. International
Conference on Data Engineering, 2014.

R. J. Bayardo, Y. Ma and R. Srikant. Scaling up all pairs similarity search. WWW, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.products import sparse_squares
from graspel.data.sparse import SparseData, csr_arrays
from graspel.neighbors.duplicates import find_equals
from graspel.neighbors.exact import measure_candidates, measure_recall
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

Csr = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

QUERY_BLOCK = 512  # queries of one task; tasks are fixed, so that threads do not change the result
BUDGET = 1 << 16  # entries read for one query at first: most queries of 100,000 texts need fewer
BUDGET_FACTOR = 8  # growth of the budget while the recall is too low
WANTED_RECALL = 0.9925  # of a sample, as for landmarks
MANY_ROWS = 1 << 15  # rows up to which all of a list is searched exactly; for more only the neighbors that are wanted


@dataclass(frozen=True)
class InvertedIndex:
    """A sparse matrix by rows and by columns, with columns numbered by the number of their rows.

    Attributes
    ----------
    rank : new number of every column
    rows, posted : CSR and CSC arrays with the new numbers; the values of the second are in single precision
    squares : |y|^2 of every row
    by_length : all rows, the shortest first
    """

    rank: NDArray[np.int32]
    rows: Csr
    posted: Csr
    squares: Floats
    by_length: Ints

    @classmethod
    def build(cls, A: sp.csr_array) -> InvertedIndex:
        """The index of the rows of A."""
        order = np.argsort(np.bincount(A.indices, minlength=A.shape[1]), kind="stable")
        rank = np.empty(A.shape[1], dtype=np.int32)
        rank[order] = np.arange(A.shape[1])
        renumbered = _renumber(A, rank)
        posted = sp.csc_array(renumbered.astype(np.float32))
        squares = sparse_squares(A)
        return cls(rank, csr_arrays(renumbered), csr_arrays(posted), squares, np.argsort(squares, kind="stable"))

    def search(
        self,
        queries: sp.csr_array,
        width: int,
        n_sure: int,
        n_threads: int,
        *,
        labels: tuple[Ints, Ints],
        limits: Floats | None = None,
        budget: int | None = None,
    ) -> tuple[Ints, Floats, int]:
        """The nearest rows of the queries: indices (-1: none), |x - y|^2 by products, and how many budgets ran out.

        `labels` of the queries and of the rows: rows with the label of the query are left out. Rows farther than
        `limits` may be missing. Without `budget` the first `n_sure` rows are exact.
        """
        from graspel.kernels.sparse_rows import nearest_sparse_rows

        n = queries.shape[0]
        query = csr_arrays(_renumber(queries, self.rank))
        limits = np.full(n, np.inf) if limits is None else limits
        z, index = np.full((n, width), np.inf), np.full((n, width), -1, dtype=np.int32)
        budget = 1 << 62 if budget is None else budget
        searched = (self.rows, self.posted, self.squares, self.by_length)

        def work(block: slice) -> int:
            return nearest_sparse_rows(
                block.start, block.stop, query, labels[0], searched, labels[1], n_sure, budget, limits, z, index
            )

        n_ended = 0
        blocks = row_blocks(n, QUERY_BLOCK)
        for done, ended in enumerate(map_blocks(work, blocks, n_threads)):
            n_ended += ended
            announce("nearest neighbors", done / len(blocks), "by an inverted index")
        return index.astype(np.int64), z, n_ended


def inverted_neighbors(points: SparseData, index: InvertedIndex, k: int, width: int) -> tuple[Ints, Floats]:
    """Neighbor lists of sparse points, of which k are wanted with a high recall: indices and z_data."""
    announce("nearest neighbors", None, "preparing the compiled search (some seconds on first use)")
    everyone = np.arange(points.n_points)
    budget = BUDGET
    while True:
        n_sure = width if points.n_points <= MANY_ROWS else k
        candidates, _, n_ended = index.search(
            points.A, width, n_sure, points.n_threads, labels=(everyone, everyone), budget=budget
        )
        indices, z = measure_candidates(points, everyone, candidates, width)
        if n_ended == 0 or measure_recall(points, z, k) >= WANTED_RECALL:
            return indices, z
        budget *= BUDGET_FACTOR


def inverted_query(
    points: SparseData, index: InvertedIndex, asking: SparseData, k: int, width: int
) -> tuple[Ints, Floats]:
    """The k nearest points of every point of `asking`, both sparse: indices and z_data."""
    n = asking.n_points
    labels = np.full(n, -1), np.arange(points.n_points)
    candidates = index.search(asking.A, width, k, points.n_threads, labels=labels)[0]
    candidates = np.column_stack([candidates, find_equals(points, asking)])  # products may blur them
    return measure_candidates(points, np.arange(n), candidates, k, asking)


def inverted_outside(
    points: SparseData, index: InvertedIndex, queries: Ints, labels: Ints, limits: Floats
) -> tuple[Ints, Floats]:
    """For each query the nearest point of another label, and its z_data; if none is below `limits`, any point."""
    unit = points.spectral_norm**2
    candidates = index.search(
        points.A[queries],
        1,
        1,
        points.n_threads,
        labels=(labels[queries], labels),
        limits=limits * unit * (1 + 1e-6),
    )[0]
    # Where no point shares a column, the shortest is the nearest: that of all, or the first with another label.
    first = index.by_length[0]
    second = index.by_length[np.argmax(labels[index.by_length] != labels[first])]
    shortest = np.where(labels[queries] == labels[first], second, first)
    found = np.where(candidates[:, 0] < 0, shortest, candidates[:, 0])
    z, z_of_shortest = points.squared_distances(queries, found), points.squared_distances(queries, shortest)
    return np.where(z_of_shortest < z, shortest, found), np.minimum(z, z_of_shortest)


def _renumber(A: sp.csr_array, rank: NDArray[np.int32]) -> sp.csr_array:
    """A with its columns numbered anew, sorted within each row, in double precision."""
    renumbered = sp.csr_array((A.data.astype(np.float64), rank[A.indices], A.indptr), shape=A.shape)
    renumbered.sort_indices()
    return renumbered
