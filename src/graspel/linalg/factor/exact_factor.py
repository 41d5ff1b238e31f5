r"""Exact factor: a sparse graph eliminated piece by piece, in dense matrices (multifrontal elimination).

With the own nodes J and the later nodes B of a piece (:mod:`graspel.linalg.factor.front_tree`), the entries F of its
front are those of the Laplacian in the columns J, plus what elimination of its parts has left. Then

    D = F_JJ,    H = F_BJ D^-1,    F_BB - H D H' is left to the piece that it is a part of.

After all pieces have been eliminated, the inverse M follows from the whole to the parts:

    M_BJ = -M_BB H,    M_JJ = D^-1 - H' M_BJ,

and M_BB lies in the front of the next larger piece, where M is known already. This is Takahashi's selected inversion in
blocks: it gives M, and so the resistances R_ij = M_ii + M_jj - 2 M_ij, on all edges, and never the whole of M. All work
is in products of dense matrices; a graph of few nodes is one front. The cost depends on how well the graph can be cut:
18,600 images with 4.4 edges per node take 0.08 s, and 70,000 take 4.4 s.

Cholesky's method loses digits where weights differ by many orders of magnitude. Whether that matters is checked by
Foster's theorem, sum of w R = N - 1. If so, the fronts are eliminated node by node on the *weights*
(:mod:`graspel.linalg.factor.dense_factor`), with the reference as one more node of every front. Nothing is subtracted
there, and resistances are found on the way back without cancellation. It takes about ten times as long.

Elimination by increasing degree, with full inversion of what is left when it no longer pays, was tried beside this.
Milliseconds to find the order and for 16 evaluations, by degree and piece by piece: optimum of 310 digits 9 and 14, of
1,797 digits 190 and 108, of 3,000 images of USPS 1,350 and 342; grid of 4,900 nodes 173 and 190, of 40,000 nodes 7,700
and 2,300; two neighbors of 9,298 images of USPS 309 and 353. On MNIST it takes a hundred times as many multiplications.

References
----------
J. W. H. Liu. The multifrontal method for sparse matrix solution: theory and practice. SIAM Review 34, 1992.

K. Takahashi, J. Fagan and M.-S. Chin. Formation of a sparse bus impedance matrix and its application to short circuit
study. Power Industry Computer Applications Conference, 1973.

R. M. Foster. The average impedance of an electrical network. Contributions to Applied Mechanics (Reissner Anniversary
Volume), 1949.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dtrtri

from graspel.linalg.factor.dense_factor import CarefulElimination
from graspel.linalg.factor.front_tree import FrontTree
from graspel.runtime.parallel import row_blocks, run_blocks
from graspel.runtime.types import Floats, Ints

FOSTER_TOL = 1e-6  # largest error of the mean leverage at which resistances by Cholesky's method are accurate enough
SHARED_WORK = 0.05  # share of the work of all above which the parts of a piece are divided over the threads
LEAST_SHARED = 1e9  # multiplications below which they never are: it would take longer
PAIR_ENTRIES = 1 << 22  # numbers of the columns of nodes whose pairs are compared at once: 32 MB
ROWS = 512  # rows of a large front that one thread multiplies at once


class ExactFactor:
    """The factors of a graph with given positive weights: log-determinant, resistances of the edges, and solves.

    Attributes
    ----------
    pattern : FrontTree
    logdet : float, of L + 11'/N, or with a ground of L + ground I
    resistances : array, of the edges
    between : array, M between the two ends of every edge; 0 if one of them is the reference
    is_accurate : bool, whether Foster's theorem holds to FOSTER_TOL; always true if `careful`, without subtraction
    """

    def __init__(self, tree: FrontTree, heads: Ints, tails: Ints, w: Floats, *, careful: bool = False) -> None:
        self.pattern, self._edges = tree, (heads, tails, w)
        self._careful: CarefulElimination | None = None
        if careful:
            self._eliminate_carefully(heads, tails, w)
            return
        self._entries = _assemble(tree, heads, tails, w)
        self.is_accurate = False
        try:
            self.logdet = _Elimination(tree, self._entries).run()
        except np.linalg.LinAlgError:  # not positive definite, as rounded
            return
        if tree.ground == 0:
            self.logdet += float(np.log(tree.n_nodes))
        M = _Inversion(tree, self._entries).run()
        n, m = tree.size, len(tree.edge)
        self._rows = np.append(M[:n], 0.0)
        self.resistances = self._rows[tree.place[heads]] + self._rows[tree.place[tails]]
        self.between = np.zeros(len(heads))
        self.between[tree.edge] = M[n : n + m]
        self.resistances[tree.edge] -= 2 * M[n : n + m]
        trees = float(w @ self.resistances)
        if tree.ground > 0:
            trees += tree.ground * float((M[: n - 1] + M[n - 1] - 2 * M[n + m :]).sum() + M[n - 1])
        self.is_accurate = bool(abs(trees / n - 1) <= FOSTER_TOL and self.resistances.min() > 0)

    def _eliminate_carefully(self, heads: Ints, tails: Ints, w: Floats) -> None:
        """The same without subtraction."""
        tree = self.pattern
        careful = self._carefully()
        self._entries, self.logdet, self.is_accurate = careful.entries, careful.logdet, True
        if tree.ground == 0:
            self.logdet += float(np.log(tree.n_nodes))
        self._rows, R = careful.restore_resistances()
        self.resistances = self._rows[tree.place[heads]] + self._rows[tree.place[tails]]  # one end is the reference
        self.between = np.zeros(len(heads))
        self.between[tree.edge] = (self.resistances[tree.edge] - R) / 2
        self.resistances[tree.edge] = R

    def _carefully(self) -> CarefulElimination:
        if self._careful is None:
            self._careful = CarefulElimination(self.pattern, _assemble(self.pattern, *self._edges, signed=False))
        return self._careful

    def close_resistances(self, p: Ints, q: Ints) -> Floats:
        """The resistances of pairs of nodes to full relative accuracy, however small they are beside those of others.

        A pair takes as many operations as there are nodes.
        """
        careful, place = self._carefully(), self.pattern.place
        R = np.empty(len(p))
        for block in row_blocks(len(p), max(1, PAIR_ENTRIES // self.pattern.n_nodes)):
            rows, at = np.unique(np.concatenate([place[p[block]], place[q[block]]]), return_inverse=True)
            Y, m = careful.half_columns(rows), block.stop - block.start
            R[block] = ((Y[:, at[:m]] - Y[:, at[m:]]) ** 2).sum(axis=0)
        return R

    def diagonal(self) -> Floats:
        """M_ii of every node, its resistance to the reference."""
        return np.asarray(self._rows[self.pattern.place])

    def prepare_solves(self) -> Solves:
        """What solves need."""
        return Solves(self.pattern, self._entries)


def _assemble(tree: FrontTree, heads: Ints, tails: Ints, w: Floats, *, signed: bool = True) -> Floats:
    """The entries of all fronts before elimination, upper triangle: the Laplacian without its reference.

    If not `signed`: weights, and in the diagonal those of the edges to the reference.
    """
    rows, cols, kept = tree.place[heads], tree.place[tails], w
    if not signed:
        to_reference = np.maximum(rows, cols) == tree.size
        rows, cols, kept = rows[to_reference], cols[to_reference], w[to_reference]
    degrees = np.bincount(np.concatenate([rows, cols]), np.tile(kept, 2), tree.size + 1).astype(np.float64)
    sign, to_ground = -1.0 if signed else 1.0, np.empty(0)
    if tree.ground > 0:
        degrees += tree.ground if signed else 0.0
        degrees[tree.size - 1] = tree.n_nodes * tree.ground if signed else tree.ground
        to_ground = np.full(tree.size - 1, sign * tree.ground)
    entries = np.zeros(tree.n_entries)
    entries[tree.slots] = np.concatenate([degrees[: tree.size], sign * w[tree.edge], to_ground])[tree.slot_order]
    return entries


class _Pieces:
    """What both directions share: small pieces are done at once, and the parts of large ones by several threads."""

    def __init__(self, tree: FrontTree, entries: Floats) -> None:
        self.tree, self.entries = tree, entries
        self.blocks: dict[int, Floats] = {}  # of later nodes, of fronts that wait for another one

    def is_large(self, f: int) -> bool:
        """Whether a piece is done front by front; where there is only one, compiled loops need not be loaded."""
        return self.tree.n_fronts == 1 or bool(self.tree.works[f] > max(SHARED_WORK * self.tree.work, LEAST_SHARED))


class _Elimination(_Pieces):
    """From the parts to the whole; D^-1 and H' replace the entries."""

    def run(self) -> float:
        """Eliminate everything, and return the log-determinant."""
        self._logdets = np.zeros(self.tree.n_fronts)
        self._eliminate_piece(self.tree.n_fronts - 1)
        return float(self._logdets.sum())

    def _eliminate_piece(self, f: int) -> None:
        if self.is_large(f):
            run_blocks(self._eliminate_piece, self.tree.parts_of(f), self.tree.n_threads)
            self.blocks[f] = self._eliminate(f)
        else:
            from graspel.kernels.fronts import eliminate_fronts

            lowest = int(self.tree.inner[f])
            self.blocks[f] = eliminate_fronts(lowest, f, *self.tree.fronts, self.entries, self._logdets)

    def _eliminate(self, f: int) -> Floats:
        """One large front; what is left of it is returned."""
        own, beside = self.tree.split(f, self.entries)
        later = np.zeros((beside.shape[1], beside.shape[1]))
        for part in self.tree.parts_of(f):
            from graspel.kernels.fronts import add_block

            add_block(self.blocks.pop(part), self.tree.places(part), own, beside, later)
        if len(own):
            C, failed = dpotrf(own.T, lower=1, clean=1)
            if failed:
                raise np.linalg.LinAlgError
            self._logdets[f] = 2 * float(np.log(np.diag(C)).sum())
            if not len(later):
                inverse, _ = dpotri(C, lower=1, overwrite_c=1)  # zero above the diagonal, as C is
                own[:] = inverse + np.tril(inverse, -1).T
                return later
            C, _ = dtrtri(C, lower=1, overwrite_c=1)
            G = C @ beside
            self._run_rows(len(later), lambda rows: np.subtract(later[rows], G[:, rows].T @ G, out=later[rows]))
            self._run_rows(len(own), lambda rows: np.matmul(C[:, rows].T, G, out=beside[rows]))
            own[:] = C.T @ C
        return later

    def _run_rows(self, n_rows: int, work: Callable[[slice], object]) -> None:
        run_blocks(lambda rows: (work(rows), None)[1], row_blocks(n_rows, ROWS), self.tree.n_threads)


