"""The spectral layout: each node placed by the first three nontrivial eigenvectors of the graph's Laplacian.

These eigenvectors are the smoothest coordinates the graph has: of all drawings with unit spread along three
uncorrelated axes, this one has the shortest edges (Hall, 1970). Points of one cluster fall together, and what lies
between clusters shows as the thin arms joining them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graspel.linalg import smallest_eigenpairs

if TYPE_CHECKING:
    from graspel.graph import Graph

__all__ = ["best_view", "placed_by", "spectral_layout"]

EXACT = 5_000  # nodes; on larger graphs the eigenvectors need only be right as the graph sees them


def spectral_layout(graph: Graph, *, random_state: int = 0) -> np.ndarray:
    """EmbeddedGraph each node in space.

    Parameters
    ----------
    graph : Graph
        A connected graph of at least two nodes.
    random_state : int
        Seed of the eigensolver's start.

    Returns
    -------
    ndarray of shape (n_nodes, 3)
        The first three nontrivial eigenvectors of the Laplacian, each scaled to unit spread. A graph of fewer than
        four nodes has fewer; the rest is zero.
    """
    n_axes = min(3, graph.n_nodes - 1)
    if n_axes < 1:
        raise ValueError(f"a graph of {graph.n_nodes} node(s) cannot be drawn; it needs at least two.")
    if graph.n_nodes <= EXACT:
        pairs = smallest_eigenpairs(graph.laplacian, n_axes + 1, random_state=random_state)
    else:
        pairs = smallest_eigenpairs(graph.laplacian, n_axes + 1, tol=1e-3, norm="energy", random_state=random_state)
    return placed_by(pairs.vectors)


def placed_by(vectors: np.ndarray) -> np.ndarray:
    """Places from the first eigenvectors, of which the constant one comes first and is left out."""
    n_nodes = len(vectors)
    n_axes = min(3, vectors.shape[1] - 1)
    places = np.zeros((n_nodes, 3))
    places[:, :n_axes] = vectors[:, 1 : n_axes + 1]
    # An eigenvector is fixed up to its sign: let the longer tail point to the positive side.
    places *= np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)
    return places * np.sqrt(n_nodes)


def best_view(places: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the directions right, up and towards the reader (columns) that set the classes, or the points, apart."""
    middles = places[:: 1 + len(places) // 150]
    if classes.any():
        middles = np.array([np.median(places[classes == k], axis=0) for k in np.unique(classes)[:150]])

    def clearance(view: np.ndarray) -> float:
        flat = middles @ view[:, :2]
        gaps = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=2))
        return float(np.log(gaps + 1e-3).mean())

    angles = [(elevation, azimuth) for elevation in range(-60, 61, 10) for azimuth in range(0, 360, 10)]
    return max((_view(*np.radians(pair)) for pair in angles), key=clearance)


def _view(elevation: float, azimuth: float) -> np.ndarray:
    right = (-np.sin(azimuth), np.cos(azimuth), 0.0)
    up = (-np.cos(azimuth) * np.sin(elevation), -np.sin(azimuth) * np.sin(elevation), np.cos(elevation))
    near = (np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation))
    return np.array([right, up, near]).T
