"""The map: every point in the plane, near points near each other.

t-SNE places the points; where they stay on other machines, or are too few, the first eigenvectors of the graph do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.estimators.tsne import GraspelTSNE
from graspel.plot.drawing import best_view
from graspel.report.inputs import Inputs
from graspel.runtime.types import Floats

TSNE = "Near points are similar (t-SNE). Sizes of groups and distances between far points mean little."
SPECTRAL = "Points that the graph connects well are near each other (the first eigenvectors of the graph)."
SMALLEST_TSNE = 30  # distinct points; fewer have too few neighbors for t-SNE
SPECTRAL_SPREAD = 3.0  # distance from the middle, in median distances, beyond which spectral coordinates are compressed


class Map(NamedTuple):
    """Coordinates of every point in the plane, and a sentence about how they were found."""

    places: Floats
    sentence: str


def draw_map(inputs: Inputs, space: Floats) -> Map:
    """Place every point in the plane; `space` are the spectral coordinates of the points in three dimensions."""
    model, original = inputs.model, inputs.near.original
    if isinstance(model, GraspelTSNE) and model.embedding_.shape[1] == 2:
        return Map(model.embedding_, TSNE)
    if not inputs.index.is_remote and len(np.unique(original)) >= SMALLEST_TSNE:
        return Map(GraspelTSNE(random_state=0, n_jobs=inputs.learner.n_jobs).fit(inputs.index).embedding_, TSNE)
    flat = space @ best_view(space, inputs.groups)[:, :2]
    return Map(_compress(flat), SPECTRAL)


def _compress(places: Floats) -> Floats:
    """Draw far arms nearer: distances from the middle grow like a logarithm beyond a few medians."""
    off = places - np.median(places, axis=0)
    radius = np.linalg.norm(off, axis=1)
    usual = SPECTRAL_SPREAD * max(float(np.median(radius)), 1e-300)
    share = np.maximum(radius / usual, 1.0)
    compressed: Floats = off * ((1 + np.log(share)) / share)[:, None]
    return compressed
