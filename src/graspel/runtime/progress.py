"""Progress: which step of a run is at work, and how much of it is done.

The steps of a run call :func:`announce`; a progress bar, a log or a test receives these messages with
:func:`listening`. The two do not depend on each other, and without a listener a message costs nothing.

>>> received = []
>>> with listening(received.append):
...     announce("nearest neighbors", 0.5)
>>> received[0].step, received[0].share
('nearest neighbors', 0.5)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from html import escape
from math import inf
from time import monotonic
from typing import Any

LINE_SECONDS = 1.0  # between two printed lines of one step, at least


@dataclass(frozen=True)
class Progress:
    """One message: the name of the step, the share of it that is done (0 to 1, None if unknown), a short detail."""

    step: str
    share: float | None = None
    detail: str = ""


Listener = Callable[[Progress], None]

_handles: dict[int, Any] = {}  # the line of the notebook cell that runs, by the number of the cell
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("graspel_progress_listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every message that is announced inside the ``with`` block to `listener`."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def announce(step: str, share: float | None = None, detail: str = "") -> None:
    """Tell all listeners that the share `share` of `step` is done."""
    listeners = _listeners.get()
    if listeners:
        progress = Progress(step, share, detail)
        for listener in listeners:
            listener(progress)


class Pace:
    """How long the running step will still take, if it continues at the pace that it had so far.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.seconds_left(Progress("searching", 0.0), now=10.0)
    >>> pace.seconds_left(Progress("searching", 0.25), now=14.0)
    12.0
    """

    def __init__(self) -> None:
        self._step, self._share, self._began = "", 0.0, 0.0

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        """Seconds from `now` to the end of the step of this message; None if that is unknown."""
        share = progress.share or 0.0
        if progress.step != self._step or share < self._share:  # a new step, or a second pass through the same one
            self._step, self._began = progress.step, now
        self._share = share
        return (now - self._began) * (1 / share - 1) if share > 0 else None


class ProgressPrinter:
    """Prints messages as lines, with the time left; in a notebook each replaces the last.

    A line appears when a step begins or ends, and at most once a second in between.
    """

    def __init__(self) -> None:
        self._pace, self._step, self._printed = Pace(), "", -inf

    def show(self, progress: Progress) -> None:
        """Print this message, unless the last line is too recent."""
        now = monotonic()
        left = self._pace.seconds_left(progress, now)
        turn = progress.step != self._step or progress.share == 1.0
        if not turn and now - self._printed < LINE_SECONDS:
            return
        self._step, self._printed = progress.step, now
        details = [progress.detail, format_left(left) if left else ""]
        detail = ", ".join(part for part in details if part)
        if in_notebook():
            show_in_notebook(progress, detail)
            return
        share = "" if progress.share is None else f" {progress.share:4.0%}"
        print(f"graspel: {progress.step}{share}{f' ({detail})' if detail else ''}", flush=True)


def in_notebook() -> bool:
    """Whether this is a cell of a Jupyter notebook, which can replace what it has shown."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def show_in_notebook(progress: Progress, detail: str) -> None:
    """Replace the line of this cell, instead of many printed ones, by a bar, the step at work and a detail."""
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


@contextmanager
def printing_progress(verbose: bool | int = True) -> Iterator[None]:
    """Print what is announced inside the ``with`` block if `verbose` is set, as estimators with `verbose` do."""
    if not verbose:
        yield
        return
    with listening(ProgressPrinter().show):
        yield


def format_left(seconds: float) -> str:
    """Time left in words.

    >>> format_left(75.4), format_left(4000)
    ('1:15 left', '1:06:40 left')
    """
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} left" if hours else f"{minutes}:{rest:02d} left"
