"""Progress in a notebook: one line that is replaced as the run goes on, in the place of many printed ones."""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graspel.runtime.progress import Progress

_handles: dict[int, Any] = {}  # the line of the cell that runs, by the number of the cell


def in_notebook() -> bool:
    """Whether this is a cell of a Jupyter notebook, which can replace what it has shown."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def show_in_notebook(progress: Progress, detail: str) -> None:
    """Replace the line of this cell by a bar, the step at work, and a detail of it."""
    from IPython import get_ipython
    from IPython.display import HTML, display

    share = "" if progress.share is None else f' value="{progress.share:.3f}"'
    more = f" ({escape(detail)})" if detail else ""
    bar = HTML(f"<progress{share} style='width:180px'></progress> {escape(progress.step)}{more}")
    cell = int(getattr(get_ipython(), "execution_count", 0))
    if cell in _handles:
        _handles[cell].update(bar)
    else:
        _handles.clear()
        _handles[cell] = display(bar, display_id=True)
