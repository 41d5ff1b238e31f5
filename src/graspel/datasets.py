r"""Smooth random signals on a graph: the data on which graph recovery is tested.

The Laplacian L of a graph is scaled to trace N, and each column of X is a signal

    x ~ N(0, L^+) + noise * N(0, I).

Graph recovery computes the graph from X.

References
----------
X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing, 64(23), 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.linalg import LaplacianSolver
from graspel.runtime.parallel import row_blocks
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Floats

DENSE = 2000  # nodes; up to here signals come from all eigenvectors
BLOCK = 8  # signals solved at a time
SOLVE_TOL = 1e-12  # relative residual: the signals are then the same on every processor, to rounding


def smooth_signals(graph: Graph, n_signals: int = 100, noise: float = 0.5, random_state: Any = None) -> Floats:
    r"""Draw signals x ~ N(0, L^+) + noise * N(0, I), with L scaled to trace N.

    Up to 2,000 nodes x = L^{+/2} q = U Lambda^{-1/2} U' q with q ~ N(0, I). The symmetric root does not depend on the
    basis U of equal eigenvalues (a grid has them), as U Lambda^{-1/2} q does: so a seed gives the same signals on every
    processor. Above that, they are computed from a random flow q on the edges by a solve, x = L^+ B' W^{1/2} q, which
    has the same covariance, L^+ B'WB L^+ = L^+.

    Parameters
    ----------
    graph : Graph
        A graph with at least one edge. On each connected component the signals without noise sum to zero.
    n_signals : int
        Number of signals.
    noise : float
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    X : array, nodes x signals

    Examples
    --------
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(4, 4), n_signals=30, noise=0.0, random_state=0)
    >>> X.shape, bool(abs(X.sum(axis=0)).max() < 1e-12)
    ((16, 30), True)
    """
    check_number("n_signals", n_signals, "of at least 1", lambda v: v >= 1, whole=True)
    check_number("noise", noise, "of at least 0", lambda v: 0 <= v < np.inf)
    if graph.n_edges == 0:
        raise ValueError(f"a graph of {graph.n_nodes} nodes without edges: signals cannot be smooth on it. Add edges.")
    rng = generator(random_state)
    scaled = graph.scaled(graph.n_nodes / graph.degrees.sum())
    draw = _draw_by_root if graph.n_nodes <= DENSE else _draw_from_flows
    X = draw(scaled, n_signals, rng)
    return X + noise * rng.standard_normal(X.shape)


def _draw_by_root(graph: Graph, n_signals: int, rng: np.random.Generator) -> Floats:
    values, U = np.linalg.eigh(graph.laplacian.toarray())
    U, values = U[:, graph.components[0] :], values[graph.components[0] :]
    return (U / np.sqrt(values)) @ (U.T @ rng.standard_normal((graph.n_nodes, n_signals)))


def _draw_from_flows(graph: Graph, n_signals: int, rng: np.random.Generator) -> Floats:
    solver = LaplacianSolver(graph, random_state=rng)
    X = np.empty((graph.n_nodes, n_signals))
    for block in row_blocks(n_signals, BLOCK):
        flows = np.sqrt(graph.weights)[:, None] * rng.standard_normal((graph.n_edges, block.stop - block.start))
        for column, flow in enumerate(flows.T, block.start):
            X[:, column] = np.bincount(graph.heads, flow, graph.n_nodes) - np.bincount(graph.tails, flow, graph.n_nodes)
        X[:, block] = solver.solve(X[:, block], SOLVE_TOL)
    return X
