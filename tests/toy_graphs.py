"""Small graphs that all tests share: one function each, and `TOY_GRAPHS` with all of them by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from graspel.graph import Graph, Origin


def path(n: int = 10) -> Graph:
    """0 - 1 - 2 - ... of unit weights; lambda_k = 2 - 2 cos(pi k / n)."""
    return Graph(n, np.arange(n - 1), np.arange(1, n), 1.0)


def cycle(n: int = 9) -> Graph:
    """A ring of unit weights; lambda_k = 2 - 2 cos(2 pi k / n)."""
    return Graph(n, np.arange(n), (np.arange(n) + 1) % n, 1.0)


def star(n: int = 8) -> Graph:
    """Node 0 joined to all others; eigenvalues 0, 1 (n - 2 times), n."""
    return Graph(n, np.zeros(n - 1, dtype=int), np.arange(1, n), 1.0)


def grid(rows: int = 4, columns: int = 5) -> Graph:
    """Node (i, j) is number i * columns + j."""
    node = np.arange(rows * columns).reshape(rows, columns)
    heads = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    tails = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return Graph(rows * columns, heads, tails, 1.0)


def complete(n: int = 6) -> Graph:
    """All pairs; eigenvalues 0 and n."""
    heads, tails = np.triu_indices(n, 1)
    return Graph(n, heads, tails, 1.0)


def barbell(clique: int = 5) -> Graph:
    """Two cliques joined by one weak edge: a clear cut between the first half and the second."""
    pairs = list(combinations(range(clique), 2))
    pairs += [(p + clique, q + clique) for p, q in pairs]
    heads, tails = zip(*pairs, strict=True)
    return Graph(2 * clique, heads, tails, 1.0).with_edges(clique - 1, clique, 0.1)


def chain_of_cliques(n_cliques: int, size: int, rng: np.random.Generator) -> Graph:
    """Cliques of random weights, each joined to the next by one weak edge: as many clusters as cliques."""
    heads, tails = np.triu_indices(size, 1)
    offsets = size * np.arange(n_cliques)[:, None]
    cliques = (offsets + heads).ravel(), (offsets + tails).ravel()
    graph = Graph(n_cliques * size, *cliques, rng.uniform(0.5, 1.5, len(cliques[0])))
    ends = size * np.arange(1, n_cliques)
    return graph.with_edges(ends - 1, ends, 0.01)


def random_tree(n: int = 30, seed: int = 0) -> Graph:
    """Every node after the first is joined to a random earlier one, with a random weight."""
    rng = np.random.default_rng(seed)
    tails = np.arange(1, n)
    return Graph(n, rng.integers(0, tails), tails, rng.uniform(0.1, 10, n - 1), origin=Origin.TREE)


def several_components() -> Graph:
    """A path of 3, a triangle, and an edge: components of sizes 3, 3, 2."""
    return Graph(8, [0, 1, 3, 4, 3, 6], [1, 2, 4, 5, 5, 7], [1.0, 2.0, 1.0, 1.0, 1.0, 0.5])


def two_isolated_nodes() -> Graph:
    """Two nodes and no edge."""
    return Graph(2, [], [], [])


def single_node() -> Graph:
    """The smallest graph there is."""
    return Graph(1, [], [], [])


def isolated_last_node() -> Graph:
    """An edge, and a node after it that no edge list mentions."""
    return Graph(3, [0], [1], [2.0])


def knn_like(n: int = 60, n_neighbors: int = 2, seed: int = 0) -> Graph:
    """Nearest neighbors of random points in the plane, w = 1/|x_p - x_q|^2: usually disconnected, with provenance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1)[:, :n_neighbors]
    pairs = {(min(p, q), max(p, q)) for p in range(n) for q in nearest[p].tolist()}
    heads, tails = np.array(sorted(pairs)).T
    gradient = rng.standard_normal(len(heads))
    return Graph(n, heads, tails, 1 / squared[heads, tails], origin=Origin.NEIGHBOR, gradient=gradient)


def all_origins() -> Graph:
    """A path whose edges came from every step, with known and unknown eta and gradient, and an infinite one."""
    n = len(Origin) + 1
    numbers = np.resize([np.nan, 1 / 3, np.inf, 1e-300, np.nan, 25.0], len(Origin))
    return Graph(n, range(n - 1), range(1, n), np.pi ** np.arange(-3.0, n - 4), origin=list(Origin), round=range(n - 1),
                 eta=numbers, gradient=-numbers[::-1])  # fmt: skip


TOY_GRAPHS: dict[str, Callable[[], Graph]] = {
    "path": path,
    "cycle": cycle,
    "star": star,
    "grid": grid,
    "complete": complete,
    "barbell": barbell,
    "random_tree": random_tree,
    "several_components": several_components,
    "two_isolated_nodes": two_isolated_nodes,
    "single_node": single_node,
    "isolated_last_node": isolated_last_node,
    "knn_like": knn_like,
    "all_origins": all_origins,
}
