r"""Whether there are groups at all: a test of the density's modes against even data of the same dimension.

Groups are dense regions with a sparser one between them. Let r_i be the distance of point i to its m-th neighbor, and

    f_i = mean of -log r_q over the point and its m neighbors q,

up to a factor, the dimension d, and a constant, the logarithm of the density. Points are added in the order of falling
f, each with its edges to neighbors that are there already. A point without such an edge begins a mode. Where two modes
meet, the lower one ends; its *prominence* is how far the density has fallen since it began (persistence: Chazal and
others 2013). The statistic is

    T = d times the largest prominence of a mode, the highest mode left out,

which is infinite where the neighbor graph has several components. Groups of fewer than m points do not show: so it is
measured for both m in `NEIGHBORS`. On data of one mode T is noise, since d log r_i
varies by about 1 / sqrt(m) at any density and in any dimension. How large this noise is depends on d and on the number
of points, and hardly on the shape of the density, where even data have the largest of those that were tried (Gaussian,
heavy tails, skewed, flat in some directions, curved sheets). So the reference are `DRAWS` even sets of as many points
in d dimensions. There are groups, at the level of 5 %, if for one m of the two T is larger than `MARGIN` times all of
theirs (Bonferroni: twice the smaller of the two levels).

The dimension is that of near neighbors: log(r_i / r_i'), for the m-th neighbor and the one at a third of m, has the
mean (psi(m) - psi(m / 3)) / d (as in Levina and Bickel 2004).

References
----------
F. Chazal, L. J. Guibas, S. Y. Oudot and P. Skraba. Persistence-based clustering in Riemannian manifolds. Journal of the
ACM 60, 2013.

B. W. Silverman. Using kernel density estimates to investigate multimodality. Journal of the Royal Statistical Society B
43, 1981.

E. Levina and P. J. Bickel. Maximum likelihood estimation of intrinsic dimension. NIPS 2004.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import KDTree
from scipy.special import digamma

from graspel.runtime.types import Floats, Ints

NEIGHBORS = (7, 15)  # m; with fewer than 7, a few points that are near by chance count as groups
MAX_POINTS = 1_000  # points by which modes are sought; a random choice where there are more
DRAWS = 39  # even sets that T is compared with; if it is above all for one m, the level is 2 / (DRAWS + 1)
LEVEL = 0.05  # significance of groups
MARGIN = 1.5  # T of one mode of another shape than even: at most so many times that of even data
ROUNDED_UP = (
    0.2  # a dimension is rounded up from .8 on: borders lower it by about .1, and T is larger in fewer dimensions
)
MOST_DIMENSIONS = 10  # of the even sets; with more the noise is smaller


class ModeTest(NamedTuple):
    """Whether the density has a second mode: how often even data have one that is as prominent.

    Attributes
    ----------
    significance : float, from 2 / (DRAWS + 1) to 1
    dimension : float, the larger d of the two m
    """

    significance: float
    dimension: float

    @property
    def finds_groups(self) -> bool:
        """Whether the data have more than one mode, at the level of 5 %."""
        return self.significance <= LEVEL


def find_modes(distances: Floats, indices: Ints, rng: np.random.Generator) -> ModeTest:
    """Test whether points, of which the distances to their neighbors are known, have more than one mode.

    Parameters
    ----------
    distances, indices : arrays (N x m), nearest first; no point is its own neighbor

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> one = rng.standard_normal((300, 2))
    >>> two = one + np.where(np.arange(300) < 150, 0, 6)[:, None]
    >>> [find_modes(*search_tree(X, 15), rng).finds_groups for X in (one, two)]
    [False, True]
    """
    levels, dimensions = [], []
    for m in sorted({min(m, indices.shape[1]) for m in NEIGHBORS}):
        dimension = measure_dimension(distances[:, :m])
        observed = _statistic(distances[:, :m], indices[:, :m])
        even = (_statistic(*search_even(len(indices), m, dimension, rng)[1:]) for _ in range(DRAWS))
        dimensions.append(dimension)
        levels.append((1 + sum(other * MARGIN >= observed for other in even)) / (DRAWS + 1))
    return ModeTest(min(1.0, len(NEIGHBORS) * min(levels)), max(dimensions))


def _statistic(distances: Floats, indices: Ints) -> float:
    """T for lists of m neighbors."""
    return _largest_prominence(distances, indices) * measure_dimension(distances)


def measure_dimension(distances: Floats) -> float:
    """The dimension of the data near their points, from the growth of the distances to the neighbors."""
    m = distances.shape[1]
    near = max(1, m // 3)
    inner, outer = distances[:, near - 1], distances[:, -1]
    growth = np.log(outer[inner > 0] / inner[inner > 0])
    mean = float(growth.mean()) if len(growth) else 0.0
    return float(digamma(m) - digamma(near)) / mean if mean > 0 else 1.0


def search_even(n: int, m: int, dimension: float, rng: np.random.Generator) -> tuple[Floats, Floats, Ints]:
    """Points spread evenly in a cube, the distances to their m nearest neighbors, and these."""
    X = rng.random((n, int(np.clip(dimension + ROUNDED_UP, 1, MOST_DIMENSIONS))))
    return X, *search_tree(X, m)


def search_tree(X: Floats, m: int) -> tuple[Floats, Ints]:
    """The distances of all rows to their m nearest neighbors, and these."""
    distances, indices = KDTree(X).query(X, m + 1)
    return distances[:, 1:], indices[:, 1:].astype(np.int64)


def _largest_prominence(distances: Floats, indices: Ints) -> float:
    """The largest prominence of a mode but the highest; infinite where the graph of the neighbors falls apart."""
    n, m = indices.shape
    reach = np.log(np.maximum(distances[:, -1], np.finfo(np.float64).tiny))
    density = -(reach + reach[indices].sum(axis=1)) / (m + 1)
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(-density, kind="stable")] = np.arange(n)
    heads, tails = rank[np.repeat(np.arange(n), m)], rank[indices.ravel()]
    lower, upper = np.maximum(heads, tails), np.minimum(heads, tails)
    # Modes meet along the edges of a spanning tree that takes edges in the order of their lower ends.
    tree = sp.csr_array((lower + 1.0, (lower, upper)), shape=(n, n))
    tree.sum_duplicates()
    tree.data = np.repeat(np.arange(n) + 1.0, np.diff(tree.indptr))
    if connected_components(tree, directed=False)[0] > 1:
        return np.inf
    edges = minimum_spanning_tree(tree).tocoo()
    order = np.lexsort((edges.col, edges.row, edges.data))
    height = np.sort(density)[::-1]
    top, largest = np.arange(n), 0.0

    def find(at: int) -> int:
        while top[at] != at:
            top[at] = at = top[top[at]]
        return at

    for low, high in zip(*np.stack([edges.row, edges.col])[:, order].tolist(), strict=True):
        one, other = sorted((find(low), find(high)))  # the mode of smaller rank is the higher one
        largest = max(largest, float(height[other] - height[max(low, high)]))
        top[other] = one
    return largest
