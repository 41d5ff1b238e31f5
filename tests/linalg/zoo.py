"""Test graphs of the linear algebra: small and large ones, each difficult in its own way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graspel.graph import Graph
from graspel.runtime.types import Floats
from toy_graphs import barbell, complete, cycle, grid, knn_like, path, random_tree, several_components, star


def expander(n: int, n_cycles: int = 2, seed: int = 0) -> Graph:
    """The union of random cycles: almost regular, of degree 2 * n_cycles, without any good cut."""
    rng = np.random.default_rng(seed)
    cycles = [rng.permutation(n) for _ in range(n_cycles)]
    heads, tails = np.concatenate(cycles), np.concatenate([np.roll(nodes, 1) for nodes in cycles])
    A = sp.coo_array((np.ones(len(heads)), (heads, tails)), shape=(n, n))
    return Graph.from_adjacency(A + A.T)


def equal_cliques(n_cliques: int, size: int, tie: float) -> Graph:
    """Equal cliques in a ring, joined by weak edges: n_cliques eigenvalues close to zero, in near-equal pairs."""
    graph = union(*[complete(size)] * n_cliques)
    first = size * np.arange(n_cliques)
    return graph.with_edges(first, np.roll(first, -1) + 1, tie)


def union(*graphs: Graph) -> Graph:
    """The disjoint union of all graphs."""
    return Graph.from_adjacency(sp.block_diag([graph.adjacency for graph in graphs]))


def isolated(n: int) -> Graph:
    """Nodes without any edge."""
    return Graph(n, [], [], [])


def reweighted(graph: Graph, decades: float, seed: int = 0) -> Graph:
    """The same edges with weights from 10^-decades to 10^decades."""
    rng = np.random.default_rng(seed)
    return graph.with_weights(10 ** rng.uniform(-decades, decades, graph.n_edges))


SMALL: dict[str, Callable[[], Graph]] = {
    "path": lambda: path(60),
    "cycle": lambda: cycle(61),
    "square grid": lambda: grid(8, 8),
    "star": lambda: star(50),
    "complete": lambda: complete(30),
    "barbell": lambda: barbell(20),
    "tree": lambda: random_tree(120),
    "expander": lambda: expander(100),
    "neighbors": lambda: knn_like(150),
    "several components": several_components,
    "isolated nodes": lambda: union(grid(5, 6), isolated(4), path(20)),
    "equal cliques": lambda: equal_cliques(6, 8, 1e-4),
}

# Little larger than the limits of the dense methods: 300 nodes of a component for eigenpairs, 200 for elimination.
LARGE: dict[str, Callable[[], Graph]] = {
    "path": lambda: path(420),
    "cycle": lambda: cycle(421),
    "square grid": lambda: grid(20, 21),
    "star": lambda: star(450),
    "complete": lambda: complete(320),
    "barbell": lambda: barbell(160),
    "tree": lambda: random_tree(450),
    "expander": lambda: expander(420),
    "dense expander": lambda: expander(400, n_cycles=6),
    "neighbors": lambda: knn_like(500, n_neighbors=3),
    "sparse neighbors": lambda: knn_like(420, n_neighbors=2),
    "several components": lambda: union(grid(18, 18), path(310), cycle(40), complete(3)),
    "isolated nodes": lambda: union(expander(330), isolated(30), random_tree(100)),
    "equal cliques": lambda: equal_cliques(20, 21, 1e-3),
    "many stars": lambda: union(*[star(3)] * 205),
}


@cache
def small(name: str) -> Graph:
    return SMALL[name]()


@cache
def large(name: str) -> Graph:
    return LARGE[name]()


@cache
def spectrum(make: Callable[[str], Graph], name: str) -> tuple[Floats, Floats]:
    """All eigenvalues and vectors by LAPACK."""
    return scipy.linalg.eigh(make(name).laplacian.toarray())


def pseudo_inverse(graph: Graph) -> Floats:
    """L^+ by LAPACK."""
    return np.linalg.pinv(graph.laplacian.toarray(), rcond=1e-13, hermitian=True)
