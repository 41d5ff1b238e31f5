"""Tables as text that reads well both in a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["markdown_table", "mean_and_spread"]


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a Markdown table with aligned columns, the first to the left and the others to the right.

    Examples
    --------
    >>> print(markdown_table(["what", "ACC"], [["kNN", "81.1"], ["GRASPEL", "9.0"]]))
    | what    |  ACC |
    |---------|-----:|
    | kNN     | 81.1 |
    | GRASPEL |  9.0 |
    """
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return f"| {' | '.join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([line(header), f"|{rule}|", *map(line, rows)])


def mean_and_spread(values: Sequence[float], digits: int) -> str:
    """Mean and standard deviation over seeds; the mean alone where there is one seed.

    Examples
    --------
    >>> mean_and_spread([94.0, 95.0, 96.0], 1), mean_and_spread([0.5], 3)
    ('95.0 ± 1.0', '0.500')
    """
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"
