r"""Repulsion in t-SNE: every point pushes every other one away, computed on a grid by Fourier transforms.

All points together have the potential

    phi(y) = sum_j 1 / (1 + |y - y_j|^2).

Its sum over the points is Z, and the repulsion on point i is its slope: sum_j (y_i - y_j) / (1 + |y_i - y_j|^2)^2 =
-1/2 grad phi(y_i). So one convolution gives both. The charge of every point is spread to the nodes of a grid by cubic
B-splines, the charges are convolved with the kernel, and the potential and its slope are read off the same splines: the
particle-mesh method of physics (Essmann et al. 1995). Division by the transform of the sampled spline, once for
spreading and once for reading, makes the result the spline that interpolates the kernel at all pairs of nodes.

This takes two Fourier transforms in an iteration. Linderman et al. (2019) interpolate by polynomials in boxes, which
have no continuous slope, and so transform four charges. With nodes 0.4 apart its forces are more accurate than those
of openTSNE, whose nodes are 1/3 apart (a test compares both with all pairs).

References
----------
U. Essmann, L. Perera, M. L. Berkowitz, T. Darden, H. Lee and L. G. Pedersen. A smooth particle mesh Ewald method.
Journal of Chemical Physics 103, 1995.

G. C. Linderman, M. Rachh, J. G. Hoskins, S. Steinerberger and Y. Kluger. Fast interpolation-based t-SNE for improved
visualization of single-cell RNA-seq data. Nature Methods 16, 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Singles

BlockMap = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]  # a map over blocks, spread over threads

SPACING = {2: 0.4, 3: 0.6}  # largest distance of nodes by dimension, where the kernel has a width of one
FINEST = 0.1  # smallest distance of nodes: below it, single precision blurs the slopes
LEAST_NODES = 50  # along the longest side of a small box, as long as the nodes are not too near
MARGIN = 3  # nodes around the points on every side: the reach of a spline, and rounding
ROOM = 1.15  # factor by which a new grid is larger than needed, so that points may spread before the next one
DECAY = 16  # nodes of padding in which the interpolating spline decays
LINES = 32  # lines that are transformed in one block


class Grid:
    """A grid for points in a box of a given size, with the transform of the kernel.

    Parameters
    ----------
    size : array of 2 or 3 numbers, the lengths of the box

    Examples
    --------
    >>> grid = Grid(np.array([3.0, 4.0]))
    >>> grid.holds(np.array([3.0, 4.2])), grid.holds(np.array([3.0, 6.0]))
    (True, False)
    """

    def __init__(self, size: NDArray[np.floating]) -> None:
        self.spacing = min(SPACING[len(size)], max(FINEST, float(np.max(size)) / LEAST_NODES))
        wanted = [int(np.ceil(ROOM * length / self.spacing)) + 2 * MARGIN for length in size]
        self.shape = tuple([1] * (3 - len(size)) + wanted)
        self._padded = tuple(n if n == 1 else scipy.fft.next_fast_len(2 * n + DECAY, real=True) for n in self.shape)
        self._kernel = self._transform_kernel()
        self.low = np.zeros(len(size), dtype=np.float32)

    def holds(self, size: NDArray[np.floating]) -> bool:
        """Whether a box of this size fits, with its margin."""
        inner = (np.array(self.shape[3 - len(size) :]) - 2 * MARGIN) * self.spacing
        return bool((size <= inner).all())

    def center_on(self, low: NDArray[np.floating], high: NDArray[np.floating]) -> None:
        """Move the grid, so that the box from `low` to `high` is in its middle."""
        extent = np.array(self.shape[3 - len(low) :]) * self.spacing
        self.low = ((low + high - extent) / 2).astype(np.float32)

    def convolve(self, charges: Singles, run: BlockMap) -> Singles:
        """The potential at all nodes, from the charges at the nodes."""
        depth, height, width = self._padded
        spectrum = np.empty((*self.shape[:2], width // 2 + 1), dtype=np.complex64)
        potential = np.empty(self.shape, dtype=np.float32)

        def forward(rows: slice) -> None:
            spectrum[:, rows] = scipy.fft.rfft(charges[:, rows], width, axis=2)

        def middle(columns: slice) -> None:
            block = scipy.fft.fftn(spectrum[..., columns], s=(depth, height), axes=(0, 1))
            block *= self._kernel[..., columns]
            block = scipy.fft.ifftn(block, axes=(0, 1), overwrite_x=True)
            spectrum[..., columns] = block[: self.shape[0], : self.shape[1]]

        def backward(rows: slice) -> None:
            potential[:, rows] = scipy.fft.irfft(spectrum[:, rows], width, axis=2)[..., : self.shape[2]]

        run(forward, row_blocks(self.shape[1], LINES))
        run(middle, row_blocks(spectrum.shape[2], LINES))
        run(backward, row_blocks(self.shape[1], LINES))
        return potential

    def _transform_kernel(self) -> Singles:
        """The transform of 1 / (1 + r^2), divided by the square of that of the sampled spline on every axis."""
        squares: Any = 0.0
        factor: Any = 1.0
        for axis, n in enumerate(self._padded):
            nodes = np.arange(n)
            along = [1, 1, 1]
            along[axis] = n
            squares = squares + (np.minimum(nodes, n - nodes) * self.spacing).reshape(along) ** 2
            if n > 1:
                factor = factor * (2 / 3 + np.cos(2 * np.pi * nodes / n) / 3).reshape(along) ** 2
        transform = scipy.fft.rfftn(1 / (1 + squares)).real
        scaled: Singles = (transform / factor[..., : transform.shape[2]]).astype(np.float32)
        return scaled