class _Inversion(_Pieces):
    """From the whole to the parts."""

    def run(self) -> Floats:
        """M at the entries of the tree: the diagonal, the edges, and the rows joined to the ground."""
        tree = self.tree
        self._found = np.empty(len(tree.slots))
        self.blocks[tree.n_fronts - 1] = np.zeros((0, 0))
        self._invert_piece(tree.n_fronts - 1)
        M = np.empty(len(tree.slots))
        M[tree.slot_order] = self._found
        return M

    def _invert_piece(self, f: int) -> None:
        tree = self.tree
        if self.is_large(f):
            self._invert(f)
            run_blocks(self._invert_piece, self.tree.parts_of(f), tree.n_threads)
        else:
            from graspel.kernels.fronts import invert_fronts

            slots = tree.slots, tree.slot_pointers, self._found
            invert_fronts(int(tree.inner[f]), f, self.blocks.pop(f), *tree.fronts, self.entries, *slots)

    def _invert(self, f: int) -> None:
        """One large front."""
        tree, later = self.tree, self.blocks.pop(f)
        own, H = self.tree.split(f, self.entries)
        M = np.empty(own.size + H.size)
        M_own, M_beside = M[: own.size].reshape(own.shape), M[own.size :].reshape(H.shape)

        def work(rows: slice) -> None:
            np.matmul(H[rows], later, out=M_beside[rows])
            np.matmul(M_beside[rows], H.T, out=M_own[rows])

        run_blocks(work, row_blocks(len(own), ROWS), tree.n_threads)
        M_own += own
        np.negative(M_beside, out=M_beside)
        slots = slice(tree.slot_pointers[f], tree.slot_pointers[f + 1])
        self._found[slots] = M[tree.slots[slots] - tree.firsts[f]]
        for part in self.tree.parts_of(f):
            from graspel.kernels.fronts import take_block

            self.blocks[part] = take_block(self.tree.places(part), M_own, M_beside, later)


