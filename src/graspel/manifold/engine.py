"""The engine of t-SNE: openTSNE's optimizer, given affinities and start coordinates.

It minimizes, by gradient descent, the Kullback-Leibler divergence between the affinities P and those in the embedding.
An *exaggeration* multiplies the attraction. In the first iterations it keeps clusters small, so that they can still
move past each other. Repulsion is computed on a grid by Fourier transforms (two dimensions and many points, Linderman
et al. 2019) or with a tree (van der Maaten 2014).

References
----------
L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.

L. van der Maaten. Accelerating t-SNE using tree-based algorithms. Journal of Machine Learning Research 15, 2014.

G. C. Linderman, M. Rachh, J. G. Hoskins, S. Steinerberger and Y. Kluger. Fast interpolation-based t-SNE for improved
visualization of single-cell RNA-seq data. Nature Methods 16, 2019.

P. G. Policar, M. Strazar and B. Zupan. openTSNE: a modular Python library for t-SNE dimensionality reduction and
embedding. Journal of Statistical Software 109, 2024.
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

GRID_FROM = 10_000  # smallest number of points for which the grid is faster than the tree
THREADS_FROM = 4_000  # smallest number of points for which several threads are faster than one
MOMENTUM = 0.8  # share of the last update that is added to the next; openTSNE's default
EVERY = 10  # iterations between two progress messages

# Called with the phase, the iterations done in it, and the coordinates so far; True ends the phase.
TSNECallback = Callable[[str, int, Floats], Any]


class Iterations(NamedTuple):
    """A number of iterations with one exaggeration."""

    n_iter: int
    exaggeration: float = 1.0


class Layout(NamedTuple):
    """Coordinates of the points, and their divergence (nan where there was no iteration)."""

    coordinates: Floats
    divergence: float


def require_engine() -> Any:
    """Import openTSNE, or raise an error that says how to install it."""
    return import_optional("openTSNE", "tsne", "t-SNE")


def optimize(
    P: sp.csr_array,
    start: Floats,
    schedule: list[Iterations],
    *,
    phase: str,
    n_threads: int,
    callback: TSNECallback | None = None,
) -> Layout:
    """Run t-SNE from the coordinates `start` for all iterations of the schedule; progress messages name the `phase`."""
    openTSNE = require_engine()
    total = sum(iterations.n_iter for iterations in schedule)
    if total == 0:
        return Layout(start, float("nan"))
    matrix = sp.csr_matrix((P.data.copy(), P.indices.astype(np.int32), P.indptr.astype(np.int32)), shape=P.shape)
    embedding = openTSNE.TSNEEmbedding(
        np.array(start, dtype=np.float64, order="C"),
        openTSNE.affinity.PrecomputedAffinities(matrix, normalize=False),
        negative_gradient_method="fft" if start.shape[1] == 2 and len(start) >= GRID_FROM else "bh",
        n_jobs=n_threads if len(start) >= THREADS_FROM else 1,
    )
    listener = _Listener(phase, total, callback)
    with suppress(openTSNE.OptimizationInterrupt):  # raised where a callback returns True
        for iterations in schedule:
            if iterations.n_iter:
                embedding.optimize(
                    n_iter=iterations.n_iter,
                    exaggeration=iterations.exaggeration,
                    momentum=MOMENTUM,
                    inplace=True,
                    propagate_exception=True,
                    callbacks=[listener],
                    callbacks_every_iters=min(EVERY, iterations.n_iter),
                )
                listener.done += iterations.n_iter
    divergence = listener.divergence if embedding.kl_divergence is None else embedding.kl_divergence
    return Layout(np.array(embedding), float(divergence))


class _Listener:
    """openTSNE's callback: announces progress, and passes it on to the user's callback."""

    def __init__(self, phase: str, total: int, callback: TSNECallback | None) -> None:
        self.phase, self.total, self.callback = phase, total, callback
        self.done, self.divergence = 0, float("nan")

    def __call__(self, iteration: int, error: float, embedding: Any) -> bool:
        self.divergence, done = error, self.done + iteration
        announce(self.phase, done / self.total, f"divergence {error:.3f}")
        return bool(self.callback is not None and self.callback(self.phase, done, np.array(embedding)))
