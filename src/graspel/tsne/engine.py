r"""The engine of t-SNE: gradient descent from given affinities and start coordinates.

It minimizes the Kullback-Leibler divergence between the affinities P and those in the embedding,

    KL(P || Q) = sum_ij p_ij log(p_ij / q_ij),      q_ij = 1 / (1 + |y_i - y_j|^2) / Z,

whose gradient (a factor of four is left to the length of the steps) is the attraction by the neighbors minus the
repulsion by all points (:mod:`graspel.tsne.repulsion`):

    g_i = e sum_j p_ij (y_i - y_j) / (1 + |y_i - y_j|^2) - 1/Z sum_j (y_i - y_j) / (1 + |y_i - y_j|^2)^2.

The *exaggeration* e multiplies the attraction. In the first iterations it keeps clusters small, so that they can still
move past each other. Steps have momentum, and every coordinate has a gain that grows while its gradient keeps its sign.

Work is cut into blocks of points of fixed size, and sums over blocks are added in order: the bits do not depend on the
number of threads. Everything is in single precision. Compiled here rather than taken from openTSNE: an iteration takes
a tenth of the time (docs/notes/embedding.md).

**Memory and time** are predicted from the size of the data (`plan_tsne`). The graph is learned first
(:mod:`graspel.scale.plan`, with lists of k neighbors). Then these stay in memory for each point, and the affinities are
made beside them:

    kept         GRAPH + 8 w + 4 D             graph and points, lists of w entries, sketch of D columns
    affinities   25 k                          shares C, their transpose, and the sum of both, at 8 bytes an entry
    forces       48 d                          coordinates, updates, gains and forces

The grid of the repulsion takes a fixed part. The constants are counts of the arrays above and estimates, not a fit; a
test compares the peak at 60,000 points with a measured one. The seconds were not compared with measured ones.

References
----------
L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.

R. A. Jacobs. Increased rates of convergence through learning rate adaptation. Neural Networks 1, 1988.

A. C. Belkina, C. O. Ciccolella, R. Anno, R. Halpert, J. Spidlen and J. E. Snyder-Cappione. Automated optimized
parameters for t-distributed stochastic neighbor embedding improve visualization and analysis of large datasets. Nature
Communications 10, 2019. Steps in proportion to the number of points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.data.principal import MOST_SKETCH_DIMENSIONS
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Singles
from graspel.scale.plan import PARALLEL, Plan
from graspel.tsne.repulsion import Grid

BLOCK = 4096  # points in one block of work
CHARGES = 32_768  # points whose charges are spread on one copy of the grid, at least
COPIES = 8  # copies of the grid, at most
MOMENTUM = 0.8  # share of the last update that is added to the next; the usual value
EVERY = 10  # iterations between two progress messages
SMALLEST_Z = 1e-30  # lower bound of the normalizer Z, which rounding can make zero for one or two points
FAR = 3.0  # standard deviations from the mean beyond which a point is moved in; pictures without outliers end there
MAX_MOVES_IN = 4  # largest number of times that far points are moved in: the farthest hide how far the others are
CHECKED = 50  # iterations between two computations of the divergence, and before the check whether a picture collapsed
SMALLEST_EXAGGERATION = 1.5  # the exaggeration of a picture that collapsed is halved down to this, and no further

# Called with the phase, the iterations done in it, and the coordinates so far; True ends the phase.
TSNECallback = Callable[[str, int, Floats], Any]


class Iterations(NamedTuple):
    """A number of iterations with one exaggeration.

    `rate` is the length of a step in units of the number of points. With a tolerance, the iterations end early once
    50 of them lower the divergence by less than this share of it. Where the coordinates have a smaller standard
    deviation than `width`, they are scaled up to it before the first iteration. Where they have a smaller one than
    `narrow` after 50 iterations, these are repeated with half of the exaggeration, as long as that is 1.5 or more.
    """

    n_iter: int
    exaggeration: float = 1.0
    rate: float = 1.0
    tolerance: float = 0.0
    width: float = 0.0
    narrow: float = 0.0

    def halved(self) -> Iterations:
        """The same with half of the exaggeration, and steps that move points as far."""
        return self._replace(exaggeration=self.exaggeration / 2, rate=2 * self.rate)


class Layout(NamedTuple):
    """Coordinates of the points, their divergence (nan where there was no iteration), and the iterations done."""

    coordinates: Floats
    divergence: float
    n_iter: int = 0


def optimize(
    P: sp.csr_array,
    start: Floats,
    schedule: list[Iterations],
    *,
    phase: str,
    n_threads: int,
    callback: TSNECallback | None = None,
) -> Layout:
    """Run t-SNE from the coordinates `start` for all iterations of the schedule; progress messages name the `phase`."""
    total = sum(iterations.n_iter for iterations in schedule)
    if total == 0:
        return Layout(start, float("nan"))
    progress = Phase(phase, total, callback)
    announce(phase, 0.0)
    with ThreadPoolExecutor(n_threads) as pool:
        descent = Descent(P, start, pool if n_threads > 1 else None)
        for iterations in schedule:
            if not progress.stopped:
                progress.iterate(descent, iterations)
        divergence = descent.divergence()
        announce(phase, 1.0, f"divergence {divergence:.3f} after {progress.done} iterations")
        return Layout(descent.coordinates(), divergence, progress.done)


class Phase:
    """The iterations of one phase: how many are done, and whether a rule or the callback has ended them."""

    def __init__(self, phase: str, total: int, callback: TSNECallback | None) -> None:
        self.phase, self.total, self.callback = phase, total, callback
        self.done, self.stopped = 0, False

    def iterate(self, descent: Descent, iterations: Iterations) -> None:
        """Iterate with one exaggeration, or with half of it where the picture collapses."""
        may_halve = iterations.narrow > 0 and iterations.exaggeration >= 2 * SMALLEST_EXAGGERATION
        begin = descent.Y.copy() if may_halve else None
        descent.rest()
        descent.widen(iterations.width)
        last = np.inf
        for step in range(1, iterations.n_iter + 1):
            descent.step(iterations)
            self.done += 1
            if step == CHECKED and begin is not None and descent.spread() < iterations.narrow:
                self.done -= step
                descent.put(begin)
                self.iterate(descent, iterations.halved())
                return
            if step % CHECKED == 0 and iterations.tolerance:
                divergence = descent.divergence()
                self.stopped = last - divergence < iterations.tolerance * abs(divergence)
                last = divergence
            if step % EVERY == 0:
                self._tell(descent, last)
            if self.stopped:
                break

    def _tell(self, descent: Descent, last: float) -> None:
        known = f"divergence {last:.3f}" if np.isfinite(last) else f"iteration {self.done}"
        announce(self.phase, self.done / self.total, known)
        if self.callback is not None:
            self.stopped |= bool(self.callback(self.phase, self.done, descent.coordinates()))


class Descent:
    """The state of a gradient descent: coordinates, last updates and gains of all points.

    Parameters
    ----------
    P : sparse matrix of affinities, symmetric, with sum one
    start : array (N x d), d = 2 or 3
    pool : threads that share the blocks of work; None for the thread of the caller
    """

    def __init__(self, P: sp.csr_array, start: Floats, pool: ThreadPoolExecutor | None) -> None:
        from graspel.kernels import tsne

        self.kernels, self.pool = tsne, pool
        members, shares = P.indices.astype(np.int32, copy=False), P.data.astype(np.float32, copy=False)
        self.entries = P.indptr.astype(np.int64), members, shares
        self.Y: Singles = np.array(start, dtype=np.float32, order="C")
        self.attraction, self.repulsion = np.zeros_like(self.Y), np.zeros_like(self.Y)
        self.updates, self.gains = np.zeros_like(self.Y), np.ones_like(self.Y)
        n = len(self.Y)
        self.blocks = row_blocks(n, BLOCK)
        self.copies = row_blocks(n, max(CHARGES, -(-n // COPIES)))
        self.bounds = np.empty((len(self.blocks), 2, self.Y.shape[1]), dtype=np.float32)
        self.put(self.Y)
        self.grid: Grid | None = None

    def rest(self) -> None:
        """Forget all updates and gains."""
        self.updates[:] = 0
        self.gains[:] = 1

    def widen(self, width: float) -> None:
        """Scale the coordinates up to this standard deviation, along the axis where it is largest.

        A point at a distance r > R = 3 `width` from their mean is moved in to R (2 - R / r) < 2 R: a few points that
        the exaggerated iterations left far outside would stretch the picture, and the grid with it, permanently.
        """
        if not 0 < self.spread() < width:
            return
        for _ in range(MAX_MOVES_IN):
            Y = (self.Y - self.Y.mean(axis=0, dtype=np.float64)) * (width / self.spread())
            distances = np.maximum(np.sqrt((Y**2).sum(axis=1, keepdims=True)), FAR * width)
            share = FAR * width / distances
            self.Y = (Y * share * (2 - share)).astype(np.float32)
            if distances.max() == FAR * width:
                break
        self.put(self.Y)

    def spread(self) -> float:
        """Standard deviation of the coordinates along the axis where it is largest."""
        return float(self.Y.std(axis=0, dtype=np.float64).max())

    def put(self, Y: Singles) -> None:
        """Move all points to these coordinates."""
        self.Y = Y
        self.bounds[:] = Y.min(axis=0), Y.max(axis=0)

    def step(self, iterations: Iterations) -> None:
        """One iteration."""
        Z = self._repel()
        n = len(self.Y)
        rate = iterations.rate * n
        factors = np.array([iterations.exaggeration, 0.5 / Z, rate, MOMENTUM], dtype=np.float32)

        def work(number: int) -> None:
            first, last = self.blocks[number].start, self.blocks[number].stop
            self.kernels.attract(*self.entries, self.Y, first, last, self.attraction)

        def finish(number: int) -> None:
            first, last = self.blocks[number].start, self.blocks[number].stop
            self.kernels.move(
                self.Y, self.attraction, self.repulsion, self.updates, self.gains, factors, first, last,
                self.bounds[number],
            )  # fmt: skip

        self._run(work, range(len(self.blocks)))
        self._run(finish, range(len(self.blocks)))

    def divergence(self) -> float:
        """The divergence at the coordinates as they are now."""
        Z = self._repel()
        terms = self._run(
            lambda block: self.kernels.sum_divergence(*self.entries, self.Y, block.start, block.stop), self.blocks
        )
        return float(sum(terms) + np.log(Z))

    def coordinates(self) -> Floats:
        """The coordinates in double precision, about their mean."""
        Y = self.Y.astype(np.float64)
        return Y - Y.mean(axis=0)

    def _repel(self) -> float:
        """Write the slopes of the potential to `repulsion`, and return Z."""
        low, high = self.bounds[:, 0].min(axis=0), self.bounds[:, 1].max(axis=0)
        if self.grid is None or not self.grid.holds(high - low):
            self.grid = Grid(high - low)
        grid = self.grid
        grid.center_on(low, high)
        inverse = np.float32(1 / grid.spacing)

        def spread(points: slice) -> Singles:
            charges = np.zeros(grid.shape, dtype=np.float32)
            self.kernels.spread_charges(self.Y, grid.low, inverse, points.start, points.stop, charges)
            return charges

        charges, *others = self._run(spread, self.copies)
        for more in others:
            charges += more
        potential = grid.convolve(charges, self._run)
        sums = self._run(
            lambda block: self.kernels.gather_slopes(
                self.Y, grid.low, inverse, block.start, block.stop, potential, self.repulsion
            ),
            self.blocks,
        )
        of_others = float(sum(sums)) - len(self.Y)  # without the points themselves
        return max(of_others, SMALLEST_Z)

    def _run(self, work: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
        if self.pool is None or len(blocks) == 1:
            return [work(block) for block in blocks]
        return list(self.pool.map(work, blocks))


FIXED = 100e6  # bytes: compiled loops, grids and their transforms
GRAPH = 400.0  # bytes per point: the graph, its groups, and what the learner keeps of the points
ENTRY = 25.0  # bytes for each neighbor that attracts a point
STEP_SECONDS = 1.2e-7  # seconds of one processor for each point in an iteration, beside its neighbors
PULL_SECONDS = 5e-9  # seconds of one processor for each neighbor of a point in an iteration


def plan_tsne(learning: Plan, n_neighbors: int, n_components: int, n_iter: int, n_threads: int) -> Plan:
    """The plan of t-SNE on all points, from the plan of learning their graph.

    >>> learning = Plan(1_000_000, 32, 0.0, memory=1e9, seconds=60.0, available=None)
    >>> plan = plan_tsne(learning, n_neighbors=30, n_components=2, n_iter=1000, n_threads=2)
    >>> 1e9 < plan.memory < 4e9, plan.seconds > learning.seconds
    (True, True)
    """
    width = n_neighbors + EXTRA_CANDIDATES
    kept = GRAPH + 8 * width + 4 * min(learning.n_features, MOST_SKETCH_DIMENSIONS)
    drawing = FIXED + learning.n_points * (kept + ENTRY * n_neighbors + 48 * n_components)
    iteration = learning.n_points * (STEP_SECONDS + PULL_SECONDS * n_neighbors)
    seconds = learning.seconds + n_iter * iteration * (1 - PARALLEL + PARALLEL / n_threads)
    return replace(learning, memory=max(learning.memory, drawing), seconds=seconds)