class Solves:
    """Columns of M, for blocks of nodes.

    Attributes
    ----------
    order : array, all nodes in the order of elimination
    """

    def __init__(self, tree: FrontTree, entries: Floats) -> None:
        self._tree = tree
        self.order = np.argsort(tree.place, kind="stable")
        self._fronts = tree.limits, tree.firsts, tree.pointers, tree.later, entries

    def solve(self, B: Floats) -> Floats:
        """M B for right sides with one row per node, in the order of the nodes. The potential of the reference is 0.

        If the columns of B sum to zero, M B is a solution of L x = b, or with a ground of (L + ground I) x = b plus a
        constant.
        """
        tree = self._tree
        X = np.zeros((tree.size + 1, B.shape[1]))
        X[tree.place] = B
        self._substitute(X, np.arange(tree.n_fronts), 0)
        X[-1] = 0.0
        return np.asarray(X[tree.place])

    def columns(self, block: slice) -> tuple[Ints, Floats]:
        """The columns M e_q of the nodes q = order[block], for the rows order[block.start:]; also these rows' nodes."""
        tree, later = self._tree, self.order[block.start :]
        rows = tree.place[self.order[block]]
        first, last = (tree.front_of(min(int(row), tree.size - 1)) for row in (rows[0], rows[-1]))
        origin = int(tree.limits[first])
        X = np.zeros((tree.size + 1 - origin, len(rows)))  # the last row is that of the reference
        X[rows - origin, np.arange(len(rows))] = 1.0
        X[-1] = 0.0
        self._substitute(X, tree.chain(first, last), origin)
        if tree.ground > 0:
            X[-2] = 0.0  # the ground is no node, and the reference takes its row
        begin = int(rows[0]) - origin if rows[0] < tree.size else len(X) - 1
        return later, X[begin : begin + len(later)]

    def _substitute(self, X: Floats, numbers: Ints, origin: int) -> None:
        """Replace X, whose rows begin at `origin`, by M X; all its entries are zero outside the fronts `numbers`."""
        if self._tree.n_fronts == 1:
            X[:-1] = self._fronts[-1].reshape(len(X) - 1, -1) @ X[:-1]
            return
        from graspel.kernels.fronts import solve_fronts_backward, solve_fronts_forward

        solve_fronts_forward(numbers, *self._fronts, X, origin)
        solve_fronts_backward(int(numbers[0]), *self._fronts, X, origin)


