"""Random graphs of several families, which serve as ground truth for graph recovery.

A graph is drawn again until it is connected. :func:`graspel.datasets.smooth_signals` draws signals on a graph.

References
----------
A.-L. Barabasi and R. Albert. Emergence of scaling in random networks. Science, 286, 1999.

X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing, 64(23), 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Ints

MAX_DRAWS = 1000  # random graphs drawn before giving up on a connected one


def gaussian_graph(n: int = 20, sigma: float = 0.5, threshold: float = 0.75, random_state: Any = None) -> Graph:
    """Join random points in the unit square with weight exp(-d^2 / (2 sigma^2)) where that is at least `threshold`.

    Parameters
    ----------
    n : int
        Number of nodes.
    sigma, threshold : float
        Width of the kernel, and smallest weight; with the defaults, points closer than 0.38 are joined.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    graph : Graph, connected

    Examples
    --------
    >>> gaussian_graph(20, random_state=0).is_connected
    True
    """
    _check_size(n)
    check_number("sigma", sigma, "above 0", lambda v: 0 < v < np.inf)
    check_number("threshold", threshold, "in (0, 1]", lambda v: 0 < v <= 1)
    reach = sigma * np.sqrt(-2 * np.log(threshold))

    def draw(rng: np.random.Generator) -> Graph:
        from scipy.spatial import KDTree

        points = rng.uniform(size=(n, 2))
        pairs = KDTree(points).query_pairs(reach, output_type="ndarray")
        heads, tails = pairs.reshape(-1, 2).T
        squared = ((points[heads] - points[tails]) ** 2).sum(axis=1)
        return Graph(n, heads, tails, np.exp(-squared / (2 * sigma**2)))

    return _draw_connected(draw, random_state, f"sigma={sigma!r} and threshold={threshold!r}")


def erdos_renyi_graph(n: int = 20, p: float = 0.2, random_state: Any = None) -> Graph:
    """Join every pair of nodes with probability p, with weight 1.

    Parameters
    ----------
    n : int
        Number of nodes.
    p : float
        Probability of an edge. A large graph is connected only for p above log(n) / n.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    graph : Graph, connected

    Examples
    --------
    >>> erdos_renyi_graph(100, 0.1, random_state=0).is_connected
    True
    """
    _check_size(n)
    _check_probability("p", p)

    def draw(rng: np.random.Generator) -> Graph:
        heads, tails = _pairs_within(n, p, rng)
        return Graph(n, heads, tails, 1.0)

    return _draw_connected(draw, random_state, f"p={p!r}")


def preferential_attachment_graph(n: int = 20, n_links: int = 1, random_state: Any = None) -> Graph:
    """Join each new node to `n_links` others, chosen in proportion to their degrees (Barabasi and Albert 1999).

    Parameters
    ----------
    n : int
        Number of nodes.
    n_links : int
        Edges of each new node; 1, as in Dong et al. (2016), gives a tree. The first n_links + 1 nodes form a star.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    graph : Graph, connected, of weights 1

    Examples
    --------
    >>> preferential_attachment_graph(50, 2, random_state=0).n_edges
    96
    """
    _check_size(n)
    check_number("n_links", n_links, f"from 1 to n - 1 = {n - 1}", lambda v: 1 <= v < n, whole=True)
    rng = generator(random_state)
    ends = [node for leaf in range(1, n_links + 1) for node in (0, leaf)]  # each node occurs as often as it has edges
    for node in range(n_links + 1, n):
        chosen: set[int] = set()
        while len(chosen) < n_links:
            chosen.add(ends[int(rng.integers(len(ends)))])
        ends += [end for other in sorted(chosen) for end in (other, node)]
    return Graph(n, ends[::2], ends[1::2], 1.0)


def stochastic_block_graph(
    sizes: Sequence[int] = (10, 10), p_within: float = 0.5, p_between: float = 0.05, random_state: Any = None
) -> Graph:
    """Join nodes with one probability within a block and another between blocks, with weight 1.

    Parameters
    ----------
    sizes : sequence of int
        Number of nodes of each block. Nodes are numbered block by block, so their labels are
        `numpy.repeat(range(len(sizes)), sizes)`.
    p_within, p_between : float
        Probability that two nodes of the same block, or of two different blocks, are joined.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    graph : Graph, connected

    Examples
    --------
    >>> stochastic_block_graph([30, 20], 0.4, 0.02, random_state=0).n_nodes
    50
    """
    for size in sizes:
        check_number("sizes", size, "of at least 1, for each block", lambda v: v >= 1, whole=True)
    _check_size(int(sum(sizes)))
    _check_probability("p_within", p_within)
    _check_probability("p_between", p_between)
    first = np.concatenate([[0], np.cumsum(sizes)])

    def draw(rng: np.random.Generator) -> Graph:
        within = [_pairs_within(size, p_within, rng) + first[i] for i, size in enumerate(sizes)]
        between = [
            _pairs_between(sizes[i], sizes[j], p_between, rng) + first[[i, j], None]
            for i, j in combinations(range(len(sizes)), 2)
        ]
        heads, tails = np.concatenate(within + between, axis=1)
        return Graph(int(first[-1]), heads, tails, 1.0)

    return _draw_connected(draw, random_state, f"p_within={p_within!r} and p_between={p_between!r}")


def _check_size(n: int) -> None:
    check_number("n", n, "of at least 2", lambda v: v >= 2, whole=True, hint="It is the number of nodes.")


def _check_probability(name: str, p: float) -> None:
    check_number(name, p, "in [0, 1]", lambda v: 0 <= v <= 1, hint="It is a probability.")


def _draw_connected(draw: Callable[[np.random.Generator], Graph], random_state: Any, parameters: str) -> Graph:
    """Draw until the graph is connected."""
    rng = generator(random_state)
    for _ in range(MAX_DRAWS):
        graph = draw(rng)
        if graph.is_connected:
            return graph
    raise ValueError(
        f"{parameters}: none of {MAX_DRAWS} graphs of {graph.n_nodes} nodes was connected. Choose parameters that "
        "give more edges."
    )


def _pairs_within(n: int, p: float, rng: np.random.Generator) -> Ints:
    """Draw each pair of n nodes with probability p (2 x m); for small p, time and memory are proportional to m."""
    k = _draw_numbers(n * (n - 1) // 2, p, rng)
    # Pair (i, j), i < j, is number k = j (j - 1) / 2 + i; the square root may be off by one.
    j = ((1 + np.sqrt(1 + 8 * k.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > k
    j += j * (j + 1) // 2 <= k
    return np.stack([k - j * (j - 1) // 2, j])


def _pairs_between(n: int, m: int, p: float, rng: np.random.Generator) -> Ints:
    """Draw each pair of one of n nodes with one of m other nodes with probability p."""
    return np.stack(np.divmod(_draw_numbers(n * m, p, rng), m))


def _draw_numbers(total: int, p: float, rng: np.random.Generator) -> Ints:
    """Draw each of the numbers below `total` with probability p: first how many, then which."""
    return rng.choice(total, rng.binomial(total, p), replace=False, shuffle=False) if total else np.zeros(0, np.int64)
