"""Scaling: seconds against size on logarithmic axes, where a power law is a line and its exponent the slope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graspel.plot.canvas import COLORS, MARKERS, TEXT, clip_name, name_axes, new_axes

__all__ = ["exponent", "scaling"]

NOISY = 0.5  # root mean square of log seconds about the line, a factor of 1.65; more is noise and no power law
STYLES = ("-", "--", "-.", ":")


def exponent(sizes: ArrayLike, seconds: ArrayLike, *, smallest: float = 0.0) -> float:
    """The least-squares slope of log seconds against log size, over sizes of at least `smallest`.

    NaN if fewer than two sizes were measured, or if the times do not grow or do not follow a power law: a machine that
    does other work at the same time gives such times.

    Examples
    --------
    >>> round(exponent([10, 100, 1000], [0.1, 10.0, 1000.0]), 6)
    2.0
    >>> exponent([10, 100, 1000], [3.0, 2.0, 1.0]), exponent([10, 100, 1000, 10_000], [1.0, 30.0, 1.5, 40.0])
    (nan, nan)
    """
    x, y = np.asarray(sizes, dtype=float), np.asarray(seconds, dtype=float)
    known = np.isfinite(y) & (y > 0) & (x >= smallest)
    if len(np.unique(x[known])) < 2:
        return float("nan")
    log_x, log_y = np.log(x[known]), np.log(y[known])
    slope, constant = np.polyfit(log_x, log_y, 1)
    misfit = np.sqrt(np.mean((log_y - slope * log_x - constant) ** 2))
    return float(slope) if slope > 0 and misfit <= NOISY else float("nan")


def scaling(
    sizes: ArrayLike,
    seconds: Mapping[str, Any],
    ax: Any = None,
    *,
    smallest: float = 0.0,
    xlabel: str = "points, N",
    title: str = "Scaling",
) -> Any:
    """Draw how the time of each method grows, with its exponent in the legend.

    Parameters
    ----------
    sizes : array-like
    seconds : mapping, name -> seconds at each size
        None or NaN where a size was not measured.
    ax : matplotlib axes, optional
        A new figure is made when not given.
    smallest : float, default=0
        The exponents are fitted to sizes of at least this.
    xlabel, title : str

    Returns
    -------
    ax : matplotlib axes
    """
    x = np.asarray(sizes, dtype=float)
    ax = new_axes(ax, 6.8, 4.8)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for at, (name, given) in enumerate(seconds.items()):
        y = np.array([np.nan if value is None else value for value in given], dtype=float)
        if y.shape != x.shape:
            raise ValueError(f"{name} has {len(y)} times for {len(x)} sizes; give one for each, NaN if not measured.")
        known = np.isfinite(y)
        power = exponent(x, y, smallest=smallest)
        label = clip_name(name) + ("" if np.isnan(power) else f": $N^{{{power:.2f}}}$")
        look = {"color": COLORS[at % len(COLORS)], "marker": MARKERS[at % len(MARKERS)]}
        ax.plot(
            x[known], y[known], linestyle=STYLES[at % len(STYLES)], linewidth=2.2, markersize=7, label=label, **look
        )
    name_axes(ax, xlabel, "seconds", title)
    ax.legend(frameon=False, fontsize=11, labelcolor=TEXT, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=3)
    return ax
