"""The figure: t-SNE pictures side by side, as in the paper, a row for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Label, measurement, coordinates and classes of one picture.
Panel = tuple[str, Mapping[str, Any], Any, Any]


def draw_side_by_side(panels: Mapping[str, Sequence[Panel]], path: Path) -> None:
    """Draw all pictures into one file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from graspel.io.atomic import write_atomically
    from graspel.plot import embedding

    n_columns = max(len(row) for row in panels.values())
    figure = Figure(figsize=(4.2 * n_columns, 4.6 * len(panels)), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), n_columns, squeeze=False)
    for row, (dataset, pictures) in zip(axes, panels.items(), strict=True):
        for ax in row[len(pictures) :]:
            ax.set_axis_off()
        for ax, (label, value, places, classes) in zip(row, pictures, strict=False):
            subtitle = f"{len(places):,} points, {value['seconds']:.0f} s, label accuracy {value['accuracy']:.3f}"
            embedding(places, classes, ax, title=f"{dataset}: {label}", subtitle=subtitle, key=False)
            ax.title.set_fontsize(12)
    figure.tight_layout()
    with write_atomically(path) as temporary:
        figure.savefig(temporary, format="png")
