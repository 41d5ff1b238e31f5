"""The engine of t-SNE: openTSNE's optimizer, given affinities and a start.

It moves the points down the gradient of the Kullback-Leibler divergence between P and the affinities in the picture. An
*exaggeration* multiplies the attraction: in a first phase it pulls clusters together, so that they can still pass each
other. Repulsion is computed on a grid by Fourier transforms (two dimensions, many points) or along a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.runtime.optional import import_optional
from graspel.runtime.progress import announce

Floats = NDArray[np.float64]

GRID_FROM = 10_000  # points from which the grid is faster than the tree
THREADS_FROM = 4_000  # ... and from which threads gain more than they cost
MOMENTUM = 0.8
EVERY = 10  # iterations between two reports

# Told the step, the iterations done in it, and the places so far; True ends the step.
Callback = Callable[[str, int, Floats], Any]


class Phase(NamedTuple):
    """A number of iterations under one exaggeration."""

    n_iter: int
    exaggeration: float = 1.0


class Picture(NamedTuple):
    """The places found, and their divergence (nan where no iteration was made)."""

    places: Floats
    divergence: float


def require_engine() -> Any:
    """openTSNE, or an error that says how to get it."""
    return import_optional("openTSNE", "tsne", "t-SNE")


def optimize(
    P: sp.csr_array,
    start: Floats,
    phases: list[Phase],
    *,
    step: str,
    n_threads: int,
    callback: Callback | None = None,
) -> Picture:
    """Move the points from `start` through all phases; `step` names the work in reports."""
    openTSNE = require_engine()
    total = sum(phase.n_iter for phase in phases)
    if total == 0:
        return Picture(start, float("nan"))
    matrix = sp.csr_matrix((P.data.copy(), P.indices.astype(np.int32), P.indptr.astype(np.int32)), shape=P.shape)
    picture = openTSNE.TSNEEmbedding(
        np.array(start, dtype=np.float64, order="C"),
        openTSNE.affinity.PrecomputedAffinities(matrix, normalize=False),
        negative_gradient_method="fft" if start.shape[1] == 2 and len(start) >= GRID_FROM else "bh",
        n_jobs=n_threads if len(start) >= THREADS_FROM else 1,
    )
    listener = _Listener(step, total, callback)
    with suppress(openTSNE.OptimizationInterrupt):  # a callback said stop
        for phase in phases:
            if phase.n_iter:
                picture.optimize(
                    n_iter=phase.n_iter,
                    exaggeration=phase.exaggeration,
                    momentum=MOMENTUM,
                    inplace=True,
                    propagate_exception=True,
                    callbacks=[listener],
                    callbacks_every_iters=min(EVERY, phase.n_iter),
                )
                listener.done += phase.n_iter
    divergence = listener.divergence if picture.kl_divergence is None else picture.kl_divergence
    return Picture(np.array(picture), float(divergence))


class _Listener:
    """Hands on what openTSNE tells."""

    def __init__(self, step: str, total: int, callback: Callback | None) -> None:
        self.step, self.total, self.callback = step, total, callback
        self.done, self.divergence = 0, float("nan")

    def __call__(self, iteration: int, error: float, embedding: Any) -> bool:
        self.divergence, done = error, self.done + iteration
        announce(self.step, done / self.total, f"divergence {error:.3f}")
        return bool(self.callback is not None and self.callback(self.step, done, np.array(embedding)))
