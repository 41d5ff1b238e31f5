"""The map: every point in the plane, near points near each other.

t-SNE places the points where the data are given; else the first eigenvectors of the graph do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.estimators.tsne import GraspelTSNE, place_by_tsne
from graspel.plot.layout import best_view
from graspel.report.material import Material
from graspel.runtime.types import Floats

__all__ = ["Map", "draw_map"]


TSNE = "Near points are similar (t-SNE). Sizes of groups and distances between far points mean little."
SMALLEST_TSNE = 30  # points; fewer have too few neighbors for t-SNE
SPECTRAL_SPREAD = (
    3.0  # of the spectral coordinates, above which they are compressed, in median distances from the middle
)


class Map(NamedTuple):
    """Coordinates of every point in the plane, and a sentence about how they were found."""

    places: Floats
    kind: str
    sentence: str


def draw_map(material: Material, space: Floats) -> Map:
    """Place every point in the plane; `space` are the spectral coordinates of the points in three dimensions."""
    model = material.model
    if isinstance(model, GraspelTSNE) and model.embedding_.shape[1] == 2:
        return Map(model.embedding_, "t-SNE", TSNE)
    lists = material.near.lists
    if lists is not None and len(lists.distinct) >= SMALLEST_TSNE:
        places = place_by_tsne(material.graph, lists, random_state=0, n_jobs=material.learner.n_jobs)
        return Map(places, "t-SNE", TSNE)
    classes = np.zeros(len(space), dtype=np.int64) if material.clusters is None else material.clusters.classes
    flat = space @ best_view(space, classes)[:, :2]
    how = "the first eigenvectors of the graph"
    return Map(_compress(flat), "spectral", f"Points that the graph connects well are near each other ({how}).")


def _compress(places: Floats) -> Floats:
    """Draw far arms nearer: distances from the middle grow like a logarithm beyond a few medians."""
    off = places - np.median(places, axis=0)
    radius = np.linalg.norm(off, axis=1)
    usual = SPECTRAL_SPREAD * max(float(np.median(radius)), 1e-300)
    share = np.maximum(radius / usual, 1.0)
    compressed: Floats = off * ((1 + np.log(share)) / share)[:, None]
    return compressed
