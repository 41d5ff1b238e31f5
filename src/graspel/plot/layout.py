"""The spectral layout: each node placed by the first three nontrivial eigenvectors of the graph's Laplacian.

These eigenvectors are the smoothest coordinates of the graph: of all drawings with unit variance along three
uncorrelated axes, this one has the smallest weighted sum of squared edge lengths. Points of one cluster lie together,
and points between clusters form thin arms that connect them.

References
----------
K. M. Hall. An r-dimensional quadratic placement algorithm. Management Science 17, 1970.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graspel.linalg import smallest_eigenpairs

if TYPE_CHECKING:
    from graspel.graph import Graph

EXACT = 5_000  # nodes; on larger graphs the eigenvectors are computed to 1e-3 in the energy norm, enough for a picture


def spectral_layout(graph: Graph, *, random_state: int = 0) -> np.ndarray:
    """Place each node in space.

    Parameters
    ----------
    graph : Graph
        A connected graph of at least two nodes.
    random_state : int
        Seed of the eigensolver's start.

    Returns
    -------
    ndarray of shape (n_nodes, 3)
        The first three nontrivial eigenvectors of the Laplacian, each scaled to unit variance. A graph of fewer
        than four nodes has fewer of them; the other columns are zero.
    """
    n_axes = min(3, graph.n_nodes - 1)
    if n_axes < 1:
        raise ValueError(f"a graph of {graph.n_nodes} node(s) cannot be drawn; it needs at least two.")
    if graph.n_nodes <= EXACT:
        pairs = smallest_eigenpairs(graph.laplacian, n_axes + 1, random_state=random_state)
    else:
        pairs = smallest_eigenpairs(graph.laplacian, n_axes + 1, tol=1e-3, norm="energy", random_state=random_state)
    return place_nodes(pairs.vectors)


def place_nodes(vectors: np.ndarray) -> np.ndarray:
    """Coordinates of the nodes from the first eigenvectors; the first one, which is constant, is left out."""
    n_nodes = len(vectors)
    n_axes = min(3, vectors.shape[1] - 1)
    places = np.zeros((n_nodes, 3))
    places[:, :n_axes] = vectors[:, 1 : n_axes + 1]
    # An eigenvector is unique up to its sign: the longer tail points to the positive side.
    places *= np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)
    return places * np.sqrt(n_nodes)


def best_view(places: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The view that best separates the classes, or the points: right, up and towards the reader as columns."""
    centers = places[:: 1 + len(places) // 150]
    if classes.any():
        centers = np.array([np.median(places[classes == k], axis=0) for k in np.unique(classes)[:150]])

    def separation(view: np.ndarray) -> float:
        flat = centers @ view[:, :2]
        gaps = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=2))
        return float(np.log(gaps + 1e-3).mean())

    angles = [(elevation, azimuth) for elevation in range(-60, 61, 10) for azimuth in range(0, 360, 10)]
    return max((_view(*np.radians(pair)) for pair in angles), key=separation)


def _view(elevation: float, azimuth: float) -> np.ndarray:
    right = (-np.sin(azimuth), np.cos(azimuth), 0.0)
    up = (-np.cos(azimuth) * np.sin(elevation), -np.sin(azimuth) * np.sin(elevation), np.cos(elevation))
    near = (np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation))
    return np.array([right, up, near]).T