class EdgeResistances:
    """The resistances of the edges (heads, tails) of a connected graph as a function of their weights.

    `ground` is added to the diagonal of the Laplacian. `work` is the cost of one evaluation, in multiplications.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = EdgeResistances(np.array([0, 0, 1]), np.array([1, 2, 2]), 3)
    >>> logdet, R = triangle(np.array([1.0, 1.0, 1.0]))
    >>> round(float(np.exp(logdet)), 9), R.round(6)  # the eigenvalues are 3 and 3
    (9.0, array([0.666667, 0.666667, 0.666667]))
    """

    def __init__(self, heads: Ints, tails: Ints, n_nodes: int, ground: float = 0.0, n_threads: int = 1) -> None:
        self._edges, self._tree = (heads, tails), FrontTree(heads, tails, n_nodes, ground, n_threads)
        self._careful = False  # whether some weights spanned too many digits for Cholesky's method
        self.work = self._tree.work

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        """The log-determinant and the resistances of the edges, for positive weights.

        The determinant is that of L + 11'/N, or with a ground that of L + ground I.
        """
        factor = self.factor(w)
        return factor.logdet, factor.resistances

    def resistances(self, w: Floats) -> Floats:
        """The resistances of the edges, for positive weights."""
        return self.factor(w).resistances

    def factor(self, w: Floats, *, careful: bool = False) -> ExactFactor:
        """The factors for positive weights; `careful`: without subtraction, even if the mean leverage needs none."""
        if not (self._careful or careful):
            found = ExactFactor(self._tree, *self._edges, w)
            if found.is_accurate:
                return found
            self._careful = True
        return ExactFactor(self._tree, *self._edges, w, careful=True)
